//! Sockets of one machine. The same bodies run over std's.

mod datagram;
mod listener;
mod stops;
mod stream;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A path where nothing is. What is made there goes with this.
struct Place(PathBuf);

impl Place {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self(std::env::temp_dir().join(format!("sinew-{}-{number}", std::process::id())))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A name in the abstract namespace that no socket has.
fn name() -> String {
    let place = Place::new();
    place.0.file_name().unwrap().to_str().unwrap().to_owned()
}
