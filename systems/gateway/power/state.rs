//! Power supplies, each with its latest sample.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use groundwave_engine::{Id, Index, Kind, Refusal, Section, StoredComponent};
use groundwave_simulation::site::NodeId;
use groundwave_values::persistent::PersistentMap;
use schemars::JsonSchema;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use super::sample::UpsSample;

/// Kind of a power supply.
pub struct UpsKind;
impl Kind for UpsKind {
    const NAME: &'static str = "power supply";
}
/// Id of a power supply: that of its name.
pub type UpsId = Id<UpsKind>;

/// Power supplies at most.
pub const UPS_MAX: usize = 1_024;

/// Source of the samples of a power supply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UpsSource {
    /// NUT server of the gateway.
    Nut,
    /// A node or a user.
    Agent,
    /// Sensor of the gateway.
    I2c,
}

/// A power supply. Written by `power.*`.
#[derive(Component, Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ups {
    /// Name.
    pub ups_id: String,
    pub source: UpsSource,
    /// Node that sent the samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<NodeId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Latest sample; empty before the first.
    pub latest: UpsSample,
    /// Time of its reception, ns since the Unix epoch; 0 before the first.
    pub received_ns: u64,
    /// The source reports no data of the power supply.
    pub is_stale: bool,
}

impl Ups {
    /// Latest sample; `None` while its source had no data yet.
    #[must_use]
    pub fn sample(&self) -> Option<&UpsSample> {
        (self.received_ns > 0).then_some(&self.latest)
    }
}

/// Checks the name of a power supply.
///
/// # Errors
/// [`Refusal::Invalid`] unless it has 1 to 64 characters of `a-z A-Z 0-9 . _ @ -`.
pub fn check_ups_id(ups_id: &str) -> Result<(), Refusal> {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"._@-".contains(&byte);
    if (1..=64).contains(&ups_id.len()) && ups_id.bytes().all(fits) {
        return Ok(());
    }
    let allowed = "1 to 64 characters of a-z A-Z 0-9 . _ @ -";
    Err(Refusal::invalid("ups_id", format!("{ups_id:?}"), allowed))
}

impl StoredComponent for Ups {
    const TABLE: &'static str = "power_supplies";
    type Kind = UpsKind;
}

/// Removes the power supplies of a node.
pub(super) fn remove_supplies(world: &mut World, node: NodeId) -> Vec<String> {
    let index = world.resource::<Index<UpsKind>>();
    let is_of_node =
        |entity: &Entity| world.get::<Ups>(*entity).is_some_and(|ups| ups.node == Some(node));
    let supplies: Vec<_> = index.iter().map(|(_, entity)| entity).filter(is_of_node).collect();
    for entity in supplies {
        world.despawn(entity);
    }
    Vec::new()
}

/// Power supplies by name.
#[derive(Debug, Clone, Default)]
pub struct LatestUps(PersistentMap<String, Arc<Ups>>, PersistentMap<UpsId, String>);

impl LatestUps {
    /// Power supply with this name.
    #[must_use]
    pub fn get(&self, ups_id: &str) -> Option<&Arc<Ups>> {
        self.0.get(ups_id)
    }

    /// Power supplies in order of their names.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Ups>> {
        self.0.values()
    }

    /// `true` if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// List: the form of digests.
impl Serialize for LatestUps {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.values().map(|ups| &**ups))
    }
}

/// Publishes what changed, appeared or disappeared.
pub(super) fn publish_ups(
    changed: Query<(&UpsId, &Ups), Changed<Ups>>,
    index: Res<Index<UpsKind>>,
    mut section: ResMut<Section<LatestUps>>,
) {
    if changed.is_empty() && index.departed().is_empty() {
        return;
    }
    let mut view = LatestUps::clone(&section.share());
    for id in index.departed() {
        if let Some(ups_id) = view.1.remove(id) {
            view.0.remove(&ups_id);
        }
    }
    for (id, ups) in &changed {
        view.1.insert(*id, ups.ups_id.clone());
        view.0.insert(ups.ups_id.clone(), Arc::new(ups.clone()));
    }
    section.redraw(view);
}
