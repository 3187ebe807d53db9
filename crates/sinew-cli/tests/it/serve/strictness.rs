//! The table of requests that two readers may understand differently, over a socket.

use super::cases::{self, NEXT_BODY, Then};
use super::server::Server;

#[test]
fn requests_that_two_readers_may_understand_differently() {
    // The table is for these limits.
    let server = Server::start(&["--max-head", "512", "--max-body", "1000"]);
    let cases = cases::all();
    for case in &cases {
        let what = case.what;
        let mut client = server.connect();
        client.send(&case.sent);
        client.half_close();
        let mut answer = || loop {
            let answer = client.answer();
            if answer.as_ref().is_none_or(|answer| answer.status != 100) {
                return answer;
            }
        };
        let first = answer().unwrap_or_else(|| panic!("{what}: no answer"));
        match case.then {
            Then::Refuses(status) => assert_eq!((first.status, first.closes), (status, true), "{what}"),
            Then::ServesLast(body) => {
                assert_eq!((first.body.as_slice(), first.closes), (body, true), "{what}")
            }
            Then::Serves(body) => {
                assert_eq!((first.body.as_slice(), first.closes), (body, false), "{what}");
                let next = answer().unwrap_or_else(|| panic!("{what}: only one answer"));
                assert_eq!((next.status, next.body.as_slice()), (200, NEXT_BODY), "{what}");
            }
        }
        assert!(answer().is_none(), "{what}: one answer too many");
    }
    let connections = format!("on {} connections, 0 turned away", cases.len());
    let words = server.end().words;
    assert!(words.contains(&connections), "{words}");
}
