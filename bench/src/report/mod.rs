//! `report`: draws a plot for each workload and writes a summary in Markdown, from the lines of
//! earlier runs. It measures nothing.

mod curve;
mod overview;
mod palette;
mod plot;
mod scale;

use crate::panel::{self, Panel};
use crate::paths;
use crate::peers::SINEW;
use crate::record::{self, Figure};
use crate::run;
use crate::stats;
use crate::table::{Table, number};
use scale::Scale;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// Writes plots and summary of these files, or of the last run, into a directory. Returns the paths
/// of what was written.
pub(crate) fn write(files: &[PathBuf], out: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let (figures, machine) = read(files)?;
    if figures.is_empty() {
        return Err("there are no figures to report".into());
    }
    fs::create_dir_all(out)?;
    let mut written = Vec::new();
    for workload in workloads(&figures) {
        let own: Vec<_> = figures.iter().filter(|figure| figure.key.workload == workload).cloned().collect();
        let path = out.join(format!("{workload}.svg"));
        fs::write(&path, plot::svg(&panel::panels(&own), &machine)?)?;
        written.push(path);
        if let Some(curve) = curve::svg(&own, SINEW.name, &machine)? {
            let path = out.join(format!("{workload}-scale.svg"));
            fs::write(&path, curve)?;
            written.push(path);
        }
    }
    if let Some(overview) = overview::svg(&panel::panels(&figures), &machine)? {
        let path = out.join("overview.svg");
        fs::write(&path, overview)?;
        written.push(path);
    }
    let summary = out.join("summary.md");
    fs::write(&summary, markdown(&figures, &machine))?;
    written.push(summary);
    Ok(written)
}

/// Reads the figures, and the line about the machine that made them, which is kept for the last run
/// only.
fn read(files: &[PathBuf]) -> Result<(Vec<Figure>, String), Box<dyn Error>> {
    let results = paths::results();
    if files.is_empty() {
        let figures = record::read(&run::latest(&results))
            .map_err(|problem| format!("cannot read the last run: {problem}"))?;
        let machine = fs::read_to_string(run::latest_machine(&results))?;
        return Ok((figures, machine.trim().to_owned()));
    }
    let mut figures = Vec::new();
    for file in files {
        merge(&mut figures, record::read(file)?);
    }
    let names: Vec<_> =
        files.iter().map(|file| file.file_name().unwrap_or_default().to_string_lossy()).collect();
    Ok((figures, format!("from {}", names.join(", "))))
}

/// Adds figures. A later figure replaces an earlier one with the same key.
fn merge(figures: &mut Vec<Figure>, later: Vec<Figure>) {
    for figure in later {
        match figures.iter_mut().find(|earlier| earlier.key == figure.key) {
            Some(earlier) => *earlier = figure,
            None => figures.push(figure),
        }
    }
}

/// Returns the names of the workloads, each once, in order.
fn workloads(figures: &[Figure]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for figure in figures {
        if !names.contains(&figure.key.workload.as_str()) {
            names.push(&figure.key.workload);
        }
    }
    names
}

fn markdown(figures: &[Figure], machine: &str) -> String {
    let panels = panel::panels(figures);
    let mut text = format!("# Benchmarks\n\n{machine}\n\nMedians; ratios hold inside one run.\n\n");
    text += "## sinew against its peers\n\nEach number is sinew's median divided by the peer's.\n\n";
    text += &ratios(&panels).markdown();
    for workload in workloads(figures) {
        text += &format!("\n## {workload}\n\n![{workload}]({workload}.svg)\n");
        let own = panels.iter().filter(|panel| panel.figures[0].key.workload == workload);
        text += &own.map(section).collect::<String>();
    }
    text
}

/// Returns a panel's part of the summary.
fn section(panel: &Panel<'_>) -> String {
    let remarks = panel.deviations().into_iter().chain(panel.verdict());
    let remarks: String = remarks.map(|remark| format!("\n{remark}.\n")).collect();
    format!("\n### {}\n\n{}{remarks}", panel.title, bars(panel).markdown())
}

