//! Username of a login, noted for the audit log.

use std::convert::Infallible;
use std::sync::{Arc, OnceLock};

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use groundwave_gateway::account::check_username;
use groundwave_http::endpoints::Describe;

/// Note of a handler for the audit entry of its request.
#[derive(Debug, Clone, Default)]
pub struct LoginNote(Arc<OnceLock<String>>);

impl LoginNote {
    /// Notes the username of a login, before it is checked.
    pub fn tried(&self, username: &str) {
        // What cannot be a username may be a password in the wrong field.
        let name = match check_username(username) {
            Ok(()) => username,
            Err(_) => "(no username)",
        };
        let _ = self.0.set(name.to_owned());
    }

    /// The username, if there was a login.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        self.0.get().cloned()
    }
}

impl Describe for LoginNote {}

impl<S: Send + Sync> FromRequestParts<S> for LoginNote {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        Ok(parts.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}
