//! What-if: changes to a recorded world, as a TOML file.
//!
//! ```toml
//! [[change]]
//! at_s = 60
//! fail = "north"            # or repair, or remove
//!
//! [[change]]
//! at_s = 60
//! node = "south"
//! height_agl_m = 30         # any of height_agl_m, radio, antenna, tx_power_dbm
//!
//! [[change]]
//! at_s = 90
//! command = "link.fail"     # any command of a log, in its wire form
//! body = { a = "south", b = "east" }
//! ```

use std::path::Path;

use groundwave_systems::Snapshot;
use groundwave_systems::radio::{Station, presets};
use groundwave_systems::site::NodeView;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::toml_document::{self, TomlDocument, TomlErrors};

/// Latest change, s: a year.
const AT_S_MAX: f64 = 31_557_600.0;

/// A change and its time.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// Simulated time, ns.
    pub at_ns: u64,
    action: Action,
}

#[derive(Debug, Clone, PartialEq)]
enum Action {
    /// A command on a node, by its name.
    Node(&'static str, String),
    Station {
        node: String,
        height_agl_m: Option<f64>,
        radio: Option<String>,
        antenna: Option<String>,
        tx_power_dbm: Option<f64>,
    },
    Command(String, Value),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    change: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    at_s: f64,
    fail: Option<String>,
    repair: Option<String>,
    remove: Option<String>,
    node: Option<String>,
    height_agl_m: Option<f64>,
    radio: Option<String>,
    antenna: Option<String>,
    tx_power_dbm: Option<f64>,
    command: Option<String>,
    body: Option<Value>,
}

/// Reads changes, in the order of their times.
///
/// # Errors
/// All invalid keys and values of the file.
pub fn load(path: &Path) -> Result<Vec<Change>, TomlErrors> {
    let text = toml_document::text(path)?;
    let name = path.display().to_string();
    let (file, mut document) = TomlDocument::read::<File>(&name, &text)?;
    let mut changes = Vec::new();
    for (place, entry) in file.change.into_iter().enumerate() {
        let at = format!("change[{place}]");
        if !(0.0..=AT_S_MAX).contains(&entry.at_s) {
            let found = format!("{} s", entry.at_s);
            document.invalid(&format!("{at}.at_s"), found, format!("0 to {AT_S_MAX} s"));
            continue;
        }
        let at_ns = (entry.at_s * 1e9).round() as u64;
        match action(entry) {
            Ok(action) => changes.push(Change { at_ns, action }),
            Err((key, found, allowed)) => document.invalid(&format!("{at}{key}"), found, allowed),
        }
    }
    document.finish()?;
    changes.sort_by_key(|change| change.at_ns);
    Ok(changes)
}

/// Key, value found, values allowed.
type Invalid = (&'static str, &'static str, String);

/// Refuses a preset that is not one of `all`.
fn known(key: &'static str, id: Option<&str>, all: Vec<&str>) -> Result<(), Invalid> {
    match id.filter(|id| !all.contains(id)) {
        None => Ok(()),
        Some(id) => {
            let allowed = format!("{}, not {id:?}", all.join(", "));
            Err((key, "unknown preset", allowed))
        }
    }
}

fn action(entry: Entry) -> Result<Action, Invalid> {
    const ONE: &str = "one of fail, repair, remove, node, command";
    let radios = presets::RADIOS.iter().map(|preset| preset.id);
    known(".radio", entry.radio.as_deref(), radios.collect())?;
    let antennas = presets::ANTENNAS.iter().map(|preset| preset.id);
    known(".antenna", entry.antenna.as_deref(), antennas.collect())?;
    let station = entry.height_agl_m.is_some()
        || entry.radio.is_some()
        || entry.antenna.is_some()
        || entry.tx_power_dbm.is_some();
    let verbs = [
        ("node.fail", entry.fail),
        ("node.restore", entry.repair),
        ("node.remove", entry.remove),
    ];
    let mut found: Vec<Action> = verbs
        .into_iter()
        .filter_map(|(verb, node)| Some(Action::Node(verb, node?)))
        .collect();
    if let Some(node) = entry.node {
        if !station {
            let allowed = "height_agl_m, radio, antenna or tx_power_dbm beside it";
            return Err((".node", "no change", allowed.to_owned()));
        }
        found.push(Action::Station {
            node,
            height_agl_m: entry.height_agl_m,
            radio: entry.radio,
            antenna: entry.antenna,
            tx_power_dbm: entry.tx_power_dbm,
        });
    } else if station {
        return Err((
            "",
            "a station without a node",
            "node = \"its name\"".to_owned(),
        ));
    }
    if let Some(command) = entry.command {
        let body = entry.body.unwrap_or_else(|| json!({}));
        found.push(Action::Command(command, body));
    } else if entry.body.is_some() {
        return Err((
            ".body",
            "a body without a command",
            "command beside it".to_owned(),
        ));
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        0 => Err(("", "no action", ONE.to_owned())),
        _ => Err(("", "several actions", ONE.to_owned())),
    }
}

impl Change {
    /// Description for people.
    #[must_use]
    pub fn describe(&self) -> String {
        match &self.action {
            Action::Node(verb, node) => format!("{verb} {node}"),
            Action::Command(name, body) => format!("{name} {body}"),
            Action::Station {
                node,
                height_agl_m,
                radio,
                antenna,
                tx_power_dbm,
            } => {
                let parts = [
                    height_agl_m.map(|metres| format!("{metres} m above ground")),
                    radio.as_ref().map(|id| format!("radio {id}")),
                    antenna.as_ref().map(|id| format!("antenna {id}")),
                    tx_power_dbm.map(|power| format!("{power} dBm")),
                ];
                let parts: Vec<String> = parts.into_iter().flatten().collect();
                format!("{node}: {}", parts.join(", "))
            }
        }
    }

