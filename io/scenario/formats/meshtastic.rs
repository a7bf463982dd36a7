//! Nodes of a Meshtastic device: the JSON of `meshtastic --info` or of its list of nodes alone, and the table of `--nodes`.

use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::error::{Fault, FormatError, Location};
use super::mesh::{self, MeshNode, MeshSnapshot, number, position, text};
use super::meshtastic_position::{DEGREES, rounding};
use super::meshtastic_table::{by_id, is_by_id, is_list, is_table, of_table};
use super::stated::Stated;
use super::text as document;
use super::{Content, Dataset, Format, ReadOptions, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "meshtastic",
    label: "Meshtastic",
    description: "Meshtastic nodes (--info, --nodes, JSON, maps): positions, SNR of nodes in range",
    extensions: &["json", "txt"],
    contents: &[Content::Positions, Content::Measurements],
    sniff: |sample| {
        let text = sample.text();
        text.contains(LIST) || is_table(text) || is_list(sample.json())
    },
    read: Some(read),
    is_series: true,
    ..Format::NONE
};

/// Beginning of the list in the output of `--info`.
const LIST: &str = "Nodes in mesh:";

/// The lists of the documents alone, for the reader of snapshots.
fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let list = |bytes: &Vec<u8>| -> Result<Vec<u8>, FormatError> {
        let text = document::text(&FORMAT, bytes)?;
        let Some((head, list)) = text.split_once(LIST) else {
            return Ok(of_other_form(text).unwrap_or_else(|| bytes.clone()));
        };
        let mut values = serde_json::Deserializer::from_str(list).into_iter::<Value>();
        let mut list = match values.next() {
            Some(Ok(list)) => list,
            _ => {
                let line = document::line_of(head.as_bytes());
                let fault =
                    Fault::new("", "no JSON of nodes", "an object after \"Nodes in mesh:\"");
                return Err(fault.at(&FORMAT, Location::new(line, "")));
            }
        };
        // The number of the device itself is in the line about it.
        let number = head.split_once("myNodeNum\":").and_then(|(_, rest)| {
            let digits = rest.trim_start().split(|c: char| !c.is_ascii_digit()).next()?;
            digits.parse::<u64>().ok()
        });
        if let (Some(number), Some(nodes)) = (number, list.as_object_mut()) {
            nodes.insert(DEVICE.to_owned(), Value::from(format!("!{number:08x}")));
        }
        let settings = text.split_once(PREFERENCES).and_then(|(_, settings)| {
            let mut values = serde_json::Deserializer::from_str(settings).into_iter::<Value>();
            values.next()?.ok()
        });
        if let (Some(settings), Some(nodes)) = (settings, list.as_object_mut()) {
            nodes.insert(LORA.to_owned(), settings["lora"].clone());
        }
        Ok(list.to_string().into_bytes())
    };
    let documents = source.documents.iter().map(list).collect::<Result<_, _>>()?;
    let source = Source {
        path: source.path.clone(),
        documents,
        names: source.names.clone(),
        folder: source.folder.clone(),
        encoding: source.encoding,
    };
    let parse: fn(&Value, &mut MeshSnapshot) = match options.drop_implausible {
        true => |list, snapshot| parse(list, true, snapshot),
        false => |list, snapshot| parse(list, false, snapshot),
    };
    mesh::read(&FORMAT, parse, &source, options)
}

/// Lists in another form than that of `--info`, a line each; `None` for what is none.
fn of_other_form(text: &str) -> Option<Vec<u8>> {
    if is_table(text) {
        return Some(of_table(text)?.to_string().into_bytes());
    }
    let lists = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let lists: Vec<Value> = lists.collect::<Result<_, _>>().ok()?;
    if lists.iter().all(is_by_id) || !lists.iter().all(is_list) {
        return None;
    }
    let lines = lists.iter().map(|list| by_id(list).to_string());
    Some(lines.collect::<Vec<_>>().join("\n").into_bytes())
}

/// Beginning of the settings of the device in the output of `--info`.
const PREFERENCES: &str = "Preferences:";

/// Key of the settings of its radio in its list; other nodes have the same region and modem preset.
const LORA: &str = "lora";

