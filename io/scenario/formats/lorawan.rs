//! Uplinks of LoRaWAN as the servers of networks publish them: ChirpStack 3 and 4, The Things Stack, The Things Network 2,
//! the console of Helium; one JSON object a line, or in an array.

use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::dataset::{Dataset, Event, Height};
use super::error::FormatError;
use super::json_values::{number, position, rows, text, time};
use super::packets::{are_packets, packets};
use super::stated::Stated;
use super::text::text as document;
use super::{Content, Format, ReadOptions, Source, plan, signal};

/// The format.
pub static FORMAT: Format = Format {
    name: "lorawan",
    label: "LoRaWAN uplinks",
    description: "LoRaWAN uplinks (JSON of ChirpStack, The Things Stack, Helium): motion, RSSI and SNR at gateways",
    extensions: &["lorawan"],
    contents: &[Content::Tracks, Content::Measurements],
    sniff: |sample| are_packets(sample, is_packet),
    read: Some(read),
    ..Format::NONE
};

/// Objects that hold the uplink in lists of events.
const ENVELOPES: [&str; 3] = ["result", "data", "payload"];

/// Receptions at gateways.
const RECEPTIONS: [&[&str]; 4] =
    [&["uplink_message", "rx_metadata"], &["rxInfo"], &["metadata", "gateways"], &["hotspots"]];
/// Identifier of the device.
const DEVICES: [&[&str]; 7] = [
    &["end_device_ids", "dev_eui"],
    &["deviceInfo", "devEui"],
    &["devEUI"],
    &["hardware_serial"],
    &["dev_eui"],
    &["end_device_ids", "device_id"],
    &["deviceName"],
];
/// Name of the device.
const NAMES: [&[&str]; 5] = [
    &["end_device_ids", "device_id"],
    &["deviceInfo", "deviceName"],
    &["deviceName"],
    &["dev_id"],
    &["name"],
];
/// Time of the uplink; version 3 of ChirpStack has it of receptions alone.
const TIMES: [&[&str]; 7] = [
    &["uplink_message", "received_at"],
    &["received_at"],
    &["time"],
    &["metadata", "time"],
    &["reported_at"],
    &["publishedAt"],
    &["_timestamp"],
];
/// Payload of the device, and its position by the server.
const PAYLOADS: [&[&str]; 6] = [
    &["uplink_message", "decoded_payload"],
    &["object"],
    &["payload_fields"],
    &["decoded", "payload"],
    &["uplink_message", "locations"],
    &["_devLocation"],
];
const FREQUENCIES: [&[&str]; 3] = [
    &["uplink_message", "settings", "frequency"],
    &["txInfo", "frequency"],
    &["metadata", "frequency"],
];
const SPREADING_FACTORS: [&[&str]; 3] = [
    &["uplink_message", "settings", "data_rate", "lora", "spreading_factor"],
    &["txInfo", "modulation", "lora", "spreadingFactor"],
    &["txInfo", "loRaModulationInfo", "spreadingFactor"],
];
/// Identifier and name of a gateway.
const GATEWAYS: [&[&str]; 6] = [
    &["gateway_ids", "gateway_id"],
    &["gateway_ids", "eui"],
    &["gatewayId"],
    &["gatewayID"],
    &["gtw_id"],
    &["id"],
];

/// Depth to which a payload is searched for a position.
const DEPTH_MAX: usize = 3;
/// Spreading factor where no uplink states one, and power of devices, dBm: those of the middle.
const SPREADING_FACTOR: u8 = 9;
const DEVICE_DBM: f64 = 14.0;

/// Value of keys that are absent.
static NULL: Value = Value::Null;

/// The first value that is there.
fn first<'v>(value: &'v Value, paths: &[&[&str]]) -> &'v Value {
    let at = |path: &&[&str]| path.iter().fold(value, |value, key| &value[*key]);
    paths.iter().map(at).find(|value| !value.is_null()).unwrap_or(&NULL)
}

fn is_own(value: &Value) -> bool {
    first(value, &RECEPTIONS).is_array() && text(first(value, &DEVICES)).is_some()
}

/// The uplink of an object, or of the event that holds it.
fn uplink(value: &Value) -> Option<&Value> {
    let inner = ENVELOPES.iter().map(|key| &value[*key]);
    std::iter::once(value).chain(inner).find(|value| is_own(value))
}

fn is_packet(value: &Value) -> bool {
    uplink(value).is_some()
}

/// The object with a position in a payload, which some decoders have below the channel of the sensor.
fn place_of(value: &Value, depth: usize) -> Option<&Value> {
    if position(value).is_some() {
        return Some(value);
    }
    let members = value.as_object().filter(|_| depth < DEPTH_MAX)?;
    members.values().find_map(|member| place_of(member, depth + 1))
}

