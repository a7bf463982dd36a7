//! Components of registrations and leases. Each says who writes it.

use core::net::{IpAddr, Ipv4Addr};

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Kind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::address::{Mac, PublicKey};
use super::proof::Proof;
use crate::site::NodeId;

/// The kind of thing that asks to be let in.
pub struct RegistrationKind;
impl Kind for RegistrationKind {
    const NAME: &'static str = "registration";
}
/// Stable id of a registration.
pub type RegistrationId = Id<RegistrationKind>;

/// The kind of thing that is an overlay address in use.
pub struct LeaseKind;
impl Kind for LeaseKind {
    const NAME: &'static str = "lease";
}
/// Id of a lease: that of its address.
pub type LeaseId = Id<LeaseKind>;

/// Where a registration stands.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum RegistrationState {
    /// Waits for an admin.
    Pending,
    /// In.
    Approved,
    /// An admin said no.
    Rejected,
    /// Was in.
    Revoked,
    /// Nobody decided in a day.
    Expired,
}

impl RegistrationState {
    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Revoked => "revoked",
            Self::Expired => "expired",
        }
    }
}

/// What a stranger showed, last time it asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinClaims {
    /// Hardware address it claims.
    pub mac: Mac,
    /// Name it claims.
    pub hostname: String,
    /// Where its WireGuard listens, if it says.
    pub listen_port: Option<u16>,
    /// Where the request came from.
    pub source_ip: IpAddr,
    /// Underlay address it claims, or where the request came from.
    pub underlay_ip: IpAddr,
    /// What became of its proof.
    pub proof: Proof,
    /// Whether the kernel has learnt `mac` for `source_ip`.
    pub mac_verified: bool,
    /// SHA-256 of the enrollment code it brought, if it did.
    pub code_sha256: Option<[u8; 32]>,
}

/// A decision on a registration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Who decided: a username, or `policy`.
    pub by: String,
    /// When, ns since the Unix epoch.
    pub at_ns: u64,
    /// Why, in words.
    pub reason: Option<String>,
}

/// Somebody who asked to be let in, by key. Written by `onboarding.*` and `expire`.
#[derive(Component, Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// The WireGuard key it asks with.
    pub public_key: PublicKey,
    /// Where it stands.
    pub state: RegistrationState,
    /// What it showed last.
    #[serde(rename = "shown")]
    pub claims: JoinClaims,
    /// Whether its hardware address was on the list.
    pub mac_listed: bool,
    /// When it first asked, ns since the Unix epoch.
    pub requested_ns: u64,
    /// When it last asked, ns since the Unix epoch.
    pub asked_ns: u64,
    /// How often it asked.
    pub attempts: u32,
    /// The last decision.
    #[serde(rename = "settled")]
    pub decision: Option<Decision>,
    /// Whether it is never to ask again.
    pub blocked: bool,
    /// The node it is, once approved.
    pub node: Option<NodeId>,
    /// Its overlay address, while approved.
    pub overlay_ip: Option<Ipv4Addr>,
    /// An earlier registration with the same hardware address and another key.
    pub follows: Option<RegistrationId>,
    /// Counts changes, for `If-Match`.
    pub revision: u64,
}

/// Whether an address is in use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeaseState {
    /// Somebody has it.
    Allocated,
    /// Nobody has it yet again.
    Quarantined,
}

/// An overlay address that is not free. Written by `ipam`.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The address.
    pub ip: Ipv4Addr,
    /// The key it belongs, or belonged, to.
    pub public_key: PublicKey,
    /// The node that has it.
    pub node: Option<NodeId>,
    /// Whether it is in use.
    pub state: LeaseState,
    /// Since when, ns since the Unix epoch.
    pub since_ns: u64,
}
