//! Nodes of MeshCore: contacts of a companion (`meshcore-cli -j contacts`, or the export of its apps), nodes of the
//! map, and neighbours of a repeater (`req_neighbours`).

use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::mesh::{self, MeshNode, MeshSnapshot, SELF, entries, number, rows, text};
use super::stated::Stated;
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "meshcore",
    label: "MeshCore",
    description: "MeshCore contacts, map nodes or neighbours of a repeater (JSON): positions, SNR",
    extensions: &["json"],
    contents: &[Content::Positions, Content::Measurements],
    sniff: |sample| {
        let document = sample.json();
        let is_contact = |one: &Value| {
            one["public_key"].is_string() && (!one["adv_name"].is_null() || !one["type"].is_null())
        };
        let neighbour = &document["neighbours"][0];
        let is_neighbour = neighbour["pubkey"].is_string() && !neighbour["snr"].is_null();
        is_neighbour || list(document).take(20).any(|(_, _, one)| is_contact(one))
    },
    read: Some(|source, options| mesh::read(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Digits of a public key that neighbours are called by: 4 bytes.
const PREFIX_DIGITS: usize = 8;

/// Contacts: those of an export, of a list, or of an object by their keys.
fn list(document: &Value) -> impl Iterator<Item = (String, Option<&String>, &Value)> {
    match &document["contacts"] {
        Value::Null => entries(document, "contacts"),
        contacts => entries(contacts, "contacts"),
    }
}

/// The identifier of a key: its digits in lower case.
fn identifier(value: &Value) -> Option<String> {
    text(value).map(|key| key.to_ascii_lowercase())
}

/// The first digits of a key, as neighbours have them.
fn prefix(key: &str) -> &str {
    key.get(..PREFIX_DIGITS).unwrap_or(key)
}

/// The SNR of a neighbour is that of its adverts at the repeater.
fn parse(document: &Value, snapshot: &mut MeshSnapshot) {
    if document["neighbours"].is_array() {
        let repeater = ["pubkey_prefix", "public_key"].into_iter();
        let repeater = repeater.filter_map(|key| identifier(&document[key])).next();
        let repeater = repeater.map(|key| prefix(&key).to_owned());
        snapshot.observer.clone_from(&repeater);
        let repeater = repeater.unwrap_or_else(|| SELF.to_owned());
        let mut received_s = Vec::new();
        for row in rows(&document["neighbours"]) {
            snapshot.listed_links += 1;
            let Some((key, snr_db)) = identifier(&row["pubkey"]).zip(number(&row["snr"])) else {
                snapshot.drop("a neighbour without a key and SNR");
                continue;
            };
            let values = Measured { snr_db: Some(snr_db), ..Measured::default() };
            snapshot.link(prefix(&key), &repeater, values);
            received_s.extend(number(&row["secs_ago"]).map(|age_s| -age_s));
        }
        snapshot.note_ages(0.0, &received_s);
        return;
    }
    let mut network = Stated::default();
    if document["contacts"].is_array() {
        // Contacts are received with the settings of the device, but send with a power of their own.
        network = Stated { tx_power_dbm: None, ..stated(document) };
        if document["public_key"].is_string() {
            contact("device".to_owned(), document, Stated::default(), snapshot);
        }
    }
    for (path, _, one) in list(document) {
        if one.is_object() {
            contact(path, one, network, snapshot);
        }
    }
}

/// The radio of a contact or of the device: of the map in MHz and kHz, of exports in kHz and Hz.
fn stated(one: &Value) -> Stated {
    let params = &one["params"];
    let radio = &one["radio_settings"];
    let kilo = |value: &Value, above: f64| {
        number(value).map(|own| if own > above { own / 1e3 } else { own })
    };
    let frequency = [&one["radio_freq"], &params["freq"], &radio["frequency"]];
    let bandwidth = [&one["radio_bw"], &params["bw"], &radio["bandwidth"]];
    let first =
        |keys: [&Value; 3]| keys.into_iter().find_map(|value| u8::try_from(value.as_u64()?).ok());
    let factor = first([&one["radio_sf"], &params["sf"], &radio["spreading_factor"]]);
    let rate = first([&one["radio_cr"], &params["cr"], &radio["coding_rate"]]);
    Stated {
        frequency_mhz: frequency.into_iter().find_map(|value| kilo(value, 100_000.0)),
        bandwidth_hz: bandwidth
            .into_iter()
            .find_map(|value| kilo(value, 1_000.0))
            .map(|khz| khz * 1e3),
        lora: factor.map(|factor| (factor, rate.unwrap_or(5))),
        tx_power_dbm: [&one["tx_power"], &radio["tx_power"]].into_iter().find_map(number),
        ..Stated::default()
    }
}

/// A contact. One that states no radio has that of its `network`.
fn contact(path: String, one: &Value, network: Stated, snapshot: &mut MeshSnapshot) {
    let Some(key) = identifier(&one["public_key"]) else {
        return snapshot.dropped.push(("a contact without a public key".to_owned(), path));
    };
    // Positions are degrees, and 0, 0 is that of a node without one.
    let places = [one, &one["position_settings"]].into_iter();
    let place = places
        .filter_map(|of| {
            let at = |keys: [&str; 2]| keys.into_iter().find_map(|key| number(&of[key]));
            Some([at(["adv_lat", "latitude"])?, at(["adv_lon", "longitude"])?])
        })
        .find(|place| *place != [0.0, 0.0]);
    let own = stated(one);
    let is_stated = own.frequency_mhz.is_some() || own.bandwidth_hz.is_some() || own.lora.is_some();
    let radio = match is_stated {
        true => own,
        false => Stated { tx_power_dbm: own.tx_power_dbm, ..network },
    };
    let name = ["custom_name", "adv_name", "name"].into_iter().find_map(|name| text(&one[name]));
    snapshot.aliases.push((prefix(&key).to_owned(), key.clone()));
    snapshot.nodes.push(MeshNode {
        name: name.or_else(|| Some(prefix(&key).to_owned())),
        key,
        at_deg: place,
        stated: radio,
        path,
        ..MeshNode::default()
    });
}
