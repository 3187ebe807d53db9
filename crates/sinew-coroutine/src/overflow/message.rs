//! The message of an overflow, formatted without an allocation. Knows no signal.
//!
//! # Safety
//!
//! Trusted with the advice, a reference that is stored as a pointer.
#![expect(unsafe_code, reason = "a signal handler reads the advice without a lock")]

use core::fmt::{self, Write};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::stack::Label;

/// The advice in the message for stacks with a label; null until it is set.
static ADVICE: AtomicPtr<&'static str> = AtomicPtr::new(ptr::null_mut());

/// Sets the advice that the message of an overflow gives if the stack has a [label](crate::Label):
/// how its owner makes the stack larger.
///
/// Up to 128 bytes of the advice are shown. A later call replaces the advice for the whole process.
///
/// ```
/// # use sinew_coroutine::overflow;
/// overflow::advise(&"raise `stack_size` in server.toml");
/// ```
pub fn advise(advice: &'static &'static str) {
    ADVICE.store(ptr::from_ref(advice).cast_mut(), Ordering::Relaxed);
}

/// Returns the advice, if one was set.
pub(super) fn advice() -> Option<&'static str> {
    // SAFETY: null, or from a reference to a static value that never changes, so no ordering is
    // needed.
    unsafe { ADVICE.load(Ordering::Relaxed).as_ref() }.copied()
}

/// The most bytes of a label that are shown, so that there is room for the rest of the message.
const LONGEST_LABEL: usize = 256;

/// The most bytes of an advice that are shown.
const LONGEST_ADVICE: usize = 128;

/// The size of the buffer for the longest message.
const SIZE: usize = 640;

/// Text in a fixed buffer. Text that does not fit is cut off.
pub(super) struct Text {
    bytes: [u8; SIZE],
    length: usize,
    /// Where the text must end.
    end: usize,
    /// Whether text was cut off.
    is_cut: bool,
}

impl Text {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; SIZE], length: 0, end: SIZE, is_cut: false }
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.length..self.end];
        let taken = text.floor_char_boundary(room.len());
        room[..taken].copy_from_slice(&text.as_bytes()[..taken]);
        self.length += taken;
        self.is_cut |= taken < text.len();
        if self.is_cut { Err(fmt::Error) } else { Ok(()) }
    }
}

/// The facts about an overflow.
pub(super) struct Overflow {
    /// The usable bytes of the stack, from its top down to its limit.
    pub(super) size: usize,
    /// The distance from the top of the stack down to the address of the fault.
    pub(super) depth: usize,
    pub(super) label: Option<Label>,
    /// The advice, shown if the stack has a label.
    pub(super) advice: Option<&'static str>,
}

impl Overflow {
    /// Writes the message: a line of less than 600 bytes for any label and advice.
    pub(super) fn write(&self, out: &mut Text) {
        let _ = self.try_write(out);
        let _ = out.write_str("\n");
    }

    fn try_write(&self, out: &mut Text) -> fmt::Result {
        out.write_str("sinew: stack overflow in ")?;
        self.write_label(out)?;
        let (size, depth) = (self.size, self.depth);
        write!(out, ": its stack has {size} bytes, and byte {depth} was touched; ")?;
        let advice = self.label.and(self.advice).unwrap_or("give it a larger stack");
        out.write_str(&advice[..advice.floor_char_boundary(LONGEST_ADVICE)])
    }

    /// Writes as much of the label as there is room for. A label's function may fail or write
    /// nothing; the rest of the message is written nonetheless.
    fn write_label(&self, out: &mut Text) -> fmt::Result {
        let (start, whole) = (out.length, out.end);
        out.end = start + LONGEST_LABEL;
        let described = self.label.map_or(Ok(()), |label| label.write(out));
        out.end = whole;
        let is_cut = std::mem::take(&mut out.is_cut) || described.is_err();
        match (out.length - start, is_cut) {
            (0, _) => out.write_str("a coroutine"),
            (_, true) => out.write_str("..."),
            (_, false) => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(label: Option<Label>) -> String {
        words_with(label, None)
    }

    fn words_with(label: Option<Label>, advice: Option<&'static str>) -> String {
        let mut text = Text::new();
        Overflow { size: 1000, depth: 1008, label, advice }.write(&mut text);
        String::from_utf8_lossy(text.as_bytes()).into_owned()
    }

    #[test]
    fn a_message_has_the_label_and_the_size() {
        let expected = "its stack has 1000 bytes, and byte 1008 was touched; give it a larger stack\n";
        assert_eq!(words(None), format!("sinew: stack overflow in a coroutine: {expected}"));
        assert_eq!(
            words(Some(Label::text(&"fiber 7"))),
            format!("sinew: stack overflow in fiber 7: {expected}")
        );
    }

    #[test]
    fn a_label_that_is_too_long_is_cut_off_and_the_rest_is_written() {
        static LONG: &str = match str::from_utf8(&[b'x'; 2000]) {
            Ok(text) => text,
            Err(_) => "",
        };
        let (start, end) =
            ("sinew: stack overflow in ", ": its stack has 1000 bytes, and byte 1008 was touched");
        for length in [LONGEST_LABEL - 1, LONGEST_LABEL, LONGEST_LABEL + 1, 2000] {
            let text: &'static &'static str = Box::leak(Box::new(&LONG[..length]));
            let (shown, cut) = (length.min(LONGEST_LABEL), if length > LONGEST_LABEL { "..." } else { "" });
            let label = &LONG[..shown];
            let words = words(Some(Label::text(text)));
            assert!(words.starts_with(&format!("{start}{label}{cut}{end}")), "{length}: {words}");
        }
    }

    #[test]
    fn a_label_is_cut_between_characters() {
        static LONG: &str = "xßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßß\
                             ßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßßß";
        assert!(LONG.len() > LONGEST_LABEL && !LONG.is_char_boundary(LONGEST_LABEL));
        assert!(words(Some(Label::text(&LONG))).contains("xßßß"));
        assert!(words(Some(Label::text(&LONG))).contains("ß...: its stack"));
    }

    #[test]
    fn an_advice_is_given_for_stacks_with_a_label() {
        static LONG: &str = match str::from_utf8(&[b'y'; 300]) {
            Ok(text) => text,
            Err(_) => "",
        };
        let label = Some(Label::text(&"fiber 7"));
        assert!(words_with(label, Some("raise it")).ends_with("was touched; raise it\n"));
        assert_eq!(words_with(None, Some("raise it")), words(None));
        let shown = &LONG[..LONGEST_ADVICE];
        assert!(words_with(label, Some(LONG)).ends_with(&format!("was touched; {shown}\n")));
    }

    #[test]
    fn an_empty_label_is_like_no_label() {
        assert_eq!(words(Some(Label::text(&""))), words(None));
    }
}
