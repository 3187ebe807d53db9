//! The results of a run: one line of JSON for each statistic. Scripts read these lines, so their
//! form must stay.

use crate::stats::Summary;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Fields beyond the fixed ones: what deviates from the defaults.
pub(crate) type Extra = BTreeMap<String, Value>;

/// The extra field that labels figures that are not for quoting.
pub(crate) const QUICK: &str = "quick";

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Record {
    peer: String,
    workload: String,
    threads: usize,
    metric: String,
    stat: Stat,
    value: f64,
    n: usize,
    #[serde(flatten)]
    extra: Extra,
}

/// Which statistic a line holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Stat {
    Median,
    Min,
    Max,
}

/// What a figure measures: its identity when two runs are compared.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    /// Name of the workload.
    pub(crate) workload: String,
    /// Name of the peer.
    pub(crate) peer: String,
    /// Number of threads.
    pub(crate) threads: usize,
    /// Name of the metric.
    pub(crate) metric: String,
    /// What deviates from the defaults.
    pub(crate) extra: Extra,
}

impl Key {
    /// Returns whether the figure comes from a quick run.
    pub(crate) fn is_quick(&self) -> bool {
        self.extra.get(QUICK) == Some(&Value::Bool(true))
    }

    /// Returns the deviations for people, such as `stack_kib=64`. The label of quick figures is
    /// shown elsewhere.
    pub(crate) fn deviations(&self) -> String {
        let shown = self.extra.iter().filter(|(name, _)| *name != QUICK);
        let words: Vec<_> = shown.map(|(name, value)| format!("{name}={}", plain(value))).collect();
        words.join(" ")
    }
}

/// Returns a value without the quotation marks of JSON.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The statistics of one metric together: three lines of a file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    /// What it measures.
    pub(crate) key: Key,
    /// The measured values.
    pub(crate) summary: Summary,
}

/// Returns the lines of these figures, each with its end of line.
pub(crate) fn lines(figures: &[Figure]) -> String {
    let records =
        figures.iter().flat_map(|figure| [Stat::Median, Stat::Min, Stat::Max].map(|stat| (figure, stat)));
    records.map(|(figure, stat)| line(figure, stat)).collect()
}

fn line(figure: &Figure, stat: Stat) -> String {
    let Figure { key, summary } = figure.clone();
    let value = match stat {
        Stat::Median => summary.median,
        Stat::Min => summary.min,
        Stat::Max => summary.max,
    };
    let record = Record {
        peer: key.peer,
        workload: key.workload,
        threads: key.threads,
        metric: key.metric,
        stat,
        value: rounded(value),
        n: summary.n,
        extra: key.extra,
    };
    serde_json::to_string(&record).expect("a record has only string keys") + "\n"
}

/// Rounds to six significant digits: more than any measurement here supports, and readable.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

/// Reads a file of lines.
pub(crate) fn read(path: &Path) -> Result<Vec<Figure>, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&text).map_err(|problem| format!("{}: {problem}", path.display()))
}

/// Combines lines into figures, in the order of their first lines.
pub(crate) fn parse(text: &str) -> Result<Vec<Figure>, String> {
    let mut figures: Vec<(Key, [Option<f64>; 3], usize)> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let record: Record =
            serde_json::from_str(line).map_err(|error| format!("line {}: {error}", number + 1))?;
        let Record { peer, workload, threads, metric, stat, value, n, extra } = record;
        let key = Key { workload, peer, threads, metric, extra };
        let position = figures.iter().position(|(known, ..)| *known == key).unwrap_or_else(|| {
            figures.push((key, [None; 3], n));
            figures.len() - 1
        });
        figures[position].1[stat as usize] = Some(value);
    }
    figures.into_iter().map(|(key, stats, n)| figure(key, stats, n)).collect()
}

fn figure(key: Key, stats: [Option<f64>; 3], n: usize) -> Result<Figure, String> {
    let [Some(median), Some(min), Some(max)] = stats else {
        return Err(format!(
            "{} with {}: {} lacks its median, min or max",
            key.workload, key.peer, key.metric
        ));
    };
    Ok(Figure { key, summary: Summary { median, min, max, n } })
}

/// Figures for tests.
#[cfg(test)]
pub(crate) fn sample(peer: &str, median: f64, [min, max]: [f64; 2]) -> Figure {
    let key = Key {
        workload: "switch".to_owned(),
        peer: peer.to_owned(),
        threads: 1,
        metric: "ns".to_owned(),
        extra: Extra::new(),
    };
    Figure { key, summary: Summary { median, min, max, n: 7 } }
}

#[cfg(test)]
mod tests {
    use super::{QUICK, lines, parse, sample};

    #[test]
    fn a_line_has_the_shape_that_scripts_read() {
        let figure = sample("sinew", 7.9, [7.5, 8.25]);
        let expected = [
            r#"{"peer":"sinew","workload":"switch","threads":1,"metric":"ns","stat":"median","value":7.9,"n":7}"#,
            r#"{"peer":"sinew","workload":"switch","threads":1,"metric":"ns","stat":"min","value":7.5,"n":7}"#,
            r#"{"peer":"sinew","workload":"switch","threads":1,"metric":"ns","stat":"max","value":8.25,"n":7}"#,
        ];
        assert_eq!(lines(&[figure]).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn deviations_are_further_fields() {
        let mut figure = sample("java", 1.0, [1.0, 1.0]);
        figure.key.extra.insert(QUICK.to_owned(), true.into());
        figure.key.extra.insert("api".to_owned(), "internal".into());
        let text = lines(&[figure.clone()]);
        assert!(text.contains(r#""n":7,"api":"internal","quick":true}"#), "{text}");
        assert!(figure.key.is_quick());
        assert_eq!(figure.key.deviations(), "api=internal");
    }

    #[test]
    fn values_keep_six_digits() {
        let text = lines(&[sample("go", 1.0 / 3.0, [0.0, 123_456_789.0])]);
        assert!(text.contains(r#""value":0.333333,"#) && text.contains(r#""value":123457000.0,"#), "{text}");
    }

    #[test]
    fn lines_read_back_to_the_same_figures() {
        let figures = [sample("sinew", 2.0, [1.0, 3.0]), sample("go", 20.0, [10.0, 30.0])];
        assert_eq!(parse(&lines(&figures)).unwrap(), figures);
    }

    #[test]
    fn a_bad_line_is_named() {
        assert!(parse("\n{}").unwrap_err().starts_with("line 2: "));
        let text = lines(&[sample("sinew", 2.0, [1.0, 3.0])]);
        let first = text.lines().next().unwrap();
        assert!(parse(first).unwrap_err().contains("lacks"));
    }
}
