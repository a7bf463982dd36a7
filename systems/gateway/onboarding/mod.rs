//! Onboarding: from a join request to an admitted node with an overlay address.
//!
//! A node requests to join with a WireGuard key ([`RequestJoin`]). The [`Policy`] decides by the
//! evidence of the request whether it is approved, waits for an admin or is denied. An approved node
//! has an overlay address for as long as it is approved; the address belongs to the key.

mod bulk;
mod decisions;
mod document;
#[cfg(test)]
mod identity_tests;
mod ipam;
mod join_key;
mod leases;
mod policy;
mod queue;
mod request;
mod same_mac;
#[cfg(test)]
mod tests;
mod trust;
mod view;

use bevy_ecs::prelude::*;
use groundwave_engine::{Builder, Phase};

use crate::fleet::LivenessSystems;

pub use crate::identity::STALE;
use crate::identity::components;

pub use bulk::{ApproveRegistrations, ForgetRegistrations, RejectRegistrations, SELECTION_MAX};
pub use components::{
    CodeRefusal, Decision, JoinClaims, Lease, LeaseId, LeaseKind, LeaseState, Registration,
    RegistrationId, RegistrationKind,
};
pub use decisions::{
    ApproveRegistration, CODE_NS, DeregisterNode, PreregisterNode, RejectRegistration,
    ResetRegistration, RevokeRegistration,
};
pub use document::{LeaseDocument, RegistrationDocument, TrustDocument, TrustedMacDocument};
pub use ipam::{AddressPool, EXHAUSTED, QUARANTINE_NS};
pub(crate) use ipam::{leased, leases_count};
pub use join_key::{JoinKey, nodes_used};
pub use leases::{FreeLease, ReleaseLease};
pub use policy::{Admission, Evidence, Policy, admission};
pub use queue::{PENDING_MAX, PER_ADDRESS_MAX, PER_NETWORK_MAX, QUEUE_FULL, Standing};
pub use request::{JoinOutcome, RequestJoin};
pub use same_mac::SameMac;
pub use trust::{
    AddMacs, GRACE_S_MAX, RemoveMac, RotateSecret, SealSecrets, SecretBytes, SetPolicy, Trust,
    TrustId, TrustKind, TrustSecret, TrustedMac, TrustedMacId, TrustedMacKind,
};
pub use view::Onboarding;

/// Registrations, leases and trust.
pub fn onboarding(engine: &mut Builder) {
    trust::spawn_trust(engine.world());
    engine
        .kind::<RegistrationKind>()
        .kind::<LeaseKind>()
        .kind::<TrustKind>()
        .kind::<TrustedMacKind>()
        .section::<Onboarding>()
        .command::<RequestJoin>()
        .command::<ApproveRegistration>()
        .command::<RejectRegistration>()
        .command::<ApproveRegistrations>()
        .command::<RejectRegistrations>()
        .command::<ForgetRegistrations>()
        .command::<RevokeRegistration>()
        .command::<DeregisterNode>()
        .command::<ResetRegistration>()
        .command::<PreregisterNode>()
        .command::<ReleaseLease>()
        .command::<FreeLease>()
        .command::<SetPolicy>()
        .command::<RotateSecret>()
        .command::<SealSecrets>()
        .command::<AddMacs>()
        .command::<RemoveMac>()
        .document::<RegistrationDocument>()
        .document::<LeaseDocument>()
        .document::<TrustDocument>()
        .document::<TrustedMacDocument>()
        .state::<AddressPool>()
        .systems(Phase::Plan, (decisions::expire.before(LivenessSystems), ipam::free_quarantined))
        .systems(Phase::Publish, view::publish_onboarding);
}
