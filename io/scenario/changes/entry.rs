//! An entry of a file of changes, and its action.

use groundwave_model::radio::{Indoor, Role, Surroundings, presets};
use groundwave_model::terrain::GeoPoint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{Action, Equipment};

/// Keys of an entry that name its action, one of them in each.
const ACTIONS: &str = "one of fail, repair, remove, node, command, add, move, cut, mend, \
                       rain_rate_mm_h";

/// A change as written: its time, one action, and the values that the action takes.
#[derive(Debug, Clone, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ReplayChange")]
pub struct Entry {
    /// Simulated time, s, 0 to a year.
    pub at_s: f64,
    /// Name of a node that fails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fail: Option<String>,
    /// Name of a node that runs again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repair: Option<String>,
    /// Name of a node that leaves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove: Option<String>,
    /// Name of a node whose station changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Name of a node that comes, with position, height and radio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub add: Option<String>,
    /// Name of a node that is elsewhere from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r#move: Option<String>,
    /// Names of the ends of a link that is taken down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<[String; 2]>,
    /// Names of the ends of a link that is no longer taken down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mend: Option<[String; 2]>,
    /// Rain rate, mm/h, until the log changes the weather.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rain_rate_mm_h: Option<f64>,
    /// Degrees north, -90 to 90.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lat_deg: Option<f64>,
    /// Degrees east, -180 to 180.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lon_deg: Option<f64>,
    /// Role of a new node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// Antenna height above ground, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub height_agl_m: Option<f64>,
    /// Radio preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub radio: Option<String>,
    /// Antenna preset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub antenna: Option<String>,
    /// Transmit power, dBm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tx_power_dbm: Option<f64>,
    /// Buildings and trees around the antenna.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub surroundings: Option<Surroundings>,
    /// Building around the antenna.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub indoor: Option<Indoor>,
    /// Length of the rays within woodland around the antenna, m.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub woodland_depth_m: Option<f64>,
    /// Name of any command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Body of that command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
}

/// Key, value found, values allowed.
pub type Invalid = (&'static str, String, String);

fn invalid<T>(key: &'static str, actual: &str, allowed: &str) -> Result<T, Invalid> {
    Err((key, actual.to_owned(), allowed.to_owned()))
}

/// Refuses a preset that is not one of `all`.
fn check_name(key: &'static str, id: Option<&str>, all: Vec<&str>) -> Result<(), Invalid> {
    match id.filter(|id| !all.contains(id)) {
        None => Ok(()),
        Some(id) => invalid(key, "unknown preset", &format!("{}, not {id:?}", all.join(", "))),
    }
}

impl Entry {
    /// The action, or the key at fault.
    pub(super) fn action(self) -> Result<Action, Invalid> {
        let radios = presets::RADIOS.iter().map(|preset| preset.id);
        check_name(".radio", self.radio.as_deref(), radios.collect())?;
        let antennas = presets::ANTENNAS.iter().map(|preset| preset.id);
        check_name(".antenna", self.antenna.as_deref(), antennas.collect())?;
        self.check_companions()?;
        let position = self.position()?;
        let equipment = Equipment {
            height_agl_m: self.height_agl_m,
            radio: self.radio,
            antenna: self.antenna,
            tx_power_dbm: self.tx_power_dbm,
            surroundings: self.surroundings,
            indoor: self.indoor,
            woodland_depth_m: self.woodland_depth_m,
        };
        let mut actions = Vec::new();
        for (verb, node) in
            [("node.fail", self.fail), ("node.restore", self.repair), ("node.remove", self.remove)]
        {
            actions.extend(node.map(|node| Action::Node(verb, node)));
        }
        for (verb, nodes) in [("link.fail", self.cut), ("link.restore", self.mend)] {
            actions.extend(nodes.map(|nodes| Action::Link(verb, nodes)));
        }
        if let Some(name) = self.add {
            if equipment.height_agl_m.is_none() || equipment.radio.is_none() {
                return invalid(".add", "no station", "height_agl_m and radio beside it");
            }
            actions.push(Action::Add {
                name,
                role: self.role.unwrap_or_default(),
                position: position.ok_or_else(|| without_position(".add"))?,
                equipment: equipment.clone(),
            });
        }
        if let Some(node) = self.r#move {
            let position = position.ok_or_else(|| without_position(".move"))?;
            actions.push(Action::Move { node, position });
        }
        actions.extend(self.rain_rate_mm_h.map(Action::Rain));
        if let Some(node) = self.node {
            actions.push(Action::Station { node, equipment });
        }
        if let Some(command) = self.command {
            let body = self.body.unwrap_or_else(|| json!({}));
            actions.push(Action::Command(command, body));
        }
        match actions.len() {
            1 => Ok(actions.remove(0)),
            0 => invalid("", "no action", ACTIONS),
            _ => invalid("", "several actions", ACTIONS),
        }
    }

    /// Refuses keys that have no meaning without another one.
    fn check_companions(&self) -> Result<(), Invalid> {
        let station = self.height_agl_m.is_some()
            || self.radio.is_some()
            || self.antenna.is_some()
            || self.tx_power_dbm.is_some()
            || self.surroundings.is_some()
            || self.indoor.is_some()
            || self.woodland_depth_m.is_some();
        let placed = self.lat_deg.is_some() || self.lon_deg.is_some();
        if self.node.is_some() && !station {
            let allowed = "height_agl_m, radio, antenna, tx_power_dbm, surroundings, indoor or woodland_depth_m \
                 beside it";
            return invalid(".node", "no change", allowed);
        }
        if station && self.node.is_none() && self.add.is_none() {
            return invalid("", "a station without a node", "node or add with its name");
        }
        if placed && self.add.is_none() && self.r#move.is_none() {
            return invalid("", "a position without a node", "add or move with its name");
        }
        if self.role.is_some() && self.add.is_none() {
            return invalid(".role", "a role without a new node", "add beside it");
        }
        if self.body.is_some() && self.command.is_none() {
            return invalid(".body", "a body without a command", "command beside it");
        }
        Ok(())
    }

    fn position(&self) -> Result<Option<GeoPoint>, Invalid> {
        let (lat_deg, lon_deg) = match (self.lat_deg, self.lon_deg) {
            (None, None) => return Ok(None),
            (Some(lat_deg), Some(lon_deg)) => (lat_deg, lon_deg),
            _ => return invalid("", "half a position", "lat_deg and lon_deg"),
        };
        match GeoPoint::new(lat_deg, lon_deg) {
            Ok(position) => Ok(Some(position)),
            Err(error) => invalid("", &error.to_string(), "lat_deg -90 to 90, lon_deg -180 to 180"),
        }
    }
}

fn without_position(key: &'static str) -> Invalid {
    let (actual, allowed) = ("no position", "lat_deg and lon_deg beside it");
    (key, actual.to_owned(), allowed.to_owned())
}
