//! Endpoints of a path: arguments of `link` and `profile`.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use groundwave_http::Failure;
use groundwave_model::radio::{Assumptions, Environment, Model, Station, presets};
use groundwave_model::terrain::GeoPoint;
use groundwave_setup::simulation::{load, prepare_nodes};
use groundwave_setup::terrain::{OpenTerrain, TerrainOptions};
use groundwave_simulation::link::{Inputs, Limits};

/// Two endpoints, each a position or a node of a scenario.
#[derive(Args)]
pub struct EndArgs {
    /// First endpoint: LAT,LON[,HEIGHT_AGL_M] in degrees and metres, degrees with minutes and seconds, UTM,
    /// MGRS, a Maidenhead locator or a plus code, or a node name with --scenario
    #[arg(allow_hyphen_values = true)]
    from: String,

    /// Second endpoint
    #[arg(allow_hyphen_values = true)]
    to: String,

    /// Scenario file with nodes, stations and environment
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,

    /// Simulated time of the scenario, s
    #[arg(
        long,
        allow_negative_numbers = true,
        value_name = "SECONDS",
        default_value_t = 0.0,
        requires = "scenario"
    )]
    at: f64,

    /// Radio preset of positions (see `groundwave presets radios`)
    #[arg(long, value_name = "ID", default_value = "wifi_5g_mesh")]
    radio: String,

    /// Antenna preset of positions (see `groundwave presets antennas`)
    #[arg(long, value_name = "ID", default_value = "omni_9")]
    antenna: String,

    /// Antenna height of positions without one, m above ground
    #[arg(long, allow_negative_numbers = true, value_name = "M", default_value_t = 10.0)]
    height: f64,

    /// Frequency of positions instead of that of the radio preset, MHz
    #[arg(long, allow_negative_numbers = true, value_name = "MHZ")]
    frequency_mhz: Option<f64>,

    /// Transmitter power of positions instead of that of the radio preset, dBm
    #[arg(long, value_name = "DBM", allow_hyphen_values = true)]
    tx_power_dbm: Option<f64>,

    /// Path-loss model (see `groundwave presets models`)
    #[arg(long, value_name = "MODEL", value_parser = models())]
    model: Option<Model>,

    /// Calibration profile written by `calibrate`
    #[arg(long, value_name = "FILE")]
    calibration: Option<PathBuf>,

    /// Rain rate along the path, mm/h
    #[arg(long, allow_negative_numbers = true, value_name = "MM_H")]
    rain: Option<f64>,

    /// Time percentage for which the loss is not exceeded, percent
    #[arg(long, allow_negative_numbers = true, value_name = "PERCENT")]
    time: Option<f64>,

    /// Profile samples, 8 to 4096 [default: one per terrain post, 32 to 1024]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(8..=4096))]
    samples: Option<u16>,

    #[command(flatten)]
    ground: TerrainOptions,
}

/// Values of `--model`: the registry of path-loss models.
fn models() -> impl TypedValueParser<Value = Model> {
    let value =
        |model: &Model| PossibleValue::new(model.option_value()).help(model.get().description());
    let values = Model::ALL.iter().map(value);
    PossibleValuesParser::new(values).try_map(|value| value.parse::<Model>())
}

/// An endpoint.
pub struct Endpoint {
    /// Name or coordinates.
    pub name: String,
    /// Position.
    pub position: GeoPoint,
    /// Radio, antenna and height.
    pub station: Station,
}

/// Two endpoints and the terrain between them.
pub struct Path {
    /// Transmitter and receiver of the forward direction.
    pub endpoints: [Endpoint; 2],
    /// The terrain.
    pub ground: OpenTerrain,
    environment: Environment,
    limits: Limits,
    /// Requested number of profile samples.
    pub samples: Option<usize>,
}

impl Path {
    /// Assumptions of predictions over this path, which is `distance_m` long.
    pub fn assumptions(&self, distance_m: f64) -> Assumptions {
        let frequency_mhz = self.endpoints[0].station.radio.frequency_mhz;
        self.environment.assumptions(Some((frequency_mhz, distance_m)))
    }

    /// Inputs of the link budget.
    pub fn inputs(&self) -> Inputs<'_> {
        Inputs {
            terrain: &*self.ground.terrain,
            environment: &self.environment,
            packet_bytes: self.limits.packet_bytes,
            spacing_m: self.limits.sample_spacing_m,
        }
    }
}

