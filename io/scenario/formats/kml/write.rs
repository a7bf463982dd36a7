//! Writer of plans.

use std::io::{self, BufWriter, Write};

use groundwave_model::radio::presets::ROLES;
use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::deployment::Region;
use quick_xml::escape::partial_escape;

use super::super::plan::collect::Deployment;
use super::super::plan::field::Field;
use super::super::plan::flat::{self, number};
use super::super::plan::{PlanFile, PlanNode, role_name};
use super::{DEPLOYMENT, FORMAT, KIND, NAME_JSON, is_unwritable};

/// Writes `plan`.
pub(in super::super) fn write(plan: &PlanFile, out: &mut dyn Write) -> io::Result<()> {
    plan.writable(&FORMAT)?;
    let mut out = BufWriter::new(out);
    document(plan, &mut out)?;
    out.flush()
}

fn document(plan: &PlanFile, out: &mut impl Write) -> io::Result<()> {
    let outline = &plan.outline;
    out.write_all(
        b"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
          <kml xmlns=\"http://www.opengis.net/kml/2.2\">\n<Document>\n",
    )?;
    name(out, &outline.name)?;
    styles(out)?;
    let deployment = Deployment {
        name: None,
        center: outline.center,
        region: None,
        environment: Some(outline.environment.clone()),
    };
    out.write_all(b"<ExtendedData>\n")?;
    datum(out, DEPLOYMENT, &serde_json::to_string(&deployment)?)?;
    name_json(out, &outline.name)?;
    out.write_all(b"</ExtendedData>\n")?;
    if let Some(region) = &outline.region {
        write_region(out, region)?;
    }
    for node in &plan.nodes {
        placemark(out, node)?;
    }
    out.write_all(b"</Document>\n</kml>\n")
}

/// A style for each role, and one for the region. Colours of KML are alpha, blue, green, red.
fn styles(out: &mut impl Write) -> io::Result<()> {
    for preset in &ROLES {
        let digits = |range| preset.color.get(range).unwrap_or("00");
        let (red, green, blue) = (digits(1..3), digits(3..5), digits(5..7));
        let role = role_name(preset.id);
        writeln!(
            out,
            "<Style id=\"{role}\"><IconStyle><color>ff{blue}{green}{red}</color></IconStyle></Style>"
        )?;
    }
    out.write_all(
        b"<Style id=\"region\"><LineStyle><color>ffb27200</color><width>2</width></LineStyle>\
          <PolyStyle><color>20b27200</color></PolyStyle></Style>\n",
    )
}

fn placemark(out: &mut impl Write, node: &PlanNode) -> io::Result<()> {
    out.write_all(b"<Placemark>\n")?;
    name(out, &node.name)?;
    let role = role_name(node.role);
    writeln!(out, "<styleUrl>#{role}</styleUrl>\n<ExtendedData>")?;
    name_json(out, &node.name)?;
    for (field, text) in flat::row(node) {
        // These fields have elements of their own.
        if !matches!(field, Field::Name | Field::Lat | Field::Lon) {
            datum(out, field.name(), &text)?;
        }
    }
    let (mode, height_m) = match node.height_msl_m {
        Some(height_msl_m) => ("absolute", height_msl_m),
        None => ("relativeToGround", node.station.height_agl_m),
    };
    write!(out, "</ExtendedData>\n<Point><altitudeMode>{mode}</altitudeMode>")?;
    let height = number(height_m);
    let place = position(node.position);
    writeln!(out, "<coordinates>{place},{height}</coordinates></Point>\n</Placemark>")
}

fn write_region(out: &mut impl Write, region: &Region) -> io::Result<()> {
    out.write_all(
        b"<Placemark>\n<name>Region</name>\n<styleUrl>#region</styleUrl>\n<ExtendedData>\n",
    )?;
    datum(out, KIND.0, KIND.1)?;
    out.write_all(b"</ExtendedData>\n<Polygon>\n")?;
    for (index, ring) in region.rings().iter().enumerate() {
        let side = if index == 0 { "outer" } else { "inner" };
        write!(out, "<{side}BoundaryIs><LinearRing><coordinates>")?;
        for (index, point) in ring.iter().enumerate() {
            let between = if index == 0 { "" } else { " " };
            write!(out, "{between}{}", position(*point))?;
        }
        writeln!(out, "</coordinates></LinearRing></{side}BoundaryIs>")?;
    }
    out.write_all(b"</Polygon>\n</Placemark>\n")
}

/// Longitude and latitude, degrees.
fn position(point: GeoPoint) -> String {
    format!("{},{}", number(point.lon_deg()), number(point.lat_deg()))
}

fn name(out: &mut impl Write, name: &str) -> io::Result<()> {
    let label: String =
        name.chars().map(|c| if is_unwritable(c) { '\u{fffd}' } else { c }).collect();
    writeln!(out, "<name>{}</name>", partial_escape(&label))
}

/// The name in a form that XML can hold, if it cannot hold it as it is.
fn name_json(out: &mut impl Write, name: &str) -> io::Result<()> {
    if !name.contains(is_unwritable) {
        return Ok(());
    }
    let mut json = String::new();
    for c in serde_json::to_string(name)?.chars() {
        if is_unwritable(c) {
            json.push_str(&format!("\\u{:04x}", u32::from(c)));
        } else {
            json.push(c);
        }
    }
    datum(out, NAME_JSON, &json)
}

fn datum(out: &mut impl Write, name: &str, value: &str) -> io::Result<()> {
    let value = partial_escape(value);
    writeln!(out, "<Data name=\"{name}\"><value>{value}</value></Data>")
}
