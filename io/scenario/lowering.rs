//! State that the sections of a [`ScenarioFile`] share while they become records.

use std::collections::BTreeMap;
use std::path::Path;

use groundwave_model::radio::station::Station;
use groundwave_toml_document::error::Report;
use groundwave_toml_document::key::KeyPath;
use groundwave_toml_document::source::Source;
use serde::Serialize;
use serde_json::{Value as Json, json};
use toml::de::DeTable;

use super::Scheduled;
use super::aim::Aim;
use super::check::{Clock, Names};
use super::file::ScenarioFile;
use super::limits::{NODES_MAX, RECORDS_MAX};
use super::station::Catalogue;

/// Everything the sections share while they are lowered.
pub(super) struct Lowering<'a> {
    pub(super) file: &'a ScenarioFile,
    pub(super) source: &'a Source<'a>,
    pub(super) root: &'a DeTable<'a>,
    /// Folder that names in the file are relative to; `None` where no file may be read.
    pub(super) base_dir: Option<&'a Path>,
    pub(super) clock: Clock,
    pub(super) catalogue: Catalogue,
    pub(super) nodes: Names,
    /// Names in the order they were given.
    pub(super) node_names: Vec<String>,
    pub(super) records: Vec<Placed>,
    /// Antennas whose elevation depends on the ground, by their nodes.
    pub(super) aims: BTreeMap<String, Aim>,
    pub(super) report: Report,
}

/// A record and the line it comes from.
pub(super) struct Placed {
    pub(super) record: Scheduled,
    pub(super) line: u32,
}

impl Lowering<'_> {
    /// Adds a record that stems from the key at `path`.
    pub(super) fn record(&mut self, at_ns: u64, name: &str, body: Json, path: &KeyPath) {
        if self.records.len() >= RECORDS_MAX {
            // Said once, and only when nothing else is wrong.
            if self.report.count() == 0 {
                self.report.at(
                    path,
                    "more records than a scenario may have",
                    format!("{RECORDS_MAX}"),
                );
            }
            return;
        }
        let span = groundwave_toml_document::tree::span_of(self.root, path);
        let line = u32::try_from(self.source.line(span.start)).unwrap_or(u32::MAX);
        let record = Scheduled { at_ns, name: name.to_owned(), body };
        self.records.push(Placed { record, line });
    }

    /// Adds a node; names the key at fault when it cannot be.
    pub(super) fn add_node(&mut self, node: &NewNode<'_>, path: &KeyPath) {
        if !self.take_name(node.name, node.at_ns, path) {
            return;
        }
        let body = json!({
            "node": node.name,
            "name": node.label,
            "role": node.role,
            "position": position(node.lat_deg, node.lon_deg),
            "station": node.station,
        });
        self.record(node.at_ns, "node.add", body, path);
    }

    /// Reserves a node name that is not in use.
    pub(super) fn take_name(&mut self, name: &str, since_ns: u64, path: &KeyPath) -> bool {
        if self.node_names.len() >= NODES_MAX {
            self.report.at(path, "more nodes than a scenario may have", format!("{NODES_MAX}"));
            return false;
        }
        let free = self.nodes.add(name, since_ns, path, &mut self.report);
        if free {
            self.node_names.push(name.to_owned());
        }
        free
    }

    /// A time in the run, ns.
    pub(super) fn at(&mut self, at_s: f64, path: &KeyPath) -> Option<u64> {
        self.clock.at(at_s, path, &mut self.report)
    }

    /// An end after a begin, ns.
    pub(super) fn until(
        &mut self,
        at_ns: u64,
        until_s: Option<f64>,
        path: &KeyPath,
    ) -> Option<u64> {
        self.clock.until(at_ns, until_s, path, &mut self.report)
    }

    /// Accepts a node that is there at a time.
    pub(super) fn present(&mut self, name: &str, at_ns: u64, path: &KeyPath) -> bool {
        self.nodes.present(name, at_ns, path, &mut self.report)
    }

    /// A station from a section of the file.
    pub(super) fn station(
        &mut self,
        spec: &super::file_motion::StationFile,
        path: &KeyPath,
    ) -> Option<Station> {
        let (radio, antenna) = (&spec.radio, &spec.antenna);
        let station =
            self.catalogue.station(spec.height_agl_m, radio, antenna, path, &mut self.report)?;
        Some(Station {
            surroundings: spec.surroundings,
            indoor: spec.indoor,
            woodland_depth_m: spec.woodland_depth_m,
            ..station
        })
    }
}

/// Arguments of `node.add`.
pub(super) struct NewNode<'n> {
    pub(super) at_ns: u64,
    pub(super) name: &'n str,
    pub(super) label: &'n str,
    pub(super) role: groundwave_model::radio::presets::Role,
    pub(super) lat_deg: f64,
    pub(super) lon_deg: f64,
    /// The station as JSON.
    pub(super) station: &'n Json,
}

/// A position in a command's body.
pub(super) fn position(lat_deg: f64, lon_deg: f64) -> Json {
    json!({ "lat_deg": lat_deg, "lon_deg": lon_deg })
}

/// A model type as JSON. These types are plain structs of finite numbers and always convert.
pub(super) fn to_json<T: Serialize>(value: &T) -> Json {
    serde_json::to_value(value).unwrap_or_default()
}
