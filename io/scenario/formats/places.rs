//! Positions of nodes from another document: those that a recording does not state.

use std::collections::BTreeMap;

use groundwave_model::radio::Station;
use groundwave_model::terrain::GeoPoint;

use super::dataset::Dataset;
use super::error::{Fault, FormatError, Location, quoted};
use super::{Format, mesh};

/// Names in a message.
const NAMES_SHOWN: usize = 5;

impl Dataset {
    /// Takes positions, and stations where there are some, of the nodes of another document: a node has the name
    /// or the id of one of them. Those of no node are noted.
    ///
    /// # Errors
    /// A dataset that is a plan, and a document that has none of the nodes; `format` is that of the document.
    pub fn place(&mut self, places: Self, format: &Format) -> Result<(), FormatError> {
        if self.plan.is_some() {
            let fault = Fault::new("", "a plan, whose nodes have positions", "a recording");
            return Err(fault.at(format, Location::path("places")));
        }
        let places = places.places();
        let mut keys: Vec<Option<&String>> = vec![None; self.nodes.len()];
        for (key, index) in &self.index {
            keys[*index as usize] = Some(key);
        }
        let mut is_used = vec![false; places.positions.len()];
        for (node, key) in self.nodes.iter_mut().zip(keys) {
            let name = places.numbers.get(&node.name);
            let Some(number) = name.or_else(|| places.numbers.get(key?)) else { continue };
            let (position, station) = &places.positions[*number];
            if node.position.replace(*position).is_none() {
                self.report.take_back(mesh::NO_POSITION);
            }
            node.station = station.clone().or(node.station.take());
            is_used[*number] = true;
        }
        let unused = is_used.iter().filter(|is_used| !**is_used).count();
        if unused == is_used.len() {
            let names = self.nodes.iter().take(NAMES_SHOWN).map(|node| quoted(&node.name));
            let names = names.collect::<Vec<_>>().join(", ");
            let allowed = format!("nodes of the recording by name or id, such as {names}");
            let fault = Fault::new("", "a document without a position for any node", allowed);
            return Err(fault.at(format, Location::path("places")));
        }
        if unused > 0 {
            let what = "a position of a node that the recording does not have: not used";
            self.report.add_many(what, unused, || Location::path("places"));
        }
        Ok(())
    }

    /// Positions and stations of the nodes that have a position, by name and by id.
    fn places(self) -> Places {
        let mut places = Places::default();
        if let Some(plan) = self.plan {
            for node in plan.nodes {
                places.add([Some(node.name), None], node.position, Some(node.station));
            }
            return places;
        }
        let (positions, _) = self.first_positions();
        let mut keys: Vec<Option<String>> = vec![None; self.nodes.len()];
        for (key, index) in self.index {
            keys[index as usize] = Some(key);
        }
        for ((node, position), key) in self.nodes.into_iter().zip(positions).zip(keys) {
            if let Some(position) = position {
                places.add([Some(node.name), key], position, node.station);
            }
        }
        places
    }
}

/// Positions by the names and ids of their nodes.
#[derive(Default)]
struct Places {
    positions: Vec<(GeoPoint, Option<Station>)>,
    numbers: BTreeMap<String, usize>,
}

impl Places {
    fn add(&mut self, names: [Option<String>; 2], position: GeoPoint, station: Option<Station>) {
        for name in names.into_iter().flatten() {
            self.numbers.entry(name).or_insert(self.positions.len());
        }
        self.positions.push((position, station));
    }
}
