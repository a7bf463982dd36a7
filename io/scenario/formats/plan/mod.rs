//! Plans: deployments with their nodes, outside any world.

pub(super) mod collect;
pub(super) mod draft;
mod equip;
pub(super) mod field;
pub(super) mod flat;
pub(super) mod unit;
pub(super) mod values;

use std::collections::BTreeSet;
use std::io;

use groundwave_model::radio::{Role, Station};
use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::deployment::Outline;
use groundwave_simulation::site::{NODES_MAX, NodeId, check_name};

use super::Format;
use super::error::{Fault, Location};

/// A deployment with its nodes.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanFile {
    /// Name, centre, region and environment.
    pub outline: Outline,
    /// False where the document names no path-loss model: its reader decides then.
    pub names_model: bool,
    /// Nodes in the order of the document, at most [`NODES_MAX`], with unique ids.
    pub nodes: Vec<PlanNode>,
}

/// A node of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanNode {
    /// Id, where the document has a UUID.
    pub id: Option<NodeId>,
    /// Name, 1 to 64 characters, none of them a control character.
    pub name: String,
    /// Purpose.
    pub role: Role,
    /// Position.
    pub position: GeoPoint,
    /// Station.
    pub station: Station,
}

impl PlanFile {
    /// Refuses what the world would refuse.
    pub(super) fn check(&self) -> Result<(), Fault> {
        check_name("outline.name", &self.outline.name)?;
        self.outline.environment.validate().map_err(groundwave_engine::Refusal::from)?;
        if self.nodes.len() > NODES_MAX {
            let actual = format!("{} nodes", self.nodes.len());
            return Err(Fault::new("nodes", actual, format!("up to {NODES_MAX}")));
        }
        let mut ids = BTreeSet::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let within = |mut fault: Fault| {
                fault.key = format!("nodes[{index}].{}", fault.key);
                fault
            };
            check_name("name", &node.name).map_err(|refusal| within(refusal.into()))?;
            let valid = node.station.validate();
            valid.map_err(|bad| within(groundwave_engine::Refusal::from(bad).into()))?;
            if node.id.is_some_and(|id| !ids.insert(id)) {
                return Err(within(Fault::new("id", "a duplicate", "each id once")));
            }
        }
        Ok(())
    }

    /// Refuses what the world would refuse, as an error of a writer.
    pub(super) fn writable(&self, format: &Format) -> io::Result<()> {
        self.check().map_err(|fault| unwritable(format, fault))
    }
}

/// An error of a writer.
pub(super) fn unwritable(format: &Format, fault: Fault) -> io::Error {
    let location = Location::path(fault.key.clone());
    io::Error::new(io::ErrorKind::InvalidInput, fault.at(format, location))
}

/// The name of a role in documents.
pub(super) fn role_name(role: Role) -> &'static str {
    match role {
        Role::Command => "command",
        Role::Relay => "relay",
        Role::Team => "team",
        Role::Sensor => "sensor",
        Role::Asset => "asset",
    }
}

/// A text as a name the world takes: 1 to 64 characters, none of them a control character; `None`
/// when nothing is left.
pub(super) fn name_of(text: &str) -> Option<String> {
    let clean: String = text.chars().filter(|c| !c.is_control()).collect();
    let clean: String = clean.trim().chars().take(64).collect();
    (!clean.is_empty()).then_some(clean)
}
