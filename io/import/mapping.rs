//! What the columns of a table of levels mean.
//!
//! ```toml
//! title = "a storm"
//! step_s = 60                      # time between two ticks
//! missing = ["-999", "NaN"]        # besides nothing at all
//! [time]
//! column = "t_unix"
//! unit = "unix_s"                  # or unix_ms, seconds, iso8601
//! [link]
//! id = "link_id"                   # a row of [links]; or from = "tx", to = "rx"
//! direction = "sublink"            # absent, all rows are from a to b
//! backward = "2"                   # what stands there for b to a
//! [values]
//! rx_power_dbm = "rsl_dbm"         # any of what can be measured
//! [links]                          # where links stand; or [nodes] with name, lat_deg, lon_deg
//! file = "links.csv"
//! id = "link_id"
//! a_lat_deg = "a_lat"
//! a_lon_deg = "a_lon"
//! b_lat_deg = "b_lat"
//! b_lon_deg = "b_lon"
//! frequency_mhz = "freq_mhz_1"
//! [station]                        # what stands everywhere
//! height_agl_m = 30
//! radio = "ptp_11g"
//! antenna = { preset = "dish_32", gain_dbi = 38 }
//! ```

use std::collections::BTreeMap;
use std::path::Path;

use groundwave_systems::radio::{Station, presets};
use serde::Deserialize;

use crate::scenario::file_radio::{AntennaChoice, AntennaSettings, RadioChoice, RadioSettings};
use crate::toml_document::{self, TomlDocument, TomlErrors};

/// A mapping file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mapping {
    /// What the recording is called.
    #[serde(default)]
    pub title: Option<String>,
    /// Time between two ticks, s, 0.001 to 3600.
    pub step_s: f64,
    /// Separates columns; `,` if absent.
    #[serde(default)]
    pub delimiter: Option<char>,
    /// Texts that stand for no value.
    #[serde(default)]
    pub missing: Vec<String>,
    /// Where times stand.
    pub time: Time,
    /// Where it stands what was measured.
    pub link: Link,
    /// Columns of values, by what was measured.
    pub values: BTreeMap<String, String>,
    /// A table of nodes.
    #[serde(default)]
    pub nodes: Option<Nodes>,
    /// A table of links, each with two ends of its own.
    #[serde(default)]
    pub links: Option<Links>,
    /// What stands everywhere.
    #[serde(default)]
    pub station: Option<StationFile>,
    /// Longest link the model looks for, m.
    #[serde(default)]
    pub range_m: Option<f64>,
}

/// Where times stand.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Time {
    /// The column.
    pub column: String,
    /// What its numbers are.
    pub unit: TimeUnit,
}

/// What a time is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeUnit {
    /// Seconds since the Unix epoch.
    UnixS,
    /// Milliseconds since the Unix epoch.
    UnixMs,
    /// Seconds since whenever.
    Seconds,
    /// `2022-08-18T08:48:00Z`.
    #[serde(rename = "iso8601")]
    Iso8601,
}

/// Who measured what of whom.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Link {
    /// Column of the sender.
    pub from: Option<String>,
    /// Column of the receiver.
    pub to: Option<String>,
    /// Column of the link, a row of `[links]`.
    pub id: Option<String>,
    /// Column that tells directions of a link apart.
    pub direction: Option<String>,
    /// What stands there for the direction from b to a.
    pub backward: Option<String>,
}

/// A table of nodes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Nodes {
    /// The file, beside the mapping.
    pub file: String,
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
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// The file, beside the mapping.
    pub file: String,
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

/// What stands everywhere.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationFile {
    /// Height of the antenna above ground, m.
    pub height_agl_m: f64,
    /// The radio.
    pub radio: RadioChoice,
    /// The antenna.
    pub antenna: AntennaChoice,
}

/// What can be measured, as a mapping calls it.
pub const VALUES: [&str; 7] = [
    "rx_power_dbm",
    "tx_power_dbm",
    "path_loss_db",
    "snr_db",
    "delivery_prob",
    "quality",
    "rate_bps",
];

/// Reads a mapping.
///
/// # Errors
/// Everything wrong with the file, with its place.
pub fn load(path: &Path) -> Result<(Mapping, Option<Station>), TomlErrors> {
    let text = toml_document::text(path)?;
    let name = path.display().to_string();
    let (mapping, mut document) = TomlDocument::read::<Mapping>(&name, &text)?;
    if !(0.001..=3600.0).contains(&mapping.step_s) {
        let found = format!("{} s", mapping.step_s);
        document.invalid("step_s", found, "0.001 to 3600 s");
    }
    for key in mapping.values.keys() {
        if !VALUES.contains(&key.as_str()) {
            let path = format!("values.{key}");
            document.invalid(&path, "nothing that is measured", VALUES.join(", "));
        }
    }
    if mapping.values.is_empty() {
        document.invalid("values", "no columns", VALUES.join(", "));
    }
    let by_name = mapping.link.from.is_some() && mapping.link.to.is_some();
    let by_id = mapping.link.id.is_some() && mapping.links.is_some();
    if by_name == by_id {
        document.invalid(
            "link",
            "does not say whose",
            "from and to, or id with a table [links]",
        );
    }
    if mapping.link.direction.is_some() != mapping.link.backward.is_some() {
        document.invalid(
            "link",
            "half a direction",
            "direction and backward, or neither",
        );
    }
    if mapping.delimiter.is_some_and(|mark| !mark.is_ascii()) {
        document.invalid("delimiter", "not one byte", "one of , ; | or a tab");
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
    Ok((mapping, station))
}

fn station(file: &StationFile) -> Result<Station, (&'static str, String)> {
    let radio = match &file.radio {
        RadioChoice::Preset(id) => RadioSettings {
            preset: Some(id.clone()),
            ..RadioSettings::default()
        },
        RadioChoice::Inline(settings) => (**settings).clone(),
    };
    let antenna = match &file.antenna {
        AntennaChoice::Preset(id) => AntennaSettings {
            preset: Some(id.clone()),
            ..AntennaSettings::default()
        },
        AntennaChoice::Inline(settings) => (**settings).clone(),
    };
    let unknown = |id: &str| format!("no preset is called {id:?}");
    let missing = |key: &str| format!("{key} is missing");
    let base = match &radio.preset {
        Some(id) => {
            let found = presets::radio(id).ok_or_else(|| ("station.radio", unknown(id)))?;
            Some(&found.radio)
        }
        None => None,
    };
    let radio = radio
        .over(base)
        .map_err(|key| ("station.radio", missing(key)))?;
    let base = match &antenna.preset {
        Some(id) => {
            let found = presets::antenna(id).ok_or_else(|| ("station.antenna", unknown(id)))?;
            Some(&found.antenna)
        }
        None => None,
    };
    let antenna = antenna
        .over(base)
        .map_err(|key| ("station.antenna", missing(key)))?;
    let station = Station {
        height_agl_m: file.height_agl_m,
        radio,
        antenna,
        pointing: None,
    };
    station
        .validate()
        .map_err(|bad| ("station", bad.to_string()))?;
    Ok(station)
}
