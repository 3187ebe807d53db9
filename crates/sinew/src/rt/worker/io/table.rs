//! The descriptors that a driver watches, by the numbers that the kernel reports events with. Knows
//! no event.
//!
//! Places are reused, so a number has a generation: an event that the kernel has reported for a
//! descriptor that has left since finds no entry.

use std::sync::Arc;

/// The number of a descriptor in one driver. Never zero, which is the number of the bell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token(u64);

impl Token {
    fn new(generation: u32, place: usize) -> Self {
        Self(u64::from(generation) << 32 | (place as u64 + 1))
    }

    pub(crate) fn from_raw(raw: u64) -> Self {
        Self(raw)
    }

    pub(crate) fn as_raw(self) -> u64 {
        self.0
    }

    fn generation(self) -> u32 {
        (self.0 >> 32) as u32
    }

    fn place(self) -> usize {
        (self.0 as u32 as usize).wrapping_sub(1)
    }
}

/// A table of values by their numbers.
#[derive(Debug)]
pub(crate) struct TokenTable<T> {
    places: Vec<TableSlot<T>>,
    /// Free places. The last one is used first.
    free: Vec<u32>,
}

#[derive(Debug)]
struct TableSlot<T> {
    generation: u32,
    source: Option<Arc<T>>,
}

impl<T> TokenTable<T> {
    pub(crate) const fn new() -> Self {
        Self { places: Vec::new(), free: Vec::new() }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// Adds a value under a new number.
    pub(crate) fn insert(&mut self, source: Arc<T>) -> Token {
        let place = self.free.pop().map_or_else(|| self.grow(), |place| place as usize);
        let slot = &mut self.places[place];
        slot.source = Some(source);
        Token::new(slot.generation, place)
    }

    fn grow(&mut self) -> usize {
        self.places.push(TableSlot { generation: 0, source: None });
        self.places.len() - 1
    }

    /// Returns the value with this number, if it is still in the table.
    #[inline]
    pub(crate) fn get(&self, token: Token) -> Option<&Arc<T>> {
        let slot = self.places.get(token.place())?;
        slot.source.as_ref().filter(|_| slot.generation == token.generation())
    }

    /// Takes a value out. Returns `None` if it has left already.
    pub(crate) fn remove(&mut self, token: Token) -> Option<Arc<T>> {
        self.get(token)?;
        let place = token.place();
        let slot = &mut self.places[place];
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(place as u32);
        slot.source.take()
    }

    /// Returns all values with their numbers.
    pub(crate) fn all(&self) -> Vec<(Token, Arc<T>)> {
        let taken = self.places.iter().enumerate();
        taken
            .filter_map(|(place, slot)| {
                slot.source.as_ref().map(|it| (Token::new(slot.generation, place), it.clone()))
            })
            .collect()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_for_one_thing_ever() {
        let mut table = TokenTable::new();
        let first = table.insert(Arc::new(1));
        let second = table.insert(Arc::new(2));
        assert_eq!(table.get(first).map(|it| **it), Some(1));
        assert_eq!(table.remove(first).as_deref(), Some(&1));
        let third = table.insert(Arc::new(3));
        assert_eq!((third.place(), table.len()), (first.place(), 2), "places are used again");
        assert!(table.get(first).is_none() && table.remove(first).is_none());
        assert_eq!(table.get(third).map(|it| **it), Some(3));
        assert_eq!(table.all().len(), 2);
        assert_eq!(table.get(second).map(|it| **it), Some(2));
    }

    /// The number of the bell, and numbers that were never used.
    #[test]
    fn strange_numbers_stand_for_nothing() {
        let mut table = TokenTable::new();
        table.insert(Arc::new(()));
        for raw in [0, 2, u64::MAX, 1 << 32 | 1] {
            assert!(table.get(Token::from_raw(raw)).is_none(), "{raw}");
        }
    }
}
