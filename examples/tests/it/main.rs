//! Starts the examples as programs, and talks to them from plain threads, which know no fibers.

mod chat;
mod echo;
mod hello;
mod program;
mod tls;
mod websocket;
