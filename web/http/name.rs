//! Names in requests, which people read.
//!
//! Worlds take more: logs and stores of earlier versions hold names of blanks and of characters that
//! cannot be seen.

use super::Problem;
use crate::problem::FieldCode;

/// Characters that cannot be seen or that change the order of others: controls, soft hyphen, marks
/// of direction, line separators, invisible operators, fillers and the blank Braille pattern, byte order mark.
/// Joiners are left out: scripts need them.
const INVISIBLE: [std::ops::RangeInclusive<char>; 20] = [
    '\0'..='\u{1f}',
    '\u{7f}'..='\u{9f}',
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200b}',
    '\u{200e}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{fffe}'..='\u{ffff}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e007f}',
];

/// The same as a pattern of JSON Schema, for 1 to 64 characters.
pub const PATTERN: &str = concat!(
    r"^[^\s\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff]",
    r"[^\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff]{0,63}$"
);

/// True for a text of one line without invisible characters.
#[must_use]
pub fn is_line(text: &str) -> bool {
    !text.contains(|letter: char| INVISIBLE.iter().any(|range| range.contains(&letter)))
}

/// True for a name that begins with no blank and has no invisible character.
#[must_use]
pub fn can_be_seen(name: &str) -> bool {
    let joins = |letter: char| letter == '\u{200c}' || letter == '\u{200d}';
    !name.starts_with(char::is_whitespace)
        && is_line(name)
        && (name.is_empty() || !name.chars().all(joins))
}

/// Checks that a name at `pointer` can be seen; its length is checked by the world.
///
/// # Errors
/// 422 for a name that begins with a blank or has an invisible character.
pub fn check(pointer: &str, name: &str) -> Result<(), Problem> {
    if can_be_seen(name) {
        return Ok(());
    }
    let message = format!(
        "invalid name: found {name:?}, allowed names without control or invisible characters, the \
         first no blank"
    );
    Err(Problem::field(pointer, FieldCode::NotAllowed, message))
}

/// Why [`is_line`] is false.
#[must_use]
pub fn line_mistake(text: &str) -> String {
    format!("found {text:?}, allowed one line without control or invisible characters")
}

/// Checks that the text at `pointer` is a line that can be seen; its length is checked by the world.
///
/// # Errors
/// 422 for a text with an invisible character.
pub fn check_line(pointer: &str, text: &str) -> Result<(), Problem> {
    match is_line(text) {
        true => Ok(()),
        false => Err(Problem::field(pointer, FieldCode::NotAllowed, line_mistake(text))),
    }
}

/// Checks that the text at `pointer` is a line, and that something of it can be seen unless it is empty.
///
/// # Errors
/// 422 for a text of blanks, or with an invisible character.
pub fn check_text(pointer: &str, text: &str) -> Result<(), Problem> {
    check_line(pointer, text)?;
    match text.is_empty() || can_be_seen(text.trim_start()) && !text.trim().is_empty() {
        true => Ok(()),
        false => check(pointer, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_be_seen() {
        for name in ["a", "a b", "Zürich 2", "می‌خواهم", "👩‍🚒", "x "] {
            assert_eq!(check("/name", name), Ok(()), "{name:?}");
            assert_eq!(check_line("/unit", &format!(" {name}")), Ok(()), "{name:?}");
        }
        for name in [
            " ",
            "\u{3000}",
            " a",
            "a\u{200b}",
            "\u{202e}evil",
            "\u{feff}a",
            "a\tb",
            "\u{200d}",
            "\u{2800}",
            "\u{e0001}x",
            "a\u{3164}",
            "a\u{34f}",
            "\u{17b4}x",
            "a\u{fff9}b",
            "\u{ffff}",
            "\u{1d173}",
        ] {
            let problem = check("/name", name).unwrap_err();
            assert_eq!(
                (problem.status, problem.errors[0].pointer.as_str()),
                (422, "/name"),
                "{name:?}"
            );
        }
    }
    #[test]
    fn a_text_of_blanks_is_refused() {
        for text in ["", " %", "V", "m s"] {
            assert_eq!(check_text("/unit", text), Ok(()), "{text:?}");
        }
        for text in [" ", "\u{a0}", "\u{3000} ", "\u{200d}", "a\u{200b}"] {
            assert_eq!(check_text("/name", text).unwrap_err().status, 422, "{text:?}");
        }
    }
}
