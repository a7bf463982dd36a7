//! Scenarios of CORE (coreemu) as XML: devices with positions, links with their impairments.

use std::collections::BTreeMap;
use std::io::{self, Write};

use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::WorldView;
use quick_xml::escape::escape;
use quick_xml::events::BytesStart;

use super::core_settings::{Link, Model, Settings};
use super::dataset::{Dataset, Node};
use super::error::{FormatError, Location};
use super::plane::{Canvas, Plane};
use super::recording::{self, Output, RecordingWriter};
use super::xml::{Tag, Tags, attribute, number};
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "core",
    label: "CORE",
    description: "CORE scenario (XML): positions, impairments of links, radios, mobility script",
    extensions: &["xml"],
    contents: &[Content::Positions, Content::Tracks, Content::Measurements],
    sniff: |sample| sample.xml_root() == "scenario",
    read: Some(read),
    write_recording: Some(write),
    ..Format::NONE
};

/// Reads the devices, nodes by their ids, and what is set for links, networks and radios.
fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let mut tags = Tags::new(&FORMAT, source.bytes())?;
    let mut dataset = Dataset::default();
    let mut device: Option<Device> = None;
    let mut origin = None;
    let mut places = Vec::new();
    let mut settings = Settings::default();
    while let Some(tag) = tags.next()? {
        match tag {
            Tag::Start(start) => {
                origin = origin.or(canvas(&start));
                let line = tags.line();
                begin(&start, &mut device, &mut dataset, line);
                set(&start, &mut settings, line);
            }
            Tag::End(name, _) if name == "device" => {
                if let Some(device) = device.take() {
                    places.extend(device.end(&mut dataset, tags.line()));
                }
            }
            Tag::End(..) => {}
        }
    }
    // The origin of the canvas comes after the devices.
    for (index, place_px) in places {
        let node = &mut dataset.nodes[index as usize];
        node.position = origin.and_then(|canvas| canvas.position(place_px));
        let path = node.path.clone();
        let what = match node.position {
            Some(_) => "a position on the canvas alone: placed by the origin of the session",
            None => "no position given",
        };
        dataset.report.add(what, || Location::path(path));
    }
    settings.take(&mut dataset, origin, source, options)?;
    Ok(dataset)
}

/// Takes an element of links, networks or their settings.
fn set(start: &BytesStart<'_>, settings: &mut Settings, line: usize) {
    let text = |key| attribute(start, key).unwrap_or_default();
    match start.local_name().as_ref() {
        "network" => drop(settings.networks.insert(text("id"))),
        "link" => {
            // Versions before 7 have other names.
            let end = |key, earlier| attribute(start, key).unwrap_or_else(|| text(earlier));
            let ends = [end("node1", "node_one"), end("node2", "node_two")];
            settings.links.push(Link { ends, line, ..Link::default() });
        }
        "options" => {
            if let Some(link) = settings.links.last_mut() {
                let loss_percent = number(start, "loss").or_else(|| number(start, "per"));
                link.forward = [number(start, "bandwidth"), loss_percent];
                link.is_unidirectional = number(start, "unidirectional") == Some(1.0);
                let is_set = |key: &&str| number(start, key).is_some_and(|value| value != 0.0);
                link.others.extend(["delay", "jitter", "dup"].into_iter().filter(is_set));
            }
        }
        "mobility_configuration" | "emane_configuration" => {
            let (of, name) = (text("node"), text("model"));
            settings.models.push(Model { of, name, line, ..Model::default() });
        }
        "emane_global_configuration" | "session_metadata" | "session_options" => {
            settings.models.push(Model::default());
        }
        "configuration" => {
            if let Some(model) = settings.models.last_mut() {
                model.values.insert(text("name"), text("value"));
            }
        }
        _ => {}
    }
}

/// The canvas of an element `session_origin`.
fn canvas(start: &BytesStart<'_>) -> Option<Canvas> {
    let key = |name| number(start, name);
    if start.local_name().as_ref() != "session_origin" {
        return None;
    }
    let origin = GeoPoint::new(key("lat")?, key("lon")?).ok()?;
    let origin_px = (key("x").unwrap_or(0.0), key("y").unwrap_or(0.0));
    Some(Canvas { plane: Plane::around(origin), origin_px, scale_m: key("scale")? })
}

/// An open device.
struct Device {
    id: String,
    name: String,
    raw_deg: Option<[f64; 2]>,
    place_px: Option<(f64, f64)>,
}

