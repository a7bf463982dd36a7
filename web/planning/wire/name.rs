//! Names of deployments, nodes and templates in requests.
//!
//! The world takes more: logs and stores of earlier versions hold names of blanks and of characters
//! that cannot be seen.

use groundwave_http::Problem;

/// Characters that cannot be seen or that change the order of others: controls, soft hyphen, marks
/// of direction, line separators, invisible operators, byte order mark. Joiners are left out: scripts
/// need them.
const INVISIBLE: [std::ops::RangeInclusive<char>; 9] = [
    '\0'..='\u{1f}',
    '\u{7f}'..='\u{9f}',
    '\u{ad}'..='\u{ad}',
    '\u{180e}'..='\u{180e}',
    '\u{200b}'..='\u{200b}',
    '\u{200e}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{feff}'..='\u{feff}',
];

/// The same as a pattern of JSON Schema.
pub const PATTERN: &str = concat!(
    r"^[^\s\u0000-\u001f\u007f-\u009f\u00ad\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]",
    r"[^\u0000-\u001f\u007f-\u009f\u00ad\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]{0,63}$"
);

/// Checks that a name can be seen.
///
/// # Errors
/// 400 for a name that begins with a blank or has an invisible character; the world refuses the
/// other ones.
pub fn check(name: &str) -> Result<(), Problem> {
    let is_invisible = |letter: char| INVISIBLE.iter().any(|range| range.contains(&letter));
    if !name.starts_with(char::is_whitespace) && !name.contains(is_invisible) {
        return Ok(());
    }
    Err(Problem::bad_request(format!(
        "invalid name: found {name:?}, allowed 1 to 64 characters, none of them a control or \
         invisible character, the first no blank"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_be_seen() {
        for name in ["a", "a b", "Zürich 2", "می‌خواهم", "👩‍🚒", "x "] {
            assert!(check(name).is_ok(), "{name:?}");
        }
        for name in [" ", "\u{3000}", " a", "a\u{200b}", "\u{202e}evil", "\u{feff}a", "a\tb"] {
            assert_eq!(check(name).unwrap_err().status, 400, "{name:?}");
        }
    }
}
