//! Components of registrations and leases, each with its writer.

use core::net::{IpAddr, Ipv4Addr};

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Kind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

pub use groundwave_protocol::RegistrationState;
use groundwave_protocol::address::{Mac, PublicKey};
pub use groundwave_protocol::proof::Proof;
use groundwave_simulation::site::NodeId;

pub struct RegistrationKind;
impl Kind for RegistrationKind {
    const NAME: &'static str = "registration";
}
/// Stable id of a registration.
pub type RegistrationId = Id<RegistrationKind>;

/// Kind of a lease of an overlay address.
pub struct LeaseKind;
impl Kind for LeaseKind {
    const NAME: &'static str = "lease";
}
/// Id of a lease: that of its address.
pub type LeaseId = Id<LeaseKind>;

/// Claims of the last join request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinClaims {
    /// Claimed hardware address.
    pub mac: Mac,
    /// Claimed host name.
    pub hostname: String,
    /// Claimed WireGuard port.
    pub listen_port: Option<u16>,
    /// Source address of the request.
    pub source_ip: IpAddr,
    /// Claimed underlay address, else the source of the request.
    pub underlay_ip: IpAddr,
    /// Result of the proof check.
    pub proof: Proof,
    /// `true` if the neighbour table of the kernel has `mac` for `source_ip`.
    pub mac_verified: bool,
    /// SHA-256 of the enrollment code, if any.
    pub code_sha256: Option<[u8; 32]>,
    /// Result of the check that the requester holds the private key; absent in requests recorded
    /// before there was one, which are taken as they were then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key_proof: Option<Proof>,
}

impl JoinClaims {
    /// `true` if the requester has shown that it holds the private key.
    #[must_use]
    pub fn owns_key(&self) -> bool {
        self.key_proof == Some(Proof::Valid)
    }

    /// `true` if the requester may be another than the holder of the private key.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        matches!(self.key_proof, Some(Proof::Absent | Proof::Invalid))
    }
}

/// A decision on a registration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// Deciding user, or `policy`.
    pub by: String,
    /// Time, ns since the Unix epoch.
    pub at_ns: u64,
    pub reason: Option<String>,
}

/// Reason for which the code of a request admitted no node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CodeRefusal {
    /// No join key and no node registered ahead has it, or that node has another MAC address.
    Wrong,
    /// The join key admitted as many nodes as it may.
    Used,
    /// It has expired.
    Expired,
}

/// Registration of a key that requested to join. Written by `onboarding.*` and `expire`.
#[derive(Component, Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Registration {
    /// WireGuard public key.
    pub public_key: PublicKey,
    pub state: RegistrationState,
    /// Claims of the last request.
    #[serde(rename = "shown")]
    pub claims: JoinClaims,
    /// `true` if its hardware address was trusted.
    pub mac_listed: bool,
    /// Time of the first request, ns since the Unix epoch.
    pub requested_ns: u64,
    /// Time of the last request, ns since the Unix epoch.
    pub asked_ns: u64,
    /// Number of requests.
    pub attempts: u32,
    /// Last decision.
    #[serde(rename = "settled")]
    pub decision: Option<Decision>,
    /// `true` if it can never be reset.
    pub blocked: bool,
    /// Node, once approved.
    pub node: Option<NodeId>,
    /// Overlay address, while approved.
    pub overlay_ip: Option<Ipv4Addr>,
    /// Earlier registration with the same hardware address and another key.
    pub follows: Option<RegistrationId>,
    /// Registration whose key replaced this one at its node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<RegistrationId>,
    /// Reason for which the code of the last request admitted no node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_refusal: Option<CodeRefusal>,
    /// Join key that admitted it first, whatever was decided since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join_key: Option<Uuid>,
    /// Revision, for `If-Match`.
    pub revision: u64,
}

/// State of a lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LeaseState {
    /// In use.
    Allocated,
    /// Released, not to be assigned yet.
    Quarantined,
}

/// A lease of an overlay address. Written by `ipam`.
#[derive(Component, Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// Address.
    pub ip: Ipv4Addr,
    /// Key that has, or had, the address.
    pub public_key: PublicKey,
    /// Node that has it.
    pub node: Option<NodeId>,
    pub state: LeaseState,
    /// Time of the last state change, ns since the Unix epoch.
    pub since_ns: u64,
}
