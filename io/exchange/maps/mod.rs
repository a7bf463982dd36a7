//! Maps of meshes that run, as others publish them: where their nodes stand becomes a plan.
//!
//! | kind | from |
//! |---|---|
//! | NetJSON NetworkGraph, NetworkCollection | OpenWISP, netjson.org; nodes with `properties` or `location` |
//! | meshviewer | Freifunk communities, `meshviewer.json`; hopglass `nodes.json` version 1 and 2 |
//! | OpenWiFiMap | CouchDB rows with `latlng` |
//! | NYC Mesh | `nodes.json` with `coordinates`; only what is installed |
//! | CORE | scenario XML, devices with a `position` |
//!
//! Such maps are kept by many hands. Nothing of them is fatal: what has no place, or an impossible
//! one, or one at the other end of the world is dropped and told, with how often and where first.

mod core;
mod json;
mod sift;
#[cfg(test)]
mod tests;

use std::fmt;

use groundwave_systems::deployment::Outline;
use groundwave_systems::radio::{Role, Station};
use groundwave_systems::site::NODES_MAX;
use groundwave_systems::terrain::GeoPoint;
use thiserror::Error;

use super::error::Place;
use super::limits::BYTES_MAX;
use super::{Notes, PlanFile, PlanNode};

/// What a map is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapKind {
    /// A NetJSON NetworkGraph or NetworkCollection.
    NetJson,
    /// A map of a Freifunk community.
    Meshviewer,
    /// Rows of OpenWiFiMap.
    OpenWifiMap,
    /// The nodes of NYC Mesh.
    NycMesh,
    /// A scenario of CORE.
    Core,
}

impl fmt::Display for MapKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NetJson => "NetJSON",
            Self::Meshviewer => "meshviewer",
            Self::OpenWifiMap => "OpenWiFiMap",
            Self::NycMesh => "NYC Mesh",
            Self::Core => "CORE",
        })
    }
}

/// Why a map was not read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum MapError {
    /// It is longer than any document may be.
    #[error("{found} bytes; allowed: up to {BYTES_MAX}")]
    Long {
        /// Its length, bytes.
        found: usize,
    },
    /// It is neither JSON nor XML.
    #[error("line {line}: {what}")]
    Syntax {
        /// Where it stops being either.
        line: usize,
        /// Why.
        what: String,
    },
    /// No node of it has a place.
    #[error("{kind}: no node with a place; allowed: at least one ({notes})")]
    Empty {
        /// What it is.
        kind: MapKind,
        /// What became of those there are.
        notes: String,
    },
}

/// A node as a map tells it.
#[derive(Debug, Clone, PartialEq, Default)]
struct Spot {
    name: String,
    role: Role,
    lat_deg: f64,
    lon_deg: f64,
    /// Where it stands in the document.
    place: String,
}

/// The spots of a map, and what was dropped on the way to them.
#[derive(Debug, Default)]
struct Found {
    title: Option<String>,
    spots: Vec<Spot>,
    links: usize,
    notes: Notes,
}

impl Found {
    fn drop(&mut self, what: &str, place: &str) {
        self.notes.add(what, || Place::path(place));
    }
}

/// Reads a map, if `bytes` are one. A node takes its station from `defaults`: maps do not tell
/// what stands there.
///
/// # Errors
/// See [`MapError`]; only of documents that are maps.
pub fn read(
    bytes: &[u8],
    defaults: &Station,
) -> Option<Result<(MapKind, PlanFile, Notes), MapError>> {
    if bytes.len() > BYTES_MAX {
        return Some(Err(MapError::Long { found: bytes.len() }));
    }
    let begin = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
    let (kind, found) = match begin {
        Some(b'<') => (MapKind::Core, core::read(bytes)?),
        Some(b'{' | b'[') => json::read(bytes)?,
        _ => return None,
    };
    Some(found.and_then(|found| plan(kind, found, defaults)))
}

fn plan(
    kind: MapKind,
    mut found: Found,
    defaults: &Station,
) -> Result<(MapKind, PlanFile, Notes), MapError> {
    sift::sift(&mut found);
    if found.spots.len() > NODES_MAX {
        let more = found.spots.len() - NODES_MAX;
        let what = format!("more than {NODES_MAX} nodes: dropped");
        found.notes.add_many(&what, more, Place::default);
        found.spots.truncate(NODES_MAX);
    }
    if found.links > 0 {
        let what = "link: dropped, a plan works out its own";
        found.notes.add_many(what, found.links, Place::default);
    }
    let spots = found.spots;
    let nodes: Vec<PlanNode> = spots
        .into_iter()
        .filter_map(|spot| node(spot, defaults))
        .collect();
    if nodes.is_empty() {
        let told = found.notes.notes.iter();
        let told: Vec<_> = told
            .map(|note| format!("{} x {}", note.count, note.what))
            .collect();
        let notes = told.join("; ");
        return Err(MapError::Empty { kind, notes });
    }
    let what = "maps do not tell stations: all are the default one";
    found.notes.add_many(what, nodes.len(), Place::default);
    let name = found
        .title
        .as_deref()
        .map_or_else(|| format!("{kind} map"), named);
    let outline = Outline {
        name,
        center: None,
        region: None,
        environment: Default::default(),
    };
    Ok((kind, PlanFile { outline, nodes }, found.notes))
}

fn node(spot: Spot, defaults: &Station) -> Option<PlanNode> {
    Some(PlanNode {
        id: None,
        name: named(&spot.name),
        role: spot.role,
        position: GeoPoint::new(spot.lat_deg, spot.lon_deg).ok()?,
        station: defaults.clone(),
    })
}

/// A name the world takes: 1 to 64 characters, none of them a control character.
fn named(name: &str) -> String {
    let clean: String = name.chars().filter(|c| !c.is_control()).collect();
    let clean: String = clean.trim().chars().take(64).collect();
    if clean.is_empty() {
        "node".to_owned()
    } else {
        clean
    }
}
