//! Commands on links, and the settings they share.

use bevy_ecs::prelude::*;
use groundwave_engine::{Recorded, Refusal};
use groundwave_model::link::{LinkKey, Probe};
use groundwave_model::route::Metric;
use serde::{Deserialize, Serialize};

use super::NodesOnly;
use super::components::{AdminDown, Endpoints, LinkFrom, LinkTo, Links, Predicted, Retained};
use crate::site::{NodeId, Unplaced, node};

/// Largest update distance, m.
pub const UPDATE_DISTANCE_M_MAX: f64 = 10_000.0;

/// Length of a probe, bytes: that of an 802.11 frame (IEEE 802.11-2020, 9.2.4.7).
const PROBE_BYTES: std::ops::RangeInclusive<u32> = 1..=2304;

/// Settings of all links: range, terrain sampling, route metric, packet length.
#[derive(Resource, Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Longest link evaluated, m, 1 to 1,000,000. Pairs that even free space would not close are
    /// never evaluated.
    pub link_range_max_m: f64,
    /// Spacing of terrain samples, m, 1 to 10,000; absent takes the spacing of the tile's posts.
    pub sample_spacing_m: Option<f64>,
    /// Metric that routes minimise.
    pub metric: Metric,
    /// Packet length of loss rates, ETX and ETT, bytes, 1 to 65,535.
    pub packet_bytes: u32,
    /// Distance beyond which a node that moves is looked at again, m, 0 to 10,000: until then its links
    /// stay as they were computed. 0 looks at every move.
    #[serde(skip_serializing_if = "is_zero")]
    pub update_distance_m: f64,
    /// Probe whose ETX the metrics count; absent, they count that of data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub probe: Option<Probe>,
}

/// Left out where it is 0, so that logs and digests are those of versions without it.
fn is_zero(distance_m: &f64) -> bool {
    *distance_m == 0.0
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            link_range_max_m: 100_000.0,
            sample_spacing_m: None,
            metric: Metric::Ett,
            packet_bytes: 1500,
            update_distance_m: 0.0,
            probe: None,
        }
    }
}

impl Limits {
    pub(super) fn validate(&self) -> Result<(), Refusal> {
        if !(1.0..=1_000_000.0).contains(&self.link_range_max_m) {
            let found = self.link_range_max_m;
            return Err(Refusal::invalid("link_range_max_m", found, "1 to 1000000"));
        }
        if let Some(found) = self.sample_spacing_m
            && !(1.0..=10_000.0).contains(&found)
        {
            return Err(Refusal::invalid("sample_spacing_m", found, "1 to 10000"));
        }
        if !(1..=65_535).contains(&self.packet_bytes) {
            return Err(Refusal::invalid("packet_bytes", self.packet_bytes, "1 to 65535"));
        }
        if let Some(probe) = &self.probe
            && !PROBE_BYTES.contains(&probe.frame_bytes)
        {
            return Err(Refusal::invalid("probe.frame_bytes", probe.frame_bytes, "1 to 2304"));
        }
        if !(0.0..=UPDATE_DISTANCE_M_MAX).contains(&self.update_distance_m) {
            let allowed = format!("0 to {UPDATE_DISTANCE_M_MAX}");
            return Err(Refusal::invalid("update_distance_m", self.update_distance_m, allowed));
        }
        Ok(())
    }
}

/// Replaces the settings that links share. Fields left out take their defaults.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SetLimits(pub Limits);
impl Command for SetLimits {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        self.0.validate()?;
        world.resource_mut::<Limits>().set_if_neq(self.0);
        Ok(())
    }
}
impl Recorded for SetLimits {
    const NAME: &'static str = "mesh.limits";
    type Reply = ();
}

fn key(world: &World, a: NodeId, b: NodeId) -> Result<LinkKey, Refusal> {
    node(world, a)?;
    node(world, b)?;
    LinkKey::new(a, b).ok_or_else(|| Refusal::invalid("b", b, "another node than a"))
}

/// The link between two nodes; spawned when they are out of range and nothing was recorded of it.
fn link_entity(world: &mut World, a: NodeId, b: NodeId) -> Result<Entity, Refusal> {
    let key = key(world, a, b)?;
    if let Some(link) = world.resource::<Links>().get(key) {
        return Ok(link);
    }
    let (from, to) = (node(world, key.a())?, node(world, key.b())?);
    let link = world.spawn((Endpoints(key), LinkFrom(from), LinkTo(to)));
    Ok(link.id())
}

/// As [`link_entity`], of a link that something is recorded of: between nodes without a position, which have no pairs, it
/// is predicted.
pub(crate) fn recorded_link(world: &mut World, a: NodeId, b: NodeId) -> Result<Entity, Refusal> {
    let link = link_entity(world, a, b)?;
    let is_unplaced = |id| node(world, id).map(|end| world.get::<Unplaced>(end).is_some());
    let is_shown = is_unplaced(a)? && is_unplaced(b)? && !world.contains_resource::<NodesOnly>();
    if is_shown && world.get::<Predicted>(link).is_none() {
        world.entity_mut(link).insert(Predicted::default());
    }
    Ok(link)
}

/// Takes the link between two nodes down, in range or not, until it is restored.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailLink {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
}
impl Command for FailLink {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let link = link_entity(world, self.a, self.b)?;
        world.entity_mut(link).insert(AdminDown);
        Ok(())
    }
}
impl Recorded for FailLink {
    const NAME: &'static str = "link.fail";
    type Reply = ();
}

/// Restores a link taken down by [`FailLink`].
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestoreLink {
    /// One end.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
}
impl Command for RestoreLink {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let key = key(world, self.a, self.b)?;
        let Some(link) = world.resource::<Links>().get(key) else {
            return Ok(());
        };
        let mut link = world.entity_mut(link);
        link.remove::<AdminDown>();
        if !link.contains::<Predicted>() && !link.contains::<Retained>() {
            link.despawn();
        }
        Ok(())
    }
}
impl Recorded for RestoreLink {
    const NAME: &'static str = "link.restore";
    type Reply = ();
}
