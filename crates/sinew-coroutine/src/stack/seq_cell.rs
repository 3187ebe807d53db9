//! A few words that one writer changes now and then, and that a signal handler reads whole or not
//! at all. Knows no stack.
//!
//! # The protocol
//!
//! This is a sequence lock whose reader never waits. The version is odd while the words change.
//!
//! | side | steps |
//! | --- | --- |
//! | writer, one at a time | makes the version odd; release fence; writes the words; makes it even (release) |
//! | reader | reads the version (acquire); reads the words; acquire fence; reads it again |
//!
//! A reader accepts the words if the version was even and the same both times. Then the words
//! belong together. If the reader had read a word of a later change, its fence would pair with the
//! writer's fence before that word, and its second read of the version would return the odd version
//! or a later one. The model below fails if either fence is removed.

use crate::sync::{AtomicUsize, Ordering, fence};

/// Words that are read whole or not at all.
pub(super) struct SeqCell<const N: usize> {
    version: AtomicUsize,
    words: [AtomicUsize; N],
}

impl<const N: usize> SeqCell<N> {
    pub(super) fn new(words: [usize; N]) -> Self {
        Self { version: AtomicUsize::new(0), words: words.map(AtomicUsize::new) }
    }

    /// Changes the words. The caller ensures that there is one writer at a time.
    pub(super) fn write(&self, words: [usize; N]) {
        let version = self.version.load(Ordering::Relaxed);
        self.version.store(version.wrapping_add(1), Ordering::Relaxed);
        // Pairs with the fence in `read`: a reader that sees a word written below also sees the odd
        // version.
        fence(Ordering::Release);
        for (slot, word) in self.words.iter().zip(words) {
            slot.store(word, Ordering::Relaxed);
        }
        // Pairs with the first load in `read`: a reader that sees this version also sees the words
        // above.
        self.version.store(version.wrapping_add(2), Ordering::Release);
    }

    /// Returns the words, or `None` while they are changing.
    pub(super) fn read(&self) -> Option<[usize; N]> {
        let version = self.version.load(Ordering::Acquire);
        let words = std::array::from_fn(|index| self.words[index].load(Ordering::Relaxed));
        // Pairs with the fence in `write`.
        fence(Ordering::Acquire);
        let settled = version.is_multiple_of(2) && self.version.load(Ordering::Relaxed) == version;
        settled.then_some(words)
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A signal handler that interrupts the writer finds the cell in this state.
    #[test]
    fn words_that_are_changing_are_not_read() {
        let cell = SeqCell::new([1, 1]);
        assert_eq!(cell.read(), Some([1, 1]));
        cell.version.store(1, Ordering::Relaxed);
        assert_eq!(cell.read(), None);
        cell.version.store(2, Ordering::Relaxed);
        assert_eq!(cell.read(), Some([1, 1]));
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::SeqCell;
    use loom::sync::Arc;

    #[test]
    fn a_reader_sees_all_words_of_one_change_or_none() {
        loom::model(|| {
            let cell = Arc::new(SeqCell::new([1, 1]));
            let writer = {
                let cell = cell.clone();
                loom::thread::spawn(move || {
                    cell.write([2, 2]);
                    cell.write([3, 3]);
                })
            };
            if let Some([one, two]) = cell.read() {
                assert_eq!(one, two, "words of two changes");
            }
            writer.join().expect("the writer ends");
            assert_eq!(cell.read(), Some([3, 3]));
        });
    }
}