/// The frequency of a number in Hz or MHz, MHz.
fn megahertz(value: &Value) -> Option<f64> {
    let number = number(value).filter(|number| *number > 0.0)?;
    Some(if number > 1e6 { number / 1e6 } else { number })
}

fn read(source: &Source, options: &ReadOptions) -> Result<Dataset, FormatError> {
    let text = document(&FORMAT, source.bytes())?;
    let mut dataset = Dataset::default();
    let (mut frequency_mhz, mut spreading_factor) = (None, None);
    for (line, _, packet) in packets(text, is_packet) {
        let Some(uplink) = packet.as_ref().and_then(uplink) else {
            dataset.drop("a line that is not an uplink", line);
            continue;
        };
        let receptions = first(uplink, &RECEPTIONS);
        let stamps = rows(receptions).map(|reception| &reception["time"]);
        let at = std::iter::once(first(uplink, &TIMES)).chain(stamps).find_map(time);
        let Some((at_s, has_zone)) = at else {
            dataset.drop("an uplink without a time", line);
            continue;
        };
        if !has_zone {
            dataset.drop("a time without a zone: taken as UTC", line);
        }
        let stated_mhz = megahertz(first(uplink, &FREQUENCIES));
        let stated_mhz = stated_mhz.or_else(|| megahertz(&receptions[0]["frequency"]));
        frequency_mhz = frequency_mhz.or(stated_mhz);
        let factor = first(uplink, &SPREADING_FACTORS).as_u64();
        let factor = factor.and_then(|factor| u8::try_from(factor).ok());
        spreading_factor = factor.max(spreading_factor);
        take(&mut dataset, (uplink, receptions), (at_s, stated_mhz), line);
    }
    let radio = Stated {
        frequency_mhz,
        bandwidth_hz: Some(125e3),
        lora: Some((spreading_factor.unwrap_or(SPREADING_FACTOR), 5)),
        tx_power_dbm: Some(DEVICE_DBM),
        ..Stated::default()
    };
    let station = radio.station(&options.station);
    for node in &mut dataset.nodes {
        node.station.clone_from(&station);
    }
    dataset.drop_unset_clocks();
    dataset.begin_with_clock();
    Ok(dataset)
}

/// Takes the position of the device and the levels at gateways.
fn take(
    dataset: &mut Dataset,
    (uplink, receptions): (&Value, &Value),
    (at_s, frequency_mhz): (f64, Option<f64>),
    line: usize,
) {
    let id = text(first(uplink, &DEVICES)).unwrap_or_default();
    let name = text(first(uplink, &NAMES)).and_then(|name| plan::name_of(&name));
    let device = format!("device {id}");
    let Some(node) = dataset.named(&device, name.as_ref().unwrap_or(&id)) else {
        return dataset.drop("one node too many, or an empty name", line);
    };
    let place = PAYLOADS.iter().find_map(|path| place_of(first(uplink, &[*path]), 0));
    // Devices without a fix send 0, 0.
    let at_deg = place.and_then(position).filter(|at_deg| *at_deg != [0.0, 0.0]);
    if let Some(Ok(at)) = at_deg.map(|[lat_deg, lon_deg]| plan::values::position(lat_deg, lon_deg))
    {
        dataset.event(at_s, Event::Fix(node, at.0), line);
        let altitude_m = place.and_then(|place| number(&place["altitude"])).filter(|m| *m != 0.0);
        if let Some(altitude_m) = altitude_m {
            dataset.altitude(at_s, node, Height::Sea(altitude_m), line);
        }
    }
    for reception in rows(receptions) {
        let Some(id) = text(first(reception, &GATEWAYS)) else {
            dataset.drop("a reception without its gateway", line);
            continue;
        };
        let gateway = format!("gateway {id}");
        let name = text(&reception["name"]).and_then(|name| plan::name_of(&name)).unwrap_or(id);
        let Some(node) = dataset.named(&gateway, &name) else {
            dataset.drop("one node too many, or an empty name", line);
            continue;
        };
        let location = &reception["location"];
        let at_deg = position(location)
            .or_else(|| position(reception))
            .or_else(|| Some([number(&reception["lat"])?, number(&reception["long"])?]));
        let entry = &mut dataset.nodes[node as usize];
        entry.raw_deg = entry.raw_deg.or(at_deg.filter(|at_deg| *at_deg != [0.0, 0.0]));
        let snr = ["snr", "loRaSNR", "lora_snr"].iter().find_map(|key| number(&reception[*key]));
        let mut notes = Vec::new();
        let level =
            signal::measured(number(&reception["rssi"]), None, |what| notes.push(what.to_owned()));
        notes.iter().for_each(|what| dataset.drop(what, line));
        let values = Measured { snr_db: snr, frequency_mhz, ..level };
        dataset.observe(at_s, (&device, &gateway), values, line);
    }
}
