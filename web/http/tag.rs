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

/// `true` if `If-None-Match` names this revision.
#[must_use]
pub fn is_known(headers: &HeaderMap, revision: impl Display) -> bool {
    let own = quoted(revision);
    let tags = headers.get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok());
    tags.is_some_and(|tags| tags.split(',').any(|one| one.trim() == own))
}

/// Revision in `If-Match`, without quotes; `None` for `*`.
#[must_use]
pub fn if_match(headers: &HeaderMap) -> Option<&str> {
    let named = headers.get(header::IF_MATCH)?.to_str().unwrap_or("").trim();
    let bare = named.trim_start_matches("W/").trim_matches('"');
    (named != "*").then_some(bare)
}

/// Number of a revision in `If-Match`; `None` without one and for `*`.
///
/// # Errors
/// 412 for what is no revision.
pub fn if_match_revision(headers: &HeaderMap) -> Result<Option<u64>, Problem> {
    let named = if_match(headers).map(str::parse);
    let unknown = |_| Problem::new(StatusCode::PRECONDITION_FAILED, "unknown revision in If-Match");
    named.transpose().map_err(unknown)
}

/// Revision of a document: digest of its content.
#[must_use]
pub fn revision_of(content: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(content)[..8])
}
