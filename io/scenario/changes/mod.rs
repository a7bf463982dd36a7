//! What-if: changes to a recorded world, as a TOML file.
//!
//! ```toml
//! [[change]]
//! at_s = 60
//! fail = "north"            # or repair, or remove; nodes by name or label
//!
//! [[change]]
//! at_s = 60
//! node = "south"
//! height_agl_m = 30         # any of height_agl_m, radio, antenna, tx_power_dbm,
//!                           # surroundings, indoor, woodland_depth_m
//!
//! [[change]]
//! at_s = 60
//! add = "relay"             # with role and antenna, where the defaults are not wanted
//! lat_deg = 57.7
//! lon_deg = 11.9
//! height_agl_m = 12
//! radio = "wifi_5g_mesh"
//!
//! [[change]]
//! at_s = 70
//! move = "south"
//! lat_deg = 57.71
//! lon_deg = 11.91
//!
//! [[change]]
//! at_s = 80
//! cut = ["north", "south"]  # or mend
//!
//! [[change]]
//! at_s = 85
//! rain_rate_mm_h = 40       # until the log changes the weather
//!
//! [[change]]
//! at_s = 90
//! command = "motion.goto"   # any command of a log, as `log cat --json` shows it
//! body = { node = "south", destination = { lat_deg = 57.7, lon_deg = 11.9 }, speed_m_s = 2 }
//! ```

mod changer;
mod entry;

use std::path::Path;

use groundwave_model::radio::{Indoor, Role, Station, Surroundings, presets};
use groundwave_model::terrain::GeoPoint;
use groundwave_simulation::WorldView;
use groundwave_simulation::motion;
use groundwave_simulation::site::{NodeId, NodeView};
use serde::Deserialize;
use serde_json::{Value, json};

pub use changer::{ChangeError, Changer};
pub use entry::{Entry, Invalid};
use groundwave_toml_document::{TomlDocument, TomlErrors};

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
    /// A command on a link, by the names of its nodes.
    Link(&'static str, [String; 2]),
    Station {
        node: String,
        equipment: Equipment,
    },
    Add {
        name: String,
        role: Role,
        position: GeoPoint,
        equipment: Equipment,
    },
    Move {
        node: String,
        position: GeoPoint,
    },
    /// Rain rate, mm/h.
    Rain(f64),
    Command(String, Value),
}

/// Changed values of a station.
#[derive(Debug, Clone, Default, PartialEq)]
struct Equipment {
    height_agl_m: Option<f64>,
    radio: Option<String>,
    antenna: Option<String>,
    tx_power_dbm: Option<f64>,
    surroundings: Option<Surroundings>,
    indoor: Option<Indoor>,
    woodland_depth_m: Option<f64>,
}

impl Equipment {
    /// The station with the changes; presets are known by then.
    fn over(&self, mut station: Station) -> Station {
        if let Some(preset) = self.radio.as_deref().and_then(presets::radio) {
            station.radio = preset.radio.clone();
        }
        if let Some(preset) = self.antenna.as_deref().and_then(presets::antenna) {
            station.antenna = preset.antenna.clone();
        }
        station.height_agl_m = self.height_agl_m.unwrap_or(station.height_agl_m);
        let radio = &mut station.radio;
        radio.tx_power_dbm = self.tx_power_dbm.unwrap_or(radio.tx_power_dbm);
        station.surroundings = self.surroundings.unwrap_or(station.surroundings);
        station.indoor = self.indoor.unwrap_or(station.indoor);
        station.woodland_depth_m = self.woodland_depth_m.unwrap_or(station.woodland_depth_m);
        station
    }

    /// The station of a new node.
    fn station(&self) -> Result<Station, String> {
        let radio = self.radio.as_deref().and_then(presets::radio);
        let antenna = match (self.antenna.as_deref(), radio) {
            (Some(id), _) => presets::antenna(id),
            (None, radio) => radio.map(|preset| presets::antenna_where_unnamed(preset.id)),
        };
        let parts = radio.zip(antenna);
        let (radio, antenna) = parts.ok_or("invalid radio: found none, allowed a preset")?;
        Ok(self.over(Station::new(0.0, radio.radio.clone(), antenna.antenna.clone())))
    }

