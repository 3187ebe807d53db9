//! The table of requests that two readers may understand differently, without a network.

use super::cases::{self, Case, NEXT_BODY, Then};
use super::script::{Answer, Dice, answers, talk};

/// Returns what is wrong with the answers to a case, if anything.
fn complaint(case: &Case, way: &str, pieces: impl FnMut() -> usize) -> Option<String> {
    let (bytes, served, is_good) = talk(&case.sent, pieces);
    let answers = answers(&bytes, |_| false);
    let last = |answer: &Answer| answer.closes && answers.len() == 1;
    let is_right = match (case.then, answers.first()) {
        (_, None) => false,
        (Then::Refuses(status), Some(first)) => last(first) && first.status == status && served == 0,
        (Then::ServesLast(body), Some(first)) => last(first) && first.body == body && served == 1,
        (Then::Serves(body), Some(first)) => {
            let next = answers.get(1).is_some_and(|next| next.status == 200 && next.body == NEXT_BODY);
            !first.closes && first.body == body && next && served == 2
        }
    };
    let (what, then) = (case.what, case.then);
    (!is_right || !is_good)
        .then(|| format!("{what}, {way}: expected {then:?}, got {}", String::from_utf8_lossy(&bytes)))
}

/// Each case gives the same answer in one piece, byte by byte, and in pieces of random sizes.
#[test]
fn requests_that_two_readers_may_understand_differently() {
    let mut dice = Dice(0x5EED);
    let mut complaints = Vec::new();
    for case in cases::all() {
        complaints.extend(complaint(&case, "in one piece", || usize::MAX));
        complaints.extend(complaint(&case, "byte by byte", || 1));
        complaints.extend(complaint(&case, "in pieces", || 1 + dice.below(20)));
    }
    assert!(complaints.is_empty(), "{} complaints:\n{}", complaints.len(), complaints.join("\n"));
}

/// A case that is cut off before its end is refused, or is no request; it is never served.
#[test]
fn half_a_case_is_not_served() {
    for case in cases::all() {
        let request = case.sent.len() - cases::NEXT.len();
        for len in 0..request {
            let (_, served, _) = talk(&case.sent[..len], || usize::MAX);
            assert_eq!(served, 0, "{} cut at {len}", case.what);
        }
    }
}
