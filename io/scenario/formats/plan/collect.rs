//! A plan while it is read: nodes one by one, then the deployment.

use std::collections::BTreeSet;

use groundwave_model::radio::{Environment, Station};
use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::deployment::{Outline, Region};
use groundwave_simulation::site::{NODES_MAX, NodeId, check_name};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::super::Format;
use super::super::error::{Fault, FormatError, Location, quoted};
use super::super::report::Report;
use super::draft::Draft;
use super::field::Field;
use super::{PlanFile, PlanNode, values};

/// Name of a deployment without one.
pub(crate) const NAME_DEFAULT: &str = "Imported plan";

/// Distance up to which the end of a line is at a node, degrees: a metre.
const LINE_END_DEG: f64 = 1e-5;

/// Note on a document without a name of its own, whose deployment is called `name`.
pub(crate) fn unnamed(name: &str) -> String {
    format!("no name of the deployment: {} is taken", quoted(name))
}

/// A deployment as JSON in documents; fields with a place of their own are left out.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Deployment {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) center: Option<GeoPoint>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) region: Option<Region>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) environment: Option<Environment>,
}

/// Location of a key of the node being read.
pub(crate) type At<'a> = &'a dyn Fn(&str) -> Location;

/// A plan while it is read.
pub(crate) struct Collector<'d> {
    format: &'static Format,
    defaults: &'d Station,
    nodes: Vec<PlanNode>,
    ids: BTreeSet<NodeId>,
    pub(crate) report: Report,
    pub(crate) deployment: Deployment,
    /// Lines between two positions, which may be those of nodes.
    pub(crate) lines: Vec<([GeoPoint; 2], Location)>,
    /// `true` if the region is marked as that of the deployment.
    own_region: bool,
}

impl<'d> Collector<'d> {
    pub(crate) fn new(format: &'static Format, defaults: &'d Station) -> Self {
        Self {
            format,
            defaults,
            nodes: Vec::new(),
            ids: BTreeSet::new(),
            report: Report::default(),
            deployment: Deployment::default(),
            lines: Vec::new(),
            own_region: false,
        }
    }

    /// The fault at its location.
    pub(crate) fn fault(&self, fault: Fault, at: At<'_>) -> FormatError {
        let place = at(&fault.key);
        fault.at(self.format, place)
    }

    /// Adds the node of `draft` at a latitude and longitude, degrees.
    pub(crate) fn node(
        &mut self,
        draft: &mut Draft,
        (lat_deg, lon_deg): (f64, f64),
        at: At<'_>,
    ) -> Result<(), FormatError> {
        let node =
            self.complete(draft, (lat_deg, lon_deg), at).map_err(|fault| self.fault(fault, at))?;
        self.nodes.push(node);
        Ok(())
    }

    /// `true` if no further node fits.
    pub(crate) fn is_full(&self) -> bool {
        self.nodes.len() >= NODES_MAX
    }

    /// `true` once there is a node.
    pub(crate) fn has_nodes(&self) -> bool {
        !self.nodes.is_empty()
    }

    /// Takes the height above sea level from an update of the last node that has nothing else; false for another.
    pub(crate) fn take_height_msl(&mut self, update: &serde_json::Value) -> bool {
        let height_m = update["height_msl_m"].as_f64();
        let is_alone = update.as_object().is_some_and(|fields| fields.len() == 2);
        let (Some(_), true, Some(node)) = (height_m, is_alone, self.nodes.last_mut()) else {
            return false;
        };
        node.station.height_agl_m = self.defaults.height_agl_m;
        node.height_msl_m = height_m;
        true
    }

    /// Adds a node that is complete.
    pub(crate) fn push(&mut self, node: PlanNode) {
        self.nodes.push(node);
    }

    fn complete(
        &mut self,
        draft: &mut Draft,
        (lat_deg, lon_deg): (f64, f64),
        at: At<'_>,
    ) -> Result<PlanNode, Fault> {
        if self.nodes.len() >= NODES_MAX {
            return Err(Fault::new("", "one more node", format!("up to {NODES_MAX}")));
        }
        let (position, wrapped) = values::position(lat_deg, lon_deg)?;
        let report = &mut self.report;
        if wrapped {
            report.add("longitude beyond 180 degrees: a turn is taken off", || at("lon"));
        }
        if (lat_deg, lon_deg) == (0.0, 0.0) {
            // Programs and spreadsheets write it where there is no position.
            report.add("a node at 0 N 0 E: a position that is missing?", || at("lat"));
        }
        let name = match draft.get(Field::Name) {
            Some(name) => name.to_owned(),
            None => {
                report.add("no name: numbered", || at("name"));
                format!("node {}", self.nodes.len() + 1)
            }
        };
        check_name("name", &name)?;
        let id = match draft.get(Field::Id).map(|text| (text, Uuid::try_parse(text.trim()))) {
            Some((_, Ok(uuid))) => Some(NodeId::new(uuid)),
            Some((_, Err(_))) => {
                report.add("id is not a UUID: dropped, the node gets a new one", || at("id"));
                None
            }
            None => None,
        };
        let role = draft.role()?;
        let station = draft.station(self.defaults, &mut |what| report.add(what, || at("")))?;
        if let Some(id) = id.filter(|id| !self.ids.insert(*id)) {
            return Err(Fault::new("id", format!("duplicate {id}"), "each id once"));
        }
        let height_msl_m = draft.height_msl_m()?;
        Ok(PlanNode { id, name, role, position, height_msl_m, station })
    }