    fn describe(&self) -> String {
        let parts = [
            self.height_agl_m.map(|metres| format!("{metres} m above ground")),
            self.radio.as_ref().map(|id| format!("radio {id}")),
            self.antenna.as_ref().map(|id| format!("antenna {id}")),
            self.tx_power_dbm.map(|power| format!("{power} dBm")),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        parts.join(", ")
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    change: Vec<Entry>,
}

/// Reads changes, in the order of their times.
///
/// # Errors
/// All invalid keys and values of the file.
pub fn load(path: &Path) -> Result<Vec<Change>, TomlErrors> {
    let text = groundwave_toml_document::text(path)?;
    let name = path.display().to_string();
    let (file, mut document) = TomlDocument::read::<File>(&name, &text)?;
    let mut changes = Vec::new();
    for (place, entry) in file.change.into_iter().enumerate() {
        match Change::of(entry) {
            Ok(change) => changes.push(change),
            Err((key, actual, allowed)) => {
                document.invalid(&format!("change[{place}]{key}"), actual, allowed);
            }
        }
    }
    document.finish()?;
    changes.sort_by_key(|change| change.at_ns);
    Ok(changes)
}

/// Changes of entries that came without a file, in the order of their times.
///
/// # Errors
/// The place of the first invalid entry, its key (such as `.at_s`, or empty), the value found and the
/// values allowed.
pub fn of_entries(
    entries: impl IntoIterator<Item = Entry>,
) -> Result<Vec<Change>, (usize, Invalid)> {
    let changes = entries
        .into_iter()
        .enumerate()
        .map(|(place, entry)| Change::of(entry).map_err(|fault| (place, fault)));
    let mut changes = changes.collect::<Result<Vec<_>, _>>()?;
    changes.sort_by_key(|change| change.at_ns);
    Ok(changes)
}

impl Change {
    fn of(entry: Entry) -> Result<Self, Invalid> {
        if !(0.0..=AT_S_MAX).contains(&entry.at_s) {
            let actual = format!("{} s", entry.at_s);
            return Err((".at_s", actual, format!("0 to {AT_S_MAX} s")));
        }
        let at_ns = (entry.at_s * 1e9).round() as u64;
        let action = entry.action()?;
        Ok(Self { at_ns, action })
    }

    /// Simulated time, s.
    #[must_use]
    pub fn at_s(&self) -> f64 {
        self.at_ns as f64 / 1e9
    }

    /// Description for people.
    #[must_use]
    pub fn describe(&self) -> String {
        let at = |at: &GeoPoint| format!("{}, {}", at.lat_deg(), at.lon_deg());
        match &self.action {
            Action::Node(verb, node) => format!("{verb} {node}"),
            Action::Link(verb, [a, b]) => format!("{verb} {a} - {b}"),
            Action::Command(name, body) => format!("{name} {body}"),
            Action::Station { node, equipment } => format!("{node}: {}", equipment.describe()),
            Action::Add { name, position, equipment, .. } => {
                format!("add {name} at {}: {}", at(position), equipment.describe())
            }
            Action::Move { node, position } => format!("move {node} to {}", at(position)),
            Action::Rain(rate_mm_h) => format!("rain of {rate_mm_h} mm/h"),
        }
    }

    /// Name and body of the command in the world of `now`.
    ///
    /// # Errors
    /// An unknown node, with the nodes there are.
    pub fn command(&self, now: &WorldView) -> Result<(String, Value), String> {
        let (name, body) = match &self.action {
            Action::Command(name, body) => {
                let mut body = body.clone();
                motion::set_time(name, &mut body, self.at_ns);
                return Ok((name.clone(), body));
            }
            Action::Node(verb, node) => (*verb, json!({ "node": named(now, node)?.id })),
            Action::Link(verb, [a, b]) => {
                let (a, b) = (named(now, a)?.id, named(now, b)?.id);
                (*verb, json!({ "a": a, "b": b }))
            }
            Action::Station { node, equipment } => {
                let state = named(now, node)?;
                let station = equipment.over(state.station.clone());
                let body = json!({ "node": state.id, "station": station });
                ("node.set_station", body)
            }
            Action::Add { name, role, position, equipment } => {
                let (node, station) = (NodeId::named(name), equipment.station()?);
                let body = json!({
                    "node": node, "name": name, "role": role, "position": position,
                    "station": station,
                });
                ("node.add", body)
            }
            Action::Move { node, position } => {
                let node = named(now, node)?.id;
                ("node.move", json!({ "node": node, "position": position }))
            }
            Action::Rain(rate_mm_h) => {
                let mut environment = (*now.environment).clone();
                environment.rain_rate_mm_h = *rate_mm_h;
                ("environment.set", json!({ "environment": environment }))
            }
        };
        Ok((name.to_owned(), body))
    }
}

/// The node of a label, or of a name in a scenario.
fn named<'a>(now: &'a WorldView, name: &str) -> Result<&'a NodeView, String> {
    let state = now.named(name).or_else(|| now.node(NodeId::named(name)));
    state.ok_or_else(|| {
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
        let changes = read(
            "[[change]]\nat_s = 9\nnode = \"a\"\nheight_agl_m = 30\n\
             [[change]]\nat_s = 1.5\nfail = \"b\"\n",
        )
        .unwrap();
        assert_eq!(changes[0].at_ns, 1_500_000_000);
        assert_eq!(changes[0].action, Action::Node("node.fail", "b".to_owned()));
        assert!(matches!(&changes[1].action, Action::Station { node, .. } if node == "a"));
        let lost = changes[0].command(&WorldView::default()).unwrap_err();
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
            ("at_s = 1\nadd = \"n\"\nlat_deg = 1\nlon_deg = 2", "no station"),
            ("at_s = 1\nmove = \"n\"", "no position"),
            ("at_s = 1\nmove = \"n\"\nlat_deg = 1", "half a position"),
            ("at_s = 1\nmove = \"n\"\nlat_deg = 91\nlon_deg = 2", "lat_deg -90 to 90"),
            ("at_s = 1\nfail = \"n\"\nlat_deg = 1\nlon_deg = 2", "a position without a node"),
            ("at_s = 1\nfail = \"n\"\nrole = \"team\"", "a role without a new node"),
            ("at_s = 1\ncut = [\"n\"]", "cut"),
            ("at_s = 1\nnode = \"a\"\nradio = \"nope\"", "ptp_5g8"),
            ("at_s = 1\nbody = {}", "a body without a command"),
            ("at_s = 1\nfial = \"a\"", "fial"),
        ] {
            let message = read(&format!("[[change]]\n{text}\n")).unwrap_err();
            assert!(message.contains(what), "{text}: {message}");
            assert!(message.contains("changes.toml:"), "{message}");
        }
    }
}
