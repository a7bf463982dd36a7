//! Strict JSON bodies: no duplicate keys, bounded depth, exact types.

use axum::extract::{FromRequest, Request};
use axum::http::{HeaderMap, StatusCode, header};
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::endpoints::{Describe, add_body};
use super::extract::{plain_encoding, whole_body};
use super::unique_keys::UniqueKeys;
use super::{Problem, Schemas, strict};
use crate::problem::{FieldCode, ProblemKind};

/// Parses a body: 400 for malformed JSON, 422 for JSON that does not fit the schema.
///
/// # Errors
/// The mistake and its place.
pub fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    read_value(document::<UniqueKeys>(bytes)?.0)
}

/// Parses a body by the rules of `D` for keys.
///
/// # Errors
/// 400 for malformed JSON.
pub(super) fn document<'de, D: Deserialize<'de>>(bytes: &'de [u8]) -> Result<D, Problem> {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    let document = D::deserialize(&mut reader);
    document.and_then(|document| reader.end().map(|()| document)).map_err(|err| {
        Problem::bad_request(format!("invalid JSON body: {err}")).of_kind(ProblemKind::InvalidBody)
    })
}

/// Reads a parsed body: 422 for JSON that does not fit the schema.
///
/// # Errors
/// The mistake and its place.
pub fn read_value<T: DeserializeOwned>(body: Value) -> Result<T, Problem> {
    strict::read(body).map_err(|why| {
        let (pointer, message) = pointed(&why);
        Problem::field(&pointer, FieldCode::Invalid, message).of_kind(ProblemKind::InvalidBody)
    })
}

/// Splits "`a.b[0]`: message" into a JSON pointer and the message.
fn pointed(why: &str) -> (String, String) {
    let parts = why.strip_prefix('`').and_then(|rest| rest.split_once("`: "));
    let Some((path, message)) = parts else {
        return (String::new(), why.to_owned());
    };
    let path = path.replace('[', ".").replace(']', "");
    // An array at the top begins with its place.
    let path = path.trim_start_matches('.');
    let pointer = path.split('.').fold(String::new(), |pointer, part| {
        format!("{pointer}/{}", part.replace('~', "~0").replace('/', "~1"))
    });
    (pointer, message.to_owned())
}

/// Strict JSON request body.
#[derive(Debug)]
pub struct StrictJson<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for StrictJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        json_media(request.headers())?;
        plain_encoding(request.headers())?;
        let bytes = whole_body(request, state).await?;
        Ok(Self(read(&bytes)?))
    }
}

/// Strict JSON request body; the default without a body.
#[derive(Debug)]
pub struct OptionalJson<T>(pub T);

impl<T: DeserializeOwned + Default, S: Send + Sync> FromRequest<S> for OptionalJson<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let media = json_media(request.headers());
        plain_encoding(request.headers())?;
        let bytes = whole_body(request, state).await?;
        if bytes.is_empty() {
            return Ok(Self(T::default()));
        }
        media?;
        Ok(Self(read(&bytes)?))
    }
}

impl<T: JsonSchema> Describe for StrictJson<T> {
    fn describe(operation: &mut Value, schemas: &mut Schemas) {
        add_body(operation, &schemas.reference::<T>(), true);
    }
}

impl<T: JsonSchema> Describe for OptionalJson<T> {
    fn describe(operation: &mut Value, schemas: &mut Schemas) {
        let schema = json!({ "oneOf": [schemas.reference::<T>(), { "type": "null" }] });
        add_body(operation, &schema, false);
    }
}

/// Checks that the media type of the body is JSON.
///
/// # Errors
/// 415 for others.
pub fn json_media(headers: &HeaderMap) -> Result<(), Problem> {
    let media = headers.get(header::CONTENT_TYPE);
    let media = media.and_then(|media| media.to_str().ok()).unwrap_or("");
    let essence = media.split(';').next().unwrap_or("").trim();
    match essence.eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported media type: allowed application/json",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Wanted {
        #[serde(default)]
        list: Vec<Item>,
    }
    #[derive(Debug, Deserialize, PartialEq)]
    struct Item {
        count: u8,
    }

    #[test]
    fn invalid_value_gives_its_pointer() {
        let refusal = |body: &str| read::<Wanted>(body.as_bytes()).unwrap_err();
        let problem = refusal(r#"{"list": [{"count": 1}, {"count": 300}]}"#);
        assert_eq!((problem.status, problem.errors[0].pointer.as_str()), (422, "/list/1/count"));
        assert_eq!(refusal(r#"{"other": 1}"#).status, 422);
        for (body, says) in [
            (r#"{"list": [], "list": []}"#, "duplicate key"),
            (r#"{"list": [{"count": 1, "count": 1}]}"#, "duplicate key"),
            ("{", "EOF"),
            ("{} x", "trailing"),
            ("\u{feff}{}", "expected value"),
            (&format!("{}{}", "[".repeat(40), "]".repeat(40)), "deeper than 32"),
            (&"[".repeat(100_000), "deeper than 32"),
        ] {
            let problem = refusal(body);
            assert_eq!(problem.status, 400, "{body:.40}");
            assert!(problem.detail.contains(says), "{}", problem.detail);
        }
        assert_eq!(read::<Wanted>(b"{}"), Ok(Wanted { list: vec![] }));
    }
}
