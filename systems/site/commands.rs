//! What can be done to nodes.

use bevy_ecs::prelude::*;
use groundwave_engine::{Index, Recorded, Refusal};
use serde::{Deserialize, Serialize};

use super::components::{
    Enrolled, Label, OperState, Position, Relocated, StationConfig, WorldEnvironment,
};
use super::planned::{DeploymentId, DeploymentKind, InDeployment, Stamps};
use crate::model::id::{NodeId, NodeKind};
use crate::radio::{BadValue, Environment, Role, Station};
use crate::terrain::GeoPoint;

/// Nodes one world may hold. 100,000 nodes are ten times the largest community mesh; beyond it
/// the link table, not the model, needs another design.
pub const NODES_MAX: usize = 100_000;

/// Longest name shown, characters: a name is for people, of any script.
pub const NAME_CHARS_MAX: usize = 64;

impl From<BadValue> for Refusal {
    fn from(bad: BadValue) -> Self {
        Self::invalid(bad.key, bad.found, bad.allowed)
    }
}

/// The entity of a node that has a place; one that only ever joined has none yet.
pub(crate) fn node(world: &World, id: NodeId) -> Result<Entity, Refusal> {
    let entity = world.resource::<Index<NodeKind>>().get(id)?;
    if world.get::<Label>(entity).is_none() {
        return Err(Refusal::NotFound {
            kind: "placed node",
            id: id.to_string(),
        });
    }
    Ok(entity)
}

/// Refuses to plan away what is really there.
pub(crate) fn not_live(world: &World, entity: Entity) -> Result<(), Refusal> {
    match (world.get::<Enrolled>(entity), world.get::<Label>(entity)) {
        (Some(Enrolled), Some(label)) => Err(Refusal::conflict(format!(
            "node {:?} is live: take it out of the mesh at the gateway first",
            label.name
        ))),
        _ => Ok(()),
    }
}

/// Refuses names that cannot be shown or typed.
///
/// # Errors
/// [`Refusal::Invalid`] at `key` unless `name` has 1 to [`NAME_CHARS_MAX`] characters, none of them
/// a control character.
pub fn check_name(key: &str, name: &str) -> Result<(), Refusal> {
    let allowed = format!("1 to {NAME_CHARS_MAX} characters, none of them a control character");
    let length = 1..=NAME_CHARS_MAX;
    if !length.contains(&name.chars().count()) || name.chars().any(char::is_control) {
        return Err(Refusal::invalid(key, format!("{name:?}"), allowed));
    }
    Ok(())
}

/// Puts a node at a position and triggers [`Relocated`].
pub(super) fn relocate(world: &mut World, entity: Entity, to: GeoPoint) {
    let mut position = world
        .get_mut::<Position>(entity)
        .expect("every node has a position");
    position.set_if_neq(Position(to));
    world.trigger(Relocated { entity });
}

/// Places a new node.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddNode {
    /// Its id, minted by the caller.
    pub node: NodeId,
    /// What people call it.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// Where it stands.
    pub position: GeoPoint,
    /// What stands there.
    pub station: Station,
    /// The deployment it is planned in; absent, it is part of the running mesh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<DeploymentId>,
}
impl Command for AddNode {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        check_name("name", &self.name)?;
        self.station.validate()?;
        let index = world.resource::<Index<NodeKind>>();
        index.vacant(self.node)?;
        if index.len() >= NODES_MAX {
            return Err(Refusal::conflict(format!(
                "the world has {NODES_MAX} nodes, the most"
            )));
        }
        let deployments = world.resource::<Index<DeploymentKind>>();
        let within = self.deployment.map(|id| deployments.get(id)).transpose()?;
        let label = Label {
            name: self.name,
            role: self.role,
        };
        let place = (Position(self.position), StationConfig(self.station));
        match within {
            Some(entity) => {
                let stamps = Stamps::new(world);
                world.spawn((self.node, label, place, stamps, InDeployment(entity)));
            }
            None => {
                world.spawn((self.node, label, place));
            }
        }
        Ok(())
    }
}
impl Recorded for AddNode {
    const NAME: &'static str = "node.add";
    type Reply = ();
}

/// Takes a node away, with its links and flows.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RemoveNode {
    /// Which node.
    pub node: NodeId,
}
impl Command for RemoveNode {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = node(world, self.node)?;
        not_live(world, entity)?;
        world.despawn(entity);
        Ok(())
    }
}
impl Recorded for RemoveNode {
    const NAME: &'static str = "node.remove";
    type Reply = ();
}

/// Moves a node at once, and ends any motion it was in.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoveNode {
    /// Which node.
    pub node: NodeId,
    /// Where to.
    pub position: GeoPoint,
}
impl Command for MoveNode {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        let entity = node(world, self.node)?;
        relocate(world, entity, self.position);
        Stamps::touch(world, entity);
        Ok(())
    }
}
impl Recorded for MoveNode {
    const NAME: &'static str = "node.move";
    type Reply = ();
}

/// Replaces a node's station.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetStation {
    /// Which node.
    pub node: NodeId,
    /// What stands there from now on.
    pub station: Station,
}
impl Command for SetStation {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        self.station.validate()?;
        let entity = node(world, self.node)?;
        let mut standing = world
            .get_mut::<StationConfig>(entity)
            .expect("every node has a station");
        standing.set_if_neq(StationConfig(self.station));
        Stamps::touch(world, entity);
        Ok(())
    }
}
impl Recorded for SetStation {
    const NAME: &'static str = "node.set_station";
    type Reply = ();
}

/// Stops a node: it carries no traffic until restored.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailNode {
    /// Which node.
    pub node: NodeId,
}
impl Command for FailNode {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        set_operating(world, self.node, false)
    }
}
impl Recorded for FailNode {
    const NAME: &'static str = "node.fail";
    type Reply = ();
}

/// Starts a failed node again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestoreNode {
    /// Which node.
    pub node: NodeId,
}
impl Command for RestoreNode {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        set_operating(world, self.node, true)
    }
}
impl Recorded for RestoreNode {
    const NAME: &'static str = "node.restore";
    type Reply = ();
}

fn set_operating(world: &mut World, id: NodeId, operating: bool) -> Result<(), Refusal> {
    let entity = node(world, id)?;
    let mut component = world
        .get_mut::<OperState>(entity)
        .expect("a label requires it");
    component.set_if_neq(OperState(operating));
    Ok(())
}

/// Replaces the propagation settings of the world.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetEnvironment {
    /// The settings from now on.
    pub environment: Environment,
}
impl Command for SetEnvironment {
    type Out = Result<(), Refusal>;
    fn apply(self, world: &mut World) -> Self::Out {
        self.environment.validate()?;
        world
            .resource_mut::<WorldEnvironment>()
            .set_if_neq(WorldEnvironment(self.environment));
        Ok(())
    }
}
impl Recorded for SetEnvironment {
    const NAME: &'static str = "environment.set";
    type Reply = ();
}
