//! Writer of plans.

use std::io::{self, BufWriter, Write};

use groundwave_model::radio::presets::ROLES;
use groundwave_model::radio::{Antenna, Indoor, Pointing, Radio, Role, Surroundings};
use groundwave_simulation::site::NodeId;
use serde::Serialize;

use super::super::plan::collect::Deployment;
use super::super::plan::{PlanFile, PlanNode};
use super::{DEPLOYMENT, FORMAT, KIND};

/// Writes `plan`, one feature a line.
pub(in super::super) fn write(plan: &PlanFile, out: &mut dyn Write) -> io::Result<()> {
    plan.writable(&FORMAT)?;
    let mut out = BufWriter::new(out);
    collection(plan, &mut out)?;
    out.flush()
}

fn collection(plan: &PlanFile, out: &mut impl Write) -> io::Result<()> {
    let outline = &plan.outline;
    let deployment = Deployment {
        name: Some(outline.name.clone()),
        center: outline.center,
        region: None,
        environment: Some(outline.environment.clone()),
    };
    write!(out, "{{\"type\":\"FeatureCollection\",\"{DEPLOYMENT}\":")?;
    serde_json::to_writer(&mut *out, &deployment)?;
    out.write_all(b",\"features\":[")?;
    let mut between: &[u8] = b"\n";
    if let Some(region) = &outline.region {
        out.write_all(between)?;
        between = b",\n";
        let (key, kind) = KIND;
        write!(
            out,
            "{{\"type\":\"Feature\",\"properties\":{{\"{key}\":\"{kind}\"}},\"geometry\":"
        )?;
        serde_json::to_writer(&mut *out, region)?;
        out.write_all(b"}")?;
    }
    for node in &plan.nodes {
        out.write_all(between)?;
        between = b",\n";
        serde_json::to_writer(&mut *out, &Feature::of(node))?;
    }
    out.write_all(b"\n]}\n")
}

#[derive(Serialize)]
struct Feature<'p> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<NodeId>,
    properties: Properties<'p>,
    geometry: Point,
}

#[derive(Serialize)]
struct Point {
    #[serde(rename = "type")]
    kind: &'static str,
    /// Longitude and latitude, degrees.
    coordinates: [f64; 2],
}

#[derive(Serialize)]
struct Properties<'p> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<NodeId>,
    name: &'p str,
    role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    height_agl_m: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    height_msl_m: Option<f64>,
    radio: &'p Radio,
    antenna: &'p Antenna,
    #[serde(skip_serializing_if = "Option::is_none")]
    pointing: Option<Pointing>,
    #[serde(skip_serializing_if = "Surroundings::is_unknown")]
    surroundings: Surroundings,
    #[serde(skip_serializing_if = "Indoor::is_outdoors")]
    indoor: Indoor,
    #[serde(skip_serializing_if = "Option::is_none")]
    woodland_depth_m: Option<f64>,
    #[serde(rename = "marker-color")]
    color: &'static str,
}

impl<'p> Feature<'p> {
    fn of(node: &'p PlanNode) -> Self {
        let station = &node.station;
        let preset = ROLES.iter().find(|preset| preset.id == node.role);
        Self {
            kind: "Feature",
            id: node.id,
            properties: Properties {
                id: node.id,
                name: &node.name,
                role: node.role,
                height_agl_m: node.height_msl_m.is_none().then_some(station.height_agl_m),
                height_msl_m: node.height_msl_m,
                radio: &station.radio,
                antenna: &station.antenna,
                pointing: station.pointing,
                surroundings: station.surroundings,
                indoor: station.indoor,
                woodland_depth_m: station.is_in_woodland().then_some(station.woodland_depth_m),
                color: preset.map_or("#000000", |preset| preset.color),
            },
            geometry: Point {
                kind: "Point",
                coordinates: [node.position.lon_deg(), node.position.lat_deg()],
            },
        }
    }
}
