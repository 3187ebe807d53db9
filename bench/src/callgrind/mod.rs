//! `callgrind`: counts instructions of the hot paths. Unlike times, counts have no noise. Each path
//! runs twice in a child under valgrind, with different numbers of operations. The difference is
//! the cost of the operations alone, without start-up and end.

mod baseline;
mod fibers;

use crate::machine;
use crate::paths;
use crate::peers::{COROSENSEI, SINEW};
use crate::table::Table;
use baseline::{Baseline, Verdict};
pub(crate) use fibers::go;
use std::env;
use std::error::Error;
use std::fs;
use std::process::{Command, Stdio};

/// What to do with the counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Show them.
    Show,
    /// Fail if a path of ours costs more than the baseline allows.
    Check,
    /// Write them as the new baseline.
    Bless,
}

/// Workload and peer of each path of coroutines, and what one operation is.
const COROUTINES: [(&str, &str, &str); 4] = [
    ("switch", SINEW.name, "round trip"),
    ("create", SINEW.name, "life"),
    ("switch", COROSENSEI.name, "round trip"),
    ("create", COROSENSEI.name, "life"),
];

/// One path to count.
struct Path {
    name: String,
    operation: &'static str,
    /// The arguments with which our own program runs the path. The number of operations follows
    /// them.
    arguments: Vec<&'static str>,
    /// Whether the check fails when this path costs more. Paths of peers are not checked.
    is_checked: bool,
}

/// Returns all paths, coroutines first.
fn all_paths() -> Vec<Path> {
    let coroutines = COROUTINES.map(|(workload, peer, operation)| Path {
        name: format!("{workload}/{peer}"),
        operation,
        arguments: vec!["one", workload, peer, "1"],
        is_checked: peer == SINEW.name,
    });
    let fibers = fibers::ALL.iter().map(|path| Path {
        name: format!("fiber/{}", path.name),
        operation: path.operation,
        arguments: vec!["go", path.name],
        is_checked: true,
    });
    coroutines.into_iter().chain(fibers).collect()
}

/// The two numbers of operations. What threads do at the start and the end differs by some ten
/// thousand instructions from run to run. The larger number makes that less than one instruction
/// for each operation.
const ITERATIONS: [u32; 2] = [10_000, 210_000];

/// Returns whether valgrind can be run.
pub(crate) fn is_installed() -> bool {
    let version =
        Command::new("valgrind").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Counts and shows, then checks or blesses. Returns whether the check passed.
pub(crate) fn run(mode: Mode) -> Result<bool, Box<dyn Error>> {
    fs::create_dir_all(paths::callgrind())?;
    let mut counted = Baseline::new(machine::RUSTC);
    let all = all_paths();
    for path in &all {
        eprintln!("counting {}", path.name);
        counted.insert(&path.name, per_operation(path)?);
    }
    let file = paths::callgrind_baseline();
    if mode == Mode::Bless {
        fs::write(&file, counted.text())?;
        println!("{}", show(&all, &counted, &counted));
        return Ok(true);
    }
    let blessed = match fs::read_to_string(&file) {
        Ok(text) => Baseline::parse(&text)?,
        Err(_) => Baseline::new("none"),
    };
    println!("{}", show(&all, &counted, &blessed));
    Ok(judge(&all, &counted, &blessed) || mode == Mode::Show)
}

fn show(all: &[Path], counted: &Baseline, blessed: &Baseline) -> String {
    let mut table = Table::new(&["path", "operation"], &["instructions", "baseline"]);
    for Path { name, operation, .. } in all {
        let shown =
            |counts: &Baseline| counts.get(name).map_or_else(|| "–".to_owned(), |n| format!("{n:.2}"));
        table.push(vec![name.clone(), (*operation).to_owned(), shown(counted), shown(blessed)]);
    }
    table.text()
}

/// Prints how our paths compare with the baseline. Returns false if a path costs more with the same
/// compiler, or has no baseline.
fn judge(all: &[Path], counted: &Baseline, blessed: &Baseline) -> bool {
    let mut passed = true;
    let same_compiler = counted.rustc() == blessed.rustc();
    if !same_compiler {
        println!(
            "The baseline is of {}, this is {}: for information only.",
            blessed.rustc(),
            counted.rustc()
        );
    }
    for Path { name: path, .. } in all.iter().filter(|path| path.is_checked) {
        let verdict = blessed.verdict(path, counted.get(path).unwrap_or(f64::NAN));
        match verdict {
            Verdict::Same => {}
            Verdict::Cheaper => {
                println!("{path} costs less than the baseline: keep that with `callgrind --bless`.")
            }
            Verdict::Dearer => println!("{path} costs more than the baseline."),
            Verdict::Unknown => println!("{path} is not in the baseline: add it with `callgrind --bless`."),
        }
        passed &= !same_compiler || matches!(verdict, Verdict::Same | Verdict::Cheaper);
    }
    passed
}

/// Returns the instructions of one operation.
fn per_operation(path: &Path) -> Result<f64, Box<dyn Error>> {
    let [few, many] = ITERATIONS;
    let fewer = count(path, few)?;
    let more = count(path, many)?;
    Ok((more as f64 - fewer as f64) / f64::from(many - few))
}

/// Returns the instructions of a whole child that does `iterations` operations.
fn count(path: &Path, iterations: u32) -> Result<u64, Box<dyn Error>> {
    let profile = paths::callgrind().join(format!("{}.{iterations}.out", path.name.replace('/', ".")));
    let mut command = Command::new("valgrind");
    // valgrind gives threads their turns in order: a worker does not spin while the main thread
    // waits to run.
    command
        .args(["--tool=callgrind", "--quiet", "--fair-sched=yes"])
        .arg(format!("--callgrind-out-file={}", profile.display()));
    command.arg(env::current_exe()?).args(&path.arguments).arg(format!("iterations={iterations}"));
    let output = command.output()?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("valgrind ended with {}\n{stderr}", output.status).into());
    }
    let text = fs::read_to_string(&profile)?;
    total(&text).ok_or_else(|| format!("{}: no total in it", profile.display()).into())
}

/// Returns the total of a profile.
fn total(profile: &str) -> Option<u64> {
    let line = profile.lines().find_map(|line| line.strip_prefix("totals:"))?;
    line.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Baseline, all_paths, total};

    /// Judges these counts alone.
    fn judge(counted: &Baseline, blessed: &Baseline) -> bool {
        let mut all = all_paths();
        all.retain(|path| ["switch/sinew", "create/sinew"].contains(&path.name.as_str()));
        super::judge(&all, counted, blessed)
    }

    #[test]
    fn the_total_is_read() {
        assert_eq!(total("version: 1\nsummary: 7\n\ntotals: 12345\n"), Some(12345));
        assert_eq!(total("version: 1\n"), None);
    }

    fn counts(rustc: &str, switch: f64) -> Baseline {
        let mut counts = Baseline::new(rustc);
        counts.insert("switch/sinew", switch);
        counts.insert("create/sinew", 50.0);
        counts
    }

    #[test]
    fn only_the_same_compiler_can_fail() {
        let blessed = counts("rustc 1", 20.0);
        assert!(judge(&counts("rustc 1", 20.0), &blessed));
        assert!(judge(&counts("rustc 1", 10.0), &blessed));
        assert!(!judge(&counts("rustc 1", 30.0), &blessed));
        assert!(judge(&counts("rustc 2", 30.0), &blessed));
    }

    #[test]
    fn a_path_without_baseline_fails() {
        assert!(!judge(&counts("rustc 1", 20.0), &Baseline::new("rustc 1")));
    }
}
