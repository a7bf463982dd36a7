//! The durable form of a node.

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Index, Refusal};
use groundwave_model::id::{NodeId, NodeKind};
use groundwave_model::radio::{Role, Station};
use groundwave_model::terrain::GeoPoint;
use serde::{Deserialize, Serialize};

use super::components::{Label, OperState, Position, StationConfig, Unplaced};
use super::planned::{DeploymentId, DeploymentKind, InDeployment, Stamps};

/// A node as the store keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeDocument {
    /// Display name.
    pub name: String,
    pub role: Role,
    /// Position, WGS84.
    pub position: GeoPoint,
    /// Station: radio, antenna, height and pointing.
    pub station: Station,
    /// `true` if it runs; a failed node carries no traffic.
    pub operating: bool,
    /// The deployment it is planned in and when it was made and changed; absent for nodes of the
    /// running mesh.
    pub planned: Option<Planned>,
    /// `true` if the position is a placeholder. Left out otherwise, so that stores and digests are those of versions
    /// without it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unplaced: bool,
}

/// Membership and time stamps of a planned node.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Planned {
    /// The deployment it belongs to.
    pub deployment: DeploymentId,
    /// Times of creation and of the last change.
    pub stamps: Stamps,
}

impl Document for NodeDocument {
    const TABLE: &'static str = "nodes";
    type Kind = NodeKind;
    type Changed = Or<(
        Changed<Label>,
        Changed<Position>,
        Changed<StationConfig>,
        Changed<OperState>,
        Changed<Stamps>,
        Changed<Unplaced>,
    )>;

    fn shows(entity: EntityRef<'_>) -> bool {
        entity.contains::<Label>()
    }

    fn read(world: &World, entity: EntityRef<'_>) -> Self {
        let label = entity.get::<Label>().expect("every node has a label");
        Self {
            name: label.name.clone(),
            role: label.role,
            position: entity.get::<Position>().expect("every node has a position").0,
            station: entity.get::<StationConfig>().expect("every node has a station").0.clone(),
            operating: entity.get::<OperState>().expect("a label requires it").0,
            planned: entity.get::<InDeployment>().map(|within| Planned {
                deployment: *world
                    .get::<DeploymentId>(within.0)
                    .expect("a deployment outlives its nodes"),
                stamps: *entity.get::<Stamps>().expect("planned nodes have them"),
            }),
            unplaced: entity.contains::<Unplaced>(),
        }
    }

    fn restore(self, id: NodeId, world: &mut World) -> Result<(), Refusal> {
        self.station.validate()?;
        world.resource::<Index<NodeKind>>().vacant(id)?;
        let label = Label { name: self.name, role: self.role };
        let place =
            (Position(self.position), StationConfig(self.station), OperState(self.operating));
        let deployments = world.resource::<Index<DeploymentKind>>();
        let within = self.planned.map(|planned| deployments.get(planned.deployment)).transpose()?;
        let entity = world.spawn((id, label, place)).id();
        if let (Some(within), Some(planned)) = (within, self.planned) {
            world.entity_mut(entity).insert((InDeployment(within), planned.stamps));
        }
        if self.unplaced {
            world.entity_mut(entity).insert(Unplaced);
        }
        Ok(())
    }
}
