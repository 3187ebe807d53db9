//! Tests of `sinew`, a module per subject.

mod batch;
mod info;
mod locals;
mod locals_end;
mod pins;
mod runtimes;
mod steps;
