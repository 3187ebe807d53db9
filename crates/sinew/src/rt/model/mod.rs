//! The models: loom runs them through every interleaving and every outcome of weak memory that it can tell apart, within a
//! bound on preemptions.

mod alert;
mod join_state;
mod owner_lock;
mod stop;
mod timer_queue;
mod word;

/// Runs a model, with at most so many preemptions in an execution.
pub(crate) fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// What pokes the caller, by another thread, though there is no reason for it to stop: as a cancel does that is meant for a region around
/// a shield.
pub(crate) fn pokes_caller() -> impl FnOnce() + Send + 'static {
    let block = crate::rt::wait::tls::thread_block();
    move || crate::rt::wait::stop::Poke::poke(&block)
}
