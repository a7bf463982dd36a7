//! Credentials of external systems: sealed at rest, never shown.

use std::time::Duration;

use axum::http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use groundwave_gateway::external::{AuthKind, ExternalSystem};
use groundwave_http::Problem;
use groundwave_http::problem::FieldCode;
use groundwave_outbound::{Request, Trust};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::services::vault::Vault;

/// Place of an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum KeyPlace {
    /// Header field.
    #[default]
    Header,
    /// Query parameter.
    Query,
}

/// Credentials; write-only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum SystemCredentials {
    /// None.
    #[default]
    None,
    /// User name and password, RFC 7617.
    Basic {
        /// User name.
        #[schemars(length(max = 256))]
        username: String,
        /// Password.
        #[schemars(length(max = 4096))]
        password: String,
    },
    /// Bearer token, RFC 6750.
    Bearer {
        /// Token.
        #[schemars(length(min = 1, max = 8192))]
        token: String,
    },
    /// Key in a header field or query parameter.
    ApiKey {
        /// Name of the header field or query parameter.
        #[schemars(length(min = 1, max = 64), regex(pattern = "^[A-Za-z0-9_-]+$"))]
        name: String,
        /// Place; default header.
        #[serde(default, rename = "in")]
        place: KeyPlace,
        /// Key.
        #[schemars(length(min = 1, max = 8192))]
        key: String,
    },
    /// Token with an id, as Proxmox VE has it.
    TokenId {
        /// Token id, such as `user@pam!name`.
        #[schemars(length(min = 1, max = 256))]
        token_id: String,
        /// Secret.
        #[schemars(length(min = 1, max = 4096))]
        token: String,
    },
}

/// Credentials with the system they belong to.
#[derive(Serialize, Deserialize)]
struct Bound {
    system: Uuid,
    credentials: SystemCredentials,
}

/// Header fields that a key may not replace.
const FIXED_HEADERS: [&str; 6] =
    ["host", "connection", "content-length", "transfer-encoding", "content-type", "upgrade"];

impl SystemCredentials {
    /// Kind of the credentials.
    #[must_use]
    pub const fn kind(&self) -> AuthKind {
        match self {
            Self::None => AuthKind::None,
            Self::Basic { .. } => AuthKind::Basic,
            Self::Bearer { .. } => AuthKind::Bearer,
            Self::ApiKey { .. } => AuthKind::ApiKey,
            Self::TokenId { .. } => AuthKind::TokenId,
        }
    }

    /// Checks lengths and characters.
    ///
    /// # Errors
    /// 422 naming the field, without its value.
    pub fn check(&self) -> Result<(), Problem> {
        let fields: &[(&str, &str, usize, usize)] = match self {
            Self::None => &[],
            Self::Basic { username, password } => {
                if username.contains(':') {
                    let message = "invalid username: found a colon, allowed other characters";
                    return Err(Problem::field("/auth/username", FieldCode::Format, message));
                }
                &[("username", username, 0, 256), ("password", password, 0, 4096)]
            }
            Self::Bearer { token } => &[("token", token, 1, 8192)],
            Self::ApiKey { name, key, .. } => {
                let is_fixed = FIXED_HEADERS.contains(&name.to_ascii_lowercase().as_str());
                let letter = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
                if is_fixed || !name.bytes().all(letter) {
                    let message =
                        "invalid name: allowed A-Z a-z 0-9 _ -, but no field of the connection";
                    return Err(Problem::field("/auth/name", FieldCode::NotAllowed, message));
                }
                &[("name", name, 1, 64), ("key", key, 1, 8192)]
            }
            Self::TokenId { token_id, token } => {
                &[("token_id", token_id, 1, 256), ("token", token, 1, 4096)]
            }
        };
        for (name, text, minimum, maximum) in fields {
            let pointer = format!("/auth/{name}");
            if !(*minimum..=*maximum).contains(&text.len()) {
                let length = text.len();
                let message =
                    format!("invalid length: found {length}, allowed {minimum} to {maximum}");
                return Err(Problem::field(&pointer, FieldCode::Length, message));
            }
            if text.chars().any(char::is_control) {
                let message = "invalid value: found a control character, allowed printable ones";
                return Err(Problem::field(&pointer, FieldCode::Format, message));
            }
        }
        Ok(())
    }

