//! The models: loom runs them through every interleaving and every outcome of weak memory that it
//! can distinguish, within a bound on preemptions.

mod alert;
mod join_state;
mod owner_lock;
mod stop;
mod timer_queue;
mod word;

/// Runs a model, with at most this number of preemptions in an execution.
pub(crate) fn check(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(model);
}

/// Returns a function that pokes the caller from another thread, though the caller has no reason to
/// stop: like a cancel that is meant for a region around a shield.
pub(crate) fn pokes_caller() -> impl FnOnce() + Send + 'static {
    let block = crate::rt::wait::tls::thread_block();
    move || crate::rt::wait::stop::Poke::poke(&block)
}
