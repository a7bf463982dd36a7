//! Endpoints of a path: arguments of `link` and `profile`.

mod command_line;
mod environment;
mod sites;
mod stations;

use std::path::PathBuf;

use clap::Args;
use groundwave_command::file_identity::{NamedFile, named};
use groundwave_http::Failure;
use groundwave_model::radio::{Assumptions, Environment, Model, Station};
use groundwave_model::terrain::{GeoPoint, Profile};
use groundwave_setup::simulation::{load, prepare_nodes};
use groundwave_setup::terrain::{OpenTerrain, TerrainOptions};
use groundwave_simulation::link::{Inputs, Limits};
use groundwave_simulation::site::NodeId;

use super::place;

use self::command_line::CommandLine;
use self::environment::EnvironmentOptions;
pub use self::stations::Assumed;
use self::stations::StationOptions;

/// Two endpoints, each a position or a node of a scenario.
#[derive(Args)]
pub struct EndArgs {
    // First: values are taken out of the matches field by field, and this one reads their sources.
    #[command(flatten)]
    command_line: CommandLine,

    /// First endpoint: LAT,LON[,HEIGHT_AGL_M] in degrees and metres, degrees with minutes and seconds, UTM,
    /// MGRS, a Maidenhead locator, a plus code or the name of a town, as in Uppsala,SE; a site file of SPLAT! (.qth) with the .az, .el and .lrp
    /// beside it; or a node name with --scenario
    #[arg(allow_hyphen_values = true)]
    from: String,

    /// Second endpoint
    #[arg(allow_hyphen_values = true)]
    to: String,

    /// Scenario file with nodes, stations and environment
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,

    /// Simulated time of the scenario, s
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, requires = "scenario")]
    at: f64,

    /// Profile samples, 8 to 4096 [default: one per terrain post, 32 to 1024]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(8..=4096))]
    samples: Option<u16>,

    #[command(flatten)]
    stations: StationOptions,

    #[command(flatten)]
    environment: EnvironmentOptions,

    #[command(flatten)]
    ground: TerrainOptions,
}

/// An endpoint.
pub struct Endpoint {
    /// Name or coordinates.
    pub name: String,
    /// Position.
    pub position: GeoPoint,
    /// Radio, antenna and height.
    pub station: Station,
    /// Values of the station that were assumed.
    pub assumed: Assumed,
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
    /// Assumptions of predictions over this path.
    pub fn assumptions(&self, profile: &Profile) -> Assumptions {
        let frequency_mhz = self.endpoints[0].station.radio.frequency_mhz;
        let assumptions = self.environment.assumptions(Some((frequency_mhz, profile.distance_m)));
        assumptions.over(self.endpoints.each_ref().map(|endpoint| &endpoint.station), profile)
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
    /// Files that are read.
    pub fn files(&self) -> Vec<NamedFile<'_>> {
        let sites = [("FROM", &self.from), ("TO", &self.to)].into_iter();
        named("--scenario", &self.scenario)
            .chain(sites.filter_map(|(name, text)| Some((name, sites::path(text)?))))
            .chain(self.stations.files())
            .chain(self.environment.files())
            .collect()
    }

    /// Resolves both endpoints.
    pub fn resolve(&self) -> Result<Path, Failure> {
        let samples = self.samples.map(usize::from);
        let mut path = match &self.scenario {
            Some(_) => self.of_scenario(samples)?,
            None => {
                let limits = Limits::default();
                let [(from, at_from), (to, at_to)] =
                    [self.site_or_position(0, &self.from)?, self.site_or_position(1, &self.to)?];
                let endpoints = [from, to];
                let mut environment = at_from.or(at_to).unwrap_or_default();
                let positions = endpoints.each_ref().map(|endpoint| endpoint.position);
                let ground = self.ground.offering().open_under(&positions)?;
                environment.model = Model::where_unnamed(ground.terrain.has_cover());
                Path { endpoints, ground, environment, limits, samples }
            }
        };
        self.environment.apply(&mut path.environment)?;
        for (number, endpoint) in path.endpoints.iter_mut().enumerate() {
            self.stations.apply(number, &mut endpoint.station)?;
            if self.command_line.has_tilt {
                self.stations.require_effect_of_tilt(number, &endpoint.station)?;
            }
        }
        Ok(path)
    }

    fn of_scenario(&self, samples: Option<usize>) -> Result<Path, Failure> {
        let path = self.scenario.as_ref().expect("called only with a scenario");
        let scenario = load(path)?;
        let ground = self.ground.offering().for_scenario(&scenario)?;
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
        let node = |text: &str| view.named(text).or_else(|| view.node(NodeId::named(text)));
        if node(&self.from).is_some() && node(&self.to).is_some() {
            self.command_line.refuse_beside_nodes(path)?;
        }
        let endpoint = |number: usize, text: &str| {
            if let Some(node) = node(text) {
                let (name, station) = (node.name.clone(), node.station.clone());
                return Ok(Endpoint {
                    name,
                    position: node.position,
                    station,
                    assumed: Assumed::default(),
                });
            }
            if text.contains(',') || groundwave_coordinate::parse(text).is_ok() {
                return self.position(number, text);
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
        let endpoints = [endpoint(0, &self.from)?, endpoint(1, &self.to)?];
        let environment = view.environment.as_ref().clone();
        Ok(Path { endpoints, ground, environment, limits: view.limits.as_ref().clone(), samples })
    }

    /// A site file or a position at an end, 0 or 1; the environment of the site, if it has one.
    fn site_or_position(
        &self,
        number: usize,
        text: &str,
    ) -> Result<(Endpoint, Option<Environment>), Failure> {
        let Some(path) = sites::path(text) else {
            return Ok((self.position(number, text)?, None));
        };
        let mut station = self.stations.station(number, None)?;
        // Before the site: its transmitter power follows from the gain.
        self.stations.apply(number, &mut station)?;
        let (mut endpoint, environment) = sites::read(path, station)?;
        self.stations.apply_to_position(number, &mut endpoint.station.radio)?;
        Ok((endpoint, environment))
    }

    /// A position at an end, 0 or 1.
    fn position(&self, number: usize, text: &str) -> Result<Endpoint, Failure> {
        let (position, height_agl_m) =
            place::read(text).map_err(|failure| match self.scenario {
                None if !text.contains(|c: char| c == ',' || c.is_ascii_digit()) => Failure::Input(
                    format!("{}; names of nodes need --scenario FILE", failure.message()),
                ),
                _ => failure,
            })?;
        let station = self.stations.station(number, height_agl_m)?;
        let name = format!("{:.5}, {:.5}", position.lat_deg(), position.lon_deg());
        let gain_dbi = self.stations.gain_where_unnamed(number, &station)?;
        let assumed = Assumed { gain_dbi, ..self.stations.assumed(number, height_agl_m) };
        Ok(Endpoint { name, position, station, assumed })
    }
}
