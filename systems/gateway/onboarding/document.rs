//! Documents of registrations, leases, trust and trusted addresses.

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Id, Index, Kind, Refusal};
use serde::{Deserialize, Serialize};

use super::components::{Lease, LeaseKind, Registration, RegistrationKind};
use super::trust::{self, Trust, TrustKind, TrustedMac, TrustedMacKind};

/// A document whose content is one component.
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
                let value = entity.get::<$component>();
                Self(value.expect("every one of its kind has it").clone())
            }

            fn restore(self, id: Id<$kind>, world: &mut World) -> Result<(), Refusal> {
                $restore(self.0, id, world)
            }
        }
    };
}

fn spawn<K: Kind>(component: impl Component, id: Id<K>, world: &mut World) -> Result<(), Refusal> {
    world.resource::<Index<K>>().vacant(id)?;
    world.spawn((id, component));
    Ok(())
}

whole! {
    /// A registration in the store.
    RegistrationDocument: Registration, RegistrationKind, "registrations", spawn
}
whole! {
    /// A lease in the store.
    LeaseDocument: Lease, LeaseKind, "leases", spawn
}
whole! {
    /// Policy and secret in the store.
    TrustDocument: Trust, TrustKind, "trust", |trust, _, world: &mut World| {
        trust::put(world, trust);
        Ok(())
    }
}
whole! {
    /// A trusted hardware address in the store.
    TrustedMacDocument: TrustedMac, TrustedMacKind, "trusted_macs", spawn
}
