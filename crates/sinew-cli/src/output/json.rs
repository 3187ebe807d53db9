//! One JSON object on one line. Written here because the program writes flat objects only, and
//! reads none; the tests read them with `serde_json`.

use std::fmt::Write;

/// An object that is being written.
#[derive(Debug)]
pub(crate) struct Object(String);

impl Object {
    /// An object without members.
    pub(crate) fn new() -> Self {
        Self("{".to_owned())
    }

    /// Adds a string.
    pub(crate) fn text(self, name: &str, value: &str) -> Self {
        self.raw(name, &quoted(value))
    }

    /// Adds a string, or `null`.
    pub(crate) fn maybe_text(self, name: &str, value: Option<&str>) -> Self {
        self.raw(name, &value.map_or_else(|| "null".to_owned(), quoted))
    }

    /// Adds a number; `null` if JSON has none such.
    pub(crate) fn number(self, name: &str, value: f64) -> Self {
        self.raw(name, &if value.is_finite() { value.to_string() } else { "null".to_owned() })
    }

    /// Adds `true` or `false`.
    pub(crate) fn truth(self, name: &str, value: bool) -> Self {
        self.raw(name, if value { "true" } else { "false" })
    }

    /// Adds an array of objects.
    pub(crate) fn objects(self, name: &str, objects: impl IntoIterator<Item = Self>) -> Self {
        let objects: Vec<_> = objects.into_iter().map(Self::end).collect();
        self.raw(name, &format!("[{}]", objects.join(",")))
    }

    /// Adds an array of strings.
    pub(crate) fn texts(self, name: &str, texts: &[String]) -> Self {
        let texts: Vec<_> = texts.iter().map(|text| quoted(text)).collect();
        self.raw(name, &format!("[{}]", texts.join(",")))
    }

    /// The whole object, without a line break.
    pub(crate) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }

    fn raw(mut self, name: &str, value: &str) -> Self {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        self.0.push_str(&quoted(name));
        self.0.push(':');
        self.0.push_str(value);
        self
    }
}

/// A string as JSON writes it.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            control if u32::from(control) < 0x20 => {
                // Writing to a string does not fail.
                let _ = write!(quoted, "\\u{:04x}", u32::from(control));
            }
            other => quoted.push(other),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn a_parser_reads_what_was_written() {
        let nasty = "line\n\ttab \"quoted\" \\ back\u{1} é";
        let written = Object::new()
            .text("text", nasty)
            .maybe_text("none", None)
            .number("number", 0.5)
            .number("infinite", f64::INFINITY)
            .truth("truth", true)
            .texts("texts", &[nasty.to_owned()])
            .objects("objects", [Object::new(), Object::new().number("one", 1.0)])
            .end();
        let read: Value = serde_json::from_str(&written).unwrap();
        let expected = json!({
            "text": nasty, "none": null, "number": 0.5, "infinite": null, "truth": true,
            "texts": [nasty], "objects": [{}, {"one": 1}],
        });
        assert_eq!(read["text"], expected["text"]);
        assert_eq!(read["objects"][1]["one"].as_f64(), Some(1.0));
        assert_eq!(read.as_object().unwrap().len(), expected.as_object().unwrap().len());
        assert!(!written.contains('\n'));
    }
}
