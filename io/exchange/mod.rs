//! Deployments as documents: written for other programs, read from them.
//!
//! Everything goes through one neutral model, [`PlanFile`]. What is written reads back to the
//! bit, whatever the format. What others wrote is read as far as it says where nodes stand: a
//! reader is tolerant, but tells in its [`Notes`] what it dropped or filled in, and refuses what
//! contradicts the model with an [`ExchangeError`] that names the place.
//!
//! | format | nodes | deployment |
//! |---|---|---|
//! | [`geojson`] | point features | member `deployment`, polygon feature |
//! | [`kml`], [`kmz`] | placemarks with points | extended data of the document, polygon placemark |
//! | [`csv`] | rows | the row whose cell `deployment` is not empty |
//! | [`scenario`] | `[[node]]` | `[environment]`, `[deployment]` |

mod collect;
pub mod csv;
mod draft;
mod equip;
mod error;
mod field;
mod flat;
mod format;
pub mod geojson;
pub mod kml;
pub mod kmz;
pub mod limits;
pub mod maps;
mod notes;
pub mod scenario;
#[cfg(test)]
mod tests;
mod values;

use std::collections::BTreeSet;
use std::io::{self, Write};

use groundwave_systems::deployment::Outline;
use groundwave_systems::radio::{Role, Station};
use groundwave_systems::site::{NODES_MAX, NodeId, check_name};
use groundwave_systems::terrain::GeoPoint;

pub use error::{ExchangeError, Place};
pub use format::Format;
pub use notes::{Note, Notes};

use error::Fault;
use limits::BYTES_MAX;

/// A deployment with its nodes, outside any world.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanFile {
    /// What it is.
    pub outline: Outline,
    /// Its nodes in the order of the document, at most [`NODES_MAX`]; their ids are unique.
    pub nodes: Vec<PlanNode>,
}

/// A node of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanNode {
    /// Its id, if the document states one that is a UUID.
    pub id: Option<NodeId>,
    /// What people call it, 1 to 64 characters, none of them a control character.
    pub name: String,
    /// What it is for.
    pub role: Role,
    /// Where it stands.
    pub position: GeoPoint,
    /// What stands there.
    pub station: Station,
}

/// Writes `plan` as `format`.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] with an [`ExchangeError`] inside when the plan is none the
/// world would accept, or is too large for the format; then nothing is written. Otherwise what
/// `out` says.
pub fn write(format: Format, plan: &PlanFile, out: &mut impl Write) -> io::Result<()> {
    match format {
        Format::Geojson => geojson::write(plan, out),
        Format::Kml => kml::write(plan, out),
        Format::Kmz => kmz::write(plan, out),
        Format::Csv => csv::write(plan, out),
        Format::Scenario => scenario::write(plan, out),
    }
}

/// Reads a plan of `format`. A node takes from `defaults` what the document does not say about
/// its station.
///
/// # Errors
/// The first thing found that is not allowed; of a scenario, all of them.
pub fn read(
    format: Format,
    bytes: &[u8],
    defaults: &Station,
) -> Result<(PlanFile, Notes), ExchangeError> {
    match format {
        Format::Geojson => geojson::read(bytes, defaults),
        Format::Kml => kml::read(bytes, defaults),
        Format::Kmz => kmz::read(bytes, defaults),
        Format::Csv => csv::read(bytes, defaults),
        Format::Scenario => scenario::read(bytes, defaults),
    }
}

impl PlanFile {
    /// Refuses what the world would refuse.
    fn check(&self) -> Result<(), Fault> {
        check_name("outline.name", &self.outline.name)?;
        self.outline
            .environment
            .validate()
            .map_err(groundwave_engine::Refusal::from)?;
        if self.nodes.len() > NODES_MAX {
            let found = format!("{} nodes", self.nodes.len());
            return Err(Fault::new("nodes", found, format!("up to {NODES_MAX}")));
        }
        let mut ids = BTreeSet::new();
        for (index, node) in self.nodes.iter().enumerate() {
            let within = |mut fault: Fault| {
                fault.key = format!("nodes[{index}].{}", fault.key);
                fault
            };
            check_name("name", &node.name).map_err(|refusal| within(refusal.into()))?;
            let sound = node.station.validate();
            sound.map_err(|bad| within(groundwave_engine::Refusal::from(bad).into()))?;
            if node.id.is_some_and(|id| !ids.insert(id)) {
                return Err(within(Fault::new("id", "taken", "each id once")));
            }
        }
        Ok(())
    }

    /// Refuses what the world would refuse, as a writer says it.
    fn writable(&self, format: Format) -> io::Result<()> {
        self.check().map_err(|fault| unwritable(format, fault))
    }
}

/// An error of a writer.
fn unwritable(format: Format, fault: Fault) -> io::Error {
    let place = Place::path(fault.key.clone());
    io::Error::new(io::ErrorKind::InvalidInput, fault.at(format, place))
}

/// The document as text: UTF-8 of bearable size, without a byte order mark.
fn text(format: Format, bytes: &[u8]) -> Result<&str, ExchangeError> {
    if bytes.len() > BYTES_MAX {
        let fault = Fault::new(
            "",
            format!("{} bytes", bytes.len()),
            format!("up to {BYTES_MAX} bytes"),
        );
        return Err(fault.at(format, Place::default()));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let good = &bytes[..error.valid_up_to()];
        let found = match bytes {
            [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => "UTF-16".to_owned(),
            [b'P', b'K', ..] => "a zip file".to_owned(),
            _ => format!("byte {} is not UTF-8", good.len()),
        };
        Fault::new("", found, "UTF-8 text").at(format, Place::new(line_of(good), ""))
    })?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

/// Line, from 1, that follows `before`.
fn line_of(before: &[u8]) -> u64 {
    before.iter().filter(|byte| **byte == b'\n').count() as u64 + 1
}

/// The name of a role in documents.
fn role_name(role: Role) -> &'static str {
    match role {
        Role::Command => "command",
        Role::Relay => "relay",
        Role::Team => "team",
        Role::Sensor => "sensor",
        Role::Asset => "asset",
    }
}
