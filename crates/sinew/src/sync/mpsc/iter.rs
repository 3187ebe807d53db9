//! Iterators over the messages of a channel.

use super::Receiver;
use crate::channel::message_iterators;

message_iterators!(#[derive(Debug)]);
