//! Columns of a table of levels, as a TOML file.
//!
//! ```toml
//! title = "a storm"
//! step_s = 60                      # time between two ticks
//! missing = ["-999", "NaN"]        # besides an empty cell
//! [time]
//! column = "t_unix"
//! date = "day"                     # of the day, where the other column has the time of the day alone
//! unit = "unix_s"                  # or unix_ms, unix_us, unix_ns, seconds, ms, us, ns, iso8601
//! order = "dmy"                    # or mdy: of dates whose year comes last, where no row shows it
//! [link]
//! id = "link_id"                   # a row of [links]; or from = "tx", to = "rx"
//! direction = "sublink"            # absent, all rows are from a to b
//! backward = "2"                   # value for b to a
//! [values]
//! rx_power_dbm = "rsl_dbm"         # any of the measured values
//! [position]                       # of a node that moves, where each row has it
//! of = "to"                        # or "from"
//! lat_deg = "lat"
//! lon_deg = "lon"
//! [links]                          # positions of links; or [nodes] with name, lat_deg, lon_deg
//! file = "links.csv"
//! id = "link_id"
//! a_lat_deg = "a_lat"
//! a_lon_deg = "a_lon"
//! b_lat_deg = "b_lat"
//! b_lon_deg = "b_lon"
//! frequency_mhz = "freq_mhz_1"
//! [station]                        # station of every node
//! height_agl_m = 30
//! radio = "ptp_11g"
//! antenna = { preset = "dish_32", gain_dbi = 38 }
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use groundwave_model::radio::{Indoor, Station, Surroundings, presets};
use groundwave_toml_document::{TomlDocument, TomlErrors};
use schemars::JsonSchema;
use serde::Deserialize;

use super::super::times::DateOrder;
use super::Levels;
use crate::file_radio::{AntennaChoice, AntennaSettings, RadioChoice, RadioSettings};

/// A mapping file.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// Title of the recording.
    #[serde(default)]
    pub title: Option<String>,
    /// Time between two ticks, s, 0.001 to 3600.
    #[schemars(range(min = 0.001, max = 3600.0))]
    pub step_s: f64,
    /// Column separator of the table; that of its header if absent.
    #[serde(default)]
    pub delimiter: Option<char>,
    /// Texts of missing values.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Column of times.
    pub time: Time,
    /// Columns of the link.
    pub link: Link,
    /// Columns of values, by the names of what is measured.
    pub values: BTreeMap<String, String>,
    /// Columns of the position of one end of each row.
    #[serde(default)]
    pub position: Option<Position>,
    /// A table of nodes.
    #[serde(default)]
    pub nodes: Option<Nodes>,
    /// A table of links with their two positions.
    #[serde(default)]
    pub links: Option<Links>,
    /// Station of every node.
    #[serde(default)]
    pub station: Option<StationFile>,
    /// Longest link the model evaluates, m.
    #[serde(default)]
    pub range_m: Option<f64>,
}

/// Column of times.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// The column.
    pub column: String,
    /// Column of the day, where the other one has the time of the day alone; the unit is `iso8601`.
    #[serde(default)]
    pub date: Option<String>,
    /// Unit.
    pub unit: TimeUnit,
    /// Order of dates whose year comes last, where no row shows it: `dmy` (day first) or `mdy`.
    #[serde(default)]
    pub order: Option<DateOrder>,
}

/// Unit of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    /// Seconds since the Unix epoch.
    UnixS,
    /// Milliseconds since the Unix epoch.
    UnixMs,
    /// Microseconds since the Unix epoch.
    UnixUs,
    /// Nanoseconds since the Unix epoch.
    UnixNs,
    /// Seconds since the beginning of the recording.
    Seconds,
    /// Milliseconds since the beginning of the recording.
    Ms,
    /// Microseconds since the beginning of the recording.
    Us,
    /// Nanoseconds since the beginning of the recording.
    Ns,
    /// `2022-08-18T08:48:00Z`; without a zone in UTC.
    #[serde(rename = "iso8601")]
    Iso8601,
}

