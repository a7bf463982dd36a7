//! Selection of registrations by criteria.

use std::collections::BTreeSet;
use std::net::IpAddr;

use groundwave_gateway::onboarding::{Registration, RegistrationId, SELECTION_MAX};
use groundwave_http::Problem;
use groundwave_http::problem::FieldCode;
use groundwave_protocol::{Proof, RegistrationState};
use schemars::JsonSchema;
use serde::Deserialize;
use uuid::Uuid;

use crate::services::world::World;

/// Selection of registrations: those that fit all given criteria, at least one.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Selection {
    /// Registration ids, up to 1000.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    pub registration_ids: Option<Vec<Uuid>>,
    /// State.
    #[serde(default)]
    pub state: Option<RegistrationState>,
    /// Source of the last request: address or CIDR.
    #[serde(default)]
    #[schemars(length(max = 64))]
    pub source: Option<String>,
    /// Result of the proof of possession.
    #[serde(default)]
    pub key_proof: Option<Proof>,
}

/// Registrations that a selection fits.
pub struct Selected {
    /// The first 1000.
    pub ids: Vec<RegistrationId>,
    /// Number of others.
    pub remaining: usize,
    /// Ids in the selection that no registration has.
    pub unknown: Vec<Uuid>,
}

/// Network of addresses.
struct Network {
    ip: IpAddr,
    prefix_len: u32,
}

fn bits(ip: IpAddr) -> (u128, u32) {
    match ip.to_canonical() {
        IpAddr::V4(ip) => (u128::from(ip.to_bits()), 32),
        IpAddr::V6(ip) => (ip.to_bits(), 128),
    }
}

impl Network {
    fn parse(text: &str) -> Option<Self> {
        let (ip, prefix_len) = match text.split_once('/') {
            Some((ip, prefix_len)) => (ip, Some(prefix_len.parse().ok()?)),
            None => (text, None),
        };
        let ip: IpAddr = ip.parse().ok()?;
        let (_, width) = bits(ip);
        let prefix_len = prefix_len.unwrap_or(width);
        (prefix_len <= width).then_some(Self { ip, prefix_len })
    }

    fn holds(&self, ip: IpAddr) -> bool {
        let ((own, width), (other, other_width)) = (bits(self.ip), bits(ip));
        let shift = width - self.prefix_len;
        let head = |bits: u128| bits.checked_shr(shift).unwrap_or(0);
        width == other_width && head(own) == head(other)
    }
}

impl Selection {
    /// Selected registrations.
    ///
    /// # Errors
    /// 422 without a criterion, for an invalid one, and for too many ids.
    pub fn of(self, world: &World) -> Result<Selected, Problem> {
        let Self { registration_ids, state, source, key_proof } = self;
        let is_empty = registration_ids.is_none()
            && state.is_none()
            && source.is_none()
            && key_proof.is_none();
        if is_empty {
            let message = "no criterion: allowed registration_ids, state, source, key_proof";
            return Err(Problem::field("/select", FieldCode::Missing, message));
        }
        let ids: Option<BTreeSet<_>> =
            registration_ids.map(|ids| ids.into_iter().map(RegistrationId::new).collect());
        if ids.as_ref().is_some_and(|ids| ids.len() > SELECTION_MAX) {
            let message = format!("too many: allowed 0 to {SELECTION_MAX}");
            let pointer = "/select/registration_ids";
            return Err(Problem::field(pointer, FieldCode::Length, message));
        }
        let network = source
            .map(|source| {
                Network::parse(&source).ok_or_else(|| {
                    let message = "invalid source: allowed an IP address or CIDR";
                    Problem::field("/select/source", FieldCode::Format, message)
                })
            })
            .transpose()?;
        let fits = |id: &RegistrationId, registration: &Registration| {
            let proof = registration.claims.key_proof.unwrap_or(Proof::Absent);
            ids.as_ref().is_none_or(|ids| ids.contains(id))
                && state.is_none_or(|state| state == registration.state)
                && key_proof.is_none_or(|key_proof| key_proof == proof)
                && network
                    .as_ref()
                    .is_none_or(|network| network.holds(registration.claims.source_ip))
        };
        let view = world.view();
        let registrations = &view.onboarding.registrations;
        let mut selected: Vec<RegistrationId> = registrations
            .iter()
            .filter(|(id, registration)| fits(id, registration))
            .map(|(id, _)| *id)
            .collect();
        let remaining = selected.len().saturating_sub(SELECTION_MAX);
        selected.truncate(SELECTION_MAX);
        let unknown = ids.iter().flatten().filter(|id| !registrations.contains_key(*id));
        let unknown = unknown.map(|id| id.uuid()).collect();
        Ok(Selected { ids: selected, remaining, unknown })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_its_addresses() {
        let network = Network::parse("10.41.0.0/24").unwrap();
        assert!(network.holds("10.41.0.9".parse().unwrap()));
        assert!(network.holds("::ffff:10.41.0.9".parse().unwrap()));
        assert!(!network.holds("10.41.1.9".parse().unwrap()));
        assert!(!network.holds("::1".parse().unwrap()));
        let one = Network::parse("2001:db8::1").unwrap();
        assert!(one.holds("2001:db8::1".parse().unwrap()));
        assert!(!one.holds("2001:db8::2".parse().unwrap()));
        assert!(Network::parse("0.0.0.0/0").unwrap().holds("192.0.2.1".parse().unwrap()));
        assert!(Network::parse("::/0").unwrap().holds("2001:db8::2".parse().unwrap()));
        for bad in ["", "10.41.0.0/33", "10.41.0", "::/129", "10.41.0.0/-1"] {
            assert!(Network::parse(bad).is_none(), "{bad}");
        }
    }
}
