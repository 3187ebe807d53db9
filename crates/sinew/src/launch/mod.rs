//! Starting engines: settings from the program and the environment, groups for the machine, and the
//! default engine. Knows neither the handles of fibers nor runtimes.

mod config;
mod default;
mod environment;
mod error;
mod layout;
mod spec;
mod unended;

pub use config::Config;
pub(crate) use default::{default_engine, engine, site};
pub use error::StartError;
pub(crate) use spec::Spec;
pub use unended::{Abandoned, Discarded};
