//! Scenarios: command logs written by hand.
//!
//! A scenario is a TOML file that lowers to the records the engine keeps: the same names, the
//! same fields, read by the same decoders. `scenarios/README.md` is the reference of the format;
//! [`json_schema`] is the same for editors.
//!
//! Reading goes in steps, each only when the one before found nothing wrong, and each telling
//! all it finds, at most [`ERRORS_MAX`](groundwave_toml_document::limits::ERRORS_MAX):
//!
//! 1. size and encoding of the file, TOML syntax (`groundwave_toml_document`),
//! 2. sections, keys and types (`decode`, into the structs of [`mod@file`]),
//! 3. ranges, names, references, times (`lower` and its parts).

pub mod aim;
pub mod antenna;
mod calibration;
pub mod calibration_profile;
pub mod changes;
mod check;
pub mod coverage;
mod decode;
pub mod deployment;
mod encoding;
pub mod file;
pub mod file_coverage;
pub mod file_motion;
pub mod file_radio;
pub mod formats;
mod json;
pub mod limits;
mod lower;
mod lower_coverage;
mod lower_motion;
mod lower_nodes;
mod lower_setup;
mod lower_traffic;
mod lowering;
pub(crate) mod ns2;
pub mod overrides;
mod placement;
mod schema;
pub mod setdest;
mod station;
pub mod study;
pub mod testbed;
mod trace;

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_antenna;
#[cfg(test)]
mod tests_coverage;
#[cfg(test)]
mod tests_coverage_errors;
#[cfg(test)]
mod tests_errors;
#[cfg(test)]
mod tests_hostile;
#[cfg(test)]
mod tests_ranges;
#[cfg(test)]
mod tests_shipped;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use groundwave_engine::Clock;
use groundwave_files::address::is_address;
use groundwave_model::radio::{Environment, Model};
use groundwave_model::terrain::{GeoPoint, Posts};
use groundwave_simulation::testbed::Settings;
use toml::de::DeTable;

use aim::Aim;
pub use coverage::{Coverage, MapLayer};
pub use deployment::Deployment;
pub use file::OutputTable;
use formats::Misfits;
use groundwave_toml_document::error::{Report, TomlErrors};
use groundwave_toml_document::limits::FILE_BYTES_MAX;
use groundwave_toml_document::source::Source;
use groundwave_toml_document::tree;
use lowering::Lowering;
pub use overrides::Override;
pub use schema::{json_schema, mapping_schema};
use station::Catalogue;
pub use study::Study;

/// A command and the simulated time it is applied at.
#[derive(Debug, Clone, PartialEq)]
pub struct Scheduled {
    /// Time since the start, ns.
    pub at_ns: u64,
    /// Name of the command, such as `node.add`.
    pub name: String,
    /// The command's body, as its decoder reads it.
    pub body: serde_json::Value,
}

impl Scheduled {
    /// The body with the time of the event where the command takes one, so that events between two
    /// ticks are integrated at their own times.
    #[must_use]
    pub fn timed_body(&self) -> serde_json::Value {
        let mut body = self.body.clone();
        groundwave_simulation::motion::set_time(&self.name, &mut body, self.at_ns);
        body
    }
}

/// A scenario, ready to run.
#[derive(Debug, Clone, PartialEq)]
pub struct Scenario {
    /// Title, one line.
    pub title: String,
    /// Description, at most a page; may be empty.
    pub description: String,
    /// Date of second 0, s since the Unix epoch, where the file states it.
    pub begin_unix_s: Option<f64>,
    /// Seed of every random draw.
    pub seed: u64,
    /// Simulated time per step, ns, at least 1.
    pub step_ns: u64,
    /// Length of the run, ns, at least 1.
    pub duration_ns: u64,
    /// The ground under the stations.
    pub terrain: Terrain,
    /// False if the file has nothing on the ground, which is then unknown.
    pub names_terrain: bool,
    /// Values that a study varies, and its seeds; `None` without `[study]`.
    pub study: Option<Study>,
    /// Folder of land cover; `None` leaves it to the program.
    pub land_cover: Option<PathBuf>,
    /// False if the file names no path-loss model, which the land cover of the program then decides.
    pub names_model: bool,
    /// Output of a run.
    pub output: Output,
    /// Coverage computed by a sweep; a run ignores it.
    pub coverage: Option<Coverage>,
    /// Properties of all nodes together; a run ignores them.
    pub deployment: Option<Deployment>,
    /// Settings of the testbed; a run ignores them. The name may be empty.
    pub testbed: Settings,
    /// The commands by time; those of one time in the order in which they apply, setup first.
    pub records: Vec<Scheduled>,
    /// Antennas whose elevation depends on the ground, by their nodes: level in `records`.
    pub aims: BTreeMap<String, Aim>,
    /// Line of the file, from 1, that each record stems from: as long as `records`.
    pub lines: Vec<u32>,
    /// Names of all nodes: those written, those generated, those added by commands.
    pub node_names: Vec<String>,
}

