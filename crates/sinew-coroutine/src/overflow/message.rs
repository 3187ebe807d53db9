//! The message of an overflow, made without an allocation. Knows no signal.

use core::fmt::{self, Write};

use crate::stack::Label;

/// Text in a fixed buffer; what does not fit is cut off.
pub(super) struct Text {
    bytes: [u8; 512],
    length: usize,
}

impl Text {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; 512], length: 0 }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.length..];
        let taken = text.len().min(room.len());
        room[..taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.length += taken;
        if taken == text.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// What is known of an overflow.
pub(super) struct Overflow {
    /// The usable bytes of the stack, from its top down to its limit.
    pub(super) size: usize,
    /// How far below the top of the stack the fault was.
    pub(super) depth: usize,
    pub(super) label: Option<Label>,
}

impl Overflow {
    /// Puts it into words; as many as fit.
    pub(super) fn write(&self, out: &mut Text) {
        let _ = self.try_write(out);
        // The last byte is the end of the line, even of one that was cut off.
        out.length = out.length.min(out.bytes.len() - 1);
        let _ = out.write_str("\n");
    }

    fn try_write(&self, out: &mut Text) -> fmt::Result {
        out.write_str("sinew: stack overflow in ")?;
        match self.label {
            Some(label) => label.write(out)?,
            None => out.write_str("a coroutine")?,
        }
        let (size, depth) = (self.size, self.depth);
        write!(out, ": its stack has {size} bytes, and byte {depth} was touched; give it a larger stack")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(label: Option<Label>) -> String {
        let mut text = Text::new();
        Overflow { size: 1000, depth: 1008, label }.write(&mut text);
        String::from_utf8_lossy(text.as_bytes()).into_owned()
    }

    #[test]
    fn it_says_who_and_how_much() {
        let expected = "its stack has 1000 bytes, and byte 1008 was touched; give it a larger stack\n";
        assert_eq!(words(None), format!("sinew: stack overflow in a coroutine: {expected}"));
        assert_eq!(
            words(Some(Label::text(&"fiber 7"))),
            format!("sinew: stack overflow in fiber 7: {expected}")
        );
    }

    #[test]
    fn a_label_that_is_too_long_is_cut_off_and_the_line_still_ends() {
        static LONG: &str = match str::from_utf8(&[b'x'; 2000]) {
            Ok(text) => text,
            Err(_) => "",
        };
        let words = words(Some(Label::text(&LONG)));
        assert_eq!(words.len(), 512);
        assert!(words.ends_with("xxx\n"));
    }
}
