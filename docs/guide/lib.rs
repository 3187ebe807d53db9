//! The guide's chapters as documentation, so that rustdoc compiles and runs their code blocks. It
//! knows the names of the chapters and not what they say.

#[cfg(doctest)]
#[doc = include_str!("src/introduction.md")]
mod introduction {}
#[cfg(doctest)]
#[doc = include_str!("src/getting-started.md")]
mod getting_started {}
#[cfg(doctest)]
#[doc = include_str!("src/fibers-and-runtimes.md")]
mod fibers_and_runtimes {}
#[cfg(doctest)]
#[doc = include_str!("src/from-threads.md")]
mod from_threads {}
#[cfg(doctest)]
#[doc = include_str!("src/from-tokio.md")]
mod from_tokio {}
#[cfg(doctest)]
#[doc = include_str!("src/from-go.md")]
mod from_go {}
#[cfg(doctest)]
#[doc = include_str!("src/waiting.md")]
mod waiting {}
#[cfg(doctest)]
#[doc = include_str!("src/time.md")]
mod time {}
#[cfg(doctest)]
#[doc = include_str!("src/sockets-and-files.md")]
mod sockets_and_files {}
#[cfg(doctest)]
#[doc = include_str!("src/blocking.md")]
mod blocking {}
#[cfg(doctest)]
#[doc = include_str!("src/stacks.md")]
mod stacks {}
#[cfg(doctest)]
#[doc = include_str!("src/where-fibers-run.md")]
mod where_fibers_run {}
#[cfg(doctest)]
#[doc = include_str!("src/panics-and-shutdown.md")]
mod panics_and_shutdown {}
#[cfg(doctest)]
#[doc = include_str!("src/tuning.md")]
mod tuning {}
#[cfg(doctest)]
#[doc = include_str!("src/inside.md")]
mod inside {}
#[cfg(doctest)]
#[doc = include_str!("src/troubleshooting.md")]
mod troubleshooting {}
#[cfg(doctest)]
#[doc = include_str!("src/faq.md")]
mod faq {}
