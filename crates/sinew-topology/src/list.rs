//! Lists of CPUs as text: numbers and ranges, separated by commas. Knows neither sets nor which
//! CPUs exist.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;

/// The most characters of an invalid list that an error shows.
const SHOWN: usize = 40;

/// The reason why a list of CPUs could not be parsed, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListError {
    piece: String,
    at: usize,
    fault: ListFault,
}

/// What is wrong with a list of CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ListFault {
    /// The list is empty.
    Empty,
    /// A number is missing, or the text is not a number.
    NotANumber,
    /// The number needs more than 32 bits.
    TooLarge,
    /// The number counts from the end, which is not supported here.
    Negative,
    /// The range ends before it begins.
    Backwards,
}

impl ListError {
    fn new(piece: &str, at: usize, fault: ListFault) -> Self {
        Self { piece: shorten(piece), at, fault }
    }

    /// Returns what is wrong.
    #[must_use]
    pub fn fault(&self) -> ListFault {
        self.fault
    }

    /// Returns the byte offset of the invalid piece in the list.
    #[must_use]
    pub fn offset(&self) -> usize {
        self.at
    }
}

impl fmt::Display for ListError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { piece, at, fault } = self;
        match fault {
            ListFault::Empty => write!(f, "a list of CPUs is empty")?,
            ListFault::NotANumber if piece.is_empty() => {
                write!(f, "in a list of CPUs, a number is missing at byte {at}")?;
            }
            ListFault::NotANumber => {
                write!(f, "in a list of CPUs, {piece:?} at byte {at} is neither a number nor a range")?;
            }
            ListFault::TooLarge => {
                write!(f, "in a list of CPUs, {piece:?} at byte {at} is greater than any CPU's number")?;
            }
            ListFault::Negative => {
                write!(
                    f,
                    "in a list of CPUs, {piece:?} at byte {at} counts from the end, which is not supported here"
                )?;
            }
            ListFault::Backwards => {
                write!(f, "in a list of CPUs, the range {piece:?} at byte {at} ends before it begins")?;
            }
        }
        write!(f, ": write it as in 0-3,8")
    }
}

impl Error for ListError {}

/// One end of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum End {
    /// The CPU of this number.
    Number(u32),
    /// The last CPU for 1, the CPU before it for 2, and so on. Never 0.
    FromLast(u32),
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::FromLast(back) => write!(f, "-{back}"),
        }
    }
}

/// Parses a list in which no number counts from the end, as the kernel prints it.
pub(super) fn kernel(text: &str) -> Result<Vec<RangeInclusive<u32>>, ListError> {
    let pieces = pieces(text).map(|piece| match piece.ends()? {
        (End::Number(first), End::Number(last)) => Ok(first..=last),
        _ => Err(piece.error(ListFault::Negative)),
    });
    pieces.collect()
}

/// Parses a list in which -1 is the last CPU, as users write it.
pub(super) fn with_ends(text: &str) -> Result<Vec<(End, End)>, ListError> {
    let ends: Vec<_> = pieces(text).map(|piece| piece.ends()).collect::<Result<_, _>>()?;
    if ends.is_empty() {
        return Err(ListError::new("", 0, ListFault::Empty));
    }
    Ok(ends)
}

/// The text between two commas, without the space around it.
#[derive(Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    at: usize,
}

/// Returns all pieces; none if the text is blank.
fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let mut at = 0;
    let is_blank = text.trim().is_empty();
    let all = text.split(',').map(move |raw| {
        let lead = raw.len() - raw.trim_start().len();
        let piece = Piece { text: raw.trim(), at: at + lead };
        at += raw.len() + 1;
        piece
    });
    all.filter(move |_| !is_blank)
}

impl Piece<'_> {
    fn error(self, fault: ListFault) -> ListError {
        ListError::new(self.text, self.at, fault)
    }

    fn ends(self) -> Result<(End, End), ListError> {
        // A dash at the start is a sign; the next one is the separator.
        let separator = self.text.char_indices().skip(1).find(|(_, c)| *c == '-');
        let Some((index, _)) = separator else {
            let only = self.end(self.text)?;
            return Ok((only, only));
        };
        let ends = (self.end(&self.text[..index])?, self.end(&self.text[index + 1..])?);
        match ends {
            (End::Number(first), End::Number(last)) if first > last => Err(self.error(ListFault::Backwards)),
            (End::FromLast(first), End::FromLast(last)) if first < last => {
                Err(self.error(ListFault::Backwards))
            }
            _ => Ok(ends),
        }
    }

    fn end(self, text: &str) -> Result<End, ListError> {
        let text = text.trim();
        let digits = text.strip_prefix('-');
        let number = self.number(digits.unwrap_or(text))?;
        match digits {
            None => Ok(End::Number(number)),
            Some(_) if number == 0 => Err(self.error(ListFault::NotANumber)),
            Some(_) => Ok(End::FromLast(number)),
        }
    }

    fn number(self, digits: &str) -> Result<u32, ListError> {
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.error(ListFault::NotANumber));
        }
        // The text has only digits, so the only possible error is that it has too many.
        digits.parse().map_err(|_| self.error(ListFault::TooLarge))
    }
}

/// Returns the beginning of a text, for errors: an invalid file may be long.
pub(super) fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
