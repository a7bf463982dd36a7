//! Scenarios of CORE (coreemu) as XML: devices with positions, links with their impairments.

use std::collections::BTreeMap;
use std::io::{self, Write};

use groundwave_simulation::WorldView;
use quick_xml::escape::escape;
use quick_xml::events::BytesStart;

use super::dataset::{Dataset, Node};
use super::error::{FormatError, Location};
use super::recording::{self, Output, RecordingWriter};
use super::xml::{Tag, Tags, attribute, number};
use super::{Content, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "core",
    label: "CORE",
    description: "CORE scenario (XML): positions of devices, links",
    extensions: &["xml"],
    contents: &[Content::Positions],
    sniff: |sample| sample.xml_root() == "scenario",
    read: Some(read),
    write_recording: Some(write),
    ..Format::NONE
};

/// Reads the devices: nodes by their ids.
fn read(source: &Source, _: &ReadOptions) -> Result<Dataset, FormatError> {
    let mut tags = Tags::new(&FORMAT, source.bytes())?;
    let mut dataset = Dataset::default();
    let mut device: Option<Device> = None;
    while let Some(tag) = tags.next()? {
        match tag {
            Tag::Start(start) => begin(&start, &mut device, &mut dataset),
            Tag::End(name, _) if name == "device" => {
                if let Some(device) = device.take() {
                    device.end(&mut dataset, tags.line());
                }
            }
            Tag::End(..) => {}
        }
    }
    Ok(dataset)
}

/// An open device.
struct Device {
    id: String,
    name: String,
    raw_deg: Option<[f64; 2]>,
}

fn begin(start: &BytesStart<'_>, device: &mut Option<Device>, dataset: &mut Dataset) {
    match start.local_name().as_ref() {
        "scenario" => dataset.title = attribute(start, "name"),
        "device" => {
            let (id, name) = (attribute(start, "id"), attribute(start, "name"));
            let name = name.or_else(|| id.clone()).unwrap_or_default();
            *device = Some(Device { id: id.unwrap_or_default(), name, raw_deg: None });
        }
        "link" => dataset.links += 1,
        "position" => {
            let place = number(start, "lat").zip(number(start, "lon"));
            if let (Some(device), Some((lat, lon))) = (device, place) {
                device.raw_deg = Some([lat, lon]);
            }
        }
        _ => {}
    }
}

impl Device {
    fn end(self, dataset: &mut Dataset, line: usize) {
        let path = format!("device {}", self.name);
        if self.raw_deg.is_none() {
            dataset.report.add("no position given", || Location::path(path.as_str()));
        }
        if dataset.index.contains_key(&self.id) {
            let what = "a device with the id of another: its first entry counts";
            return dataset.drop(what, line);
        }
        let index = match self.id.is_empty() {
            true => dataset.push(Node::named(&self.name)),
            false => dataset.named(&self.id, &self.name),
        };
        let Some(index) = index else {
            let what = "one node too many, or an empty name";
            return dataset.report.add(what, || Location::path(path));
        };
        let node = &mut dataset.nodes[index as usize];
        (node.raw_deg, node.path) = (self.raw_deg, path);
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
