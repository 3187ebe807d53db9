//! The models: loom runs them through every interleaving and every outcome of weak memory that it can tell apart, within a
//! bound on preemptions.

mod alarms;
mod ending;
mod stop;
mod word;

/// Runs a model, with at most so many preemptions in an execution.
pub(crate) fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}