/// The radio of the mesh by the settings of the device.
fn stated(lora: &Value, snapshot: &mut MeshSnapshot) -> Stated {
    let region = text(&lora["region"]).unwrap_or_default();
    let preset = text(&lora["modemPreset"]).unwrap_or_default();
    let mut stated =
        Stated::meshtastic(&region, &preset, |what| snapshot.drop(what)).unwrap_or_default();
    let stated_mhz = number(&lora["overrideFrequency"]).filter(|mhz| *mhz > 0.0);
    stated.frequency_mhz = stated_mhz.or(stated.frequency_mhz);
    if lora["usePreset"] == false
        && let (Some(khz), Some(factor)) =
            (number(&lora["bandwidth"]), lora["spreadFactor"].as_u64())
    {
        stated.bandwidth_hz = Some(khz * 1e3).filter(|hz| *hz > 0.0).or(stated.bandwidth_hz);
        let rate = lora["codingRate"].as_u64().unwrap_or(5);
        let settings = u8::try_from(factor).ok().zip(u8::try_from(rate).ok());
        stated.lora = settings.filter(|own| own.0 > 0).or(stated.lora);
    }
    stated
}

/// The radio of a node of a map, which states region and modem preset of each.
fn radio_of_map(node: &Value, snapshot: &mut MeshSnapshot) -> Option<Stated> {
    let (region, preset) = (text(&node["region"])?, text(&node["modemPreset"]));
    Stated::meshtastic(&region, &preset.unwrap_or_default(), |what| snapshot.drop(what))
}

/// A position in units of 1e-7 degrees, as documents without degrees have it.
fn units(position: &Value) -> Option<[f64; 2]> {
    let degrees = |key: &str| number(&position[key]).map(|units| units * DEGREES);
    Some([degrees("latitudeI")?, degrees("longitudeI")?])
}

/// Key of the id of the device in its list.
const DEVICE: &str = "device";

/// SNR is that of packets that the device received without a hop between. Without its id the device
/// is a node of its own. Positions in large cells are left out if `is_exact`.
fn parse(document: &Value, is_exact: bool, snapshot: &mut MeshSnapshot) {
    snapshot.observer = text(&document[DEVICE]);
    let device = snapshot.observer.clone().unwrap_or_else(|| DEVICE.to_owned());
    let stated = stated(&document[LORA], snapshot);
    // 0 is that of a clock that was not set.
    let clock_s = |node: &Value| number(&node["lastHeard"]).filter(|at_s| *at_s > 0.0);
    let (mut newest_s, mut received_s) = (f64::NEG_INFINITY, Vec::new());
    for (id, node) in document.as_object().into_iter().flatten() {
        if id == DEVICE || id == LORA {
            continue;
        }
        let user = &node["user"];
        let place = &node["position"];
        let mut at_deg = position(place).or_else(|| units(place));
        let rounding = rounding(number(&place["precisionBits"]), is_exact);
        if let Some((what, is_out)) = rounding.filter(|_| at_deg.is_some()) {
            snapshot.dropped.push((what, id.clone()));
            at_deg = at_deg.filter(|_| !is_out);
        }
        let own = radio_of_map(node, snapshot);
        snapshot.nodes.push(MeshNode {
            key: id.clone(),
            name: text(&user["longName"]).or_else(|| text(&user["shortName"])).or(Some(id.clone())),
            at_deg,
            path: id.clone(),
            // The power is that of the device alone.
            stated: Stated {
                tx_power_dbm: number(&document[LORA]["txPower"])
                    .filter(|dbm| *id == device && *dbm > 0.0),
                ..own.unwrap_or(stated)
            },
            ..MeshNode::default()
        });
        if number(&place["altitude"]).is_some_and(|altitude_m| altitude_m != 0.0) {
            snapshot.drop(mesh::ALTITUDE);
        }
        for (neighbour, snr_db) in node["neighbours"].as_object().into_iter().flatten() {
            snapshot.listed_links += 1;
            let values = Measured { snr_db: number(snr_db), ..Measured::default() };
            snapshot.link(neighbour, id, values);
        }
        let hops = number(&node["hopsAway"]);
        match number(&node["snr"]) {
            Some(_) if *id == device => {}
            Some(_) if node["viaMqtt"] == true => {
                snapshot.drop("SNR of a node heard over MQTT: not that of a radio link");
            }
            Some(snr_db) if hops.is_none_or(|hops| hops == 0.0) => {
                snapshot.listed_links += 1;
                let values = Measured { snr_db: Some(snr_db), ..Measured::default() };
                snapshot.link(id, &device, values);
                received_s.extend(clock_s(node));
            }
            Some(_) => snapshot.drop("SNR of a node behind others: not that of a link"),
            None => {}
        }
        newest_s = clock_s(node).map_or(newest_s, |at_s| newest_s.max(at_s));
    }
    snapshot.note_ages(newest_s, &received_s);
}
