//! Nodes of a Meshtastic device: the JSON of `meshtastic --info` or of its list of nodes alone.

use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::error::{Fault, FormatError, Location};
use super::mesh::{self, MeshNode, MeshSnapshot, number, position, text};
use super::text as document;
use super::{Content, Dataset, Format, ReadOptions, Sample, Source};

/// The format.
pub static FORMAT: Format = Format {
    name: "meshtastic",
    label: "Meshtastic",
    description: "Meshtastic nodes (--info, or its JSON): positions, SNR of nodes in range",
    extensions: &["json", "txt"],
    contents: &[Content::Positions, Content::Measurements],
    sniff: |sample| sample.text().contains(LIST) || is_list(sample),
    read: Some(read),
    is_series: true,
    ..Format::NONE
};

/// Beginning of the list in the output of `--info`.
const LIST: &str = "Nodes in mesh:";

/// True for an object of nodes by their ids, `!1a2b3c4d`.
fn is_list(sample: &Sample<'_>) -> bool {
    let nodes = sample.json().as_object();
    nodes
        .and_then(|nodes| nodes.iter().next())
        .is_some_and(|(id, node)| id.starts_with('!') && node["user"].is_object())
}

/// The lists of the documents alone, for the reader of snapshots.
fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let list = |bytes: &Vec<u8>| -> Result<Vec<u8>, FormatError> {
        let text = document::text(&FORMAT, bytes)?;
        let Some((head, list)) = text.split_once(LIST) else { return Ok(bytes.clone()) };
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
    mesh::read(&FORMAT, parse, &source, options)
}

/// Key of the id of the device in its list.
const DEVICE: &str = "device";

/// SNR is that of packets that the device received without a hop between. Without its id the device
/// is a node of its own.
fn parse(document: &Value, snapshot: &mut MeshSnapshot) {
    snapshot.observer = text(&document[DEVICE]);
    let device = snapshot.observer.clone().unwrap_or_else(|| DEVICE.to_owned());
    for (id, node) in document.as_object().into_iter().flatten() {
        if id == DEVICE {
            continue;
        }
        let user = &node["user"];
        snapshot.nodes.push(MeshNode {
            key: id.clone(),
            name: text(&user["longName"]).or_else(|| text(&user["shortName"])).or(Some(id.clone())),
            at_deg: position(&node["position"]),
            path: id.clone(),
            ..MeshNode::default()
        });
        let hops = number(&node["hopsAway"]);
        match number(&node["snr"]) {
            Some(_) if *id == device => {}
            Some(snr_db) if hops.is_none_or(|hops| hops == 0.0) => {
                snapshot.listed_links += 1;
                let values = Measured { snr_db: Some(snr_db), ..Measured::default() };
                snapshot.link(id, &device, values);
            }
            Some(_) => snapshot.drop("SNR of a node behind others: not that of a link"),
            None => {}
        }
    }
}
