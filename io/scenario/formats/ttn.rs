//! Gateways of LoRaWAN from the mapper of the Packet Broker (`https://mapper.packetbroker.net/api/v2/gateways`, The Things
//! Network among them): positions, and the radio of their frequency plan.

use serde_json::Value;

use super::mesh::{self, MeshNode, MeshSnapshot, number, rows, text};
use super::stated::Stated;
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "ttn",
    label: "The Things Network",
    description: "LoRaWAN gateways of The Things Network (JSON of the Packet Broker mapper): positions",
    extensions: &["json"],
    contents: &[Content::Positions],
    sniff: |sample| {
        let is_gateway = |one: &Value| one["netID"].is_string() && one["id"].is_string();
        gateways(sample.json()).take(20).any(is_gateway)
    },
    read: Some(|source, options| mesh::read(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Frequency plans: first channel, MHz, and the data rate of nodes at its edge, as bandwidth, Hz, and spreading factor
/// (RP002-1.0.4). Power is that of the end devices of the region.
const PLANS: [(&str, f64, f64, u8); 7] = [
    ("EU_863_870", 868.1, 125e3, 12),
    ("US_902_928", 902.3, 125e3, 10),
    ("AU_915_928", 915.2, 125e3, 12),
    ("AS_923", 923.2, 125e3, 12),
    ("IN_865_867", 865.062_5, 125e3, 12),
    ("KR_920_923", 922.1, 125e3, 12),
    ("EU_433", 433.175, 125e3, 12),
];

/// The list, or the one gateway of an answer about it.
fn gateways(document: &Value) -> impl Iterator<Item = &Value> {
    let one = document["netID"].is_string().then_some(document);
    one.into_iter().chain(rows(document))
}

fn parse(document: &Value, snapshot: &mut MeshSnapshot) {
    for (index, one) in gateways(document).enumerate() {
        let path = format!("[{index}]");
        let (Some(network), Some(id)) = (text(&one["netID"]), text(&one["id"])) else {
            snapshot.dropped.push(("a gateway without netID and id".to_owned(), path));
            continue;
        };
        let tenant = text(&one["tenantID"]).unwrap_or_default();
        let at = &one["location"];
        if number(&at["altitude"]).is_some_and(|altitude_m| altitude_m != 0.0) {
            snapshot.dropped.push((mesh::ALTITUDE.to_owned(), path.clone()));
        }
        let region = one["frequencyPlan"]["region"].as_str().unwrap_or_default();
        // Sub-bands and variants are behind the name of the band: AS_923_2, US_902_928_FSB_2.
        let plan = PLANS.iter().find(|plan| region.starts_with(plan.0));
        let channels = &one["frequencyPlan"]["loraMultiSFChannels"];
        let channel_mhz = number(&channels[0]).map(|hz| hz / 1e6);
        let stated = plan.map_or_else(Stated::default, |(_, mhz, bandwidth_hz, factor)| Stated {
            frequency_mhz: channel_mhz.or(Some(*mhz)),
            bandwidth_hz: Some(*bandwidth_hz),
            lora: Some((*factor, 5)),
            ..Stated::default()
        });
        snapshot.nodes.push(MeshNode {
            key: format!("{network}/{tenant}/{id}"),
            name: Some(id),
            // 0, 0 is that of a gateway without a position.
            at_deg: number(&at["latitude"])
                .zip(number(&at["longitude"]))
                .map(|(lat, lon)| [lat, lon])
                .filter(|place| *place != [0.0, 0.0]),
            stated,
            is_offline: one["online"] == false,
            path,
            ..MeshNode::default()
        });
    }
}
