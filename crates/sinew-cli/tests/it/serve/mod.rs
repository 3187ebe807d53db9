//! `sinew serve`, from outside.

mod answers;
#[path = "../../../src/serve/cases/mod.rs"]
mod cases;
mod ending;
mod limits;
mod server;
mod strictness;
