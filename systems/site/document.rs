//! The durable face of a node.

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Index, Refusal};
use serde::{Deserialize, Serialize};

use super::components::{Label, NodeId, NodeKind, Operating, Position, Standing};
use crate::radio::{Role, Station};
use crate::terrain::GeoPoint;

/// A node as the store keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NodeDocument {
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// Where it stands.
    pub position: GeoPoint,
    /// What stands there.
    pub station: Station,
    /// Whether it runs.
    pub operating: bool,
}

impl Document for NodeDocument {
    const TABLE: &'static str = "nodes";
    type Kind = NodeKind;
    type Changed = Or<(
        Changed<Label>,
        Changed<Position>,
        Changed<Standing>,
        Changed<Operating>,
    )>;

    fn read(entity: EntityRef<'_>) -> Self {
        let label = entity.get::<Label>().expect("every node has a label");
        Self {
            name: label.name.clone(),
            role: label.role,
            position: entity
                .get::<Position>()
                .expect("every node has a position")
                .0,
            station: entity
                .get::<Standing>()
                .expect("every node has a station")
                .0
                .clone(),
            operating: entity.get::<Operating>().expect("a label requires it").0,
        }
    }

    fn restore(self, id: NodeId, world: &mut World) -> Result<(), Refusal> {
        self.station.validate()?;
        world.resource::<Index<NodeKind>>().vacant(id)?;
        let label = Label {
            name: self.name,
            role: self.role,
        };
        let place = (
            Position(self.position),
            Standing(self.station),
            Operating(self.operating),
        );
        world.spawn((id, label, place));
        Ok(())
    }
}
