//! NetJSON DeviceMonitoring (netjson.org, 0.1; OpenWISP): signals that the radios of a device receive.

use serde_json::Value;

use super::mesh::{self, MeshNode, MeshSnapshot, number, position, rows, text};
use super::{Content, Format, signal};

/// The format.
pub static FORMAT: Format = Format {
    name: "netjson-device",
    label: "NetJSON DeviceMonitoring",
    description: "NetJSON DeviceMonitoring of one device: signals of the stations at its radios",
    extensions: &["json"],
    contents: &[Content::Positions, Content::Measurements],
    sniff: |sample| sample.json()["type"].as_str() == Some("DeviceMonitoring"),
    read: Some(|source, options| mesh::read(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Nodes are the hostname of the device and the addresses of the stations at its radios.
fn parse(document: &Value, snapshot: &mut MeshSnapshot) {
    let general = &document["general"];
    snapshot.date([&general["local_time"]]);
    let interfaces = || rows(&document["interfaces"]);
    let Some(device) =
        text(&general["hostname"]).or_else(|| interfaces().find_map(|one| text(&one["mac"])))
    else {
        return snapshot.drop("a device without a hostname and addresses");
    };
    snapshot.observer = Some(device.clone());
    snapshot.aliases =
        interfaces().filter_map(|one| Some((text(&one["mac"])?, device.clone()))).collect();
    snapshot.nodes.push(MeshNode {
        key: device.clone(),
        name: Some(device.clone()),
        at_deg: [general, &general["location"]].into_iter().find_map(position),
        path: "general".to_owned(),
        ..MeshNode::default()
    });
    for (index, interface) in interfaces().enumerate() {
        let wireless = &interface["wireless"];
        for (number_, client) in rows(&wireless["clients"]).enumerate() {
            snapshot.listed_links += 1;
            let path = format!("interfaces[{index}].wireless.clients[{number_}]");
            let Some(mac) = text(&client["mac"]) else {
                snapshot.dropped.push(("a station without an address".to_owned(), path));
                continue;
            };
            let signal_dbm = number(&client["signal"]);
            if signal_dbm.is_none() {
                snapshot.dropped.push(("a station without a signal".to_owned(), path));
                continue;
            }
            let noises = [&client["noise"], &wireless["noise"]].into_iter().filter_map(number);
            let noise_dbm = noises.reduce(|own, radio| if own < 0.0 { own } else { radio });
            let drop = |what: &str| snapshot.dropped.push((what.to_owned(), path.clone()));
            let mut values = signal::measured(signal_dbm, noise_dbm, drop);
            if !values.is_empty() {
                values.frequency_mhz = number(&wireless["frequency"]).filter(|mhz| *mhz > 0.0);
                snapshot.link(&mac, &device, values);
            }
        }
    }
}
