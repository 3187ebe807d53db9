//! Input and output.

mod copy;
mod fd;
mod pipe;
mod places;
mod stdin;
mod stdout;
