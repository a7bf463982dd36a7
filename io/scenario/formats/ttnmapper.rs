//! Tables of TTN Mapper: a LoRaWAN node that moves, and what gateways receive of it.

use groundwave_simulation::measure::Measured;

use super::dataset::{Dataset, Event, Height};
use super::signal::level_dbm;
use super::stated::Stated;
use super::wardrive::{self, Row, place};
use super::{Content, Format, ReadOptions};

/// The format.
pub static FORMAT: Format = Format {
    name: "ttnmapper",
    label: "TTN Mapper",
    description: "TTN Mapper CSV: LoRaWAN nodes that move, RSSI and SNR at gateways",
    extensions: &["ttnmapper"],
    contents: &[Content::Tracks, Content::Measurements],
    sniff: |sample| sample.lines().next().is_some_and(is_heads),
    read: Some(|source, options: &ReadOptions| {
        let mut dataset = wardrive::read(&FORMAT, source, row)?;
        let frequency_mhz = dataset.events.iter().find_map(|(_, event)| match event {
            Event::Observe(.., values) => values.frequency_mhz,
            _ => None,
        });
        // Rows state the frequency; other settings are those of LoRaWAN in the middle.
        let radio = Stated {
            frequency_mhz,
            lora: Some(LORAWAN),
            tx_power_dbm: Some(14.0),
            ..Stated::default()
        };
        let bandwidth_hz = Some(125e3);
        let station = Stated { bandwidth_hz, ..radio }.station(&options.station);
        for node in &mut dataset.nodes {
            node.station.clone_from(&station);
        }
        Ok(dataset)
    }),
    ..Format::NONE
};

/// Spreading factor and denominator of the code rate of a LoRaWAN data rate between the slowest and the fastest.
const LORAWAN: (u8, u8) = (9, 5);

/// Names of the columns of node, application and gateway, of both generations.
const NODE: [&str; 3] = ["nodeaddr", "dev_id", "device_id"];
const APPLICATION: [&str; 3] = ["app_id", "application_id", "appeui"];
const GATEWAY: [&str; 2] = ["gwaddr", "gateway_id"];

/// True for the heads of such a table.
pub(super) fn is_heads(line: &str) -> bool {
    let heads: Vec<String> =
        line.split(',').map(|head| head.trim().trim_matches('"').to_ascii_lowercase()).collect();
    let has = |names: &[&str]| names.iter().any(|name| heads.iter().any(|head| head == name));
    has(&NODE) && has(&GATEWAY) && has(&["rssi"]) && has(&["time"])
}

/// A packet at a gateway. Times are UTC; gateways have no positions.
fn row<'c>(dataset: &mut Dataset, cell: &dyn Fn(&str) -> &'c str, row: &Row) {
    let line = row.line;
    let first = |names: &[&str]| {
        let cells = names.iter().map(|name| cell(name));
        cells.into_iter().find(|text| !text.is_empty() && *text != "null").unwrap_or_default()
    };
    let position = place(first(&["lat", "latitude"]), first(&["lon", "longitude"]));
    let (Some(at_s), Some(position)) = (row.at_s, position) else {
        return dataset.drop("a row without a time or a position", line);
    };
    let (node, gateway) = (first(&NODE), first(&GATEWAY));
    if node.is_empty() || gateway.is_empty() {
        return dataset.drop("a row without its node or gateway", line);
    }
    // Devices of two applications may have one identifier.
    let application = first(&APPLICATION);
    let key = match application {
        "" => node.to_owned(),
        application => format!("{application}/{node}"),
    };
    let Some(index) = dataset.named(&key, node) else {
        return dataset.drop("one node too many, or an empty name", line);
    };
    dataset.event(at_s, Event::Fix(index, position), line);
    // Devices without an altitude have 0.
    let altitude_m = first(&["alt", "altitude"]).parse().ok().filter(|m| *m != 0.0);
    if let Some(altitude_m) = altitude_m {
        dataset.altitude(at_s, index, Height::Sea(altitude_m), line);
    }
    // MHz in tables of old, Hz in those of today.
    let frequency = first(&["freq", "frequency"]).parse::<f64>().ok().filter(|value| *value > 0.0);
    let values = Measured {
        rx_power_dbm: level_dbm(dataset, cell("rssi"), line),
        snr_db: cell("snr").parse().ok(),
        frequency_mhz: frequency.map(|value| if value > 1e6 { value / 1e6 } else { value }),
        ..Measured::default()
    };
    dataset.observe(at_s, (&key, gateway), values, line);
}
