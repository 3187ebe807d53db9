//! The client of HTTP servers: `wrk`, from the distribution's packages. It has one thread, which
//! sends the next request on a connection as soon as the last one was answered.

use crate::companion;
use std::env;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// The name of the package.
pub(crate) const PACKAGE: &str = "wrk";

/// Looks for `wrk` on the search path.
pub(crate) fn find() -> Result<PathBuf, String> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = env::split_paths(&path).map(|directory| directory.join(PACKAGE));
    places.find(|place| place.is_file()).ok_or_else(|| "no wrk found (run `setup`, or install it)".to_owned())
}

/// A run of `wrk`.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    /// Where the server listens, on this machine.
    pub(crate) port: u16,
    /// How many connections ask at a time.
    pub(crate) connections: usize,
    /// For how many seconds.
    pub(crate) seconds: u32,
    /// A processor of its own, if any.
    pub(crate) processor: Option<usize>,
}

/// What `wrk` reports.
#[derive(Debug, PartialEq)]
pub(crate) struct Report {
    /// Answers in all.
    pub(crate) requests: f64,
    /// Answers in a second.
    pub(crate) per_second: f64,
    /// The median time of an answer.
    pub(crate) p50: Duration,
    /// The 99th percentile of the time of an answer.
    pub(crate) p99: Duration,
}

impl Load {
    /// Runs it, and returns its report. An error of a single request fails the whole run.
    pub(crate) fn run(&self) -> Result<Report, String> {
        let mut command = Command::new(find()?);
        // With many connections an answer may be late. The report shows that, so it is no error.
        command.args(["-t1", "--latency", "--timeout", "10s"]);
        command.arg(format!("-c{}", self.connections)).arg(format!("-d{}s", self.seconds));
        command.arg(format!("http://127.0.0.1:{}/", self.port));
        companion::tie(&mut command, self.processor);
        let output = command.output().map_err(|error| format!("cannot start wrk: {error}"))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let problem = |problem| format!("wrk: {problem}\n{text}{}", String::from_utf8_lossy(&output.stderr));
        if !output.status.success() {
            return Err(problem(format!("ended with {}", output.status)));
        }
        parse(&text).map_err(problem)
    }
}

/// Reads its output.
fn parse(text: &str) -> Result<Report, String> {
    let troubles = ["Socket errors:", "Non-2xx or 3xx responses:"];
    if let Some(line) = text.lines().find(|line| troubles.iter().any(|trouble| line.contains(trouble))) {
        return Err(line.trim().to_owned());
    }
    let missing = |what: &str| format!("its report has no {what}");
    let percentile = |name: &str| {
        let value = text.lines().find_map(|line| line.trim().strip_prefix(name));
        value.and_then(|value| duration(value.trim())).ok_or_else(|| missing(name))
    };
    let requests = text.lines().find_map(|line| line.trim().split_once(" requests in ")?.0.parse().ok());
    let per_second = text.lines().find_map(|line| line.strip_prefix("Requests/sec:")?.trim().parse().ok());
    Ok(Report {
        requests: requests.filter(|&requests| requests > 0.0).ok_or_else(|| missing("requests"))?,
        per_second: per_second.ok_or_else(|| missing("requests a second"))?,
        p50: percentile("50%")?,
        p99: percentile("99%")?,
    })
}

/// Reads a time such as `1.25ms`.
fn duration(text: &str) -> Option<Duration> {
    let unit = text.find(|c: char| c.is_ascii_alphabetic())?;
    let seconds = match &text[unit..] {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        "m" => 60.0,
        _ => return None,
    };
    Duration::try_from_secs_f64(text[..unit].parse::<f64>().ok()? * seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::{Report, duration, parse};
    use std::time::Duration;

    const TEXT: &str = "Running 5s test @ http://127.0.0.1:8080/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   541.60us   99.81us   4.37ms   85.05%
    Req/Sec   118.03k     6.10k  125.52k    84.00%
  Latency Distribution
     50%  528.00us
     75%  560.00us
     90%  612.00us
     99%    1.02ms
  587135 requests in 5.00s, 29.12MB read
Requests/sec: 117403.51
Transfer/sec:      5.82MB
";

    #[test]
    fn a_report_is_read() {
        let (p50, p99) = (Duration::from_micros(528), Duration::from_micros(1_020));
        let report = Report { requests: 587_135.0, per_second: 117_403.51, p50, p99 };
        assert_eq!(parse(TEXT), Ok(report));
    }

    #[test]
    fn an_error_of_one_request_fails_the_run() {
        for trouble in
            ["  Socket errors: connect 0, read 3, write 0, timeout 0", "  Non-2xx or 3xx responses: 7"]
        {
            let text = TEXT.replace("Requests/sec", &format!("{trouble}\nRequests/sec"));
            assert_eq!(parse(&text), Err(trouble.trim().to_owned()));
        }
    }

    #[test]
    fn what_is_missing_is_named() {
        for (line, name) in [("     99%", "99%"), (" requests in ", "requests"), ("Requests/sec", "a second")]
        {
            let problem = parse(&TEXT.replace(line, "")).unwrap_err();
            assert!(problem.ends_with(name), "{problem}");
        }
        assert!(parse(&TEXT.replace("587135", "0")).is_err());
    }

    #[test]
    fn times_have_units() {
        assert_eq!(duration("2.50s"), Some(Duration::from_millis(2_500)));
        assert_eq!(duration("1.00m"), Some(Duration::from_secs(60)));
        assert_eq!((duration("12"), duration("1x"), duration("-1s")), (None, None, None));
    }
}