/// Returns a row for each panel that has our figure: the ratio to every peer, in which bars are
/// set.
fn ratios(panels: &[Panel<'_>]) -> Table {
    let mut peers: Vec<&str> = Vec::new();
    for figure in panels.iter().flat_map(|panel| &panel.figures) {
        let peer = figure.key.peer.as_str();
        if !panel::is_ours(peer) && !peers.contains(&peer) {
            peers.push(peer);
        }
    }
    let mut headings = vec!["sinew"];
    headings.extend(&peers);
    let mut table = Table::new(&["what"], &headings);
    for (panel, sinew) in panels.iter().filter_map(|panel| Some((panel, panel.sinew()?))) {
        let ratio = |peer: &&str| {
            let other = panel.figures.iter().find(|figure| figure.key.peer == *peer);
            let ratio = other.and_then(|other| stats::ratio(sinew.summary.median, other.summary.median));
            ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}"))
        };
        let mut row = vec![panel.title.clone(), number(sinew.summary.median)];
        row.extend(peers.iter().map(ratio));
        table.push(row);
    }
    table
}

/// Returns the figures of a panel with bars of text, for readers who do not see the plot.
fn bars(panel: &Panel<'_>) -> Table {
    const WIDTH: f64 = 30.0;
    let scale = Scale::of(panel);
    let bar = if scale.is_logarithmic() { "bar (logarithmic)" } else { "bar" };
    let mut table = Table::new(&["peer", bar], &["median", "min – max", "n"]);
    for figure in &panel.figures {
        let length = (scale.place(figure.summary.median) * WIDTH).round() as usize;
        table.push(vec![
            figure.key.peer.clone(),
            "█".repeat(length),
            number(figure.summary.median),
            panel::range(figure),
            figure.summary.n.to_string(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::{markdown, merge, write};
    use crate::record::{lines, sample};
    use std::fs;

    #[test]
    fn plots_and_summary_are_written() {
        let directory = std::env::temp_dir().join(format!("sinew-bench-report-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let file = directory.join("run.json");
        let figures = [sample("sinew", 1.5, [1.4, 1.9]), sample("swapcontext", 240.0, [230.0, 260.0])];
        fs::write(&file, lines(&figures)).unwrap();
        let written = write(&[file], &directory.join("out")).unwrap();
        let names: Vec<_> = written.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["switch.svg", "summary.md"]);
        let svg = fs::read_to_string(&written[0]).unwrap();
        assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"), "{svg}");
        assert!(
            ["sinew", "swapcontext", "ns one way", "from run.json"].iter().all(|word| svg.contains(word)),
            "{svg}"
        );
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn an_overview_shows_all_workloads_of_one_run() {
        let of = |workload: &str, peer: &str, median| {
            let mut figure = sample(peer, median, [median, median]);
            figure.key.workload = workload.to_owned();
            figure.key.metric = "ns".to_owned();
            figure
        };
        let one = [of("yield", "sinew", 10.0), of("yield", "tokio", 40.0)];
        assert!(super::overview::svg(&super::panel::panels(&one), "here").unwrap().is_none());
        let two = [of("spawn_seq", "sinew", 60.0), of("spawn_seq", "go", 300.0)];
        let all = [one, two].concat();
        let svg = super::overview::svg(&super::panel::panels(&all), "here").unwrap().unwrap();
        let words = ["yield, 1 worker", "spawn_seq, 1 worker", "tokio", "here"];
        assert!(words.iter().all(|word| svg.contains(word)), "{svg}");
    }

    #[test]
    fn the_summary_has_the_ratios() {
        let figures = [sample("sinew", 1.5, [1.4, 1.9]), sample("go", 3.0, [2.0, 4.0])];
        let text = markdown(&figures, "some machine");
        assert!(text.contains("| what | sinew | go |"), "{text}");
        assert!(text.contains("| 1.50 | 0.50 |"), "{text}");
        assert!(text.contains("some machine"), "{text}");
    }

    #[test]
    fn of_two_files_the_later_counts() {
        let mut figures = vec![sample("sinew", 1.5, [1.4, 1.9]), sample("go", 3.0, [2.0, 4.0])];
        merge(&mut figures, vec![sample("sinew", 2.5, [2.4, 2.9]), sample("boost", 6.0, [5.0, 7.0])]);
        let medians: Vec<_> = figures.iter().map(|figure| figure.summary.median).collect();
        assert_eq!(medians, [2.5, 3.0, 6.0]);
    }

    #[test]
    fn a_report_without_figures_is_an_error() {
        assert!(write(&["/no/such/file".into()], &std::env::temp_dir()).is_err());
    }
}
