//! Options of the environment of a path.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use groundwave_command::file_identity::{NamedFile, named};
use groundwave_http::Failure;
use groundwave_http::option_value::require_file;
use groundwave_model::radio::{Climate, Clutter, ClutterCategory, Environment, Model};
use serde_json::Value;

use super::super::quantity::number;
use super::stations::{by_option, names};

/// Kind of clutter; without a category, the statistical loss of P.2108.
#[derive(Debug, Clone, Copy)]
struct Kind(Option<ClutterCategory>);

const CLUTTER: [(Kind, &str); 7] = [
    (Kind(None), "statistical"),
    (Kind(Some(ClutterCategory::WaterSea)), "water_sea"),
    (Kind(Some(ClutterCategory::OpenRural)), "open_rural"),
    (Kind(Some(ClutterCategory::TreesForest)), "trees_forest"),
    (Kind(Some(ClutterCategory::Suburban)), "suburban"),
    (Kind(Some(ClutterCategory::Urban)), "urban"),
    (Kind(Some(ClutterCategory::DenseUrban)), "dense_urban"),
];

const CLIMATES: [(Climate, &str); 7] = [
    (Climate::Equatorial, "equatorial"),
    (Climate::ContinentalSubtropical, "continental_subtropical"),
    (Climate::MaritimeSubtropical, "maritime_subtropical"),
    (Climate::Desert, "desert"),
    (Climate::ContinentalTemperate, "continental_temperate"),
    (Climate::MaritimeTemperateLand, "maritime_temperate_land"),
    (Climate::MaritimeTemperateSea, "maritime_temperate_sea"),
];

/// Environment of the path.
#[derive(Args)]
#[command(next_help_heading = "Environment")]
pub struct EnvironmentOptions {
    /// Path-loss model (see `groundwave presets models`)
    #[arg(long, value_name = "MODEL", value_parser = models())]
    model: Option<Model>,

    /// Calibration profile written by `calibrate`
    #[arg(long, value_name = "FILE")]
    calibration: Option<PathBuf>,

    /// Rain rate along the path, mm/h
    #[arg(long, value_name = "MM_H", value_parser = number)]
    rain: Option<f64>,

    /// Time percentage for which the loss is not exceeded, percent
    #[arg(long, value_name = "PERCENT", value_parser = number)]
    time: Option<f64>,

    /// Percentage of locations at which the loss is not exceeded, percent
    #[arg(long, value_name = "PERCENT", value_parser = number)]
    location: Option<f64>,

    /// Percentage of situations in which the loss is not exceeded, percent
    #[arg(long, value_name = "PERCENT", value_parser = number)]
    situation: Option<f64>,

    /// Radio climate of ITM
    #[arg(long, value_name = "CLIMATE", value_parser = names(&CLIMATES))]
    climate: Option<Climate>,

    /// Clutter around ends whose surroundings are unknown (ITU-R P.2108)
    #[arg(long, value_name = "KIND", value_parser = names(&CLUTTER))]
    clutter: Option<Kind>,

    /// Height of that clutter, m [default: that of its kind]
    #[arg(long, value_name = "M", requires = "clutter", value_parser = number)]
    clutter_height: Option<f64>,

    /// Any other key of [environment] in scenarios, as in k_factor=1.2 or man_made_noise=city; may be
    /// repeated
    #[arg(long = "environment", value_name = "KEY=VALUE")]
    keys: Vec<String>,
}

/// Values of `--model`: the registry of path-loss models.
fn models() -> impl TypedValueParser<Value = Model> {
    let value =
        |model: &Model| PossibleValue::new(model.option_value()).help(model.get().description());
    let values = Model::ALL.iter().map(value);
    PossibleValuesParser::new(values).try_map(|value| value.parse::<Model>())
}

impl EnvironmentOptions {
    /// Files that are read.
    pub fn files(&self) -> impl Iterator<Item = NamedFile<'_>> {
        named("--calibration", &self.calibration)
    }

    /// Sets what the options say.
    pub fn apply(&self, environment: &mut Environment) -> Result<(), Failure> {
        for text in &self.keys {
            *environment = with_key(environment, text)?;
        }
        if let Some(model) = self.model {
            environment.model = model;
        }
        if let Some(file) = &self.calibration {
            require_file("--calibration", file, "a profile that `calibrate` wrote")?;
            let profile = groundwave_scenario::calibration_profile::load(file);
            environment.calibration = Some(profile.map_err(Failure::input)?);
        }
        let shares = [
            (self.rain, &mut environment.rain_rate_mm_h),
            (self.time, &mut environment.time_percent),
            (self.location, &mut environment.location_percent),
            (self.situation, &mut environment.situation_percent),
        ];
        for (option, value) in shares {
            *value = option.unwrap_or(*value);
        }
        environment.climate = self.climate.unwrap_or(environment.climate);
        if let Some(Kind(category)) = self.clutter {
            let height_m = self.clutter_height;
            environment.clutter = Some(match category {
                Some(category) => {
                    Clutter::HeightGain { category, representative_height_m: height_m }
                }
                None => Clutter::Statistical {
                    below_height_m: height_m.unwrap_or(10.0),
                    location_percent: environment.location_percent,
                },
            });
        }
        environment.validate().map_err(|error| {
            let options = [
                ("environment.rain_rate_mm_h", "rain", self.rain),
                ("environment.time_percent", "time", self.time),
                ("environment.location_percent", "location", self.location),
                ("environment.clutter.location_percent", "location", self.location),
                ("environment.situation_percent", "situation", self.situation),
                (
                    "environment.clutter.representative_height_m",
                    "clutter-height",
                    self.clutter_height,
                ),
                ("environment.clutter.below_height_m", "clutter-height", self.clutter_height),
            ];
            by_option(&error, &options)
        })
    }
}

/// The environment with `KEY=VALUE`.
fn with_key(environment: &Environment, text: &str) -> Result<Environment, Failure> {
    let invalid = |what: String| Failure::Input(format!("invalid --environment: {what}"));
    let (key, value) = text
        .split_once('=')
        .ok_or_else(|| invalid(format!("found {text:?}, allowed KEY=VALUE")))?;
    let (key, value) = (key.trim(), value.trim());
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.to_owned()));
    let mut all = serde_json::to_value(environment).map_err(Failure::machine)?;
    all.as_object_mut().expect("a structure").insert(key.to_owned(), value);
    serde_json::from_value(all).map_err(|error| invalid(format!("found {text:?}: {error}")))
}