/// Name of the command that sets the environment.
const ENVIRONMENT: &str = "environment.set";

/// Number of moving nodes from which links are worth computing less often than they move.
pub const MOVING_NODES_MIN: usize = 20;

impl Scenario {
    /// The body of a record as it is applied: with the time of its event where the command takes one, and
    /// with the elevation of an antenna that looks at another node, over the ground of `elevation_msl_m`
    /// where the file does not state it.
    #[must_use]
    pub fn body(
        &self,
        record: &Scheduled,
        elevation_msl_m: impl Fn(GeoPoint) -> Option<f64>,
    ) -> serde_json::Value {
        let mut body = record.timed_body();
        if record.name != "node.add" {
            return body;
        }
        let aim = body["node"].as_str().and_then(|name| self.aims.get(name));
        let pointing = aim.and_then(|aim| aim.pointing(elevation_msl_m));
        if let Some(pointing) = pointing.filter(|_| body["station"]["pointing"].is_object()) {
            body["station"]["pointing"]["elevation_deg"] = pointing.elevation_deg.into();
        }
        body
    }

    /// The scenario over ground with or without land cover: where neither model nor land cover is named, its
    /// environment has the model that [`Model::where_unnamed`] has over land cover.
    #[must_use]
    pub fn over(&self, has_land_cover: bool) -> Cow<'_, Self> {
        if self.names_model || self.land_cover.is_some() || !has_land_cover {
            return Cow::Borrowed(self);
        }
        let mut scenario = self.clone();
        let is_first = |record: &Scheduled| record.name == ENVIRONMENT && record.at_ns == 0;
        if !scenario.records.iter().any(is_first) {
            let body = serde_json::json!({ "environment": Environment::default() });
            let record = Scheduled { at_ns: 0, name: ENVIRONMENT.to_owned(), body };
            scenario.records.insert(0, record);
            scenario.lines.insert(0, 1);
        }
        let model = Model::where_unnamed(true).get().name();
        for record in scenario.records.iter_mut().filter(|record| record.name == ENVIRONMENT) {
            // A change of the environment may name another.
            if record.body["environment"]["model"] == Model::default().get().name() {
                record.body["environment"]["model"] = model.into();
            }
        }
        Cow::Owned(scenario)
    }

    /// Heights above sea level that the ground of `elevation_msl_m` does not fit, each kind with its count.
    #[must_use]
    pub fn misfits(&self, elevation_msl_m: impl Fn(GeoPoint) -> Option<f64>) -> Vec<String> {
        let place =
            |json: &serde_json::Value| serde_json::from_value::<GeoPoint>(json.clone()).ok();
        let mut positions = BTreeMap::new();
        let mut heights = Vec::new();
        for record in &self.records {
            let node = record.body["node"].as_str().unwrap_or_default();
            match record.name.as_str() {
                "node.add" => {
                    positions.extend(place(&record.body["position"]).map(|at| (node, at)));
                }
                "node.update" => {
                    let height_m = record.body["height_msl_m"].as_f64();
                    heights.extend(positions.get(node).copied().zip(height_m));
                }
                "motion.follow" => {
                    for waypoint in record.body["waypoints"].as_array().into_iter().flatten() {
                        let height_m = waypoint["height_msl_m"].as_f64();
                        heights.extend(
                            height_m.and_then(|m| Some((place(&waypoint["position"])?, m))),
                        );
                    }
                }
                _ => {}
            }
        }
        let reasons = Misfits::of(heights, elevation_msl_m).reasons();
        reasons.into_iter().map(|(what, count)| format!("{count} x {what}")).collect()
    }

    /// A hint for a faster run: nodes that move, where many do and `update_distance_m` is left out.
    #[must_use]
    pub fn update_distance_hint(&self) -> Option<String> {
        let is_set = self.records.iter().any(|record| {
            record.name == "mesh.limits"
                && record.body["update_distance_m"].as_f64().is_some_and(|m| m > 0.0)
        });
        let moving = self.records.iter().filter(|record| {
            ["motion.follow", "motion.goto", "motion.wander"].contains(&record.name.as_str())
        });
        let nodes: BTreeSet<_> = moving.filter_map(|record| record.body["node"].as_str()).collect();
        (!is_set && nodes.len() >= MOVING_NODES_MIN).then(|| {
            format!(
                "{} nodes move: with `update_distance_m = 10` in [mesh] their links are computed every 10 m \
                 instead of in every step",
                nodes.len()
            )
        })
    }

    /// Ticks of a whole run: the last one begins at its end or within a step after it, so that whatever is due at
    /// the end is applied.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        Clock::new(self.step_ns).tick_at(self.duration_ns)
    }
}

