//! Settings from the environment. What is there and makes no sense is an error, not ignored.

use std::env;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use super::builder::StartError;

/// The text of a variable, without what surrounds it.
fn text(name: &str) -> Option<String> {
    env::var_os(name).map(|text| text.to_string_lossy().trim().to_owned())
}

fn refused(name: &'static str, text: String, wanted: impl Display) -> StartError {
    StartError::Environment { name, value: text, wanted: wanted.to_string() }
}

/// A number.
pub(super) fn number(
    name: &'static str,
    numbers: RangeInclusive<usize>,
) -> Result<Option<usize>, StartError> {
    let Some(text) = text(name) else { return Ok(None) };
    match text.parse() {
        Ok(number) if numbers.contains(&number) => Ok(Some(number)),
        _ => Err(refused(name, text, format!("a number from {} to {}", numbers.start(), numbers.end()))),
    }
}

/// Yes or no.
pub(super) fn flag(name: &'static str) -> Result<Option<bool>, StartError> {
    let Some(text) = text(name) else { return Ok(None) };
    match text.as_str() {
        "1" | "on" | "true" | "yes" => Ok(Some(true)),
        "0" | "off" | "false" | "no" => Ok(Some(false)),
        _ => Err(refused(name, text, "on or off")),
    }
}

/// Anything that can be read from text; why it cannot is in the error.
pub(super) fn value<T: FromStr<Err: Display>>(name: &'static str) -> Result<Option<T>, StartError> {
    let Some(text) = text(name) else { return Ok(None) };
    match text.parse() {
        Ok(value) => Ok(Some(value)),
        Err(error) => Err(refused(name, text, format!("something that makes sense ({error})"))),
    }
}