    /// Sealed credentials of a system; `None` without any.
    ///
    /// # Errors
    /// 500.
    pub fn seal(&self, vault: &Vault, system: Uuid) -> Result<Option<String>, Problem> {
        if *self == Self::None {
            return Ok(None);
        }
        let bound = Bound { system, credentials: self.clone() };
        let plain = serde_json::to_vec(&bound).map_err(|err| Problem::internal(err.to_string()))?;
        vault.seal(&plain).map(Some).map_err(Problem::internal)
    }

    /// Credentials of a system, opened.
    ///
    /// # Errors
    /// 500 when they were sealed under another key or for another system.
    pub fn open(vault: &Vault, id: Uuid, system: &ExternalSystem) -> Result<Self, Problem> {
        let Some(sealed) = &system.sealed_auth else {
            return Ok(Self::None);
        };
        let failed = |why: String| {
            let name = &system.name;
            Problem::internal(format!("credentials of {name:?}: {why}; set them anew"))
        };
        let plain = vault.unseal(sealed).map_err(failed)?;
        let bound: Bound =
            serde_json::from_slice(&plain).map_err(|_| failed("malformed".to_owned()))?;
        match bound.system == id {
            true => Ok(bound.credentials),
            false => Err(failed("they belong to another system".to_owned())),
        }
    }

    /// Adds the credentials to a request.
    ///
    /// # Errors
    /// 422 for values that no header field can have.
    fn add_to(&self, system: &ExternalSystem, headers: &mut HeaderMap) -> Result<(), Problem> {
        let secret = |text: String| {
            let value = HeaderValue::from_str(&text).map_err(|_| {
                let message = "not allowed in a header field";
                Problem::field("/auth", FieldCode::Format, message)
            });
            value.map(|mut value| {
                value.set_sensitive(true);
                value
            })
        };
        match self {
            Self::None => {}
            Self::Basic { username, password } => {
                let pair = STANDARD.encode(format!("{username}:{password}"));
                headers.insert(AUTHORIZATION, secret(format!("Basic {pair}"))?);
            }
            Self::Bearer { token } => {
                let name = HeaderName::from_static(system.preset.bearer_header());
                headers.insert(name, secret(format!("Bearer {token}"))?);
            }
            Self::ApiKey { place: KeyPlace::Query, .. } => {}
            Self::ApiKey { name, key, .. } => {
                let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
                    Problem::field("/auth/name", FieldCode::Format, "no name of a header field")
                })?;
                headers.insert(name, secret(key.clone())?);
            }
            Self::TokenId { token_id, token } => {
                headers.insert(AUTHORIZATION, secret(format!("PVEAPIToken={token_id}={token}"))?);
            }
        }
        Ok(())
    }

    /// Path with the key, where that is a query parameter.
    fn path(&self, path: &str) -> String {
        let Self::ApiKey { name, place: KeyPlace::Query, key } = self else {
            return path.to_owned();
        };
        let mark = if path.contains('?') { '&' } else { '?' };
        let key: String = form_urlencoded::byte_serialize(key.as_bytes()).collect();
        format!("{path}{mark}{name}={key}")
    }

    /// Request to a path below the base URL of a system, with the credentials.
    ///
    /// # Errors
    /// 422 for a base URL, path or credentials that cannot be sent.
    pub fn request(
        &self,
        system: &ExternalSystem,
        method: axum::http::Method,
        path: &str,
    ) -> Result<Request, Problem> {
        let base = system.base_url.trim_end_matches('/');
        let url = format!("{base}{}", self.path(path));
        let mut request = Request::new(method, &url)
            .map_err(|err| crate::services::outbound::unreached("/base_url", &err))?;
        request.limit = Duration::from_millis(u64::from(system.timeout_ms));
        request.trust = trust(system);
        self.add_to(system, &mut request.headers)?;
        Ok(request)
    }
}

