//! Errors as JSON documents: problems (RFC 7807) with the exit code in place of a status.

use serde::Serialize;

/// Prefix of the types of problems, as of those over HTTP.
const URN_PREFIX: &str = "urn:groundwave:problem:";

/// An error of a command, one line on standard error with `--json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// Type, a URN.
    #[serde(rename = "type")]
    kind: String,
    /// Name of the type.
    title: &'static str,
    /// Exit code of the program.
    exit_code: u8,
    /// Explanation: the text of the error.
    detail: String,
    /// Option, argument or key that is at fault, where it is known: `--step`, `node[3].radio`.
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    /// Place in a file, where it is known: `FILE:LINE` or `FILE:LINE:COLUMN`, both from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    place: Option<String>,
    /// The error as earlier programs read it.
    error: Error,
}

/// Members of errors before they were problems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Error {
    message: String,
    exit_code: u8,
}

impl Problem {
    /// The problem of an error: the field and the place are those that its text begins with.
    #[must_use]
    pub fn new(text: &str, exit_code: u8) -> Self {
        let (kind, title) = match exit_code {
            2 => ("invalid-input", "Invalid input"),
            3 if text.contains("no terrain data") => ("no-terrain-data", "No terrain data"),
            3 => ("broken-world", "The world of the server broke"),
            130 => ("stopped", "Stopped by a signal"),
            _ => ("failure", "Failure of the simulation or the machine"),
        };
        let (place, rest) = match placed(text) {
            Some((place, rest)) => (Some(place.to_owned()), rest),
            None => (None, text),
        };
        Self {
            kind: format!("{URN_PREFIX}{kind}"),
            title,
            exit_code,
            detail: text.to_owned(),
            field: field(rest, place.is_some()).map(str::to_owned),
            place,
            error: Error { message: text.to_owned(), exit_code },
        }
    }

    /// The same problem of a field, unless its text names one.
    #[must_use]
    pub fn of_field(self, field: Option<String>) -> Self {
        Self { field: self.field.or(field), ..self }
    }

    /// The document on one line.
    #[must_use]
    pub fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The place that a text begins with, `FILE:LINE: ` or `FILE:LINE:COLUMN: `, and what follows.
fn placed(text: &str) -> Option<(&str, &str)> {
    let (head, rest) = text.split_once(": ")?;
    let place = head.strip_prefix("configuration ").unwrap_or(head);
    let (path, last) = place.rsplit_once(':')?;
    let is_number = |part: &str| part.parse::<u32>().is_ok();
    (!path.is_empty() && !path.contains('\n') && is_number(last)).then_some((place, rest))
}

/// The option, argument or key that a text is about: `invalid KEY: …`, `missing KEY: …`, in a file also `KEY: …`.
fn field(text: &str, is_placed: bool) -> Option<&str> {
    let (head, _) = text.split_once(": ")?;
    let named =
        ["invalid ", "missing ", "unknown "].iter().find_map(|word| head.strip_prefix(word));
    let name = named.or_else(|| is_placed.then_some(head))?;
    (!name.is_empty() && !name.contains(char::is_whitespace)).then_some(name)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn document(text: &str, exit_code: u8) -> Value {
        serde_json::from_str(&Problem::new(text, exit_code).to_line()).unwrap()
    }

    #[test]
    fn errors_give_problems_with_field_and_place() {
        let text = "invalid --step: found 0 s, allowed more than 0";
        assert_eq!(
            document(text, 2),
            json!({
                "type": "urn:groundwave:problem:invalid-input",
                "title": "Invalid input",
                "exit_code": 2,
                "detail": text,
                "field": "--step",
                "error": { "message": text, "exit_code": 2 },
            })
        );
        for (text, field, place) in [
            ("a.toml:3:7: node[3].radio: unknown radio preset", "node[3].radio", "a.toml:3:7"),
            ("configuration c.toml:2: invalid --samples: found 3", "--samples", "c.toml:2"),
            ("missing --at: allowed LAT,LON", "--at", ""),
            ("a.toml:3:7: expected `=`: found x", "", "a.toml:3:7"),
            ("invalid file to write: found -", "", ""),
            ("read a.redb: no such file", "", ""),
            ("broken", "", ""),
        ] {
            let document = document(text, 2);
            let member = |name: &str| document[name].as_str().unwrap_or_default().to_owned();
            assert_eq!((member("field"), member("place")), (field.to_owned(), place.to_owned()));
        }
    }

    #[test]
    fn exit_codes_give_the_type() {
        for (text, exit_code, kind) in [
            ("disk full", 1, "failure"),
            ("no terrain data under 1 of 2 sites", 3, "no-terrain-data"),
            ("the world broke in tick 1", 3, "broken-world"),
            ("stopped before the end by a signal", 130, "stopped"),
            ("no such program", 127, "failure"),
        ] {
            let document = document(text, exit_code);
            assert_eq!(document["type"], format!("urn:groundwave:problem:{kind}"));
            assert_eq!(document["exit_code"], exit_code);
        }
    }

    #[test]
    fn field_of_the_command_line_stands_in_for_one_of_the_text() {
        let problem = |text: &str| {
            Problem::new(text, 2).of_field(Some("--other".to_owned())).field.unwrap_or_default()
        };
        assert_eq!(problem("unexpected argument"), "--other");
        assert_eq!(problem("invalid --step: found 0"), "--step");
    }
}
