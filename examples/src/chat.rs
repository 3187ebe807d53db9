//! A chat over Unix sockets: each member of the room gets the lines of the others.
//!
//! ```sh
//! cargo run -p sinew-examples --bin chat -- serve /tmp/room
//! cargo run -p sinew-examples --bin chat -- join /tmp/room Ann
//! ```
//!
//! Each member has two fibers: one reads the member's lines, the other writes the lines for the
//! member, which wait in a channel between them. The reading fiber puts a line into all channels
//! and waits for none of them. So a member that does not read misses lines, and is disconnected
//! after a while; the other members are not affected.

use std::collections::HashMap;
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs};

use sinew::channel::{self, Receiver, Sender};
use sinew::fiber::{self, CancelToken};
use sinew::net::Shutdown;
use sinew::os::unix::net::{UnixListener, UnixStream};
use sinew::signal::{self, Signal};
use sinew::sync::Mutex;
use sinew::time;

/// How long a member may take to send its name, or to take a line.
const PATIENCE: Duration = Duration::from_secs(10);
/// This number of lines may wait for a member. It misses lines that come after them.
const MOST_WAITING: usize = 256;
/// A longer line is split.
const LONGEST_LINE: u64 = 1_024;

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    sinew::run(move || match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["serve", path] => Ok(serve(path)?),
        ["join", path, name] => Ok(join(path, name)?),
        _ => Err("usage: chat serve PATH | chat join PATH NAME".into()),
    })
}

/// The members, and the channel to each.
#[derive(Default)]
struct Room {
    members: Mutex<HashMap<u64, Sender<Arc<str>>>>,
    /// Cancelled when the server is to end.
    drain: CancelToken,
}

impl Room {
    fn enter(&self, number: u64) -> Receiver<Arc<str>> {
        let (sender, lines) = channel::bounded(MOST_WAITING);
        let mut members = self.members.lock().unwrap();
        let _ = sender.try_send(format!("* {} others are here", members.len()).into());
        members.insert(number, sender);
        lines
    }

    /// Sends the line to all other members whose channel has room.
    fn say(&self, number: u64, line: String) {
        let line: Arc<str> = line.into();
        let members = self.members.lock().unwrap();
        let others = members.iter().filter(|(other, _)| **other != number);
        others.for_each(|(_, sender)| drop(sender.try_send(line.clone())));
    }
}

fn serve(path: &str) -> io::Result<()> {
    let signals = signal::channel([Signal::TERMINATE, Signal::INTERRUPT])?;
    let listener = UnixListener::bind(path)?;
    let room = Room::default();
    println!("listening on {path}");
    let served = fiber::scope(|scope| {
        let accepting = scope.spawn(|| {
            let (room, mut number) = (&room, 0);
            for stream in listener.incoming() {
                match stream {
                    Ok(stream) => {
                        number += 1;
                        scope.spawn(move || welcome(stream, number, room).ok());
                    }
                    Err(_) if room.drain.is_cancelled() => break,
                    // The process may have no descriptor left. Some will be closed.
                    Err(_) => fiber::sleep(Duration::from_millis(100)),
                }
            }
            number
        });
        let signal = signals.recv().expect("signals come for as long as their channel is there");
        println!("{signal}: ending");
        drop(signals);
        room.say(0, "* the room closes".to_owned());
        room.drain.cancel_with_reason("the room closes");
        listener.close();
        accepting.join().expect("accepting does not panic")
    });
    println!("{served} members served");
    fs::remove_file(path)
}

fn welcome(stream: UnixStream, number: u64, room: &Room) -> io::Result<()> {
    let mut input = BufReader::new(&stream);
    let first = room.drain.run(|| time::timeout(PATIENCE, || read_line(&mut input)))?;
    let Some(name) = first else { return Ok(()) };
    let lines = room.enter(number);
    room.say(number, format!("* {name} is here"));
    fiber::scope(|scope| {
        scope.spawn(|| deliver(&stream, lines));
        while let Ok(Some(line)) = room.drain.run(|| read_line(&mut input)) {
            room.say(number, format!("{name}: {line}"));
        }
        // Without a sender, the channel ends behind the lines that are in it.
        room.members.lock().unwrap().remove(&number);
        if !room.drain.is_cancelled() {
            room.say(number, format!("* {name} has left"));
        }
    });
    Ok(())
}

/// Writes the lines for a member, until the channel ends or a line takes too long. The reading
/// fiber then finds the end of the connection.
fn deliver(mut stream: &UnixStream, lines: Receiver<Arc<str>>) {
    let mut write =
        |line: Arc<str>| time::timeout(PATIENCE, || stream.write_all(format!("{line}\n").as_bytes()));
    let _ = lines.iter().try_for_each(&mut write);
    let _ = stream.shutdown(Shutdown::Both);
}

/// Returns a line without its end; none at the end of the input.
fn read_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let len = input.take(LONGEST_LINE).read_until(b'\n', &mut line)?;
    Ok((len > 0).then(|| String::from_utf8_lossy(&line).trim_end().to_owned()))
}

fn join(path: &str, name: &str) -> io::Result<()> {
    let stream = Arc::new(UnixStream::connect(path)?);
    writeln!(&*stream, "{name}")?;
    let speaker = stream.clone();
    // No code joins this fiber: when the room closes, there is nothing more to send.
    fiber::spawn(move || {
        let _ = io::copy(&mut sinew::io::stdin(), &mut &*speaker);
        speaker.shutdown(Shutdown::Write)
    });
    for line in BufReader::new(&*stream).lines() {
        println!("{}", line?);
    }
    Ok(())
}
