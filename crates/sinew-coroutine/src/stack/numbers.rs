//! A set of small numbers that allocates only when it is told to make room. Knows no stack.

use std::collections::TryReserveError;

/// A set of numbers, with one bit for each possible number.
#[derive(Default)]
pub(super) struct Numbers(Vec<u64>);

const BITS: usize = u64::BITS as usize;

impl Numbers {
    /// Makes room for the numbers below `end`.
    pub(super) fn make_room(&mut self, end: usize) -> Result<(), TryReserveError> {
        let missing = end.div_ceil(BITS).saturating_sub(self.0.len());
        self.0.try_reserve(missing)?;
        self.0.extend(std::iter::repeat_n(0, missing));
        Ok(())
    }

    /// Adds a number. The caller has made room for it.
    pub(super) fn insert(&mut self, number: usize) {
        self.0[number / BITS] |= 1 << (number % BITS);
    }

    /// Removes a number if the set contains it.
    pub(super) fn remove(&mut self, number: usize) {
        if let Some(word) = self.0.get_mut(number / BITS) {
            *word &= !(1 << (number % BITS));
        }
    }

    /// Returns the lowest number.
    pub(super) fn first(&self) -> Option<usize> {
        self.next(0)
    }

    /// Returns the lowest number that is at least `start`.
    pub(super) fn next(&self, start: usize) -> Option<usize> {
        let (first, below) = (start / BITS, (1 << (start % BITS)) - 1);
        let words = self.0.iter().enumerate().skip(first);
        words
            .map(|(index, word)| (index, if index == first { word & !below } else { *word }))
            .find(|(_, word)| *word != 0)
            .map(|(index, word)| index * BITS + word.trailing_zeros() as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(numbers: &Numbers) -> Vec<usize> {
        std::iter::successors(numbers.first(), |number| numbers.next(number + 1)).collect()
    }

    #[test]
    fn numbers_are_found_in_order_while_they_are_there() {
        let mut numbers = Numbers::default();
        assert_eq!(all(&numbers), []);
        numbers.remove(1000);
        numbers.make_room(200).expect("room");
        for number in [199, 0, 64, 63, 128, 64] {
            numbers.insert(number);
        }
        assert_eq!(all(&numbers), [0, 63, 64, 128, 199]);
        numbers.make_room(1).expect("there is room already");
        numbers.remove(0);
        numbers.remove(128);
        numbers.remove(129);
        assert_eq!(all(&numbers), [63, 64, 199]);
    }
}