impl EndArgs {
    /// Resolves both endpoints.
    pub fn resolve(&self) -> Result<Path, Failure> {
        let samples = self.samples.map(usize::from);
        let mut path = match &self.scenario {
            Some(_) => self.of_scenario(samples)?,
            None => {
                let (environment, limits) = (Environment::default(), Limits::default());
                let endpoints = [self.position(&self.from)?, self.position(&self.to)?];
                let positions = endpoints.each_ref().map(|endpoint| endpoint.position);
                Path {
                    endpoints,
                    ground: self.ground.open_under(&positions)?,
                    environment,
                    limits,
                    samples,
                }
            }
        };
        if let Some(model) = self.model {
            path.environment.model = model;
        }
        if let Some(file) = &self.calibration {
            let profile =
                groundwave_scenario::calibration_profile::load(file).map_err(Failure::input)?;
            path.environment.calibration = Some(profile);
        }
        path.environment.rain_rate_mm_h = self.rain.unwrap_or(path.environment.rain_rate_mm_h);
        path.environment.time_percent = self.time.unwrap_or(path.environment.time_percent);
        path.environment.validate().map_err(Failure::input)?;
        for endpoint in &path.endpoints {
            endpoint.station.validate().map_err(Failure::input)?;
        }
        Ok(path)
    }

    fn of_scenario(&self, samples: Option<usize>) -> Result<Path, Failure> {
        let path = self.scenario.as_ref().expect("called only with a scenario");
        let scenario = load(path)?;
        let ground = self.ground.for_scenario(&scenario)?;
        let mut engine = prepare_nodes(path, &scenario, &ground)?;
        let duration_s = scenario.duration_ns as f64 / 1e9;
        if !(0.0..=duration_s).contains(&self.at) {
            let what = format!("invalid --at: found {} s, allowed 0 to {duration_s} s", self.at);
            return Err(Failure::Input(what));
        }
        let last = engine.clock().tick_at((self.at * 1e9) as u64);
        for _ in 0..last {
            engine.tick(None).map_err(Failure::machine)?;
        }
        let view = engine.view();
        let endpoint = |text: &str| {
            if let Some(node) = view.named(text).or_else(|| {
                let id = groundwave_simulation::site::NodeId::named(text);
                view.node(id)
            }) {
                let (name, station) = (node.name.clone(), node.station.clone());
                return Ok(Endpoint { name, position: node.position, station });
            }
            if text.contains(',') || groundwave_coordinate::parse(text).is_ok() {
                return self.position(text);
            }
            let mut names: Vec<_> = view.nodes.iter().map(|node| node.name.as_str()).collect();
            names.sort_unstable();
            names.truncate(40);
            let path = path.display();
            Err(Failure::Input(format!(
                "unknown node of {path}: found {text:?}, allowed {}",
                names.join(", ")
            )))
        };
        let endpoints = [endpoint(&self.from)?, endpoint(&self.to)?];
        let environment = view.environment.as_ref().clone();
        Ok(Path { endpoints, ground, environment, limits: view.limits.as_ref().clone(), samples })
    }

    fn position(&self, text: &str) -> Result<Endpoint, Failure> {
        let (position, height_agl_m) =
            groundwave_coordinate::parse_with_height(text).map_err(|error| {
                let is_name = !text.contains(|c: char| c == ',' || c.is_ascii_digit());
                match is_name && self.scenario.is_none() {
                    true => Failure::Input(format!("{error}; names of nodes need --scenario FILE")),
                    false => Failure::input(error),
                }
            })?;
        let radio = presets::radio(&self.radio).ok_or_else(|| {
            unknown("radio", &self.radio, presets::RADIOS.iter().map(|preset| preset.id))
        })?;
        let antenna = presets::antenna(&self.antenna).ok_or_else(|| {
            unknown("antenna", &self.antenna, presets::ANTENNAS.iter().map(|preset| preset.id))
        })?;
        let mut radio = radio.radio.clone();
        radio.frequency_mhz = self.frequency_mhz.unwrap_or(radio.frequency_mhz);
        radio.tx_power_dbm = self.tx_power_dbm.unwrap_or(radio.tx_power_dbm);
        let station = Station {
            height_agl_m: height_agl_m.unwrap_or(self.height),
            radio,
            antenna: antenna.antenna.clone(),
            pointing: None,
        };
        let name = format!("{:.5}, {:.5}", position.lat_deg(), position.lon_deg());
        Ok(Endpoint { name, position, station })
    }
}

fn unknown<'a>(what: &str, name: &str, allowed: impl Iterator<Item = &'a str>) -> Failure {
    let allowed = allowed.collect::<Vec<_>>().join(", ");
    Failure::Input(format!("unknown {what} preset: found {name:?}, allowed {allowed}"))
}
