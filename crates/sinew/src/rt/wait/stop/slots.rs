//! Values under numbers, which are reused when the values are gone. Does not know what the values
//! are.

/// How much capacity is kept when all entries are free.
const KEPT: usize = 64;

#[derive(Debug)]
pub(super) struct Slots<T> {
    entries: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Slots<T> {
    pub(super) const fn new() -> Self {
        Self { entries: Vec::new(), free: Vec::new() }
    }

    /// Returns the number of values.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    /// Adds a value. Returns its number.
    pub(super) fn insert(&mut self, value: T) -> usize {
        match self.free.pop() {
            Some(index) => {
                self.entries[index] = Some(value);
                index
            }
            None => {
                self.entries.push(Some(value));
                self.entries.len() - 1
            }
        }
    }

    /// Takes a value out, if there is one under this number.
    pub(super) fn remove(&mut self, index: usize) -> Option<T> {
        let value = self.entries.get_mut(index)?.take()?;
        self.free.push(index);
        if self.free.len() == self.entries.len() {
            self.entries.clear();
            self.entries.shrink_to(KEPT);
            self.free.clear();
            self.free.shrink_to(KEPT);
        }
        Some(value)
    }

    /// Returns the values of the next `most` entries, and where to continue; `None` if there are no
    /// more entries.
    pub(super) fn part(&self, from: usize, most: usize) -> Option<(impl Iterator<Item = &T>, usize)> {
        let rest = self.entries.get(from..).filter(|rest| !rest.is_empty())?;
        let places = rest.len().min(most);
        Some((rest[..places].iter().flatten(), from + places))
    }
}

#[cfg(test)]
mod tests {
    use super::Slots;

    #[test]
    fn numbers_are_used_again() {
        let mut slots = Slots::new();
        let numbers = [1, 2, 3].map(|value| slots.insert(value));
        assert_eq!(slots.remove(numbers[1]), Some(2));
        assert_eq!(slots.remove(numbers[1]), None);
        assert_eq!(slots.insert(4), numbers[1]);
        assert_eq!(slots.len(), 3);
    }

    #[test]
    fn parts_are_all_of_it() {
        let mut slots = Slots::new();
        let numbers: Vec<_> = (0..10).map(|value| slots.insert(value)).collect();
        slots.remove(numbers[4]);
        let (mut from, mut seen) = (0, Vec::new());
        while let Some((part, next)) = slots.part(from, 3) {
            seen.extend(part.copied());
            from = next;
        }
        assert_eq!(seen, [0, 1, 2, 3, 5, 6, 7, 8, 9]);
    }

    #[test]
    fn nothing_is_kept_of_many() {
        let mut slots = Slots::new();
        let numbers: Vec<_> = (0..10_000).map(|value| slots.insert(value)).collect();
        for number in numbers {
            slots.remove(number);
        }
        assert!(slots.entries.capacity() <= super::KEPT && slots.free.capacity() <= super::KEPT);
    }
}
