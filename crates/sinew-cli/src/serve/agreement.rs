//! The server and the reference reader, compared over the same bytes.

use super::reference::{self, End, Message, Rules};
use super::script::{Answer, Dice, answers, limits, requests, talk};

/// Sends the bytes of a connection to the server: in one piece, and either byte by byte or in
/// pieces of random sizes. Returns the requests in them, and how they end.
///
/// # Panics
///
/// Panics if the server and the reference find different requests, bodies, boundaries or ends, if
/// the answers do not match the requests, or if they depend on the pieces.
pub(crate) fn check(sent: &[u8], mut sizes: Dice) -> (Vec<Message>, End) {
    let rules = Rules { head: limits().max_head, body: limits().max_body as usize };
    let expected = reference::read(sent, rules);
    let largest = if sizes.below(4) == 0 { 1 } else { 20 };
    let whole = check_way(sent, "in one piece", &expected, || usize::MAX);
    let pieces = check_way(sent, "in pieces", &expected, || 1 + sizes.below(largest));
    assert_eq!(whole, pieces, "answers depend on pieces: {}", sent.escape_ascii());
    expected
}

/// Checks one way of sending. Returns the answers.
fn check_way(
    sent: &[u8],
    way: &str,
    expected: &(Vec<Message>, End),
    mut pieces: impl FnMut() -> usize,
) -> Vec<Answer> {
    let (messages, end) = requests(sent, &mut pieces);
    assert_eq!(messages, expected.0, "requests, {way}: {}", sent.escape_ascii());
    // The reference judges whole lines. The server may refuse a line before its end has arrived.
    let may_end = end == expected.1 || (expected.1 == End::Cut && end == End::Refused);
    assert!(may_end, "{end:?} instead of {:?}, {way}: {}", expected.1, sent.escape_ascii());

    let (bytes, served, is_good) = talk(sent, pieces);
    let answers = answers(&bytes, |index| messages.get(index).is_some_and(|message| message.is_head));
    let refusals = usize::from(end == End::Refused);
    let closes = messages.iter().map(|message| !message.keeps_alive).chain((refusals > 0).then_some(true));
    let is_right = answers.len() == messages.len() + refusals
        && answers.iter().map(|answer| answer.closes).eq(closes)
        && answers.iter().skip(messages.len()).all(|refusal| refusal.status >= 400)
        && served == messages.len() as u64
        && is_good == (end != End::Cut);
    assert!(is_right, "answers {answers:?}, {way}: {}", sent.escape_ascii());
    answers
}
