//! The server's side of a connection without the connection: the bytes received so far, the
//! complete requests in them, and the answers. All servers in Rust share it, so that they differ in
//! their runtimes alone. It knows no sockets. Of HTTP it knows only where a request without a body
//! ends.

/// Room for bytes that are not yet a whole request. A larger request ends its connection.
const ROOM: usize = 1_024;

/// The end of a request.
const END: &[u8; 4] = b"\r\n\r\n";

/// A request.
pub(super) const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

/// The answer to a request.
pub(super) const ANSWER: &[u8; 52] = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!";

/// As many answers as the room can hold requests, so that any number of them is written at once.
static ANSWERS: [u8; ROOM / END.len() * ANSWER.len()] = repeated();

const fn repeated() -> [u8; ROOM / END.len() * ANSWER.len()] {
    let mut all = [0; ROOM / END.len() * ANSWER.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = ANSWER[at % ANSWER.len()];
        at += 1;
    }
    all
}

/// One connection's read buffer.
pub(super) struct Talk {
    buffer: [u8; ROOM],
    filled: usize,
}

impl Talk {
    pub(super) const fn new() -> Self {
        Self { buffer: [0; ROOM], filled: 0 }
    }

    /// Returns the room to read to. It is empty if a request is too large; then a read returns 0
    /// bytes, as at the end of a connection.
    pub(super) fn room(&mut self) -> &mut [u8] {
        &mut self.buffer[self.filled..]
    }

    /// Takes the `bytes` bytes that were read to the [`room`](Self::room). Returns the answers to
    /// write now, which are empty while no request is complete.
    pub(super) fn received(&mut self, bytes: usize) -> &'static [u8] {
        self.filled += bytes;
        let (requests, consumed) = complete(&self.buffer[..self.filled]);
        self.buffer.copy_within(consumed..self.filled, 0);
        self.filled -= consumed;
        &ANSWERS[..requests * ANSWER.len()]
    }
}

/// Returns how many requests are complete, and how many bytes they take.
fn complete(bytes: &[u8]) -> (usize, usize) {
    let (mut requests, mut consumed) = (0, 0);
    while let Some(end) = end_of_headers(&bytes[consumed..]) {
        requests += 1;
        consumed += end;
    }
    (requests, consumed)
}

/// Returns the index just behind the first empty line. It checks only every fourth byte until one
/// could belong to an end.
fn end_of_headers(bytes: &[u8]) -> Option<usize> {
    let mut last = END.len() - 1;
    loop {
        match *bytes.get(last)? {
            b'\n' if bytes[..=last].ends_with(END) => return Some(last + 1),
            // It may be the second, third or first byte of an end.
            b'\n' => last += 2,
            b'\r' => last += 1,
            _ => last += END.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ANSWER, REQUEST, ROOM, Talk, complete, end_of_headers};

    /// Returns the number of answers that are written after this piece.
    fn answered(talk: &mut Talk, piece: &[u8]) -> usize {
        talk.room()[..piece.len()].copy_from_slice(piece);
        let written = talk.received(piece.len());
        assert!(written.chunks(ANSWER.len()).all(|answer| answer == ANSWER));
        written.len() / ANSWER.len()
    }

    #[test]
    fn the_end_is_where_a_plain_search_finds_it() {
        // All words of up to nine letters, made of the two letters of the end.
        for length in 0..=9_u32 {
            for word in 0..3_usize.pow(length) {
                let letter = |place| b"\r\nx"[word / 3_usize.pow(place) % 3];
                let bytes: Vec<u8> = (0..length).map(letter).collect();
                let plain = bytes.windows(4).position(|window| window == b"\r\n\r\n").map(|at| at + 4);
                assert_eq!(end_of_headers(&bytes), plain, "{bytes:?}");
            }
        }
    }

    #[test]
    fn requests_are_counted_and_the_rest_stays() {
        assert_eq!(complete(b""), (0, 0));
        assert_eq!(complete(&REQUEST[1..]), (1, REQUEST.len() - 1));
        assert_eq!(complete(&[REQUEST, REQUEST, b"GET"].concat()), (2, 2 * REQUEST.len()));
    }

    #[test]
    fn a_request_may_come_in_any_two_pieces() {
        let mut talk = Talk::new();
        for middle in 0..=REQUEST.len() {
            let (one, other) = REQUEST.split_at(middle);
            assert_eq!(answered(&mut talk, one), usize::from(other.is_empty()));
            assert_eq!(answered(&mut talk, other), usize::from(!other.is_empty()));
        }
    }

    #[test]
    fn several_requests_are_answered_at_once() {
        let mut talk = Talk::new();
        assert_eq!(answered(&mut talk, &[REQUEST, REQUEST, REQUEST, &REQUEST[..5]].concat()), 3);
        assert_eq!(answered(&mut talk, &REQUEST[5..]), 1);
        assert_eq!(answered(&mut talk, &b"\r\n\r\n".repeat(ROOM / 4)), ROOM / 4);
    }

    #[test]
    fn a_request_that_is_too_large_leaves_no_room() {
        let mut talk = Talk::new();
        assert_eq!(answered(&mut talk, &[b'x'; ROOM]), 0);
        assert!(talk.room().is_empty());
    }

    #[test]
    fn the_body_is_as_long_as_it_says() {
        let text = str::from_utf8(ANSWER).unwrap();
        let (headers, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(headers.ends_with(&format!("Content-Length: {}", body.len())));
    }
}