    /// Name and body of the command in the world of `now`.
    ///
    /// # Errors
    /// An unknown node, with the nodes there are.
    pub fn command(&self, now: &Snapshot) -> Result<(String, Value), String> {
        match &self.action {
            Action::Command(name, body) => Ok((name.clone(), body.clone())),
            Action::Node(verb, node) => {
                let node = named(now, node)?.id;
                Ok(((*verb).to_owned(), json!({ "node": node })))
            }
            Action::Station {
                node,
                height_agl_m,
                radio,
                antenna,
                tx_power_dbm,
            } => {
                let found = named(now, node)?;
                let mut station: Station = found.station.clone();
                if let Some(preset) = radio.as_deref().and_then(presets::radio) {
                    station.radio = preset.radio.clone();
                }
                if let Some(preset) = antenna.as_deref().and_then(presets::antenna) {
                    station.antenna = preset.antenna.clone();
                }
                station.height_agl_m = height_agl_m.unwrap_or(station.height_agl_m);
                let radio = &mut station.radio;
                radio.tx_power_dbm = tx_power_dbm.unwrap_or(radio.tx_power_dbm);
                let body = json!({ "node": found.id, "station": station });
                Ok(("node.set_station".to_owned(), body))
            }
        }
    }
}

fn named<'a>(now: &'a Snapshot, name: &str) -> Result<&'a NodeView, String> {
    now.named(name).ok_or_else(|| {
        let mut names: Vec<&str> = now.nodes.iter().map(|node| node.name.as_str()).collect();
        names.sort_unstable();
        names.truncate(20);
        format!("unknown node: found {name:?}, allowed {}", names.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Change>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("changes.toml");
        std::fs::write(&path, text).unwrap();
        load(&path).map_err(|errors| errors.to_string())
    }

    #[test]
    fn changes_come_in_the_order_of_their_times() {
        let found = read(
            "[[change]]\nat_s = 9\nnode = \"a\"\nheight_agl_m = 30\n\
             [[change]]\nat_s = 1.5\nfail = \"b\"\n",
        );
        let found = found.unwrap();
        assert_eq!(found[0].at_ns, 1_500_000_000);
        assert_eq!(found[0].action, Action::Node("node.fail", "b".to_owned()));
        assert!(matches!(&found[1].action, Action::Station { node, .. } if node == "a"));
        let lost = found[0].command(&Snapshot::default()).unwrap_err();
        assert!(lost.contains("unknown node: found \"b\""), "{lost}");
    }

    #[test]
    fn invalid_changes_are_located() {
        for (text, what) in [
            ("at_s = -1\nfail = \"a\"", "0 to"),
            ("at_s = 1", "one of fail, repair, remove, node, command"),
            ("at_s = 1\nfail = \"a\"\nremove = \"a\"", "several actions"),
            ("at_s = 1\nnode = \"a\"", "no change"),
            ("at_s = 1\nheight_agl_m = 3", "a station without a node"),
            ("at_s = 1\nnode = \"a\"\nradio = \"nope\"", "ptp_5g8"),
            ("at_s = 1\nbody = {}", "a body without a command"),
            ("at_s = 1\nfial = \"a\"", "fial"),
        ] {
            let told = read(&format!("[[change]]\n{text}\n")).unwrap_err();
            assert!(told.contains(what), "{text}: {told}");
            assert!(told.contains("changes.toml:"), "{told}");
        }
    }
}
