//! External system: address, credentials, checks.

use std::collections::BTreeSet;

use bevy_ecs::prelude::*;
use garde::Validate;
use groundwave_engine::{Id, Kind, Refusal};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{AuthKind, Check};
use super::endpoint::Endpoint;
use super::preset::Preset;
use crate::config::ConfigObject;

/// Trust in the certificate of a system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields, default)]
pub struct TlsTrust {
    /// The certificate is verified.
    #[garde(skip)]
    pub verify: bool,
    /// Certificate authorities, PEM; absent for those of the operating system.
    #[garde(inner(length(bytes, min = 1, max = 65_536)))]
    pub ca_pem: Option<String>,
}

impl Default for TlsTrust {
    fn default() -> Self {
        Self { verify: true, ca_pem: None }
    }
}

/// Maximum size of the endpoints of a system, bytes of JSON.
pub const ENDPOINTS_BYTES_MAX: usize = 512 << 10;

/// Metrics that every system has.
pub const OWN_METRICS: [&str; 3] = ["up", "latency_ms", "status"];

/// External system. Written by `external_system.put`.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
pub struct ExternalSystem {
    /// Name, unique.
    #[garde(length(chars, min = 1, max = 64))]
    pub name: String,
    /// Kind of product.
    #[garde(skip)]
    pub preset: Preset,
    /// Base URL.
    #[garde(length(bytes, min = 1, max = 1024))]
    pub base_url: String,
    /// Kind of credentials.
    #[garde(skip)]
    pub auth: AuthKind,
    /// Credentials, sealed.
    #[garde(inner(length(bytes, max = 32_768)))]
    pub sealed_auth: Option<String>,
    /// Time between two polls, s.
    #[garde(range(min = 5, max = 86_400))]
    pub poll_interval_s: u32,
    /// Time limit of a request, ms.
    #[garde(range(min = 100, max = 10_000))]
    pub timeout_ms: u32,
    /// Trust in the certificate.
    #[garde(dive)]
    pub tls: TlsTrust,
    /// Checks.
    #[garde(length(max = 32), dive)]
    pub checks: Vec<Check>,
    /// Imported endpoints.
    #[garde(length(max = 500), dive)]
    pub endpoints: Vec<Endpoint>,
}

impl Kind for ExternalSystem {
    const NAME: &'static str = "external system";
}

/// True for the name of a metric.
fn is_metric(name: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !name.is_empty() && name.bytes().all(letter)
}

/// Refuses a text other than a JSON pointer (RFC 6901): nothing is at such a place.
fn check_pointer(key: String, text: &str) -> Result<(), Refusal> {
    match text.is_empty() || text.starts_with('/') {
        true => Ok(()),
        false => {
            Err(Refusal::invalid(key, format!("{text:?}"), "a JSON pointer such as /data/count"))
        }
    }
}

impl ConfigObject for ExternalSystem {
    const KIND: &'static str = "external_system";
    const COUNT_MAX: usize = 256;

    fn name(&self) -> Option<&str> {
        Some(&self.name)
    }

    fn check(&self, _: Id<Self>, _: &World) -> Result<(), Refusal> {
        let schemes = self.preset.schemes();
        let scheme = self.base_url.split_once("://").map_or("", |(scheme, _)| scheme);
        if !schemes.contains(&scheme) {
            let allowed = schemes.join(":// or ") + "://";
            return Err(Refusal::invalid("base_url", format!("{scheme:?}"), allowed));
        }
        if !self.preset.auth_kinds().contains(&self.auth) {
            let allowed = format!("{:?} for this preset", self.preset.auth_kinds());
            return Err(Refusal::invalid("auth.kind", format!("{:?}", self.auth), allowed));
        }
        if (self.auth == AuthKind::None) != self.sealed_auth.is_none() {
            return Err(Refusal::invalid("auth", "none", "credentials of this kind"));
        }
        let mut names: BTreeSet<&str> = OWN_METRICS.into();
        let metrics = self
            .checks
            .iter()
            .enumerate()
            .map(|(at, check)| (format!("checks[{at}].metric"), &check.metric));
        let polls = self
            .endpoints
            .iter()
            .filter_map(|endpoint| endpoint.poll.as_ref())
            .map(|poll| ("poll.metric".to_owned(), &poll.metric));
        for (key, metric) in metrics.chain(polls) {
            if !is_metric(metric) || !names.insert(metric) {
                let allowed = "a-z 0-9 _, unique, not up, latency_ms or status";
                return Err(Refusal::invalid(key, format!("{metric:?}"), allowed));
            }
        }
        for (at, check) in self.checks.iter().enumerate() {
            if !check.path.starts_with('/') || check.path.starts_with("//") {
                let key = format!("checks[{at}].path");
                return Err(Refusal::invalid(key, format!("{:?}", check.path), "a path from /"));
            }
            if let Some(text) = &check.json_pointer {
                check_pointer(format!("checks[{at}].json_pointer"), text)?;
            }
            if check.json_pointer.is_some() && check.sample.is_some() {
                let key = format!("checks[{at}].sample");
                return Err(Refusal::invalid(key, "both", "json_pointer or sample"));
            }
        }
        for poll in self.endpoints.iter().filter_map(|endpoint| endpoint.poll.as_ref()) {
            check_pointer("poll.json_pointer".to_owned(), &poll.json_pointer)?;
        }
        let bytes = serde_json::to_vec(&self.endpoints).map_or(usize::MAX, |bytes| bytes.len());
        match bytes <= ENDPOINTS_BYTES_MAX {
            true => Ok(()),
            false => {
                let allowed = format!("at most {ENDPOINTS_BYTES_MAX} bytes");
                Err(Refusal::invalid("endpoints", format!("{bytes} bytes"), allowed))
            }
        }
    }
}
