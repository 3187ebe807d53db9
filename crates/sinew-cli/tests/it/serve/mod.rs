//! `sinew serve`, as a process.

mod answers;
#[path = "../../../src/serve/cases/mod.rs"]
mod cases;
mod ending;
mod limits;
mod server;
mod strictness;
