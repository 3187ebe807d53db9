//! The benchmark program still runs every workload and still prints the lines that scripts read.
//!
//! This job does not judge the figures: a quick run on a shared machine cannot tell.

use serde_json::Value;

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::{Failure, Result, While};
use crate::job::{Depth, Job, Tool};

/// The benchmark's command line and its output format hold.
pub(crate) const JOB: Job = Job {
    name: "bench-smoke",
    about: "every benchmark runs quickly and prints its JSON lines",
    depth: Depth::Deep,
    needs: &[Tool { probe: "wrk", package: "wrk" }],
    run,
};

/// The fields of each line.
const FIELDS: [&str; 7] = ["peer", "workload", "threads", "metric", "stat", "value", "n"];

fn run(context: &Context) -> Result {
    let list = bench(context).args(["list"]).read_aloud()?;
    // Servers in processes of their own take a second each, even in a quick run. Two of them are
    // enough.
    let (servers, others): (Vec<_>, Vec<_>) = workloads(&list).partition(|name| name.starts_with("http"));
    if servers.is_empty() {
        return Err(Failure::new("the benchmark has no workload with servers"));
    }
    let all = bench(context).args(["run"]).args(others).args(QUICKLY).read_aloud()?;
    let some = ["run", "http", "http_busy", "--peer", "sinew", "--peer", "epoll-raw"];
    let served = bench(context).args(some).args(QUICKLY).read_aloud()?;
    let lines = check_lines(&all)? + check_lines(&served)?;
    println!("{lines} lines, each with {}", FIELDS.join(", "));
    Ok(())
}

/// Runs each once and prints lines.
const QUICKLY: [&str; 5] = ["--quick", "--reps", "1", "--json", "-"];

fn bench(context: &Context) -> Exec {
    Exec::cargo(context, &["run", "--release", "--manifest-path"])
        .args([context.bench_manifest()])
        .args(["--"])
}

/// Returns the names of the workloads in a list of them.
fn workloads(list: &str) -> impl Iterator<Item = &str> {
    let lines = list.lines().skip(1).take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    names.filter_map(|line| line.split_once(':').map(|(name, _)| name))
}

/// Counts the lines, all of which must be complete.
fn check_lines(output: &str) -> Result<usize> {
    for (index, line) in output.lines().enumerate() {
        check_line(line).while_doing(format_args!("stdout line {}: {line}", index + 1))?;
    }
    match output.lines().count() {
        0 => Err(Failure::new("the benchmark printed no line at all")),
        count => Ok(count),
    }
}

fn check_line(line: &str) -> Result {
    let value: Value = serde_json::from_str(line).while_doing("not JSON")?;
    let object = value.as_object().ok_or_else(|| Failure::new("not a JSON object"))?;
    match FIELDS.iter().find(|field| !object.contains_key(**field)) {
        Some(missing) => Err(Failure::new(format!("the field `{missing}` is missing"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str =
        r#"{"peer":"sinew","workload":"switch","threads":1,"metric":"ns","stat":"median","value":2.5,"n":9}"#;

    #[test]
    fn workloads_are_found_in_a_list() {
        let list =
            "Workloads\n  one: it, 1 thread\n    metrics: ns\n  two: is\n    peers: a\n\nPeers\n  three: x\n";
        assert!(workloads(list).eq(["one", "two"]));
    }

    #[test]
    fn complete_lines_pass_and_are_counted() {
        assert_eq!(check_lines(&format!("{LINE}\n{LINE}\n")).ok(), Some(2));
    }

    #[test]
    fn prose_missing_fields_and_no_output_fail() {
        for output in ["", "warming up\n", "[]\n", &LINE.replace("stat", "static")] {
            assert!(check_lines(output).is_err(), "{output:?}");
        }
    }
}