/// Units of numbers with their names and their number in a second.
const UNITS: [(TimeUnit, &str, f64); 8] = [
    (TimeUnit::UnixS, "unix_s", 1.0),
    (TimeUnit::UnixMs, "unix_ms", 1e3),
    (TimeUnit::UnixUs, "unix_us", 1e6),
    (TimeUnit::UnixNs, "unix_ns", 1e9),
    (TimeUnit::Seconds, "seconds", 1.0),
    (TimeUnit::Ms, "ms", 1e3),
    (TimeUnit::Us, "us", 1e6),
    (TimeUnit::Ns, "ns", 1e9),
];

impl TimeUnit {
    /// Units of numbers in a second; `None` of dates.
    pub(super) fn per_s(self) -> Option<f64> {
        UNITS.iter().find(|(unit, ..)| *unit == self).map(|(.., per_s)| *per_s)
    }

    /// Name in a mapping.
    pub(super) fn name(self) -> &'static str {
        UNITS.iter().find(|(unit, ..)| *unit == self).map_or("iso8601", |(_, name, _)| name)
    }

    /// True for times since the Unix epoch.
    pub(super) const fn is_unix(self) -> bool {
        !matches!(self, Self::Seconds | Self::Ms | Self::Us | Self::Ns)
    }

    /// The unit of numbers of which a second has so many, since the Unix epoch or a beginning.
    pub(super) fn of(per_s: f64, is_unix: bool) -> Self {
        let is_it = |unit: &&(Self, &str, f64)| unit.2 == per_s && unit.0.is_unix() == is_unix;
        UNITS.iter().find(is_it).map_or(Self::Seconds, |(unit, ..)| *unit)
    }
}

/// Columns of the link of a row.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Link {
    /// Column of the sender.
    pub from: Option<String>,
    /// Column of the receiver.
    pub to: Option<String>,
    /// Column of the link, a row of `[links]`.
    pub id: Option<String>,
    /// Column of the direction on a link.
    pub direction: Option<String>,
    /// Value of that column for the direction from b to a.
    pub backward: Option<String>,
}

/// Columns of the position of a node at the time of the row.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Position {
    /// The end of the link that is there.
    pub of: End,
    /// Column of the latitude.
    pub lat_deg: String,
    /// Column of the longitude.
    pub lon_deg: String,
}

/// An end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// The sender.
    From,
    /// The receiver.
    To,
}

/// A table of nodes.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nodes {
    /// The file, beside the mapping.
    pub file: String,
    /// Column separator of the file; that of its header if absent.
    #[serde(default)]
    pub delimiter: Option<char>,
    /// Column of the name, as the table of values has it.
    pub name: String,
    /// Column of the latitude.
    pub lat_deg: String,
    /// Column of the longitude.
    pub lon_deg: String,
    /// Column of the height above ground.
    #[serde(default)]
    pub height_agl_m: Option<String>,
}

/// A table of links.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// The file, beside the mapping.
    pub file: String,
    /// Column separator of the file; that of its header if absent.
    #[serde(default)]
    pub delimiter: Option<char>,
    /// Column of the id.
    pub id: String,
    /// Column of the latitude of one end.
    pub a_lat_deg: String,
    /// Column of its longitude.
    pub a_lon_deg: String,
    /// Column of the latitude of the other end.
    pub b_lat_deg: String,
    /// Column of its longitude.
    pub b_lon_deg: String,
    /// Column of the frequency, MHz.
    #[serde(default)]
    pub frequency_mhz: Option<String>,
}

/// Station of every node.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StationFile {
    /// Height of the antenna above ground, m.
    pub height_agl_m: f64,
    /// The radio.
    pub radio: RadioChoice,
    /// The antenna.
    pub antenna: AntennaChoice,
    /// Buildings and trees around the antenna.
    #[serde(default)]
    pub surroundings: Surroundings,
    /// Building around the antenna.
    #[serde(default)]
    pub indoor: Indoor,
}

/// Measured values, by their keys in a mapping.
pub const VALUES: [&str; 8] = [
    "rx_power_dbm",
    "tx_power_dbm",
    "frequency_mhz",
    "path_loss_db",
    "snr_db",
    "delivery_prob",
    "quality",
    "rate_bps",
];

