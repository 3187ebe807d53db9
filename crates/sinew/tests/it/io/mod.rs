//! Input and output.

mod copy;
mod fd;
mod pipe;
mod stdin;
