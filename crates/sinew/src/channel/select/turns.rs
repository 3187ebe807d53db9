//! Chance, for whoever must not favour anybody. Knows no channel.

use std::cell::Cell;

thread_local! {
    /// The last number, or zero before there is one.
    static LAST: Cell<u32> = const { Cell::new(0) };
}

/// Puts them into an order by chance.
pub(super) fn mix<T>(all: &mut [T]) {
    for end in (1..all.len()).rev() {
        all.swap(end, below(end + 1));
    }
}

/// A number below this one, which is small. Not inlined: a fiber may be on another thread the next time.
#[inline(never)]
fn below(end: usize) -> usize {
    let number = LAST.with(|last| {
        let number = next(match last.get() {
            0 => seed(last),
            number => number,
        });
        last.set(number);
        number
    });
    // The high bits of a product: each number comes as often as any other, but for a difference that nobody can measure.
    (u64::from(number) * end as u64 >> 32) as usize
}

/// Marsaglia's xorshift: it passes through all numbers but zero.
fn next(mut number: u32) -> u32 {
    number ^= number << 13;
    number ^= number >> 17;
    number ^ number << 5
}

/// Another one for each thread.
#[cold]
fn seed(last: &Cell<u32>) -> u32 {
    let address = std::ptr::from_ref(last).addr() as u64;
    (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32 | 1
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn everybody_is_first_as_often() {
        let mut counts = [0_u32; 5];
        for _ in 0..50_000 {
            let mut all = [0, 1, 2, 3, 4];
            mix(&mut all);
            counts[all[0]] += 1;
        }
        assert!(counts.iter().all(|count| (9_000..11_000).contains(count)), "{counts:?}");
    }
}
