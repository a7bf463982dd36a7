//! Configuration of the gateway: the kinds of configuration objects, and their sections of the
//! snapshot.

use std::sync::Arc;

use bevy_ecs::world::World;
use groundwave_engine::{Builder, Section};
use groundwave_sensor::{Board, SensorTemplate};
use serde::Serialize;

use crate::account::ApiToken;
use crate::automation::Automation;
use crate::camera::Camera;
use crate::canonical::{InterfaceSettings, Network, UnderlayDomain};
use crate::config::{ConfigObject, ConfigObjects, config_object};
use crate::external::ExternalSystem;
use crate::firewall::{FirewallRule, Zone};
use crate::fleet::{NodeRole, NodeSettings};
use crate::onboarding::JoinKey;
use crate::peripheral::SensorAssignment;
use crate::rollout::{FirmwareImage, Rollout};

/// Objects of the kind `T` among those of a snapshot.
pub trait Holds<T: ConfigObject> {
    fn objects(&self) -> &Arc<ConfigObjects<T>>;
}

macro_rules! configuration {
    ($($(#[$doc:meta])* $field:ident: $kind:ty,)+) => {
        /// Configuration objects of all kinds.
        #[derive(Debug, Clone, Default)]
        pub struct Configuration {
            $($(#[$doc])* pub $field: Arc<ConfigObjects<$kind>>,)+
        }

        impl Configuration {
            pub(crate) fn gather(world: &World) -> Self {
                Self { $($field: world.resource::<Section<ConfigObjects<$kind>>>().share(),)+ }
            }

            /// `true` if there are no objects.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                $(self.$field.is_empty())&&+
            }
        }

        /// A map of the kinds that have objects: a kind that is new leaves digests as they were.
        impl Serialize for Configuration {
            fn serialize<S: serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap as _;
                let count = [$(!self.$field.is_empty()),+].iter().filter(|has_objects| **has_objects).count();
                let mut map = out.serialize_map(Some(count))?;
                $(if !self.$field.is_empty() {
                    map.serialize_entry(stringify!($field), &*self.$field)?;
                })+
                map.end()
            }
        }

        $(impl Holds<$kind> for Configuration {
            fn objects(&self) -> &Arc<ConfigObjects<$kind>> {
                &self.$field
            }
        })+

        /// All kinds of configuration objects.
        pub(crate) fn configuration(engine: &mut Builder) {
            $(engine.plugin(config_object::<$kind>);)+
        }
    };
}

configuration! {
    /// Networks.
    networks: Network,
    /// Underlay domains.
    underlay_domains: UnderlayDomain,
    /// Roles of nodes.
    node_roles: NodeRole,
    /// Settings of interfaces of nodes.
    interfaces: InterfaceSettings,
    /// Zones of the firewall.
    firewall_zones: Zone,
    /// Rules of the firewall.
    firewall_rules: FirewallRule,
    /// Sensor templates.
    sensor_templates: SensorTemplate,
    /// Boards.
    boards: Board,
    /// Sensor assignments.
    sensor_assignments: SensorAssignment,
    /// Join keys.
    join_keys: JoinKey,
    /// External systems.
    external_systems: ExternalSystem,
    /// Cameras.
    cameras: Camera,
    /// API tokens of users.
    api_tokens: ApiToken,
    /// Desired settings of nodes.
    node_settings: NodeSettings,
    /// Images of firmware.
    firmware_images: FirmwareImage,
    /// Roll-outs of firmware.
    rollouts: Rollout,
    /// Automation flows.
    automations: Automation,
}
