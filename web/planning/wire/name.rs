//! Names of deployments, nodes and templates in requests.
//!
//! The world takes more: logs and stores of earlier versions hold names of blanks and of characters
//! that cannot be seen.

use groundwave_http::Problem;
pub use groundwave_http::name::PATTERN;
use groundwave_http::name::can_be_seen;

/// Checks that a name can be seen.
///
/// # Errors
/// 400 for a name that begins with a blank or has an invisible character; the world refuses the
/// other ones.
pub fn check(name: &str) -> Result<(), Problem> {
    if can_be_seen(name) {
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
