//! Engines built from scenarios.

use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};

use groundwave_engine::log::{FORMAT, Header};
use groundwave_engine::{Builder, Engine, Execution};
use groundwave_files::hex::hex;
use groundwave_files::is_special;
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_http::option_value::require_file;
use groundwave_scenario;
use groundwave_scenario::{Override, Scenario};
use groundwave_simulation::link::NodesOnly;
use groundwave_toml_document::limits::FILE_BYTES_MAX;
use sha2::{Digest, Sha256};

use super::terrain::OpenTerrain;

/// Reads a scenario, `-` from standard input; the error lists all problems.
///
/// # Errors
/// When input is invalid or the machine fails.
pub fn load(path: &Path) -> Result<Scenario, Failure> {
    load_with(path, &[])
}

/// As [`load`], with values of the scenario set from outside.
///
/// # Errors
/// When input is invalid or the machine fails.
pub fn load_with(path: &Path, settings: &[Override]) -> Result<Scenario, Failure> {
    ScenarioText::read(path)?.scenario(settings)
}

/// Content of a scenario, for messages.
const SCENARIO: &str = "a scenario (TOML; `groundwave init` writes one), `-` for standard input";

/// Folder of the scenarios and examples of packages.
const PACKAGED: &str = "/usr/share/groundwave";

/// The file of packages under `root` that documents call `path`: `scenarios/…` or `examples/…`.
fn packaged(path: &Path, root: &Path) -> Option<PathBuf> {
    let is_example = path.starts_with("scenarios") || path.starts_with("examples");
    let file = root.join(path);
    (is_example && file.is_file()).then_some(file)
}

/// Text of a scenario, which is read once: standard input ends.
#[derive(Debug)]
pub struct ScenarioText {
    name: String,
    folder: PathBuf,
    text: String,
}

impl ScenarioText {
    /// Reads a file, `-` from standard input.
    ///
    /// # Errors
    /// When it cannot be read, is too long or no UTF-8.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        // Such as the pipe of `<(COMMAND)`, or `/dev/stdin`.
        if is_special(path) {
            let pipe = std::fs::File::open(path)?;
            return Self::of(pipe, &path.display().to_string());
        }
        if path != Path::new("-") {
            let text = groundwave_toml_document::text(path).map_err(|error| {
                let missing = require_file("scenario", path, SCENARIO);
                let failure = missing.err().unwrap_or_else(|| Failure::input(error));
                match packaged(path, Path::new(PACKAGED)) {
                    Some(file) if !path.exists() => Failure::Input(format!(
                        "{}; packages have it at {}",
                        failure.message(),
                        file.display()
                    )),
                    _ => failure,
                }
            })?;
            let folder = path.parent().unwrap_or(Path::new("")).to_owned();
            return Ok(Self { name: path.display().to_string(), folder, text });
        }
        Self::of(std::io::stdin(), "standard input")
    }

    /// Reads a stream; files that it names are those of the working folder.
    fn of(stream: impl Read, name: &str) -> Result<Self, Failure> {
        let mut text = String::new();
        // A longer text is refused by its length.
        stream.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
        Ok(Self { name: name.to_owned(), folder: PathBuf::new(), text })
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The scenario with values set from outside.
    ///
    /// # Errors
    /// All that is wrong with it.
    pub fn scenario(&self, settings: &[Override]) -> Result<Scenario, Failure> {
        groundwave_scenario::parse_with(&self.text, &self.name, &self.folder, settings)
            .map_err(Failure::input)
    }
}

/// An engine with the commands of the scenario queued, before its first tick.
///
/// # Errors
/// When input is invalid or the machine fails.
pub fn prepare(
    path: &Path,
    scenario: &Scenario,
    ground: &OpenTerrain,
) -> Result<Engine<Snapshot>, Failure> {
    prepare_after(path, scenario, ground, Vec::new())
}

/// As [`prepare`], for nodes and environment alone: no link is predicted.
///
/// # Errors
/// When input is invalid or the machine fails.
pub fn prepare_nodes(
    path: &Path,
    scenario: &Scenario,
    ground: &OpenTerrain,
) -> Result<Engine<Snapshot>, Failure> {
    let mut builder = world(ground.terrain.clone());
    builder.resource(NodesOnly);
    build(builder, path, (scenario, ground), Vec::new())
}

