//! Packets that gateways of Meshtastic publish as JSON over MQTT: one a line, with or without its topic, or values of JSON
//! over several lines and in arrays.

use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::dataset::{Dataset, Event, Height};
use super::error::FormatError;
use super::mesh::{self, number, rows};
use super::meshtastic_position::{DEGREES, rounding};
use super::packets::{are_packets, packets};
use super::plan::name_of;
use super::stated::Stated;
use super::text::text;
use super::{Content, Format, ReadOptions, Source, clock};

/// The format.
pub static FORMAT: Format = Format {
    name: "meshtastic-mqtt",
    label: "Meshtastic MQTT",
    description: "Meshtastic packets as JSON of MQTT, one a line: motion, RSSI and SNR at gateways",
    extensions: &["mqtt"],
    contents: &[Content::Tracks, Content::Measurements],
    sniff: |sample| are_packets(sample, is_packet),
    read: Some(read),
    ..Format::NONE
};

fn is_packet(value: &Value) -> bool {
    let sender = value["sender"].as_str();
    value["from"].is_number() && sender.is_some_and(|sender| sender.starts_with('!'))
}

/// The identifier of a node by its number.
fn identifier(value: &Value) -> Option<String> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok())?;
    Some(format!("!{number:08x}"))
}

/// The radio by the topic `msh/REGION/2/json/PRESET/!GATEWAY` before a packet; regions may have more levels.
fn stated(raw: &str, dataset: &mut Dataset, line: usize) -> Option<Stated> {
    let (topic, _) = raw.split_once('{')?;
    let mut levels = topic.trim().split('/');
    let region = levels.by_ref().nth(1)?;
    levels.find(|level| *level == "json")?;
    let preset = levels.next().unwrap_or_default();
    Stated::meshtastic(region, preset, |what| dataset.drop(what, line))
}

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let text = text(&FORMAT, source.bytes())?;
    let mut dataset = Dataset::default();
    let mut radio = None;
    for (line, raw, packet) in packets(text, is_packet) {
        let Some(packet) = packet else {
            dataset.drop("a line that is not a packet", line);
            continue;
        };
        let at_s = number(&packet["timestamp"]).map(clock::unix_s);
        let (Some(from), Some(at_s)) = (identifier(&packet["from"]), at_s) else {
            dataset.drop("a packet without its sender or time", line);
            continue;
        };
        radio = radio.or_else(|| stated(raw, &mut dataset, line));
        payload(&packet, (&from, at_s), options.drop_implausible, &mut dataset, line);
        received(&packet, &from, at_s, &mut dataset, line);
    }
    let station = radio.and_then(|radio| radio.station(&options.station));
    for node in &mut dataset.nodes {
        node.station.clone_from(&station);
    }
    dataset.drop_unset_clocks();
    dataset.begin_with_clock();
    Ok(dataset)
}

/// Position, name, or neighbours of the sender. Positions in large cells are left out if `is_exact`.
fn payload(
    packet: &Value,
    (from, at_s): (&str, f64),
    is_exact: bool,
    dataset: &mut Dataset,
    line: usize,
) {
    let payload = &packet["payload"];
    match packet["type"].as_str() {
        Some("position") => {
            let degrees = |key: &str| number(&payload[key]).map(|units| units * DEGREES);
            let place = degrees("latitude_i").zip(degrees("longitude_i"));
            let place = place.filter(|place| *place != (0.0, 0.0));
            let Some(position) = place.and_then(|(lat, lon)| GeoPoint::new(lat, lon).ok()) else {
                return dataset.drop("a position without latitude and longitude", line);
            };
            if let Some((what, is_out)) = rounding(number(&payload["precision_bits"]), is_exact) {
                dataset.drop(&what, line);
                if is_out {
                    return;
                }
            }
            if let Some(node) = dataset.node(from, line) {
                dataset.event(at_s, Event::Fix(node, position), line);
                if let Some(altitude_m) = number(&payload["altitude"]) {
                    dataset.altitude(at_s, node, Height::Sea(altitude_m), line);
                }
            }
        }
        Some("nodeinfo") => {
            let name = mesh::text(&payload["longname"]).and_then(|name| name_of(&name));
            if let (Some(node), Some(name)) = (dataset.node(from, line), name) {
                dataset.nodes[node as usize].name = name;
            }
        }
        Some("neighborinfo") => {
            for row in rows(&payload["neighbors"]) {
                let neighbour = identifier(&row["node_id"]).zip(number(&row["snr"]));
                let Some((neighbour, snr_db)) = neighbour else {
                    dataset.drop("a neighbour without its number and SNR", line);
                    continue;
                };
                let values = Measured { snr_db: Some(snr_db), ..Measured::default() };
                dataset.observe(at_s, (&neighbour, from), values, line);
            }
        }
        _ => {}
    }
}

/// Level of the packet at the gateway, which is that of a link where there was no hop between.
fn received(packet: &Value, from: &str, at_s: f64, dataset: &mut Dataset, line: usize) {
    let gateway = mesh::text(&packet["sender"]).unwrap_or_default().to_ascii_lowercase();
    // A packet that no radio received has 0 for both.
    let rx_power_dbm = number(&packet["rssi"]).filter(|dbm| *dbm != 0.0);
    let snr_db = number(&packet["snr"]).filter(|snr_db| rx_power_dbm.is_some() || *snr_db != 0.0);
    let values = Measured { rx_power_dbm, snr_db, ..Measured::default() };
    if values.is_empty() || gateway == from {
        return;
    }
    match number(&packet["hops_away"]) {
        Some(0.0) => dataset.observe(at_s, (from, &gateway), values, line),
        Some(_) => {
            dataset.drop("levels of a packet that others passed on: not those of a link", line)
        }
        None => dataset.drop("levels of a packet without its hops: perhaps passed on", line),
    }
}
