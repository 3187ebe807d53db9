//! `list`: shows what can be measured, and with which peers on this machine.

use crate::panel;
use crate::peers;
use crate::table::Table;
use crate::workloads::{self, Metric, Workload};

/// Returns a table of the workloads with their metrics, then one of the peers.
pub(crate) fn text() -> String {
    let workloads: String = workloads::ALL.iter().map(|workload| workload_text(workload)).collect();
    format!("Workloads\n{workloads}\nPeers\n{}", peers_text())
}

fn workload_text(workload: &Workload) -> String {
    let threads = match workload.default_threads() {
        &[threads] => panel::threads(threads),
        _ => "1 and 2 threads".to_owned(),
    };
    let metrics: Vec<_> = workload.metrics.iter().map(metric_text).collect();
    let peers: Vec<_> = workload.all_entries().map(|entry| entry.peer.name).collect();
    format!(
        "  {}: {}, {threads}\n    metrics: {}\n    peers: {}\n",
        workload.name,
        workload.what,
        metrics.join(", "),
        peers.join(", ")
    )
}

fn metric_text(metric: &Metric) -> String {
    let better = if metric.lower_is_better { "lower" } else { "higher" };
    format!("{} ({}, {better} is better)", metric.name, metric.unit)
}

fn peers_text() -> String {
    let mut table = Table::new(&["name", "what", "here"], &[]);
    for peer in peers::ALL {
        let here = peer.available().unwrap_or_else(|missing| format!("not available: {missing}"));
        table.push(vec![peer.name.to_owned(), peer.what.to_owned(), here]);
    }
    table.text()
}
