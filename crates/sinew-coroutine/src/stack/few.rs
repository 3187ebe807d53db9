//! A list of fixed capacity that never allocates. Knows no stack.

/// At most `N` values.
pub(super) struct Few<T, const N: usize> {
    /// The first `length` values are `Some`.
    values: [Option<T>; N],
    length: usize,
}

impl<T, const N: usize> Few<T, N> {
    pub(super) const fn new() -> Self {
        Self { values: [const { None }; N], length: 0 }
    }

    /// Returns whether there is no room left.
    pub(super) fn is_full(&self) -> bool {
        self.length == N
    }

    /// Adds a value. The caller has checked that there is room.
    pub(super) fn push(&mut self, value: T) {
        self.values[self.length] = Some(value);
        self.length += 1;
    }

    /// Returns all values.
    pub(super) fn iter(&self) -> impl Iterator<Item = &T> {
        self.values.iter().flatten()
    }

    /// Removes all values and returns them in order.
    pub(super) fn drain(&mut self) -> impl Iterator<Item = T> {
        let length = std::mem::take(&mut self.length);
        self.values[..length].iter_mut().filter_map(Option::take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_takes_as_many_as_it_has_room_for() {
        let mut few = Few::<_, 2>::new();
        assert!(!few.is_full() && few.drain().next().is_none());
        few.push("one");
        few.push("two");
        assert!(few.is_full() && few.iter().eq(&["one", "two"]));
        assert!(few.drain().eq(["one", "two"]));
        few.push("three");
        assert!(few.iter().eq(&["three"]));
    }
}
