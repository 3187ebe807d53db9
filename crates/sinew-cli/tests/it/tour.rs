//! The tour: whole, in parts, on a terminal, as JSON, interrupted, and with a check that fails.

use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::pty::{OnTerminal, without_escapes};
use crate::{command, sinew, text, xml};

/// The chapters, in the order of the tour.
const CHAPTERS: [&str; 11] = [
    "fibers",
    "spawn",
    "nesting",
    "channels",
    "server",
    "timers",
    "stopping",
    "blocking",
    "crashes",
    "coroutines",
    "machine",
];

fn interrupt(child: u32) {
    let pid = Pid::from_raw(child.cast_signed()).expect("a process has a number");
    kill_process(pid, Signal::INT).unwrap();
}

/// Returns the objects that a run with `--json` wrote, one on each line.
fn objects(stdout: &[u8]) -> Vec<Value> {
    text(stdout).lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

#[test]
fn it_passes_as_a_whole_and_ends_with_a_table_and_a_chart() {
    let output = sinew(&["--quick"]);
    let words = text(&output.stdout);
    assert!(output.status.success(), "{words}");
    assert!(!words.contains('\x1b') && !words.contains('\r'), "no colours and no bars in a pipe: {words:?}");
    assert!(words.contains("11 chapters, every check passed"), "{words}");
    assert!(words.contains("Summary") && words.contains("██"), "{words}");
    let (_, summary) = words.split_once("Summary").unwrap();
    for name in CHAPTERS {
        assert!(summary.contains(&format!("\n  {name} ")), "{name} is missing in {summary}");
    }
    assert_eq!(words.matches("docs/guide/").count(), CHAPTERS.len());
    assert!(words.contains("fiber 'order 42'") && words.contains("fiber 'parser 7'"), "{words}");
}

#[test]
fn as_json_it_writes_an_object_for_each_chapter_and_nothing_else() {
    let picture = std::env::temp_dir().join(format!("sinew-tour-{}.svg", std::process::id()));
    let output = sinew(&["--quick", "--json", "--svg", picture.to_str().unwrap()]);
    let svg = std::fs::read_to_string(&picture);
    // Removed before the assertions, any of which may fail.
    let _ = std::fs::remove_file(&picture);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let objects = objects(&output.stdout);
    assert_eq!(
        objects.iter().map(|object| object["chapter"].as_str().unwrap()).collect::<Vec<_>>(),
        CHAPTERS
    );
    for object in &objects {
        assert!(object["passed"] == true && object["error"].is_null(), "{object}");
        assert!(object["guide"].as_str().unwrap().starts_with("docs/guide/"), "{object}");
        assert!(!object["result"].as_str().unwrap().is_empty(), "{object}");
        let measures = object["measures"].as_array().unwrap();
        assert!(
            !measures.is_empty() && measures.iter().all(|measure| measure["value"].is_number()),
            "{object}"
        );
    }
    let svg = svg.unwrap();
    let elements = xml::elements(&svg).unwrap();
    let times = objects.iter().flat_map(|object| object["measures"].as_array().unwrap());
    let times = times.filter(|measure| measure["unit"] == "seconds").count();
    assert_eq!(elements[0], "svg");
    assert_eq!(
        elements.iter().filter(|name| *name == "rect").count(),
        times + 1,
        "a bar for each, and the ground"
    );
}

#[test]
fn it_lists_its_chapters() {
    let output = sinew(&["--list"]);
    let words = text(&output.stdout);
    let names: Vec<_> = words.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(names, CHAPTERS);
    let listed = objects(&sinew(&["--list", "--json", "--chapter", "server"]).stdout);
    assert_eq!((listed.len(), &listed[0]["chapter"]), (1, &Value::from("server")));
}

#[test]
fn each_chapter_points_to_a_page_of_the_guide() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for object in objects(&sinew(&["--list", "--json"]).stdout) {
        let page = object["guide"].as_str().unwrap();
        assert!(root.join(page).is_file(), "{page}");
    }
}

#[test]
fn an_unknown_chapter_is_refused_with_the_list() {
    let output = sinew(&["--chapter", "cooking"]);
    let words = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2));
    assert!(CHAPTERS.iter().all(|name| words.contains(name)), "{words}");
}