    /// Takes the deployment from JSON.
    pub(crate) fn deployment(&mut self, json: &str) -> Result<(), Fault> {
        let read: Deployment = serde_json::from_str(json).map_err(|error| {
            let allowed = "a table with name, center, region, environment";
            Fault::new("deployment", error.to_string(), allowed)
        })?;
        let mine = &mut self.deployment;
        mine.name = read.name.or(mine.name.take());
        mine.center = read.center.or(mine.center);
        mine.environment = read.environment.or(mine.environment.take());
        if let Some(region) = read.region {
            (mine.region, self.own_region) = (Some(region), true);
        }
        Ok(())
    }

    /// Takes a polygon. One marked as the region must be valid; of others the first valid one
    /// becomes the region.
    pub(crate) fn polygon(
        &mut self,
        own: bool,
        rings: Result<Vec<Vec<GeoPoint>>, Fault>,
        at: At<'_>,
    ) -> Result<(), FormatError> {
        let open = |ring: &Vec<GeoPoint>| ring.first() != ring.last();
        if rings.as_ref().is_ok_and(|rings| rings.iter().any(open)) {
            self.report.add("open ring of a polygon: closed", || at(""));
        }
        let region = rings.and_then(|rings| {
            let shape = "closed rings of 4 positions or more";
            Region::new(rings).map_err(|bad| Fault::new("", bad.to_string(), shape))
        });
        match region {
            Err(fault) if own => return Err(self.fault(fault, at)),
            Err(fault) => {
                let what = format!("polygon is not a region ({}): dropped", fault.found);
                self.report.add(&what, || at(&fault.key));
            }
            Ok(region) if own && !self.own_region => {
                if self.deployment.region.is_some() {
                    self.report.add("polygon besides the region: dropped", || at(""));
                }
                (self.deployment.region, self.own_region) = (Some(region), true);
            }
            Ok(region) if self.deployment.region.is_none() => {
                self.deployment.region = Some(region);
                self.report.add("the first polygon is taken as the region", || at(""));
            }
            Ok(_) => self.report.add("polygon besides the region: dropped", || at("")),
        }
        Ok(())
    }

    /// The plan.
    pub(crate) fn finish(mut self) -> Result<(PlanFile, Report), FormatError> {
        self.tell_swapped();
        self.tell_lines();
        let Deployment { name, center, region, environment } = self.deployment;
        let document = || Location::default();
        if name.is_none() {
            self.report.add(&unnamed(NAME_DEFAULT), document);
        }
        if environment.is_none() {
            let what = "no propagation settings: the defaults are taken";
            self.report.add(what, document);
        }
        let names_model = environment.is_some();
        let outline = Outline {
            name: name.unwrap_or_else(|| NAME_DEFAULT.to_owned()),
            center,
            region,
            environment: environment.unwrap_or_default(),
        };
        let plan = PlanFile { outline, names_model, nodes: self.nodes };
        match plan.check() {
            Ok(()) => Ok((plan, self.report)),
            Err(fault) => {
                let place = Location::path(fault.key.clone());
                Err(fault.at(self.format, place))
            }
        }
    }

    /// Notes lines: those between two nodes are links, which a plan computes itself.
    fn tell_lines(&mut self) {
        let key = |at: &GeoPoint| {
            [at.lat_deg(), at.lon_deg()].map(|deg| (deg / LINE_END_DEG).round() as i64)
        };
        let nodes: BTreeSet<[i64; 2]> = self.nodes.iter().map(|node| key(&node.position)).collect();
        for (ends, location) in std::mem::take(&mut self.lines) {
            let what = match ends.iter().all(|end| nodes.contains(&key(end))) {
                true => "a line between two nodes: a link, which a plan computes itself",
                false => "LineString is not a node: dropped",
            };
            self.report.add(what, || location);
        }
    }

    /// Notes when no node lies in the region but some would with latitude and longitude swapped.
    fn tell_swapped(&mut self) {
        let Some(region) = &self.deployment.region else {
            return;
        };
        let Some(outline) = region.rings().first() else {
            return;
        };
        let edge = |of: fn(GeoPoint) -> f64| {
            let values = outline.iter().map(|point| of(*point));
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
                (low.min(value), high.max(value))
            })
        };
        let ((south, north), (west, east)) = (edge(GeoPoint::lat_deg), edge(GeoPoint::lon_deg));
        let within =
            |lat: f64, lon: f64| (south..=north).contains(&lat) && (west..=east).contains(&lon);
        let places =
            || self.nodes.iter().map(|node| (node.position.lat_deg(), node.position.lon_deg()));
        let swapped = places().filter(|(lat, lon)| within(*lon, *lat)).count();
        if swapped > 0 && !places().any(|(lat, lon)| within(lat, lon)) {
            let what =
                "no node lies in the region, but would if latitude and longitude were swapped";
            self.report.add_many(what, swapped, Location::default);
        }
    }
}
