//! Tests of `sinew`, a module per subject.

mod batch;
mod info;
mod launch;
mod locals;
mod locals_end;
mod pins;
mod runtimes;
mod steps;
