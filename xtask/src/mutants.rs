//! `cargo xtask mutants`: runs a seeded sample of the mutations that `cargo mutants` can make in a
//! crate, and lists those that the tests of the crate do not notice.
//!
//! It is not part of the checks: a sample takes hours. `docs/design/0011-mutants.md` says how the
//! survivors of the recorded samples were treated.

use clap::Args;

use crate::context::Context;
use crate::exec::Exec;
use crate::failure::{Failure, Result, While};

/// Which mutants to run.
#[derive(Args)]
pub(crate) struct Sample {
    /// The crate to mutate.
    package: String,
    /// How many mutants to choose.
    #[arg(long, default_value_t = 300)]
    size: usize,
    /// The seed of the choice.
    #[arg(long, default_value_t = 21)]
    seed: u64,
    /// Run only a part of the sample: those from here on, counted from 0.
    #[arg(long, default_value_t = 0)]
    from: usize,
    /// And up to here, which is not included.
    #[arg(long)]
    to: Option<usize>,
    /// Run the tests over all worker counts and strategies, not over two workers and one strategy.
    #[arg(long)]
    full: bool,
    /// Run only the mutants that the previous run did not notice.
    #[arg(long)]
    missed: bool,
    /// How many mutants to test at a time. Most tests wait more than they compute.
    #[arg(long, default_value = "1")]
    jobs: String,
    /// Only print the sample.
    #[arg(long)]
    list: bool,
}

/// How long the tests of one mutant may take: three times as long as without a mutant, but at least
/// 30 seconds. A mutant that hangs counts as noticed.
const LIMITS: [&str; 4] = ["--timeout-multiplier", "3", "--minimum-test-timeout", "30"];

/// Code that the tests of this machine do not build: for other processors, for tools and for the
/// model checker.
const NOT_BUILT: [&str; 7] =
    ["/arch/aarch64.rs", "/sanitizer/", "/valgrind/", "/model", "_model.rs:", "_loom.rs:", "/queue/twin.rs:"];

/// Test code in `src`. `cargo mutants` leaves out modules under `#[cfg(test)]`, but not those under
/// a longer condition such as `all(test, not(loom))`.
const TEST_CODE: [&str; 4] = ["/tests.rs:", "/tests/", "_tests.rs:", "/pool/nodes.rs:"];

/// Chooses the mutants, and runs them. Survivors are a failure.
pub(crate) fn run(context: &Context, sample: &Sample) -> Result {
    let listed = Exec::cargo(context, &["mutants", "--list", "--package", &sample.package]).read().map_err(
        |error| Failure::new(format!("{error}: `cargo install cargo-mutants --locked` installs it")),
    )?;
    let mut names: Vec<&str> = listed.lines().filter(|line| is_tested(line)).collect();
    names.sort_unstable();
    shuffle(&mut names, sample.seed);
    names.truncate(sample.size);
    let to = sample.to.unwrap_or(names.len()).min(names.len());
    let part = names.get(sample.from..to).unwrap_or_default();
    let directory = context.target.join("mutants").join(&sample.package);
    std::fs::create_dir_all(&directory).while_doing("making room for the outcome")?;
    std::fs::write(directory.join("sample.txt"), names.join("\n") + "\n")
        .while_doing("recording the sample")?;
    if sample.list || part.is_empty() {
        part.iter().for_each(|name| println!("{name}"));
        return Ok(());
    }
    let config = directory.join("config.toml");
    let chosen: Vec<_> = part.iter().map(|name| format!("{:?}", exactly(name))).collect();
    std::fs::write(&config, format!("examine_re = [{}]\n", chosen.join(",\n")))
        .while_doing("choosing mutants")?;
    let mut command = Exec::cargo(context, &["mutants", "--package", &sample.package])
        .args(LIMITS)
        .args(["--jobs", &sample.jobs, "--no-shuffle", "--config"])
        .args([&config])
        .args(["--output"])
        .args([&directory])
        .env("CARGO_PROFILE_DEV_DEBUG", "line-tables-only");
    if sample.missed {
        command = command.args(["--iterate"]);
    }
    if !sample.full {
        command = command.env("SINEW_TEST_WORKERS", "2").env("SINEW_TEST_STRATEGY", "local");
    }
    command.args(["--", "--lib", "--tests"]).run()
}

/// Returns whether a line names a mutant of code that is built, and is not a test itself.
fn is_tested(line: &str) -> bool {
    let is_in = |paths: &[&str]| paths.iter().any(|path| line.contains(path));
    !line.is_empty() && !is_in(&NOT_BUILT) && !is_in(&TEST_CODE)
}

/// Shuffles the names (Fisher and Yates), with the same result for a seed on every machine.
fn shuffle(names: &mut [&str], seed: u64) {
    let mut state = seed;
    for last in (1..names.len()).rev() {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut bits = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        names.swap(last, ((bits ^ (bits >> 31)) % (last as u64 + 1)) as usize);
    }
}

/// Returns a regular expression that matches this text and nothing else.
fn exactly(name: &str) -> String {
    let escape = |c: char| match r"\.+*?()|[]{}^$#&-~".contains(c) {
        true => format!("\\{c}"),
        false => c.to_string(),
    };
    format!("^{}$", name.chars().map(escape).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::{exactly, is_tested, shuffle};

    #[test]
    fn a_seed_chooses_the_same_each_time_and_another_seed_others() {
        let chosen = |seed| {
            let mut names = ["a", "b", "c", "d", "e", "f", "g", "h"];
            shuffle(&mut names, seed);
            names
        };
        assert_eq!(chosen(21), chosen(21));
        assert_ne!(chosen(21), chosen(22));
        let mut sorted = chosen(21);
        sorted.sort_unstable();
        assert_eq!(sorted, ["a", "b", "c", "d", "e", "f", "g", "h"], "nothing is lost");
    }

    #[test]
    fn test_code_and_code_that_is_not_built_are_left_out() {
        for path in ["worker/find.rs", "pool/mod.rs", "queue/shared.rs", "idle/mod.rs"] {
            assert!(is_tested(&format!("crates/sinew-sched/src/{path}:1:1: replace f with ()")));
        }
        for path in ["model/deque.rs", "queue/twin.rs", "pool/nodes.rs", "worker/tests/stock.rs", "tests.rs"]
        {
            assert!(!is_tested(&format!("crates/sinew-sched/src/{path}:1:1: replace f with ()")), "{path}");
        }
        assert!(!is_tested("crates/sinew/src/phase_tests.rs:1:1: replace f with ()"));
        assert!(!is_tested("crates/sinew/src/rt/wait/bell_loom.rs:1:1: replace f with ()"));
        assert!(!is_tested(""));
    }

    #[test]
    fn special_characters_of_expressions_are_escaped() {
        assert_eq!(exactly("a.rs:1: f -> &'a T"), r"^a\.rs:1: f \-> \&'a T$");
    }
}
