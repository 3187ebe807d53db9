//! Summarises several repetitions: the median, with the minimum and the maximum.

/// The summary of one metric's repetitions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Summary {
    /// The middle value; between the two middle ones if their number is even.
    pub(crate) median: f64,
    /// The minimum.
    pub(crate) min: f64,
    /// The maximum.
    pub(crate) max: f64,
    /// The number of repetitions.
    pub(crate) n: usize,
}

impl Summary {
    /// Summarises the samples. Returns none if there are none.
    pub(crate) fn of(samples: &[f64]) -> Option<Self> {
        let mut sorted = samples.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let n = sorted.len();
        let median = f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2]);
        Some(Self { median, min, max, n })
    }
}

/// Returns `value` divided by `to`; none if `to` is zero.
pub(crate) fn ratio(value: f64, to: f64) -> Option<f64> {
    Some(value / to).filter(|ratio| ratio.is_finite())
}

#[cfg(test)]
mod tests {
    use super::{Summary, ratio};

    #[test]
    fn the_median_of_an_odd_number_is_the_middle() {
        let summary = Summary::of(&[9.0, 1.0, 4.0]).unwrap();
        assert_eq!(summary, Summary { median: 4.0, min: 1.0, max: 9.0, n: 3 });
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(Summary::of(&[4.0, 1.0, 9.0, 2.0]).unwrap().median, 3.0);
    }

    #[test]
    fn there_is_no_ratio_to_zero() {
        assert_eq!(ratio(3.0, 2.0), Some(1.5));
        assert_eq!(ratio(0.0, 2.0), Some(0.0));
        assert_eq!((ratio(3.0, 0.0), ratio(0.0, 0.0)), (None, None));
    }

    #[test]
    fn no_samples_have_no_median() {
        assert_eq!(Summary::of(&[]), None);
    }
}
