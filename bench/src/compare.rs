//! `compare`: compares two runs of the same things, before and after. A change counts only if the
//! ranges of the repetitions do not touch. Anything less is noise until it is measured again.

use crate::record::{Figure, Key};
use crate::stats::{Summary, ratio};
use crate::table::{Table, number};
use crate::workloads;

/// How one figure changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Change {
    Better,
    Worse,
    Within,
}

impl Change {
    fn between(before: Summary, after: Summary, lower_is_better: bool) -> Self {
        if before.min <= after.max && after.min <= before.max {
            return Self::Within;
        }
        if (after.median < before.median) == lower_is_better { Self::Better } else { Self::Worse }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "WORSE",
            Self::Within => "~",
        }
    }
}

/// Returns a table of all figures of both runs, and a line of counts.
pub(crate) fn text(before: &[Figure], after: &[Figure]) -> String {
    let mut table =
        Table::new(&["workload", "peer", "threads", "metric", "before", "after", "÷ before", "change"], &[]);
    let mut changes = Vec::new();
    for old in before {
        let new = after.iter().find(|new| new.key == old.key);
        let change = new.map(|new| Change::between(old.summary, new.summary, lower_is_better(&old.key)));
        changes.extend(change);
        table.push(row(&old.key, Some(old.summary), new.map(|new| new.summary), change));
    }
    for new in after.iter().filter(|new| before.iter().all(|old| old.key != new.key)) {
        table.push(row(&new.key, None, Some(new.summary), None));
    }
    table.text() + &verdict(&changes) + quick_note(before, after)
}

fn lower_is_better(key: &Key) -> bool {
    let metric = workloads::find(&key.workload).and_then(|workload| workload.metric(&key.metric));
    metric.is_none_or(|metric| metric.lower_is_better)
}

fn row(key: &Key, before: Option<Summary>, after: Option<Summary>, change: Option<Change>) -> Vec<String> {
    let shown = |summary: Option<Summary>| {
        summary.map_or_else(
            || "–".to_owned(),
            |s| format!("{} [{} – {}]", number(s.median), number(s.min), number(s.max)),
        )
    };
    let ratio = before.zip(after).and_then(|(before, after)| ratio(after.median, before.median));
    let word = match (before, after) {
        (Some(_), None) => "gone",
        (None, Some(_)) => "new",
        _ => change.map_or("", Change::word),
    };
    let peer = format!("{} {}", key.peer, key.deviations()).trim_end().to_owned();
    vec![
        key.workload.clone(),
        peer,
        key.threads.to_string(),
        key.metric.clone(),
        shown(before),
        shown(after),
        ratio.map_or_else(|| "–".to_owned(), |ratio| format!("{ratio:.3}")),
        word.to_owned(),
    ]
}

fn verdict(changes: &[Change]) -> String {
    let count = |change| changes.iter().filter(|&&other| other == change).count();
    let (better, worse, within) = (count(Change::Better), count(Change::Worse), count(Change::Within));
    format!("\n{better} better, {worse} worse, {within} within the range of the repetitions (~)\n")
}

fn quick_note(before: &[Figure], after: &[Figure]) -> &'static str {
    let quick = before.iter().chain(after).any(|figure| figure.key.is_quick());
    if quick { "Some figures are of quick runs: not for quoting.\n" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::text;
    use crate::record::sample;

    /// Returns the row of a peer in the comparison.
    fn row(text: &str, peer: &str) -> String {
        text.lines().find(|line| line.contains(peer)).unwrap_or_default().to_owned()
    }

    #[test]
    fn only_ranges_that_do_not_touch_are_changes() {
        let before = [
            sample("sinew", 2.0, [1.9, 2.1]),
            sample("go", 40.0, [39.0, 42.0]),
            sample("boost", 6.0, [5.5, 6.5]),
        ];
        let after = [
            sample("sinew", 3.0, [2.9, 3.1]),
            sample("go", 30.0, [29.0, 31.0]),
            sample("boost", 5.8, [5.2, 6.1]),
        ];
        let text = text(&before, &after);
        assert!(row(&text, "sinew").ends_with("1.500     WORSE"), "{text}");
        assert!(row(&text, "go").ends_with("better"), "{text}");
        assert!(row(&text, "boost").ends_with('~'), "{text}");
        assert!(text.contains("1 better, 1 worse, 1 within"), "{text}");
        assert!(!text.contains("quick"), "{text}");
    }

    #[test]
    fn figures_of_one_side_are_shown() {
        let mut quick = sample("java", 1.0, [1.0, 1.0]);
        quick.key.extra.insert("quick".into(), true.into());
        let text = text(&[sample("sinew", 2.0, [1.9, 2.1])], &[quick]);
        assert!(row(&text, "sinew").ends_with("gone"), "{text}");
        assert!(row(&text, "java").ends_with("new"), "{text}");
        assert!(text.contains("quick runs"), "{text}");
    }
}
