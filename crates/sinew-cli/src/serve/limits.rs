//! The limits for clients of the server.

use std::time::Duration;

use clap::Args;

/// The limits, as command-line options.
#[derive(Args, Clone, Debug)]
pub(crate) struct Limits {
    /// The most connections at a time; others get the answer 503 Service Unavailable.
    #[arg(long, default_value_t = 10_000, value_parser = at_least_one)]
    pub(crate) max_connections: usize,
    /// The largest head of a request, in bytes.
    #[arg(long, default_value_t = 16 * 1_024, value_parser = at_least_one)]
    pub(crate) max_head: usize,
    /// The largest body of a request, in bytes.
    #[arg(long, default_value_t = 1 << 20)]
    pub(crate) max_body: u64,
    /// How long a connection may be silent between two requests, in milliseconds.
    #[arg(long = "idle-ms", default_value = "60000", value_parser = millis)]
    pub(crate) idle: Duration,
    /// How long a request may take to arrive, from its first byte to its last, in milliseconds.
    #[arg(long = "request-ms", default_value = "10000", value_parser = millis)]
    pub(crate) request: Duration,
    /// How long a client may take to receive an answer, in milliseconds.
    #[arg(long = "write-ms", default_value = "10000", value_parser = millis)]
    pub(crate) write: Duration,
    /// How long idle connections may still send requests after SIGTERM, in milliseconds.
    #[arg(long = "linger-ms", default_value = "250", value_parser = millis)]
    pub(crate) linger: Duration,
    /// How long requests that have begun may take after SIGTERM, in milliseconds.
    #[arg(long = "grace-ms", default_value = "10000", value_parser = millis)]
    pub(crate) grace: Duration,
}

/// Parses a number that is at least 1.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    let count: usize = text.parse().map_err(|_| "give a number".to_owned())?;
    if count == 0 { Err("give at least 1".to_owned()) } else { Ok(count) }
}

fn millis(text: &str) -> Result<Duration, String> {
    let millis: u64 = text.parse().map_err(|_| "give a number of milliseconds".to_owned())?;
    if millis == 0 { Err("give at least 1".to_owned()) } else { Ok(Duration::from_millis(millis)) }
}
