//! Maps values to positions on an axis: linear from zero, or logarithmic where the values are too
//! far apart for that.

use crate::panel::Panel;

/// An axis whose positions lie between 0 and 1.
#[derive(Debug, PartialEq)]
pub(super) enum Scale {
    /// From zero to the given value.
    Linear { end: f64 },
    /// Between two values, by their logarithms.
    Logarithmic { begin: f64, end: f64 },
}

/// Above this ratio of the largest to the smallest value, small bars could not be told apart on a
/// linear axis.
const WIDEST_LINEAR: f64 = 20.0;

impl Scale {
    /// Returns the scale that can show all of a panel's values.
    pub(super) fn of(panel: &Panel<'_>) -> Self {
        let ends = panel.figures.iter().flat_map(|figure| [figure.summary.min, figure.summary.max]);
        Self::new(&ends.collect::<Vec<_>>())
    }

    /// Returns the scale that suits these values.
    pub(super) fn new(values: &[f64]) -> Self {
        let greatest = values.iter().copied().fold(0.0, f64::max);
        let least = values.iter().copied().filter(|&value| value > 0.0).fold(f64::INFINITY, f64::min);
        if greatest <= 0.0 {
            return Self::Linear { end: 1.0 };
        }
        if greatest / least <= WIDEST_LINEAR {
            let step = step(greatest);
            return Self::Linear { end: (greatest / step).ceil() * step };
        }
        // The smallest bar must have a length, so the axis begins well below it.
        Self::Logarithmic { begin: below(least * 0.7), end: above(greatest * 1.05) }
    }

    /// Returns whether lengths on it are not in proportion to values.
    pub(super) fn is_logarithmic(&self) -> bool {
        matches!(self, Self::Logarithmic { .. })
    }

    /// Returns the position of a value, from 0 to 1.
    pub(super) fn place(&self, value: f64) -> f64 {
        let place = match *self {
            Self::Linear { end } => value / end,
            Self::Logarithmic { begin, .. } if value <= begin => 0.0,
            Self::Logarithmic { begin, end } => (value / begin).ln() / (end / begin).ln(),
        };
        place.clamp(0.0, 1.0)
    }

    /// Returns the values at which the axis is marked.
    pub(super) fn ticks(&self) -> Vec<f64> {
        match *self {
            Self::Linear { end } => {
                let step = step(end);
                let count = (end / step).round() as u32;
                (0..=count).map(|i| f64::from(i) * step).collect()
            }
            Self::Logarithmic { begin, end } => {
                let first = begin.log10().floor() as i32;
                let last = end.log10().ceil() as i32;
                let marks = (first..=last).flat_map(|power| [1.0, 2.0, 5.0].map(|m| m * 10_f64.powi(power)));
                let slack = 1.000_001;
                marks.filter(|mark| (begin / slack..=end * slack).contains(mark)).collect()
            }
        }
    }
}

/// Returns a round step that divides a linear axis into four to eight parts.
fn step(end: f64) -> f64 {
    let rough = end / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let steps = [1.0, 2.0, 2.5, 5.0, 10.0].map(|factor| factor * power);
    steps.into_iter().find(|step| *step >= rough * 0.8).unwrap_or(10.0 * power)
}

/// Returns the largest of 1, 2, 5 times a power of ten that is not above the value.
fn below(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    [5.0, 2.0, 1.0].map(|factor| factor * power).into_iter().find(|mark| *mark <= value).unwrap_or(power)
}

/// Returns the smallest of 1, 2, 5 times a power of ten that is not below the value.
fn above(value: f64) -> f64 {
    let power = 10_f64.powf(value.log10().floor());
    [1.0, 2.0, 5.0]
        .map(|factor| factor * power)
        .into_iter()
        .find(|mark| *mark >= value)
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::Scale;

    #[test]
    fn near_values_are_linear_from_zero() {
        let scale = Scale::new(&[1.5, 5.7, 9.2]);
        assert_eq!(scale, Scale::Linear { end: 10.0 });
        assert_eq!(scale.ticks(), [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]);
        assert_eq!(scale.place(5.0), 0.5);
    }

    #[test]
    fn far_values_are_logarithmic() {
        let scale = Scale::new(&[1.5, 240.0]);
        assert_eq!(scale, Scale::Logarithmic { begin: 1.0, end: 500.0 });
        assert_eq!(scale.ticks(), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0]);
        assert!(scale.is_logarithmic());
        assert_eq!((scale.place(0.0), scale.place(1.0), scale.place(500.0)), (0.0, 0.0, 1.0));
    }

    #[test]
    fn no_values_have_a_scale_too() {
        assert!(!Scale::new(&[0.0]).ticks().is_empty());
        assert!(!Scale::new(&[]).ticks().is_empty());
    }
}
