//! The examples, started as programs and talked to from plain threads, which know nothing of fibers.

mod chat;
mod echo;
mod hello;
mod program;
mod tls;
mod websocket;
