//! `sinew serve`, from outside.

mod answers;
mod ending;
mod limits;
mod server;
