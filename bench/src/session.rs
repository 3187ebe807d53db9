//! Runs a group, its peers in turn (A B C A B C), so that a slow minute of the machine affects all
//! of them. The caller says how to launch a single measurement.

use crate::child::{Failure, Values};
use crate::plan::Group;
use crate::record::{Extra, Figure, Key};
use crate::stats::Summary;
use crate::workloads::{Entry, Workload};

/// The values of one repetition, in the order of the workload's metrics.
pub(crate) type Row = Vec<Option<f64>>;

/// The results of one peer in a group.
pub(crate) struct Outcome {
    /// Which peer.
    pub(crate) entry: &'static Entry,
    /// A row for each repetition, or why there are none.
    pub(crate) rows: Result<Vec<Row>, Failure>,
}

/// Measures each peer `reps` times. A peer that fails is not tried again, and its earlier
/// repetitions are dropped: half a result would look like a whole one.
pub(crate) fn run(
    group: &Group,
    reps: usize,
    mut launch: impl FnMut(&'static Entry) -> Result<Values, Failure>,
) -> Vec<Outcome> {
    let outcome = |entry: &&'static Entry| Outcome { entry, rows: Ok(Vec::new()) };
    let mut outcomes: Vec<_> = group.entries.iter().map(outcome).collect();
    for _ in 0..reps {
        for outcome in &mut outcomes {
            let Ok(rows) = &mut outcome.rows else { continue };
            match launch(outcome.entry).and_then(|values| row(group.workload, &values)) {
                Ok(row) => rows.push(row),
                Err(failure) => outcome.rows = Err(failure),
            }
        }
    }
    outcomes
}

/// Picks the workload's metrics from a child's report. The headline is required; other metrics may
/// be missing for some peers.
fn row(workload: &Workload, values: &Values) -> Result<Row, Failure> {
    let pick = |name: &str| values.iter().find(|(reported, _)| reported == name).map(|&(_, value)| value);
    let row: Row = workload.metrics.iter().map(|metric| pick(metric.name)).collect();
    let headline = workload.metrics[0].name;
    let missing = || Failure::new(format!("the child did not report the metric {headline}"));
    if row[0].is_some() { Ok(row) } else { Err(missing()) }
}

/// Returns the figures of one peer, the headline metric first. `extra` holds what deviates in the
/// whole run.
pub(crate) fn figures(group: &Group, entry: &Entry, rows: &[Row], extra: &Extra) -> Vec<Figure> {
    let mut extra = extra.clone();
    extra.extend(entry.deviations.iter().map(|&(name, value)| (name.to_owned(), value.into())));
    let column = |i: usize| rows.iter().filter_map(|row| row[i]).collect::<Vec<_>>();
    let figure = |(i, metric): (usize, &crate::workloads::Metric)| {
        let key = Key {
            workload: group.workload.name.to_owned(),
            peer: entry.peer.name.to_owned(),
            threads: group.threads,
            metric: metric.name.to_owned(),
            extra: extra.clone(),
        };
        Summary::of(&column(i)).map(|summary| Figure { key, summary })
    };
    group.workload.metrics.iter().enumerate().filter_map(figure).collect()
}

#[cfg(test)]
mod tests {
    use super::{figures, run};
    use crate::child::Failure;
    use crate::plan::{Choice, Group, Plan};
    use crate::record::Extra;

    fn group(peers: &[&str]) -> Group {
        let peers = peers.iter().map(ToString::to_string).collect();
        let choice = Choice { workloads: vec!["switch".into()], peers, threads: Vec::new() };
        Plan::new(&choice, |_| Ok(())).groups.remove(0)
    }

    #[test]
    fn peers_take_turns() {
        let mut order = Vec::new();
        let group = group(&["sinew", "corosensei", "go"]);
        run(&group, 2, |entry| {
            order.push(entry.peer.name);
            Ok(vec![("ns".to_owned(), 1.0)])
        });
        assert_eq!(order, ["sinew", "corosensei", "go", "sinew", "corosensei", "go"]);
    }

    #[test]
    fn a_failure_costs_only_its_own_peer() {
        let mut launched = Vec::new();
        let group = group(&["sinew", "corosensei"]);
        let outcomes = run(&group, 3, |entry| {
            launched.push(entry.peer.name);
            if entry.peer.name == "sinew" && launched.len() > 2 {
                return Err(Failure::new("it broke"));
            }
            Ok(vec![("ns".to_owned(), launched.len() as f64), ("cpu_ms".to_owned(), 9.0)])
        });
        assert_eq!(launched, ["sinew", "corosensei", "sinew", "corosensei", "corosensei"]);
        assert_eq!(outcomes[0].rows.as_ref().unwrap_err().to_string(), "it broke");
        let figures = figures(&group, outcomes[1].entry, outcomes[1].rows.as_ref().unwrap(), &Extra::new());
        assert_eq!(figures.len(), 1);
        assert_eq!((figures[0].summary.median, figures[0].summary.n), (4.0, 3));
    }

    #[test]
    fn a_metric_that_is_missing_is_a_failure() {
        let outcomes = run(&group(&["sinew"]), 1, |_| Ok(vec![("ms".to_owned(), 1.0)]));
        let failure = outcomes[0].rows.as_ref().unwrap_err().to_string();
        assert!(failure.contains("did not report the metric ns"), "{failure}");
    }

    #[test]
    fn deviations_of_run_and_peer_become_fields() {
        let group = group(&["java"]);
        let extra = Extra::from([("quick".to_owned(), true.into())]);
        let figures = figures(&group, group.entries[0], &[vec![Some(1.0)]], &extra);
        let names: Vec<_> = figures[0].key.extra.keys().map(String::as_str).collect();
        assert_eq!(names, ["api", "quick"]);
    }
}
