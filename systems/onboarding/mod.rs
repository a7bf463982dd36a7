//! Onboarding: how a stranger becomes a node of the mesh.
//!
//! A node asks to be let in with a WireGuard key ([`RequestJoin`]). What it can show decides,
//! by the [`Policy`], whether it waits for an admin. Approved, it has an overlay address of its
//! own for as long as it is approved: the address belongs to the key.

mod command;
mod decide;
mod document;
mod ipam;
mod policy;
#[cfg(test)]
mod tests;
mod trust;
mod view;
mod wire;

use groundwave_engine::{Builder, Phase};

pub use crate::identity::{STALE, is_hostname};
use crate::identity::{address, components, proof};

pub use address::{Mac, PublicKey, six_bytes};
pub use command::{PENDING_MAX, RequestJoin, Requested};
pub use components::{
    Lease, LeaseId, LeaseKind, LeaseState, Registration, RegistrationId, RegistrationKind,
    RegistrationState, Settled, Showing,
};
pub use decide::{
    Approve, CODE_NS, Dismiss, ExpectNode, Reject, ReleaseLease, ResetRegistration, Revoke,
};
pub use document::{LeaseDocument, RegistrationDocument, TrustDocument, TrustedMacDocument};
pub use ipam::{EXHAUSTED, Pool, QUARANTINE_NS};
pub use policy::{Evidence, Policy, Verdict, judge};
pub use proof::{PROOF_DOMAIN, Proof, message as proof_message};
pub use trust::{
    AddMacs, GRACE_S_MAX, RemoveMac, RotateSecret, SetPolicy, Trust, TrustId, TrustKind,
    TrustSecret, TrustedMac, TrustedMacId, TrustedMacKind,
};
pub use view::Onboarding;
pub use wire::{Credentials, GatewayEnd, WgRegister, WgRegisterResult};

/// Registrations, leases, trust.
pub fn onboarding(engine: &mut Builder) {
    trust::found(engine.world());
    engine
        .kind::<RegistrationKind>()
        .kind::<LeaseKind>()
        .kind::<TrustKind>()
        .kind::<TrustedMacKind>()
        .section::<Onboarding>()
        .command::<RequestJoin>()
        .command::<Approve>()
        .command::<Reject>()
        .command::<Revoke>()
        .command::<Dismiss>()
        .command::<ResetRegistration>()
        .command::<ExpectNode>()
        .command::<ReleaseLease>()
        .command::<SetPolicy>()
        .command::<RotateSecret>()
        .command::<AddMacs>()
        .command::<RemoveMac>()
        .document::<RegistrationDocument>()
        .document::<LeaseDocument>()
        .document::<TrustDocument>()
        .document::<TrustedMacDocument>()
        .state::<Pool>()
        .systems(Phase::Plan, (decide::expire, ipam::free_quarantined))
        .systems(Phase::Publish, view::publish_onboarding);
}