#[test]
fn chapters_can_be_chosen_and_are_shown_once() {
    let output =
        sinew(&["--quick", "--json", "--chapter=machine", "--chapter=coroutines", "--chapter=machine"]);
    let objects = objects(&output.stdout);
    let names: Vec<_> = objects.iter().map(|object| object["chapter"].as_str().unwrap()).collect();
    assert_eq!(names, ["coroutines", "machine"]);
}

#[test]
fn a_check_that_fails_ends_it_with_1_and_is_named() {
    let run = |arguments: &[&str]| command(arguments).env("SINEW_TOUR_FAIL", "coroutines").output().unwrap();
    let arguments = ["--quick", "--chapter=coroutines", "--chapter=machine"];
    let output = run(&arguments);
    let words = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{words}");
    assert!(words.contains("FAIL SINEW_TOUR_FAIL asks for this failure"), "{words}");
    assert!(words.lines().last().unwrap().ends_with("Failed: coroutines"), "{words}");

    let output = run(&[&arguments[..], &["--json"]].concat());
    let objects = objects(&output.stdout);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!([&objects[0]["passed"], &objects[1]["passed"]], [false, true]);
    assert!(objects[0]["error"].as_str().unwrap().contains("SINEW_TOUR_FAIL"), "{}", objects[0]);
}

#[test]
fn few_descriptors_make_the_server_smaller() {
    let script = "ulimit -n 100; exec \"$0\" --quick --json --chapter server";
    let output = Command::new("sh").args(["-c", script, env!("CARGO_BIN_EXE_sinew")]).output().unwrap();
    let objects = objects(&output.stdout);
    assert!(output.status.success(), "{objects:?} {}", text(&output.stderr));
    let connections = objects[0]["measures"][0]["value"].as_f64().unwrap();
    assert!((1.0..100.0).contains(&connections), "{objects:?}");
    assert!(objects[0]["notes"].to_string().contains("ulimit -n"), "{objects:?}");
}

#[test]
fn a_picture_that_cannot_be_written_is_reported_at_once() {
    let output = sinew(&["--svg", "/no/such/directory/picture.svg"]);
    assert_eq!((output.status.code(), &*text(&output.stdout)), (Some(1), ""));
    assert!(text(&output.stderr).contains("cannot write /no/such/directory/picture.svg"));
}

#[test]
fn an_interrupt_ends_it_with_130() {
    let mut child = command(&[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut first = [0; 1];
    child.stdout.as_mut().unwrap().read_exact(&mut first).unwrap();
    interrupt(child.id());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*text(&output.stderr)), (Some(130), "interrupted\n"));
}

#[test]
fn an_interrupt_takes_the_bar_away() {
    let mut tour = OnTerminal::start(command(&["--chapter=nesting"]), 80);
    tour.read_until("━");
    interrupt(tour.child.id());
    let (status, words) = tour.end();
    assert_eq!(status.code(), Some(130), "{words}");
    let (_, after) = words.rsplit_once(['━', '╸', '─', '%']).unwrap();
    assert!(after.contains("\x1b[2K"), "the line of the bar was cleared: {after:?}");
    assert!(after.contains("\x1b[?25h") && after.ends_with("interrupted\r\n"), "{after:?}");
}

#[test]
fn on_a_narrow_terminal_no_line_is_too_long() {
    let (status, words) = OnTerminal::start(command(&["--quick"]), 40).end();
    assert!(status.success(), "{words}");
    assert!(words.contains("\x1b[1m") && words.contains('━'), "a terminal has colours and bars: {words:?}");
    let words = without_escapes(&words);
    for line in words.split(['\n', '\r']) {
        // What a terminal echoes of two interrupts must not begin a line after the
        // bar's.
        let most = if line.ends_with('%') { 40 - "^C^C".len() } else { 40 };
        assert!(line.chars().count() <= most, "{line:?} in {words}");
    }
    let one_line = words.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains("11 chapters, every check passed"), "{words}");
}

#[test]
fn without_colours_a_terminal_has_neither_colours_nor_bars() {
    for (variable, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        // Set by the shell, since the terminal's own settings would replace it.
        let mut shell = Command::new("sh");
        let script = format!("{variable}={value} exec \"$0\" --quick --chapter coroutines");
        shell.args(["-c", &script, env!("CARGO_BIN_EXE_sinew")]);
        let (status, words) = OnTerminal::start(shell, 80).end();
        assert!(status.success() && !words.contains('\x1b'), "{variable}: {words:?}");
    }
}