/// Reads a mapping.
///
/// # Errors
/// All invalid keys and values of the file.
pub fn load(path: &Path) -> Result<Levels, TomlErrors> {
    let text = groundwave_toml_document::text(path)?;
    let name = path.display().to_string();
    let (mapping, mut document) = TomlDocument::read::<Mapping>(&name, &text)?;
    if !(0.001..=3600.0).contains(&mapping.step_s) {
        let actual = format!("{} s", mapping.step_s);
        document.invalid("step_s", actual, "0.001 to 3600 s");
    }
    for key in mapping.values.keys() {
        if !VALUES.contains(&key.as_str()) {
            let path = format!("values.{key}");
            document.invalid(&path, "not a measured value", VALUES.join(", "));
        }
    }
    if mapping.time.date.is_some() && mapping.time.unit != TimeUnit::Iso8601 {
        document.invalid("time.unit", mapping.time.unit.name(), "iso8601 beside a column of days");
    }
    if mapping.time.order.is_some() && mapping.time.unit != TimeUnit::Iso8601 {
        document.invalid("time.unit", mapping.time.unit.name(), "iso8601 beside an order of dates");
    }
    if mapping.values.is_empty() {
        document.invalid("values", "no columns", VALUES.join(", "));
    }
    let by_name = mapping.link.from.is_some() && mapping.link.to.is_some();
    let by_id = mapping.link.id.is_some() && mapping.links.is_some();
    if by_name == by_id {
        document.invalid("link", "no link, or two", "from and to, or id with a table [links]");
    }
    if mapping.link.direction.is_some() != mapping.link.backward.is_some() {
        document.invalid("link", "half a direction", "direction and backward, or neither");
    }
    for (key, mark) in [
        ("delimiter", mapping.delimiter),
        ("nodes.delimiter", mapping.nodes.as_ref().and_then(|nodes| nodes.delimiter)),
        ("links.delimiter", mapping.links.as_ref().and_then(|links| links.delimiter)),
    ] {
        if mark.is_some_and(|mark| !mark.is_ascii()) {
            document.invalid(key, "not one byte", "one of , ; | or a tab");
        }
    }
    let station = mapping.station.as_ref().map(station);
    let station = match station {
        Some(Err((key, what))) => {
            document.invalid(key, what, "a station, as in a scenario");
            None
        }
        Some(Ok(station)) => Some(station),
        None => None,
    };
    document.finish()?;
    let folder = path.parent().unwrap_or(Path::new(".")).to_owned();
    Ok(Levels { mapping, station, folder })
}

/// The settings of a choice: a preset alone, or a table.
macro_rules! settings {
    ($choice:ident, $settings:ident, $file:expr $(, $default:ident)?) => {
        match $file {
            $choice::Preset(id) => $settings { preset: Some(id.clone()), ..$settings::default() },
            $choice::Inline(settings) => (**settings).clone(),
            $($choice::$default => $settings::default(),)?
        }
    };
}

/// The station of a mapping, or the key at fault with the reason.
fn station(file: &StationFile) -> Result<Station, (&'static str, String)> {
    let radio = settings!(RadioChoice, RadioSettings, &file.radio);
    let antenna = settings!(AntennaChoice, AntennaSettings, &file.antenna, Default);
    let unknown = |id: &str| format!("unknown preset {id:?}");
    let missing = |key: &str| format!("missing key {key}");
    let base = radio.preset.as_deref().map(|id| {
        let preset = presets::radio(id).map(|preset| &preset.radio);
        preset.ok_or_else(|| ("station.radio", unknown(id)))
    });
    let radio = radio.over(base.transpose()?);
    let base = antenna.preset.as_deref().map(|id| {
        let preset = presets::antenna(id).map(|preset| &preset.antenna);
        preset.ok_or_else(|| ("station.antenna", unknown(id)))
    });
    if antenna.pattern.is_some() {
        let reason = "a pattern is read in scenarios only".to_owned();
        return Err(("station.antenna", reason));
    }
    let antenna = antenna.over(base.transpose()?);
    let station = Station {
        surroundings: file.surroundings,
        indoor: file.indoor,
        ..Station::new(
            file.height_agl_m,
            radio.map_err(|key| ("station.radio", missing(key)))?,
            antenna.map_err(|key| ("station.antenna", missing(key)))?,
        )
    };
    match station.validate() {
        Ok(()) => Ok(station),
        Err(bad) => Err(("station", bad.to_string())),
    }
}