fn begin(start: &BytesStart<'_>, device: &mut Option<Device>, dataset: &mut Dataset, line: usize) {
    match start.local_name().as_ref() {
        "scenario" => dataset.title = attribute(start, "name"),
        "device" => {
            let (id, name) = (attribute(start, "id"), attribute(start, "name"));
            let name = name.or_else(|| id.clone()).unwrap_or_default();
            *device =
                Some(Device { id: id.unwrap_or_default(), name, raw_deg: None, place_px: None });
        }
        "position" => {
            let place = number(start, "lat").zip(number(start, "lon"));
            if number(start, "alt").is_some_and(|altitude_m| altitude_m != 0.0) {
                let what = "the altitude of a device: that of the ground and the height of its antenna count (--height)";
                dataset.report.add(what, || Location::line(line));
            }
            if let Some(device) = device {
                device.raw_deg = place.map(|(lat, lon)| [lat, lon]);
                device.place_px = number(start, "x").zip(number(start, "y"));
            }
        }
        _ => {}
    }
}

impl Device {
    /// Adds the device; its index and place where it has none but on the canvas.
    fn end(self, dataset: &mut Dataset, line: usize) -> Option<(u32, (f64, f64))> {
        let path = format!("device {}", self.name);
        if self.raw_deg.is_none() && self.place_px.is_none() {
            dataset.report.add("no position given", || Location::path(path.as_str()));
        }
        if dataset.index.contains_key(&self.id) {
            dataset.drop("a device with the id of another: its first entry counts", line);
            return None;
        }
        let index = match self.id.is_empty() {
            true => dataset.push(Node::named(&self.name)),
            false => dataset.named(&self.id, &self.name),
        };
        let Some(index) = index else {
            let what = "one node too many, or an empty name";
            dataset.report.add(what, || Location::path(path));
            return None;
        };
        let node = &mut dataset.nodes[index as usize];
        (node.raw_deg, node.path) = (self.raw_deg, path);
        self.place_px.filter(|_| self.raw_deg.is_none()).map(|place_px| (index, place_px))
    }
}

fn write<'w>(out: Output<'w>) -> io::Result<Box<dyn RecordingWriter + 'w>> {
    Ok(recording::at_end(out, document))
}

/// Writes the mesh of a snapshot; returns the number of nodes and links.
///
/// The text is composed by hand: the few elements have a fixed layout, numbers of fixed precision,
/// and names are the only text to escape.
fn document(now: &WorldView, out: &mut dyn Write) -> io::Result<u64> {
    let assumed = recording::assumed(&now.environment.assumptions(None));
    let (mut lat, mut lon) = (0.0, 0.0);
    for node in now.nodes.iter() {
        lat += node.position.lat_deg() / now.nodes.len() as f64;
        lon += node.position.lon_deg() / now.nodes.len() as f64;
    }
    writeln!(
        out,
        "<?xml version='1.0' encoding='UTF-8'?>\n\
         <scenario name=\"groundwave\">\n  <networks/>\n  <devices>"
    )?;
    let mut numbers = BTreeMap::new();
    for (number, node) in (1..).zip(now.nodes.iter()) {
        numbers.insert(node.id, number);
        let name = escape(&node.name);
        let (lat, lon) = (node.position.lat_deg(), node.position.lon_deg());
        writeln!(
            out,
            "    <device id=\"{number}\" name=\"{name}\" icon=\"\" canvas=\"1\" type=\"mdr\" class=\"\" \
             image=\"\">\n      <position lat=\"{lat:.7}\" lon=\"{lon:.7}\" alt=\"{:.1}\"/>\n    </device>",
            node.station.height_agl_m
        )?;
    }
    writeln!(out, "  </devices>\n  <links>")?;
    let mut count = now.nodes.len() as u64;
    for (link, a, b, _) in recording::carrying(now) {
        let (a, b): (i32, i32) = (numbers[&a.id], numbers[&b.id]);
        // The slower and lossier direction: a link of CORE is the same both ways.
        let (forward, backward) = (&link.budget.forward, &link.budget.backward);
        let bandwidth = forward.data_rate_bps.min(backward.data_rate_bps).round();
        let loss_percent = forward.per.max(backward.per) * 100.0;
        let delay_us = (link.budget.distance_m / 299.792_458).round();
        writeln!(
            out,
            "    <link node1=\"{a}\" node2=\"{b}\">\n      <options delay=\"{delay_us}\" \
             bandwidth=\"{bandwidth}\" loss=\"{loss_percent:.3}\" dup=\"0\" jitter=\"0\" unidirectional=\"0\"/>\n    </link>"
        )?;
        count += 1;
    }
    writeln!(
        out,
        "  </links>\n  <session_origin lat=\"{lat:.7}\" lon=\"{lon:.7}\" alt=\"2.0\" scale=\"150.0\"/>\n  \
         <session_metadata>\n    <configuration name=\"assumptions\" value=\"{}\"/>\n  </session_metadata>\n\
         </scenario>",
        escape(&assumed)
    )?;
    Ok(count)
}
