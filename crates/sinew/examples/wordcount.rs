//! Counts the words of files, with a fiber for each part of the text. All of them borrow it.

use sinew::fiber;
use std::collections::HashMap;
use std::error::Error;
use std::fs;

/// How many lines a fiber reads.
const PART: usize = 1_000;

fn main() -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    for path in std::env::args().skip(1) {
        text.push_str(&fs::read_to_string(path)?);
        text.push('\n');
    }
    let mut counts: Vec<_> = count(&text).into_iter().collect();
    counts.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    for (word, times) in counts.iter().take(10) {
        println!("{times:>8} {word}");
    }
    Ok(())
}

/// Returns how often each word occurs in a text.
pub fn count(text: &str) -> HashMap<String, usize> {
    let lines: Vec<&str> = text.lines().collect();
    // The scope waits for its fibers, so they may borrow the lines. All of them are spawned before
    // the first one is joined.
    fiber::scope(|scope| {
        let parts: Vec<_> = lines.chunks(PART).map(|part| scope.spawn(|| count_part(part))).collect();
        let mut sum = HashMap::new();
        for part in parts {
            for (word, times) in part.join().expect("counting does not panic") {
                *sum.entry(word).or_insert(0) += times;
            }
        }
        sum
    })
}

fn count_part(lines: &[&str]) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    let words = lines.iter().flat_map(|line| line.split(|letter: char| !letter.is_alphanumeric()));
    for word in words.filter(|word| !word.is_empty()) {
        *counts.entry(word.to_lowercase()).or_insert(0) += 1;
    }
    counts
}
