//! Compares figures side by side, ours among them. The table of a run and the plots of a report
//! both show panels.

use crate::peers::SINEW;
use crate::record::Figure;
use crate::stats::ratio;
use crate::table::{Table, number};
use crate::workloads;

/// One metric of one workload with one number of threads, the best peer first.
pub(crate) struct Panel<'a> {
    /// What the figures measure, with the unit.
    pub(crate) title: String,
    /// What one operation is; empty for a workload that is not in this program.
    pub(crate) what: &'static str,
    /// One for each peer.
    pub(crate) figures: Vec<&'a Figure>,
    lower_is_better: bool,
}

/// Sorts figures into panels, in the order of their first appearance.
pub(crate) fn panels(figures: &[Figure]) -> Vec<Panel<'_>> {
    let mut groups: Vec<Vec<&Figure>> = Vec::new();
    for figure in figures {
        match groups.iter_mut().find(|group| is_beside(group[0], figure)) {
            Some(group) => group.push(figure),
            None => groups.push(vec![figure]),
        }
    }
    groups.into_iter().map(Panel::new).collect()
}

fn is_beside(one: &Figure, other: &Figure) -> bool {
    let of = |figure: &Figure| (figure.key.threads, figure.key.is_quick());
    one.key.workload == other.key.workload && one.key.metric == other.key.metric && of(one) == of(other)
}

impl<'a> Panel<'a> {
    fn new(mut figures: Vec<&'a Figure>) -> Self {
        let key = &figures[0].key;
        let workload = workloads::find(&key.workload);
        let metric = workload.and_then(|workload| workload.metric(&key.metric));
        let unit = metric.map_or(key.metric.as_str(), |metric| metric.unit);
        let lower_is_better = metric.is_none_or(|metric| metric.lower_is_better);
        let better = if lower_is_better { "lower is better" } else { "higher is better" };
        let quick = if key.is_quick() { ", QUICK: not for quoting" } else { "" };
        let title = format!("{}, {}: {unit} ({better}{quick})", key.workload, threads(key.threads));
        figures.sort_by(|a, b| a.summary.median.total_cmp(&b.summary.median));
        if !lower_is_better {
            figures.reverse();
        }
        Self { title, what: workload.map_or("", |workload| workload.what), figures, lower_is_better }
    }

    /// Returns our figure, if there is one.
    pub(crate) fn sinew(&self) -> Option<&'a Figure> {
        self.figures.iter().copied().find(|figure| figure.key.peer == SINEW.name)
    }

    /// Returns whether the metric is its workload's headline.
    pub(crate) fn is_headline(&self) -> bool {
        let key = &self.figures[0].key;
        workloads::find(&key.workload).is_some_and(|workload| workload.metrics[0].name == key.metric)
    }

    /// Returns whether fewer are better.
    pub(crate) fn is_lower_better(&self) -> bool {
        self.lower_is_better
    }

    /// Returns the best figure of the peers.
    fn best_peer(&self) -> Option<&'a Figure> {
        self.figures.iter().copied().find(|figure| !is_ours(&figure.key.peer))
    }

    /// Returns a table of all figures, with their ratios to ours.
    fn table(&self) -> Table {
        let mut table = Table::new(&["peer"], &["median", "min – max", "n", "÷ sinew"]);
        for figure in &self.figures {
            let summary = figure.summary;
            let ratio = self.sinew().and_then(|sinew| ratio(summary.median, sinew.summary.median));
            table.push(vec![
                figure.key.peer.clone(),
                number(summary.median),
                range(figure),
                summary.n.to_string(),
                ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.2}")),
            ]);
        }
        table
    }

    /// Returns a sentence that compares our figure with the best of the peers.
    pub(crate) fn verdict(&self) -> Option<String> {
        let (sinew, best) = (self.sinew()?, self.best_peer()?);
        let ratio = ratio(sinew.summary.median, best.summary.median)?;
        let ahead = (ratio < 1.0) == self.lower_is_better;
        let word = if ahead { "ahead of" } else { "behind" };
        Some(format!("sinew is {ratio:.2} × the best peer, {} ({word} it)", best.key.peer))
    }

    /// Returns what deviates from the defaults, a line for each peer that does.
    pub(crate) fn deviations(&self) -> Vec<String> {
        let deviating = self.figures.iter().filter(|figure| !figure.key.deviations().is_empty());
        deviating.map(|figure| format!("{} deviates: {}", figure.key.peer, figure.key.deviations())).collect()
    }

    /// Returns title, table and remarks for a terminal.
    pub(crate) fn text(&self) -> String {
        let remarks = self.deviations().into_iter().chain(self.verdict());
        let remarks: String = remarks.map(|remark| format!("  {remark}\n")).collect();
        format!("{}\n{}{remarks}\n", self.title, self.table().text())
    }
}

/// Returns the range of the repetitions, for people.
pub(crate) fn range(figure: &Figure) -> String {
    format!("{} – {}", number(figure.summary.min), number(figure.summary.max))
}

/// Returns a number of threads, for people.
pub(crate) fn threads(count: usize) -> String {
    if count == 1 { "1 thread".to_owned() } else { format!("{count} threads") }
}

/// Returns whether a peer's name is ours, in any variant.
pub(crate) fn is_ours(peer: &str) -> bool {
    peer.strip_prefix(SINEW.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

#[cfg(test)]
mod tests {
    use super::{is_ours, panels};
    use crate::record::sample;

    #[test]
    fn the_best_comes_first_and_ratios_are_to_ours() {
        let figures = [
            sample("go", 6.0, [5.0, 7.0]),
            sample("sinew", 2.0, [1.0, 3.0]),
            sample("boost", 4.0, [3.0, 5.0]),
        ];
        let panels = panels(&figures);
        let peers: Vec<_> = panels[0].figures.iter().map(|figure| figure.key.peer.as_str()).collect();
        assert_eq!(peers, ["sinew", "boost", "go"]);
        let text = panels[0].text();
        assert!(text.contains("switch, 1 thread: ns one way (lower is better)"), "{text}");
        assert!(text.contains("5.00 – 7.00  7     3.00\n"), "{text}");
        assert!(text.contains("sinew is 0.50 × the best peer, boost (ahead of it)"), "{text}");
    }

    #[test]
    fn quick_figures_stand_apart_and_are_labelled() {
        let mut quick = sample("sinew", 5.0, [5.0, 5.0]);
        quick.key.extra.insert("quick".into(), true.into());
        let figures = [sample("sinew", 2.0, [1.0, 3.0]), quick];
        let panels = panels(&figures);
        assert_eq!(panels.len(), 2);
        assert!(!panels[0].text().contains("QUICK"));
        assert!(panels[1].text().contains("QUICK"));
        assert!(panels[1].verdict().is_none());
    }

    #[test]
    fn deviations_are_remarked() {
        let mut figure = sample("java", 5.0, [5.0, 5.0]);
        figure.key.extra.insert("api".into(), "internal".into());
        assert!(panels(&[figure])[0].text().contains("java deviates: api=internal"));
    }

    #[test]
    fn our_variants_are_ours() {
        assert!(is_ours("sinew") && is_ours("sinew-migrating"));
        assert!(!is_ours("go") && !is_ours("sinewy"));
    }
}
