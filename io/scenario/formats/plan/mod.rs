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

use groundwave_model::radio::station::HEIGHT_AGL_M_MAX;
use groundwave_model::radio::{Role, Station};
use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::deployment::Outline;
use groundwave_simulation::site::{NODES_MAX, NodeId, check_name};

use super::Format;
use super::error::{Fault, Location};
use super::misfits::Misfits;
use super::report::Report;

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
    /// Antenna height above mean sea level, m, in place of that of the station, until [`PlanFile::settle_heights`].
    pub height_msl_m: Option<f64>,
    /// Station.
    pub station: Station,
}

impl PlanFile {
    /// Makes heights above sea level those above the ground of `elevation_msl_m`; notes where that is unknown or
    /// above the antenna.
    pub fn settle_heights(
        &mut self,
        report: &mut Report,
        elevation_msl_m: impl Fn(GeoPoint) -> Option<f64>,
    ) {
        let over_sea: Vec<_> = self
            .nodes
            .iter()
            .filter_map(|node| Some((node.position, node.height_msl_m?)))
            .collect();
        for (what, count) in Misfits::of(over_sea, &elevation_msl_m).reasons() {
            report.add_many(&what, count, Location::default);
        }
        for node in &mut self.nodes {
            let Some(height_msl_m) = node.height_msl_m.take() else { continue };
            let height_m = height_msl_m - elevation_msl_m(node.position).unwrap_or(0.0);
            node.station.height_agl_m = height_m.clamp(0.0, HEIGHT_AGL_M_MAX);
        }
    }

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
