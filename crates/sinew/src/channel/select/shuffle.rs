//! Random order, so that no operation is preferred. Knows no channel.

use crate::rt;

/// Shuffles the elements.
pub(super) fn mix<T>(all: &mut [T]) {
    for end in (1..all.len()).rev() {
        all.swap(end, below(end + 1));
    }
}

/// Returns a random number below `end`, which is small.
fn below(end: usize) -> usize {
    // The high bits of a product. The deviation from a uniform distribution is too small to
    // measure.
    ((u64::from(rt::chance()) * end as u64) >> 32) as usize
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_element_is_first_equally_often() {
        let mut counts = [0_u32; 5];
        for _ in 0..50_000 {
            let mut all = [0, 1, 2, 3, 4];
            mix(&mut all);
            counts[all[0]] += 1;
        }
        assert!(counts.iter().all(|count| (9_000..11_000).contains(count)), "{counts:?}");
    }
}
