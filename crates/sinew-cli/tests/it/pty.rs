//! A terminal for a child process, and what the child has written to it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, ExitStatus};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A process whose standard streams are a terminal.
pub(crate) struct OnTerminal {
    pub(crate) child: Child,
    terminal: File,
    written: Vec<u8>,
}

impl OnTerminal {
    /// Starts a command on a terminal with this number of columns.
    pub(crate) fn start(mut command: Command, columns: u16) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&terminal).unwrap();
        unlockpt(&terminal).unwrap();
        let size = Winsize { ws_col: columns, ws_row: 24, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&terminal, size).unwrap();
        let path = ptsname(&terminal, Vec::new()).unwrap().into_string().unwrap();
        let stream = || OpenOptions::new().read(true).write(true).open(&path).unwrap();
        command.env("TERM", "xterm-256color").env_remove("NO_COLOR");
        command.stdin(stream()).stdout(stream()).stderr(stream());
        let child = command.spawn().expect("sinew starts");
        // The command keeps the child's streams open; with them, the terminal would never end.
        drop(command);
        Self { child, terminal: File::from(terminal), written: Vec::new() }
    }

    /// Reads until the child has written these words.
    pub(crate) fn read_until(&mut self, words: &str) {
        while !String::from_utf8_lossy(&self.written).contains(words) {
            assert!(
                self.read_some(),
                "it ended without {words:?}: {}",
                String::from_utf8_lossy(&self.written)
            );
        }
    }

    /// Reads until the child has ended. Returns all that it wrote.
    pub(crate) fn end(mut self) -> (ExitStatus, String) {
        while self.read_some() {}
        let status = self.child.wait().unwrap();
        (status, String::from_utf8(std::mem::take(&mut self.written)).unwrap())
    }

    fn read_some(&mut self) -> bool {
        let mut room = [0; 4_096];
        // Without any process on it, a terminal answers with an error.
        let read = self.terminal.read(&mut room).unwrap_or(0);
        self.written.extend_from_slice(&room[..read]);
        read > 0
    }
}

impl Drop for OnTerminal {
    fn drop(&mut self) {
        // The child may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = self.terminal.flush();
    }
}

/// Returns the text without escape codes, which begin with ESC [ and end with a letter.
pub(crate) fn without_escapes(text: &str) -> String {
    let mut pieces = text.split("\x1b[");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let end = piece.find(|character: char| character.is_ascii_alphabetic()).expect("a code ends");
        plain.push_str(&piece[end + 1..]);
    }
    plain
}
