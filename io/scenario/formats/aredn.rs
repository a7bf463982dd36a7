//! `sysinfo.json` of AREDN nodes: position, and signal and link quality of neighbours.

use groundwave_model::radio::Pointing;
use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::interfaces::NOT_RADIO;
use super::mesh::{self, MeshNode, MeshSnapshot, number, position, text};
use super::plan::unit::{Quantity, with_unit};
use super::stated::Stated;
use super::{Content, Format, signal};

/// The format.
pub static FORMAT: Format = Format {
    name: "aredn",
    label: "AREDN",
    description: "AREDN sysinfo.json with link_info=1: position, signal and quality of neighbours",
    extensions: &["json"],
    contents: &[Content::Positions, Content::Measurements],
    sniff: |sample| {
        let document = sample.json();
        document["node"].is_string()
            && ["meshrf", "link_info", "lqm"].into_iter().any(|key| document[key].is_object())
    },
    read: Some(|source, options| mesh::read(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Numbers of channels at 5 GHz, 5 MHz apart from 5 GHz on; those of other bands have several meanings.
const CHANNELS_5_GHZ: std::ops::Range<f64> = 36.0..200.0;
/// Frequencies that stand in place of the number of a channel, MHz: those at 3 GHz.
const CHANNELS_3_GHZ: std::ops::Range<f64> = 3_000.0..4_000.0;

/// Frequency of the channel, MHz: a number, a text with its unit (`5.860 GHz`), or by the number of the channel.
fn frequency_mhz(radio: &Value) -> Option<f64> {
    let frequency_mhz = number(&radio["freq"]).or_else(|| {
        let text = radio["freq"].as_str()?;
        with_unit(Quantity::Megahertz, text)
    });
    let channel = number(&radio["channel"]);
    let at_3_ghz = channel.filter(|mhz| CHANNELS_3_GHZ.contains(mhz));
    let at_5_ghz = channel.filter(|number| CHANNELS_5_GHZ.contains(number));
    let frequency_mhz = at_3_ghz.or(frequency_mhz.filter(|mhz| *mhz > 0.0));
    frequency_mhz.or(at_5_ghz.map(|number| 5_000.0 + 5.0 * number))
}

/// The radio of a node: frequency and width of the channel in MHz; gain, beamwidth and direction of the antenna, and its
/// height in m.
fn stated(radio: &Value) -> Stated {
    let above_0 = |value: &Value| number(value).filter(|own| *own > 0.0);
    let within = |key: &str, most_deg: f64| {
        number(&radio[key]).filter(|angle_deg| angle_deg.abs() <= most_deg)
    };
    let azimuth_deg = within("azimuth", 360.0);
    let elevation_deg = within("elevation", 90.0).unwrap_or_default();
    Stated {
        frequency_mhz: frequency_mhz(radio),
        bandwidth_hz: above_0(&radio["chanbw"]).map(|mhz| mhz * 1e6),
        gain_dbi: number(&radio["antenna"]["gain"]),
        beamwidth_deg: above_0(&radio["antenna"]["beamwidth"]),
        pointing: azimuth_deg.map(|azimuth_deg| Pointing::new(azimuth_deg, elevation_deg)),
        height_agl_m: above_0(&radio["height"]),
        ..Stated::default()
    }
}

/// The radio of a neighbour that this one receives: it has the same channel.
fn of_channel(radio: Stated) -> Stated {
    let Stated { frequency_mhz, bandwidth_hz, .. } = radio;
    Stated { frequency_mhz, bandwidth_hz, ..Stated::default() }
}

/// Links of the link quality manager of babel, by the addresses of neighbours, which have the channel of the node.
fn trackers(document: &Value, node: &str, channel: Stated, snapshot: &mut MeshSnapshot) {
    for (address, tracker) in document["lqm"]["info"]["trackers"].as_object().into_iter().flatten()
    {
        snapshot.listed_links += 1;
        if text(&tracker["type"]).is_some_and(|kind| kind != "RF") {
            snapshot.drop(NOT_RADIO);
            continue;
        }
        let name = text(&tracker["hostname"]).unwrap_or_else(|| address.clone());
        let neighbour = name.trim_end_matches(".local.mesh").to_ascii_uppercase();
        let rx_power_dbm = number(&tracker["signal"]).filter(|dbm| *dbm < 0.0);
        let share = |key: &str| {
            let percent = number(&tracker[key]);
            percent.map(|percent| percent / 100.0).filter(|share| (0.0..=1.0).contains(share))
        };
        let towards = Measured {
            rx_power_dbm,
            snr_db: number(&tracker["snr"]).filter(|_| rx_power_dbm.is_some()),
            rate_bps: number(&tracker["rx_bitrate"]).map(|mbit_s| mbit_s * 1e6),
            ..Measured::default()
        };
        let back = Measured {
            // The neighbour reports it; 0 is none.
            snr_db: number(&tracker["rev_snr"]).filter(|snr_db| *snr_db != 0.0),
            delivery_prob: share("tx_quality").or_else(|| share("quality")),
            rate_bps: number(&tracker["tx_bitrate"]).map(|mbit_s| mbit_s * 1e6),
            ..Measured::default()
        };
        if towards.is_empty() && back.is_empty() {
            snapshot.drop("a neighbour without signal and quality");
        }
        if let Some(at_deg) = position(tracker) {
            snapshot.nodes.push(MeshNode {
                key: neighbour.clone(),
                name: Some(neighbour.clone()),
                at_deg: Some(at_deg),
                path: format!("lqm.info.trackers.{address}"),
                ..MeshNode::default()
            });
        }
        snapshot.radios.push((neighbour.clone(), channel));
        for (from, to, values) in [(neighbour.as_str(), node, towards), (node, &neighbour, back)] {
            if !values.is_empty() {
                snapshot.link(from, to, values);
            }
        }
    }
}

/// Nodes are their names, which are call signs and unique. Signals are those that the node receives.
fn parse(document: &Value, snapshot: &mut MeshSnapshot) {
    let Some(node) = text(&document["node"]) else {
        return snapshot.drop("a document without the name of its node");
    };
    let radio = stated(&document["meshrf"]);
    let is_named = ["freq", "channel"].iter().any(|key| text(&document["meshrf"][*key]).is_some());
    if is_named && radio.frequency_mhz.is_none() {
        snapshot.drop("a channel without a frequency that can be read: not used");
    }
    let channel = of_channel(radio);
    snapshot.nodes.push(MeshNode {
        key: node.to_ascii_uppercase(),
        name: Some(node.clone()),
        at_deg: position(document),
        path: "node".to_owned(),
        stated: radio,
        ..MeshNode::default()
    });
    let node = node.to_ascii_uppercase();
    snapshot.observer = Some(node.clone());
    trackers(document, &node, channel, snapshot);
    for (address, link) in document["link_info"].as_object().into_iter().flatten() {
        snapshot.listed_links += 1;
        if link["linkType"].as_str().is_some_and(|kind| !kind.is_empty() && kind != "RF") {
            snapshot.drop(NOT_RADIO);
            continue;
        }
        let name = text(&link["hostname"]).unwrap_or_else(|| address.clone());
        let neighbour = name.trim_end_matches(".local.mesh").to_ascii_uppercase();
        let level = |key: &str| number(&link[key]);
        let towards = Measured {
            delivery_prob: number(&link["linkQuality"]),
            ..signal::measured(level("signal"), level("noise"), |what| snapshot.drop(what))
        };
        let back = Measured {
            delivery_prob: number(&link["neighborLinkQuality"]),
            rate_bps: number(&link["tx_rate"]).map(|mbit_s| mbit_s * 1e6),
            ..Measured::default()
        };
        if towards.is_empty() && back.is_empty() {
            snapshot.drop("a neighbour without signal and quality");
        }
        snapshot.radios.push((neighbour.clone(), channel));
        for (from, to, values) in [(&neighbour, &node, towards), (&node, &neighbour, back)] {
            if !values.is_empty() {
                snapshot.link(from, to, values);
            }
        }
    }
}