/// The ground of a scenario.
#[derive(Debug, Clone, PartialEq)]
pub enum Terrain {
    /// Ground of one height.
    Flat {
        /// Height above mean sea level, m.
        elevation_msl_m: f64,
    },
    /// Elevation tiles.
    Tiles {
        /// Tiles the scenario needs, such as `N57E011`; may be empty.
        names: Vec<String>,
        /// Folder to look in; `None` leaves it to the program.
        directory: Option<PathBuf>,
        /// Geoid file; `None` leaves it to the program.
        geoid: Option<PathBuf>,
        /// Height between posts; `None` leaves it to the program.
        posts: Option<Posts>,
    },
}

/// Output of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Folder for the tables; `None` writes nothing.
    pub directory: Option<PathBuf>,
    /// Tables to write, each once.
    pub tables: Vec<OutputTable>,
    /// Simulated time between rows, ns; `None` writes only at the end.
    pub every_ns: Option<u64>,
}

/// Reads a scenario file with values of it set from outside, see [`parse_with`].
///
/// # Errors
/// All that is wrong with the file, up to [`ERRORS_MAX`](groundwave_toml_document::limits::ERRORS_MAX) errors.
pub fn load_with(path: &Path, overrides: &[Override]) -> Result<Scenario, TomlErrors> {
    let text = groundwave_toml_document::text(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    parse_with(&text, &path.display().to_string(), folder, overrides)
}

/// Reads a scenario with values of it set from outside. Files that it names are relative to `base_dir`; errors
/// of these values name their keys and no line.
///
/// # Errors
/// All that is wrong with the text, up to [`ERRORS_MAX`](groundwave_toml_document::limits::ERRORS_MAX) errors.
pub fn parse_with(
    text: &str,
    name: &str,
    base_dir: &Path,
    overrides: &[Override],
) -> Result<Scenario, TomlErrors> {
    // Errors of the text itself have its own lines.
    let scenario = parse(text, name, base_dir)?;
    if overrides.is_empty() {
        return Ok(scenario);
    }
    let settings: Vec<_> = overrides.iter().map(ToString::to_string).collect();
    let name = format!("{name} with {}", settings.join(", "));
    let text = overrides::apply(text, overrides)
        .map_err(|what| TomlErrors::whole_file(&name, what, "keys of the scenario".to_owned()))?;
    parse(&text, &name, base_dir).map_err(|mut errors| {
        // Lines of the rewritten text are those of no file.
        for error in errors.errors.iter_mut().filter(|error| error.file == name) {
            (error.line, error.column) = (0, 0);
            error.excerpt.clear();
        }
        errors
    })
}

/// Reads a scenario file. Names in it are relative to its folder.
///
/// # Errors
/// All that is wrong with the file, up to [`ERRORS_MAX`](groundwave_toml_document::limits::ERRORS_MAX) errors.
pub fn load(path: &Path) -> Result<Scenario, TomlErrors> {
    let name = path.display().to_string();
    let text = groundwave_toml_document::text(path)?;
    parse(&text, &name, path.parent().unwrap_or(Path::new("")))
}

/// Reads a scenario from its text alone: it must name no file to read, so that a client cannot read
/// files of the server. `name` is the scenario's name in errors.
///
/// # Errors
/// All that is wrong with the text, up to [`ERRORS_MAX`](groundwave_toml_document::limits::ERRORS_MAX) errors.
pub fn parse_alone(text: &str, name: &str) -> Result<Scenario, TomlErrors> {
    parse_in(text, name, None)
}

/// Reads a scenario from its text. `name` is what errors call it; names in it are relative to
/// `base_dir`.
///
/// # Errors
/// All that is wrong with the text, up to [`ERRORS_MAX`](groundwave_toml_document::limits::ERRORS_MAX) errors.
pub fn parse(text: &str, name: &str, base_dir: &Path) -> Result<Scenario, TomlErrors> {
    parse_in(text, name, Some(base_dir))
}

/// Reads a scenario; `base_dir` is `None` where no file may be read.
fn parse_in(text: &str, name: &str, base_dir: Option<&Path>) -> Result<Scenario, TomlErrors> {
    if text.len() as u64 > FILE_BYTES_MAX {
        let what = format!("{} bytes are too many", text.len());
        return Err(TomlErrors::whole_file(name, what, format!("at most {FILE_BYTES_MAX} bytes")));
    }
    let source = Source::new(name, text);
    let mut report = Report::default();
    let root = tree::parse(text, &mut report);
    let finish = |report: Report| {
        report.finish(&source, |path| tree::span_of(&root, path)).map_or(Ok(()), Err)
    };
    finish(std::mem::take(&mut report))?;
    tree::refuse_unusable(&root, &mut report);
    finish(std::mem::take(&mut report))?;
    let mut file = decode::decode(&root, &mut report);
    calibration::apply(&mut file, base_dir, &mut report);
    let names_model = tree::has_key(&root, "environment", "model");
    if file.terrain.land_cover.is_some() && !names_model {
        file.environment.get_or_insert_default().model = Model::where_unnamed(true);
    }
    finish(std::mem::take(&mut report))?;
    let (scenario, report) = meaning(&file, &source, &root, base_dir);
    finish(report)?;
    Ok(Scenario { names_model, ..scenario })
}

/// Scenario of a file whose types are valid, and its errors: the scenario is meaningful only if the
/// report is empty.
fn meaning(
    file: &file::ScenarioFile,
    source: &Source<'_>,
    root: &DeTable<'_>,
    base_dir: Option<&Path>,
) -> (Scenario, Report) {
    let mut report = Report::default();
    let (step_ns, duration_ns) = lower_setup::times(&file.scenario, &mut report);
    let folder = base_dir.unwrap_or(Path::new(""));
    let terrain = lower_setup::terrain(&file.terrain, folder, &mut report);
    let output = lower_setup::output(&file.output, &file.scenario, folder, &mut report);
    let mut lowering = Lowering {
        clock: check::Clock { duration_s: file.scenario.duration_s, step_ns },
        catalogue: Catalogue::of(file, base_dir, &mut report),
        file,
        source,
        root,
        base_dir,
        nodes: check::Names::default(),
        node_names: Vec::new(),
        records: Vec::new(),
        aims: BTreeMap::new(),
        report,
    };
    lower::lower(&mut lowering);
    let coverage = lower_coverage::coverage(&mut lowering);
    let deployment = deployment::deployment(file.deployment.as_ref(), &mut lowering.report);
    let testbed = testbed::testbed(
        file.testbed.as_ref(),
        &lowering.node_names,
        &lowering.nodes,
        &mut lowering.report,
    );
    let study = study::study(file.study.as_ref(), &mut lowering.report);
    let Lowering { records, aims, node_names, report, .. } = lowering;
    let (records, lines) = records.into_iter().map(|placed| (placed.record, placed.line)).unzip();
    let scenario = Scenario {
        title: file.scenario.title.clone(),
        description: file.scenario.description.clone(),
        begin_unix_s: file.scenario.begin_unix_s(),
        seed: file.scenario.seed,
        step_ns,
        duration_ns,
        terrain,
        names_terrain: file.terrain.names_some(),
        names_model: false,
        study,
        land_cover: file.terrain.land_cover.as_ref().map(|name| match is_address(name) {
            true => PathBuf::from(name),
            false => folder.join(name),
        }),
        output,
        coverage,
        deployment,
        testbed,
        records,
        aims,
        lines,
        node_names,
    };
    (scenario, report)
}
