//! Signals of the operating system, received from a channel.
//!
//! Fibers and threads receive signals through a [`channel`](channel()); the signals then have no
//! other effect on the process. [`wait_for_quit_signal`] waits for the signals that ask the process
//! to end.
//!
//! # Ending in good order
//!
//! A service that gets `kill -TERM` or Ctrl-C accepts no more work, completes what it has begun,
//! and returns from `main`:
//!
//! ```
//! use sinew::{channel, fiber, select, signal};
//! use std::time::Duration;
//!
//! fn main() -> std::io::Result<()> {
//!     let (quit, is_over) = channel::bounded::<()>(0);
//!     let server = fiber::spawn(move || {
//!         let ticks = channel::tick(Duration::from_millis(1));
//!         let mut served = 0;
//!         loop {
//!             select! {
//!                 recv(ticks) -> _ => served += 1,
//!                 recv(is_over) -> _ => break served,
//!             }
//!         }
//!     });
//!     # // The signal is sent in a loop, because its sender cannot know when the wait begins. The
//!     # // channel keeps an early signal from ending this process.
//!     # std::mem::forget(signal::channel([signal::Signal::TERMINATE])?);
//!     # let kill = format!("kill -TERM {}", std::process::id());
//!     # std::thread::spawn(move || loop {
//!     #     std::process::Command::new("sh").args(["-c", &kill]).status().unwrap();
//!     # });
//!     let signal = signal::wait_for_quit_signal()?;
//!     println!("{signal}: ending, and at once if it comes again");
//!     drop(quit);
//!     println!("{} times", server.join().unwrap());
//!     Ok(())
//! }
//! ```
//!
//! # Delivery
//!
//! A handler notes that a signal arrived. A thread named `sinew-signals`, which starts with the
//! first channel and never ends, passes the signal on to all channels that receive it. No thread's
//! signal mask is ever changed.
//!
//! A handler that was installed before is called too. It runs in the middle of the interrupted
//! code, and on the thread's alternate stack. Other signals of the thread wait meanwhile, unless it
//! was installed with `SA_NODEFER`. Interrupted system calls are restarted, even if it was
//! installed without `SA_RESTART`. A handler that is installed later gets the signal first; if it
//! does not call this one, channels receive nothing.
//!
//! Signals of one kind that arrive faster than they are received are merged, as the kernel does.
//! This includes real-time signals, which the kernel would queue. Additional data, such as the
//! sender, is not available.
//!
//! Child processes that [`std::process::Command`] starts have the default actions and inherit no
//! descriptor of this module. A plain `fork` is not supported: such a child receives nothing.

#[cfg(not(loom))]
mod before;
#[cfg(not(loom))]
mod channel;
#[cfg(not(loom))]
mod handler;
#[cfg(loom)]
mod model;
mod number;
mod pending;
#[cfg(not(loom))]
mod quit;
#[cfg(not(loom))]
mod registry;
mod set;

#[cfg(not(loom))]
pub use channel::{IntoIter, Signals, channel};
pub use number::Signal;
#[cfg(not(loom))]
pub use quit::wait_for_quit_signal;
