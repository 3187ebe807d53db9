//! Messages, one after the other.

use super::Receiver;
use crate::channel::message_iterators;

message_iterators!(#[derive(Debug)]);
