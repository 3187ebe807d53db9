//! Tests of the chat.

use std::io::{BufRead, BufReader, Write};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::{env, fs, process};

use crate::program::{PATIENCE, Program, crowd};

const CHAT: &str = env!("CARGO_BIN_EXE_chat");

/// A server, and its path.
struct Room {
    program: Program,
    path: Place,
}

/// A path that is removed at the end, however the test ends.
struct Place(PathBuf);

impl Place {
    fn text(&self) -> &str {
        self.0.to_str().expect("names of directories for what is temporary are text")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

impl Room {
    fn open(name: &str) -> Self {
        let path = Place(env::temp_dir().join(format!("sinew-chat-{}-{name}", process::id())));
        let program = Program::start(CHAT, &["serve", path.text()]);
        assert_eq!(program.line(), format!("listening on {}", path.text()));
        Self { program, path }
    }

    fn join(&self, name: &str) -> Member {
        Member::join(&self.path.0, name)
    }

    fn start_joining(&self, name: &str) -> Program {
        Program::start(CHAT, &["join", self.path.text(), name])
    }

    fn close(self, served: usize) {
        let Self { program, path } = self;
        program.quit(&format!("{served} members served"));
        assert!(!path.0.exists(), "its file is gone");
    }
}

struct Member(BufReader<UnixStream>);

impl Member {
    /// Joins the room. When this returns, the room knows the member.
    fn join(path: &Path, name: &str) -> Self {
        let stream = UnixStream::connect(path).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        let mut member = Self(BufReader::new(stream));
        member.say(name);
        let others = member.hear();
        assert!(others.starts_with("* ") && others.ends_with(" others are here"), "{others:?}");
        member
    }

    fn say(&mut self, line: &str) {
        self.0.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
    }

    /// Returns the next line, or nothing at the end.
    fn hear(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }
}

#[test]
fn every_member_gets_the_lines_of_the_others_in_order() {
    let room = Room::open("order");
    let mut ann = room.join("Ann");
    let before = room.program.descriptors();
    // In all no more lines than may wait for a member, so that Ann misses none, however late she
    // reads.
    let (size, lines, path) = (16, 10, &room.path.0);
    crowd(size, |number| {
        let mut member = Member::join(path, &number.to_string());
        (0..lines).for_each(|line| member.say(&line.to_string()));
        member.0.get_mut().shutdown(Shutdown::Write).unwrap();
        // Waits until the server closes the connection, so that no line is lost.
        while !member.hear().is_empty() {}
    });
    let mut next = vec![0; size];
    let mut left = 0;
    while left < size {
        let line = ann.hear();
        if let Some((name, number)) = line.split_once(": ") {
            let next = &mut next[name.parse::<usize>().unwrap()];
            assert_eq!(number.parse(), Ok(*next));
            *next += 1;
        }
        left += usize::from(line.ends_with("has left"));
    }
    assert_eq!(next, vec![lines; size]);
    room.program.settle(before);
    room.close(size + 1);
}

/// A member that does not read misses lines. Other members miss none.
#[test]
fn a_slow_member_does_not_delay_others() {
    let room = Room::open("slow");
    let mut slow = room.join("Sid");
    let (mut ann, mut bob) = (room.join("Ann"), room.join("Bob"));
    assert_eq!(ann.hear(), "* Bob is here");
    let text = "x".repeat(900);
    // At a time no more lines than may wait for a member, and in all more than fit anywhere.
    for number in 0..1_500 {
        bob.say(&format!("{number} {text}"));
        assert_eq!(ann.hear(), format!("Bob: {number} {text}"));
    }
    room.program.terminate();
    assert_eq!((ann.hear(), ann.hear()), ("* the room closes".to_owned(), String::new()));
    let heard = std::iter::from_fn(|| Some(slow.hear()).filter(|line| !line.is_empty())).count();
    assert!((256..1_500).contains(&heard), "{heard} lines");
    assert_eq!(room.program.end(), ["SIGTERM: ending", "3 members served"]);
    assert!(!room.path.0.exists());
}

#[test]
fn members_may_disconnect_or_send_invalid_bytes() {
    let room = Room::open("strange");
    let mut ann = room.join("Ann");
    let before = room.program.descriptors();
    // Without a name; in the middle of a name; and with bytes that are no text.
    drop(UnixStream::connect(&room.path.0).unwrap());
    UnixStream::connect(&room.path.0).unwrap().write_all(b"Half").unwrap();
    assert_eq!((ann.hear(), ann.hear()), ("* Half is here".to_owned(), "* Half has left".to_owned()));
    let mut bob = room.join("Bob");
    assert_eq!(ann.hear(), "* Bob is here");
    bob.0.get_mut().write_all(b"\xff\xfe\n").unwrap();
    assert_eq!(ann.hear(), "Bob: \u{fffd}\u{fffd}");
    bob.say(&"y".repeat(1_500));
    assert_eq!(ann.hear(), format!("Bob: {}", "y".repeat(1_024)));
    assert_eq!(ann.hear(), format!("Bob: {}", "y".repeat(1_500 - 1_024)));
    drop(bob);
    assert_eq!(ann.hear(), "* Bob has left");
    room.program.settle(before);
    room.close(4);
}

#[test]
fn the_program_joins_and_leaves() {
    let room = Room::open("join");
    let mut ann = room.join("Ann");
    let mut bob = room.start_joining("Bob");
    assert_eq!((bob.line(), ann.hear()), ("* 1 others are here".to_owned(), "* Bob is here".to_owned()));
    let mut keys = bob.take_stdin();
    writeln!(keys, "hello, Ann").unwrap();
    assert_eq!(ann.hear(), "Bob: hello, Ann");
    ann.say("hello, Bob");
    assert_eq!(bob.line(), "Ann: hello, Bob");
    let mut cid = room.start_joining("Cid");
    assert_eq!((cid.line(), bob.line()), ("* 2 others are here".to_owned(), "* Cid is here".to_owned()));
    // A client whose input ends leaves. When the room closes, a client ends even though its input
    // has not.
    drop(keys);
    assert_eq!(bob.end(), [""; 0]);
    assert_eq!(cid.line(), "* Bob has left");
    let _keys = cid.take_stdin();
    room.close(3);
    assert_eq!(cid.end(), ["* the room closes"]);
}

#[test]
fn a_path_in_use_is_an_error() {
    let room = Room::open("taken");
    let second = process::Command::new(CHAT).args(["serve", room.path.text()]).output().unwrap();
    assert!(!second.status.success());
    assert!(fs::exists(&room.path.0).unwrap(), "the other one's file is there");
    room.close(0);
}
