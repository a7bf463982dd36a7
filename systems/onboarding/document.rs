//! The durable faces of registrations, leases, trust and its list.

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Id, Index, Kind, Refusal};
use serde::{Deserialize, Serialize};

use super::components::{Lease, LeaseKind, Registration, RegistrationKind};
use super::trust::{self, Trust, TrustKind, TrustedMac, TrustedMacKind};

/// A document that is one component, as it is.
macro_rules! whole {
    ($(#[$meta:meta])* $name:ident: $component:ty, $kind:ty, $table:literal, $restore:expr) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name($component);

        impl Document for $name {
            const TABLE: &'static str = $table;
            type Kind = $kind;
            type Changed = Changed<$component>;

            fn read(_: &World, entity: EntityRef<'_>) -> Self {
                let held = entity.get::<$component>();
                Self(held.expect("every one of its kind has it").clone())
            }

            fn restore(self, id: Id<$kind>, world: &mut World) -> Result<(), Refusal> {
                $restore(self.0, id, world)
            }
        }
    };
}

fn spawn<K: Kind>(held: impl Component, id: Id<K>, world: &mut World) -> Result<(), Refusal> {
    world.resource::<Index<K>>().vacant(id)?;
    world.spawn((id, held));
    Ok(())
}

whole! {
    /// A registration as the store keeps it.
    RegistrationDocument: Registration, RegistrationKind, "registrations", spawn
}
whole! {
    /// A lease as the store keeps it.
    LeaseDocument: Lease, LeaseKind, "leases", spawn
}
whole! {
    /// Policy and secret as the store keeps them.
    TrustDocument: Trust, TrustKind, "trust", |held, _, world: &mut World| {
        trust::put(world, held);
        Ok(())
    }
}
whole! {
    /// An address on the list as the store keeps it.
    TrustedMacDocument: TrustedMac, TrustedMacKind, "trusted_macs", spawn
}
