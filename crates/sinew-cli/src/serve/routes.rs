//! The answer to each path and method. Knows no connection.

use std::time::Duration;

use super::request::{Head, Method};
use super::response::{Response, Status};

/// The longest sleep that a client may request.
const LONGEST_SLEEP: Duration = Duration::from_secs(60);

/// The body of the answer to `/`: thirteen bytes.
const HELLO: &str = "Hello, World!";

/// Returns the answer to a request. `sleep` waits for the given time.
pub(crate) fn answer(head: &Head, body: Vec<u8>, sleep: impl FnOnce(Duration)) -> Response {
    match (head.path.as_str(), head.method) {
        ("/", Method::Get | Method::Head) => Response::text(Status::OK, HELLO),
        ("/echo", Method::Post | Method::Put) => echo(head, body),
        ("/echo", Method::Get | Method::Head) => {
            Response::text(Status::OK, head.query.as_deref().unwrap_or_default())
        }
        ("/sleep", Method::Get | Method::Head) => match time(head.query.as_deref().unwrap_or_default()) {
            Some(time) => {
                sleep(time);
                Response::text(Status::OK, format!("slept {} ms\n", time.as_millis()))
            }
            None => Response::text(
                Status::BAD_REQUEST,
                format!("ask for /sleep?ms=N, N from 0 to {}\n", LONGEST_SLEEP.as_millis()),
            ),
        },
        ("/" | "/echo" | "/sleep", _) => Response::bare(Status::METHOD_NOT_ALLOWED),
        _ => Response::bare(Status::NOT_FOUND),
    }
}

/// Returns the body of a request, with its content type.
fn echo(head: &Head, body: Vec<u8>) -> Response {
    // A client cannot add a header line to the answer: no value of a parsed head contains a line
    // end.
    let content_type = head.content_type.clone().unwrap_or_else(|| "application/octet-stream".to_owned());
    Response { status: Status::OK, content_type, body }
}

fn time(query: &str) -> Option<Duration> {
    let millis = query.split('&').find_map(|pair| pair.strip_prefix("ms="))?;
    let is_number = millis.bytes().all(|byte| byte.is_ascii_digit());
    let time = Duration::from_millis(millis.parse().ok().filter(|_| is_number)?);
    (time <= LONGEST_SLEEP).then_some(time)
}