/// Trust in the certificate of a system.
#[must_use]
pub fn trust(system: &ExternalSystem) -> Trust {
    match (system.tls.verify, &system.tls.ca_pem) {
        (false, _) => Trust::Any,
        (true, Some(pem)) => Trust::Authorities(pem.clone()),
        (true, None) => Trust::System,
    }
}

#[cfg(test)]
mod tests {
    use groundwave_gateway::external::{Preset, TlsTrust};

    use super::*;

    fn system(preset: Preset) -> ExternalSystem {
        ExternalSystem {
            name: "Probe".to_owned(),
            preset,
            base_url: "http://10.0.0.9:8000/base/".to_owned(),
            auth: AuthKind::None,
            sealed_auth: None,
            poll_interval_s: 60,
            timeout_ms: 1_000,
            tls: TlsTrust::default(),
            checks: Vec::new(),
            endpoints: Vec::new(),
        }
    }

    #[test]
    fn credentials_are_sealed_for_one_system() {
        let (vault, id) = (Vault::new(&[7; 32]), Uuid::from_u128(5));
        let secret = SystemCredentials::Bearer { token: "canary".to_owned() };
        let mut system = system(Preset::Custom);
        system.sealed_auth = secret.seal(&vault, id).unwrap();
        assert!(!system.sealed_auth.as_ref().unwrap().contains("canary"));
        assert_eq!(SystemCredentials::open(&vault, id, &system).unwrap(), secret);
        assert_eq!(SystemCredentials::open(&vault, Uuid::nil(), &system).unwrap_err().status, 500);
        assert_eq!(
            SystemCredentials::open(&Vault::new(&[8; 32]), id, &system).unwrap_err().status,
            500
        );
        assert_eq!(SystemCredentials::None.seal(&vault, id).unwrap(), None);
    }

    #[test]
    fn credentials_stand_where_each_product_reads_them() {
        let text = |text: &str| text.to_owned();
        let key =
            |place| SystemCredentials::ApiKey { name: text("x-key"), place, key: text("a b&c") };
        let basic =
            SystemCredentials::Basic { username: text("Aladdin"), password: text("open sesame") };
        let bearer = SystemCredentials::Bearer { token: text("t") };
        let token = SystemCredentials::TokenId { token_id: text("root@pam!gw"), token: text("u") };
        let cases = [
            (&basic, Preset::Custom, "authorization", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
            (&bearer, Preset::HomeAssistant, "authorization", "Bearer t"),
            (&bearer, Preset::Chirpstack, "grpc-metadata-authorization", "Bearer t"),
            (&token, Preset::Proxmox, "authorization", "PVEAPIToken=root@pam!gw=u"),
            (&key(KeyPlace::Header), Preset::Unifi, "x-key", "a b&c"),
        ];
        for (credentials, preset, name, value) in cases {
            let request = credentials.request(&system(preset), axum::http::Method::GET, "/x");
            let headers = request.unwrap().headers;
            assert_eq!((headers[name].to_str().unwrap(), headers.len()), (value, 1));
            assert!(headers[name].is_sensitive());
        }
        assert_eq!(key(KeyPlace::Query).path("/x?y=1"), "/x?y=1&x-key=a+b%26c");
        assert_eq!(key(KeyPlace::Header).path("/x"), "/x");
    }

    #[test]
    fn credentials_are_bounded() {
        let text = |text: &str| text.to_owned();
        let bad = [
            SystemCredentials::Basic { username: text("a:b"), password: text("x") },
            SystemCredentials::Bearer { token: text("") },
            SystemCredentials::Bearer { token: text("a\r\nb: c") },
            SystemCredentials::ApiKey {
                name: text("Host"),
                place: KeyPlace::Header,
                key: text("x"),
            },
            SystemCredentials::ApiKey {
                name: text("a b"),
                place: KeyPlace::Header,
                key: text("x"),
            },
            SystemCredentials::TokenId { token_id: text(""), token: text("x") },
        ];
        for credentials in bad {
            assert_eq!(credentials.check().unwrap_err().status, 422, "{credentials:?}");
        }
    }
}
