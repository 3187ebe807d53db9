//! Input and output.

mod copy;
mod copy_buf;
mod fd;
mod kernel_copy;
mod pipe;
mod places;
mod stdin;
mod stdout;
