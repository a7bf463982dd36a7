//! Scenarios of CORE (coreemu) as XML: devices with positions, links with their impairments.

use std::collections::BTreeMap;
use std::io::{self, Write};

use groundwave_simulation::WorldView;
use quick_xml::Reader;
use quick_xml::escape::escape;
use quick_xml::events::{BytesStart, Event};

use super::dataset::{Dataset, Node};
use super::error::{Fault, FormatError, Location};
use super::limits::DEPTH_MAX;
use super::recording::{self, Output, RecordingWriter};
use super::text::{line_of, text};
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

/// Reads the devices.
fn read(source: &Source, _: &ReadOptions) -> Result<Dataset, FormatError> {
    let text = text(&FORMAT, source.bytes())?;
    let mut xml = Reader::from_str(text);
    let mut dataset = Dataset::default();
    let mut depth = 0_usize;
    // The open device: its node, whether it has a position.
    let mut device: Option<(Node, bool)> = None;
    loop {
        let event = xml.read_event();
        let at = usize::try_from(xml.buffer_position()).unwrap_or(usize::MAX);
        let line = line_of(&text.as_bytes()[..at.min(text.len())]);
        let invalid = |actual: &str, allowed: String| {
            Err(Fault::new("", actual, allowed).at(&FORMAT, Location::new(line, "")))
        };
        match event {
            Err(error) => return invalid(&error.to_string(), "well-formed XML".to_owned()),
            Ok(Event::Eof) if depth == 0 => return Ok(dataset),
            Ok(Event::Eof) => {
                let allowed = "the end of every element first".to_owned();
                return invalid("the end of the document", allowed);
            }
            // Declared entities can expand without bound.
            Ok(Event::DocType(_)) => return invalid("a document type", "none".to_owned()),
            Ok(Event::Start(start)) => {
                if depth == 0 {
                    dataset.title = attribute(&start, "name");
                }
                depth += 1;
                if depth > DEPTH_MAX {
                    return invalid("elements too deep", format!("{DEPTH_MAX} levels"));
                }
                begin(&start, &mut device, &mut dataset);
            }
            Ok(Event::Empty(start)) => {
                begin(&start, &mut device, &mut dataset);
                end(start.name().as_ref(), &mut device, &mut dataset);
            }
            Ok(Event::End(tag)) => {
                depth = depth.saturating_sub(1);
                end(tag.name().as_ref(), &mut device, &mut dataset);
            }
            Ok(_) => {}
        }
    }
}

fn begin(start: &BytesStart<'_>, device: &mut Option<(Node, bool)>, dataset: &mut Dataset) {
    match start.name().as_ref() {
        "device" => {
            let name =
                attribute(start, "name").or_else(|| attribute(start, "id")).unwrap_or_default();
            let mut node = Node::named(&name);
            node.path = format!("device {name}");
            *device = Some((node, false));
        }
        "link" => dataset.links += 1,
        "position" => {
            let number = |key: &str| attribute(start, key)?.trim().parse::<f64>().ok();
            if let (Some((node, placed)), Some(lat), Some(lon)) =
                (device, number("lat"), number("lon"))
            {
                (node.raw_deg, *placed) = (Some([lat, lon]), true);
            }
        }
        _ => {}
    }
}

fn end(name: &str, device: &mut Option<(Node, bool)>, dataset: &mut Dataset) {
    let Some((node, placed)) = device.take_if(|_| name == "device") else {
        return;
    };
    let path = node.path.clone();
    if !placed {
        dataset.report.add("no position given", || Location::path(path.as_str()));
    }
    if dataset.push(node).is_none() {
        let what = "one node too many, or an empty name";
        dataset.report.add(what, || Location::path(path));
    }
}

fn attribute(start: &BytesStart<'_>, key: &str) -> Option<String> {
    let attribute = start.try_get_attribute(key).ok()??;
    let text = quick_xml::escape::unescape(&attribute.value).ok()?.into_owned();
    (!text.trim().is_empty()).then_some(text)
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
