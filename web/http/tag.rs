//! Entity tags (RFC 9110, 8.8.3): which revision of something an answer shows, and which one the
//! caller has.

use std::fmt::Display;

use axum::http::{HeaderMap, HeaderName, StatusCode, header};
use groundwave_files::hex::hex;
use sha2::{Digest, Sha256};

use super::Problem;

/// Header with a revision.
pub type Tag = [(HeaderName, String); 1];

/// Revision as `ETag`.
#[must_use]
pub fn tag(revision: impl Display) -> Tag {
    [(header::ETAG, quoted(revision))]
}

fn quoted(revision: impl Display) -> String {
    format!("\"{revision}\"")
}

/// Entity tags in a field, which may have several.
fn listed(headers: &HeaderMap, field: HeaderName) -> impl Iterator<Item = &str> {
    let values = headers.get_all(field).into_iter();
    values.flat_map(|value| value.to_str().unwrap_or("").split(',')).map(str::trim)
}

/// `true` if `If-None-Match` names this revision, as a strong or a weak tag, or any.
#[must_use]
pub fn is_known(headers: &HeaderMap, revision: impl Display) -> bool {
    let own = quoted(revision);
    let is_own = |one: &str| one == "*" || one.strip_prefix("W/").unwrap_or(one) == own;
    listed(headers, header::IF_NONE_MATCH).any(is_own)
}

/// Revisions in `If-Match`, without quotes; `None` without the field and for `*`. Weak tags name none: they are
/// compared with nothing that is to be changed (RFC 9110, 13.1.1).
#[must_use]
pub fn if_match(headers: &HeaderMap) -> Option<Vec<&str>> {
    let named: Vec<&str> = listed(headers, header::IF_MATCH).collect();
    if named.is_empty() || named == ["*"] {
        return None;
    }
    let strong = named.into_iter().filter(|one| !one.starts_with("W/"));
    Some(strong.map(|one| one.trim_matches('"')).collect())
}

/// Number of a revision in `If-Match`, of several the greatest; `None` without one and for `*`.
///
/// # Errors
/// 412 for what is no revision.
pub fn if_match_revision(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let Some(named) = if_match(headers) else { return Ok(None) };
    let newest = named.iter().filter_map(|one| one.parse::<u64>().ok()).max();
    let unknown = || Problem::new(StatusCode::PRECONDITION_FAILED, "unknown revision in If-Match");
    newest.map(Some).ok_or_else(unknown)
}

/// Revision of a document: digest of its content.
#[must_use]
pub fn revision_of(content: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(content)[..8])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(field: HeaderName, values: &[&str]) -> HeaderMap {
        values.iter().map(|value| (field.clone(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_change_is_compared_strongly_with_each_tag() {
        let number = |values: &[&str]| if_match_revision(&fields(header::IF_MATCH, values));
        assert_eq!(number(&[]), Ok(None));
        for any in [&["*"][..], &[" * "]] {
            assert_eq!(number(any), Ok(None), "{any:?}");
        }
        for one in
            [&["\"1\""][..], &["1"], &["\"x\", \"1\""], &["W/\"2\",\"1\""], &["\"x\"", "\"1\""]]
        {
            assert_eq!(number(one), Ok(Some(1)), "{one:?}");
        }
        assert_eq!(number(&["\"2\", \"10\""]), Ok(Some(10)));
        for none in [&["W/\"1\""][..], &["\"x\""], &[""]] {
            assert_eq!(number(none).unwrap_err().status, 412, "{none:?}");
        }
        let named = fields(header::IF_MATCH, &["\"a\", W/\"b\", \"c\""]);
        assert_eq!(if_match(&named), Some(vec!["a", "c"]));
    }

    #[test]
    fn a_copy_is_compared_weakly_with_each_tag() {
        for (values, is_same) in [
            (&["\"abc\""][..], true),
            (&["W/\"abc\""], true),
            (&["*"], true),
            (&["\"x\", W/\"abc\""], true),
            (&["\"x\"", "\"abc\""], true),
            (&["abc"], false),
            (&["\"x\""], false),
            (&[], false),
        ] {
            assert_eq!(
                is_known(&fields(header::IF_NONE_MATCH, values), "abc"),
                is_same,
                "{values:?}"
            );
        }
    }
}
