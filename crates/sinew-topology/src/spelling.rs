//! Suggests the right name for a misspelled one. Knows words, not what they name.

/// Returns the value whose name is most similar to a misspelled one, if one is similar enough.
/// Ignores case.
#[must_use]
pub fn nearest<T: Copy>(misspelt: &str, all: &[T], name: fn(T) -> &'static str) -> Option<T> {
    let misspelt = misspelt.to_lowercase();
    let distances = all.iter().map(|one| (distance(&misspelt, &name(*one).to_lowercase()), *one));
    let (distance, one) = distances.min_by_key(|(distance, _)| *distance)?;
    // With more than half of the letters wrong, it is another word.
    (2 * distance <= name(one).len()).then_some(one)
}

/// Returns the name that is most similar to a misspelled one, if one is similar enough. For crates
/// that have names of their own.
#[doc(hidden)]
#[must_use]
pub fn nearest_name(misspelt: &str, names: &[&'static str]) -> Option<&'static str> {
    nearest(misspelt, names, |name| name)
}

/// Returns how many letters must be inserted, removed or changed to turn one word into the other.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[to.len()]
}
