//! The server and the reference reader, compared over the table of cases and over random requests.

use super::agreement::check;
use super::cases::{self, Case, NEXT, Then};
use super::reference::End;
use super::script::Dice;

/// What random requests are made of, besides the cases of the table.
const FRAGMENTS: [&[u8]; 48] = [
    b"\r\n",
    b"\r\n\r\n",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b"\t",
    b"\x0b",
    b"\x7f",
    b"\xff",
    b"\xc2\xa0",
    b":",
    b";",
    b",",
    b"=",
    b"\"",
    b"\\",
    b"#",
    b"%",
    b"0",
    b"5",
    b"a",
    b"-",
    b"+",
    b"_",
    b"/",
    b"?",
    b"*",
    b"@",
    b"[",
    b"]",
    b"HTTP/1.1",
    b"HTTP/1.0",
    b"GET / ",
    b"HEAD / ",
    b"CONNECT x:1 ",
    b"http://x",
    b"Host: x\r\n",
    b"Content-Length: 5\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Connection: close\r\n",
    b"Connection: keep-alive\r\n",
    b"Expect: 100-continue\r\n",
    b"A: b\r\n",
    b";a=\"b\"",
    b"5\r\nhello\r\n",
    b"0\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
];

/// The table and the reference agree. This checks the reference, too.
#[test]
fn the_reference_agrees_with_the_table() {
    for case in cases::all() {
        let (messages, end) = check(&case.sent, Dice(1));
        let (len, request) = (case.sent.len(), case.sent.len() - NEXT.len());
        let ends: Vec<usize> = messages.iter().map(|message| message.end).collect();
        match case.then {
            Then::Refuses(_) => assert_eq!((ends, end), (vec![], End::Refused), "{}", case.what),
            Then::Serves(_) => assert_eq!((ends, end), (vec![request, len], End::Clean), "{}", case.what),
            Then::ServesLast(_) => assert_eq!((ends, end), (vec![request], End::Closed), "{}", case.what),
        }
    }
}

/// Joins one to three cases, most of which are served, and changes a few places in them.
fn random(cases: &[Case], served: &[&Case], dice: &mut Dice) -> Vec<u8> {
    let mut sent = Vec::new();
    for _ in 0..=dice.below(3) {
        let case = if dice.below(4) == 0 {
            &cases[dice.below(cases.len())]
        } else {
            served[dice.below(served.len())]
        };
        sent.extend_from_slice(&case.sent[..case.sent.len() - NEXT.len()]);
    }
    for _ in 0..dice.below(4) {
        let fragment = FRAGMENTS[dice.below(FRAGMENTS.len())];
        let start = dice.below(sent.len() + 1);
        let end = (start + dice.below(8)).min(sent.len());
        match dice.below(5) {
            0 => sent.truncate(start),
            1 => drop(sent.drain(start..end)),
            2 => sent.extend_from_within(start..end),
            3 => drop(sent.splice(start..end, fragment.iter().copied())),
            _ => drop(sent.splice(start..start, fragment.iter().copied())),
        }
    }
    sent
}

/// The server and the reference find the same requests in thousands of random connections, and the
/// answers do not depend on the pieces that the bytes arrive in.
#[test]
fn the_reference_agrees_over_random_requests() {
    let rounds = if cfg!(debug_assertions) { 3_000 } else { 200_000 };
    let cases = cases::all();
    let served: Vec<&Case> = cases.iter().filter(|case| !matches!(case.then, Then::Refuses(_))).collect();
    let mut dice = Dice(0x5EED_5EED);
    let (mut requests, mut ends) = (0, [0; 4]);
    for _ in 0..rounds {
        let sent = random(&cases, &served, &mut dice);
        let (messages, end) = check(&sent, Dice(dice.0 | 1));
        requests += messages.len();
        ends[end as usize] += 1;
    }
    // The comparison would be worth little without enough of each kind.
    assert!(requests > rounds / 2 && ends.iter().all(|&count| count > rounds / 20), "{requests}, {ends:?}");
}
