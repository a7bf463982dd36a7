//! Partial updates of a node, all or nothing.

use bevy_ecs::prelude::*;
use groundwave_engine::{Recorded, Refusal};
use groundwave_model::id::NodeId;
use groundwave_model::radio::station::HEIGHT_MSL_M;
use groundwave_model::radio::{Antenna, Indoor, Pointing, Radio, Role, Surroundings};
use groundwave_model::terrain::GeoPoint;
use serde::{Deserialize, Serialize};

use super::commands::{check_name, node, relocate};
use super::components::{Label, Position, StationConfig, WorldTerrain};
use super::planned::Stamps;

/// Updates the given fields of a node; absent ones stay. Two updates of different fields do not
/// undo each other, as two whole stations would.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpdateNode {
    pub node: NodeId,
    /// New display name, 1 to 64 characters.
    #[serde(default)]
    pub name: Option<String>,
    /// New role.
    #[serde(default)]
    pub role: Option<Role>,
    /// New position, WGS84; ends any motion of the node.
    #[serde(default)]
    pub position: Option<GeoPoint>,
    /// New antenna height above ground, m.
    #[serde(default)]
    pub height_agl_m: Option<f64>,
    /// New antenna height above mean sea level, m, in place of one above ground: the ground is that of the terrain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height_msl_m: Option<f64>,
    /// New radio.
    #[serde(default)]
    pub radio: Option<Radio>,
    /// New antenna.
    #[serde(default)]
    pub antenna: Option<Antenna>,
    /// New boresight of the antenna.
    #[serde(default)]
    pub pointing: Option<Pointing>,
    /// `true` to remove the pointing: the antenna then points at the peer of each link.
    #[serde(default)]
    pub clear_pointing: bool,
    /// New buildings and trees around the antenna; `unknown` are those of the environment.
    #[serde(default)]
    pub surroundings: Option<Surroundings>,
    /// New building around the antenna, or `outdoors`.
    #[serde(default)]
    pub indoor: Option<Indoor>,
    /// New length of the rays within woodland around the antenna, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woodland_depth_m: Option<f64>,
}

impl UpdateNode {
    /// An update of `node` that changes nothing yet.
    #[must_use]
    pub const fn of(node: NodeId) -> Self {
        Self {
            node,
            name: None,
            role: None,
            position: None,
            height_agl_m: None,
            height_msl_m: None,
            radio: None,
            antenna: None,
            pointing: None,
            clear_pointing: false,
            surroundings: None,
            indoor: None,
            woodland_depth_m: None,
        }
    }
}

impl Command for UpdateNode {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = node(world, self.node)?;
        if let Some(name) = &self.name {
            check_name("name", name)?;
        }
        if self.clear_pointing && self.pointing.is_some() {
            let allowed = "clear_pointing or a pointing, not both";
            return Err(Refusal::invalid("clear_pointing", true, allowed));
        }
        let (least_m, greatest_m) = HEIGHT_MSL_M;
        if let Some(msl_m) = self.height_msl_m
            && (self.height_agl_m.is_some() || !(least_m..=greatest_m).contains(&msl_m))
        {
            let allowed = format!("{least_m} to {greatest_m}, without height_agl_m");
            return Err(Refusal::invalid("height_msl_m", msl_m, allowed));
        }
        let here = world.get::<Position>(entity).expect("every node has a position").0;
        let over_ground = |msl_m| {
            let at = self.position.unwrap_or(here);
            world.resource::<WorldTerrain>().height_agl_m(at, msl_m)
        };
        let height_agl_m = self.height_agl_m.or(self.height_msl_m.map(over_ground));
        let standing = world.get::<StationConfig>(entity).expect("every node has a station");
        let mut station = standing.0.clone();
        station.height_agl_m = height_agl_m.unwrap_or(station.height_agl_m);
        station.radio = self.radio.unwrap_or(station.radio);
        station.antenna = self.antenna.unwrap_or(station.antenna);
        station.pointing =
            if self.clear_pointing { None } else { self.pointing.or(station.pointing) };
        station.surroundings = self.surroundings.unwrap_or(station.surroundings);
        station.indoor = self.indoor.unwrap_or(station.indoor);
        station.woodland_depth_m = self.woodland_depth_m.unwrap_or(station.woodland_depth_m);
        station.validate()?;

        if let Some(position) = self.position {
            relocate(world, entity, position);
        }
        let mut entity_mut = world.entity_mut(entity);
        let mut standing = entity_mut.get_mut::<StationConfig>().expect("every node has a station");
        standing.set_if_neq(StationConfig(station));
        let mut label = entity_mut.get_mut::<Label>().expect("every node has a label");
        let new = Label {
            name: self.name.unwrap_or_else(|| label.name.clone()),
            role: self.role.unwrap_or(label.role),
        };
        label.set_if_neq(new);
        Stamps::touch(world, entity);
        Ok(())
    }
}
impl Recorded for UpdateNode {
    const NAME: &'static str = "node.update";
    type Reply = ();
}
