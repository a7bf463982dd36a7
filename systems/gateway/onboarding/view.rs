//! View of onboarding.

use core::net::Ipv4Addr;
use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Section};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

pub use super::components::{
    Lease, LeaseId, LeaseKind, Registration, RegistrationId, RegistrationKind, RegistrationState,
};
use super::ipam::AddressPool;
use super::trust::{Trust, TrustedMac, TrustedMacId, TrustedMacKind};
use groundwave_protocol::{Mac, PublicKey};
use groundwave_values::persistent::PersistentMap;

/// Registrations, leases and trust.
#[derive(Debug, Clone, Default)]
pub struct Onboarding {
    /// Registrations in id order.
    pub registrations: PersistentMap<RegistrationId, Arc<Registration>>,
    /// Leases by address.
    pub leases: PersistentMap<Ipv4Addr, Lease>,
    /// Policy and secret.
    pub trust: Arc<Trust>,
    /// Trusted hardware addresses.
    pub macs: PersistentMap<Mac, Arc<TrustedMac>>,
    /// Overlay address pool.
    pub pool: AddressPool,
    keys: PersistentMap<PublicKey, RegistrationId>,
    lease_ids: PersistentMap<LeaseId, Ipv4Addr>,
    mac_ids: PersistentMap<TrustedMacId, Mac>,
}

impl Onboarding {
    /// `true` without registrations, leases, trusted addresses and settings.
    #[must_use]
    pub fn is_untouched(&self) -> bool {
        self.registrations.is_empty()
            && self.leases.is_empty()
            && self.macs.is_empty()
            && *self.trust == Trust::default()
    }

    /// Registration of a key.
    #[must_use]
    pub fn of_key(&self, key: &PublicKey) -> Option<(RegistrationId, &Arc<Registration>)> {
        let id = *self.keys.get(key)?;
        Some((id, self.registrations.get(&id)?))
    }

    /// Admitted peers with their overlay addresses.
    pub fn peers(&self) -> impl Iterator<Item = (&Registration, Ipv4Addr)> {
        let approved = self
            .registrations
            .values()
            .filter(|registration| registration.state == RegistrationState::Approved);
        approved.filter_map(|registration| Some((&**registration, registration.overlay_ip?)))
    }
}

/// Lists: the form of digests.
impl Serialize for Onboarding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let registrations: Vec<_> =
            self.registrations.iter().map(|(id, registration)| (id, &**registration)).collect();
        let leases: Vec<_> = self.leases.values().collect();
        let macs: Vec<_> = self.macs.values().map(|entry| &**entry).collect();
        let mut out = serializer.serialize_struct("Onboarding", 5)?;
        out.serialize_field("registrations", &registrations)?;
        out.serialize_field("leases", &leases)?;
        out.serialize_field("trust", &*self.trust)?;
        out.serialize_field("macs", &macs)?;
        out.serialize_field("pool", &self.pool)?;
        out.end()
    }
}

/// Publishes what changed, appeared or disappeared.
pub(super) fn publish_onboarding(
    registrations: Query<(&RegistrationId, &Registration), Changed<Registration>>,
    leases: Query<(&LeaseId, &Lease), Changed<Lease>>,
    trust: Query<&Trust, Changed<Trust>>,
    macs: Query<(&TrustedMacId, &TrustedMac), Changed<TrustedMac>>,
    pool: Res<AddressPool>,
    indices: (Res<Index<RegistrationKind>>, Res<Index<LeaseKind>>, Res<Index<TrustedMacKind>>),
    mut section: ResMut<Section<Onboarding>>,
) {
    let (departures, free, dropped) =
        (indices.0.departed(), indices.1.departed(), indices.2.departed());
    let still = registrations.is_empty()
        && leases.is_empty()
        && trust.is_empty()
        && macs.is_empty()
        && !pool.is_changed()
        && [departures.len(), free.len(), dropped.len()] == [0; 3];
    if still {
        return;
    }
    let mut view = Onboarding::clone(&section.share());
    view.pool = *pool;
    for id in departures {
        if let Some(registration) = view.registrations.remove(id) {
            view.keys.remove(&registration.public_key);
        }
    }
    for id in free {
        if let Some(ip) = view.lease_ids.remove(id) {
            view.leases.remove(&ip);
        }
    }
    for id in dropped {
        if let Some(mac) = view.mac_ids.remove(id) {
            view.macs.remove(&mac);
        }
    }
    for (id, registration) in &registrations {
        view.keys.insert(registration.public_key, *id);
        view.registrations.insert(*id, Arc::new(registration.clone()));
    }
    for (id, lease) in &leases {
        view.lease_ids.insert(*id, lease.ip);
        view.leases.insert(lease.ip, *lease);
    }
    for (id, entry) in &macs {
        view.mac_ids.insert(*id, entry.mac);
        view.macs.insert(entry.mac, Arc::new(entry.clone()));
    }
    if let Some(trust) = trust.iter().next() {
        view.trust = Arc::new(trust.clone());
    }
    section.redraw(view);
}