/// As [`prepare`], with commands ahead of those of the scenario.
///
/// # Errors
/// When input is invalid or the machine fails.
pub fn prepare_after(
    path: &Path,
    scenario: &Scenario,
    ground: &OpenTerrain,
    first: Vec<(&str, serde_json::Value)>,
) -> Result<Engine<Snapshot>, Failure> {
    build(world(ground.terrain.clone()), path, (scenario, ground), first)
}

fn build(
    mut builder: Builder,
    path: &Path,
    (scenario, ground): (&Scenario, &OpenTerrain),
    first: Vec<(&str, serde_json::Value)>,
) -> Result<Engine<Snapshot>, Failure> {
    builder.execution(Execution::Parallel);
    let mut engine: Engine<Snapshot> =
        builder.build(scenario.seed, scenario.step_ns).map_err(Failure::input)?;
    for (name, body) in first {
        let command = engine
            .registry()
            .from_json(name, body)
            .map_err(|what| Failure::Input(format!("{name}: {what}")))?;
        engine.script(engine.clock().tick + 1, command);
    }
    queue(&mut engine, path, (scenario, ground), |_| true)?;
    Ok(engine)
}

/// Queues the commands of the scenario whose tick satisfies `wanted`.
///
/// # Errors
/// When input is invalid or the machine fails.
pub fn queue(
    engine: &mut Engine<Snapshot>,
    path: &Path,
    (scenario, ground): (&Scenario, &OpenTerrain),
    is_due: impl Fn(u64) -> bool,
) -> Result<(), Failure> {
    let clock = engine.clock();
    let scenario = over(scenario, ground);
    for (record, line) in scenario.records.iter().zip(&scenario.lines) {
        let tick = clock.tick_at(record.at_ns);
        if !is_due(tick) {
            continue;
        }
        let body = scenario.body(record, |at| ground.terrain.elevation_msl_m(at));
        let command = engine.registry().from_json(&record.name, body).map_err(|what| {
            let file = path.display();
            Failure::Input(format!("{file}:{line}: {}: {what}", record.name))
        })?;
        engine.script(tick, command);
    }
    Ok(())
}

/// The scenario as it runs over `ground`: with the model of its land cover where none is named.
#[must_use]
pub fn over<'s>(scenario: &'s Scenario, ground: &OpenTerrain) -> Cow<'s, Scenario> {
    scenario.over(ground.terrain.has_cover())
}

/// Key of a log header: digest of the commands of the scenario, which a continued run has to share.
pub const SCENARIO_DIGEST: &str = "scenario_sha256";

/// SHA-256 of the commands of a scenario with their times, in hexadecimal digits.
fn commands_digest(scenario: &Scenario) -> String {
    let mut digest = Sha256::new();
    for record in &scenario.records {
        let line = serde_json::json!([record.at_ns, record.name, record.body]);
        digest.update(line.to_string());
        digest.update("\n");
    }
    hex(&digest.finalize())
}

/// Header of the log of this run.
pub fn header(scenario: &Scenario, ground: &OpenTerrain) -> Header {
    let mut inputs = ground.inputs.clone();
    inputs.insert("title".to_owned(), scenario.title.clone());
    inputs.insert(SCENARIO_DIGEST.to_owned(), commands_digest(&over(scenario, ground)));
    if let Some(begin_s) = scenario.begin_unix_s {
        inputs.insert("begin_unix_s".to_owned(), begin_s.to_string());
    }
    inputs.insert("version".to_owned(), env!("CARGO_PKG_VERSION").to_owned());
    Header { format: FORMAT, seed: scenario.seed, step_ns: scenario.step_ns, inputs }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_scenario_gives_the_path_and_what_is_allowed() {
        let error = ScenarioText::read(Path::new("none/mesh.toml")).unwrap_err();
        let text = error.message();
        assert!(text.starts_with("invalid scenario: found nothing at none/mesh.toml"), "{text}");
        assert!(text.contains("TOML") && !text.contains("os error"), "{text}");
    }

    #[test]
    fn examples_of_documents_are_those_of_the_package() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("scenarios")).unwrap();
        let file = root.path().join("scenarios/mesh.toml");
        std::fs::write(&file, "").unwrap();
        assert_eq!(packaged(Path::new("scenarios/mesh.toml"), root.path()), Some(file));
        for other in ["scenarios/none.toml", "mesh.toml", "/scenarios/mesh.toml"] {
            assert_eq!(packaged(Path::new(other), root.path()), None, "{other}");
        }
    }
}
