//! Scenarios and logs.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use groundwave_engine::{Clock, Engine, Execution, Next};
use groundwave_gateway::{Snapshot, world};
use groundwave_model::terrain::Terrain as Ground;
use groundwave_scenario::Scenario;
use groundwave_simulation::evaluation;
use groundwave_store::journal_file;
use pyo3::prelude::*;

use crate::frames::{Frames, Message, Outcome};
use crate::terrain::Terrain;
use crate::{invalid, object};

/// Reads a scenario: a file, or a text that names no files.
fn read(path: Option<&Path>, text: Option<&str>) -> PyResult<Scenario> {
    let scenario = match (path, text) {
        (Some(path), None) => groundwave_scenario::load(path),
        (None, Some(text)) => groundwave_scenario::parse_alone(text, "scenario"),
        _ => {
            return Err(invalid("invalid scenario: found no single one, allowed a path or a text"));
        }
    };
    scenario.map_err(invalid)
}

#[pyfunction]
#[pyo3(signature = (path=None, text=None))]
pub fn validate<'py>(
    py: Python<'py>,
    path: Option<PathBuf>,
    text: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let scenario = read(path.as_deref(), text)?;
    object(
        py,
        &serde_json::json!({
            "title": scenario.title,
            "description": scenario.description,
            "nodes": scenario.node_names,
            "commands": scenario.records.len(),
            "seed": scenario.seed,
            "duration_s": scenario.duration_ns as f64 / 1e9,
            "step_s": scenario.step_ns as f64 / 1e9,
            "has_coverage": scenario.coverage.is_some(),
        }),
    )
}

/// The ground of a scenario: that of the caller, else that which the file names.
fn ground(scenario: &Scenario, terrain: Option<&Terrain>) -> PyResult<Arc<dyn Ground>> {
    use groundwave_scenario::Terrain::{Flat, Tiles};
    if let Some(terrain) = terrain {
        return Ok(Arc::clone(&terrain.ground));
    }
    match &scenario.terrain {
        Flat { .. } if !scenario.names_terrain => Ok(Terrain::none()),
        Flat { elevation_msl_m } => Ok(Terrain::of_flat(*elevation_msl_m).ground),
        Tiles { directory: Some(folder), geoid, posts, .. } => {
            let posts = posts.unwrap_or_default();
            let folders = [folder.clone()];
            Ok(Terrain::files(&folders, geoid.as_ref(), posts, false, None)?.ground)
        }
        Tiles { names, .. } => {
            let names = names.join(", ");
            Err(invalid(format!(
                "missing terrain of the scenario: found no folder for tiles {names}, allowed a `terrain` argument"
            )))
        }
    }
}

/// An engine with the commands of a scenario queued.
fn prepare(scenario: &Scenario, ground: Arc<dyn Ground>) -> Result<Engine<Snapshot>, String> {
    let mut builder = world(Arc::clone(&ground));
    builder.execution(Execution::Parallel);
    let engine = builder.build(scenario.seed, scenario.step_ns);
    let mut engine: Engine<Snapshot> = engine.map_err(|error| error.to_string())?;
    let clock = engine.clock();
    let scenario = scenario.over(ground.has_cover());
    for (record, line) in scenario.records.iter().zip(&scenario.lines) {
        let body = scenario.body(record, |at| ground.elevation_msl_m(at));
        let command = engine.registry().from_json(&record.name, body);
        let command = command.map_err(|error| format!("line {line}: {}: {error}", record.name))?;
        engine.script(clock.tick_at(record.at_ns), command);
    }
    Ok(engine)
}

/// Number of ticks up to a time.
fn ticks(scenario: &Scenario, until_s: Option<f64>) -> PyResult<u64> {
    let all = scenario.ticks();
    match until_s {
        None => Ok(all),
        Some(until_s) if until_s >= 0.0 && until_s.is_finite() => {
            let last = Clock::new(scenario.step_ns).tick_at((until_s * 1e9).round() as u64);
            Ok(last.clamp(1, all))
        }
        Some(until_s) => {
            Err(invalid(format!("invalid until_s: found {until_s}, allowed 0 or more")))
        }
    }
}

/// Starts a thread that sends frames; an error of `work` is its last message.
fn frames(
    title: String,
    work: impl FnOnce(&SyncSender<Message>) -> Result<(), String> + Send + 'static,
) -> PyResult<Frames> {
    let (sender, receiver) = sync_channel(1);
    let thread = std::thread::Builder::new().name("groundwave frames".to_owned());
    let spawned = thread.spawn(move || {
        if let Err(error) = work(&sender) {
            // Without a receiver nobody waits for it.
            sender.send(Message::Error(error)).ok();
        }
    });
    spawned.map_err(invalid)?;
    Ok(Frames::new(title, receiver))
}

#[pyfunction]
#[pyo3(signature = (path=None, text=None, terrain=None, until_s=None))]
pub fn run(
    path: Option<PathBuf>,
    text: Option<&str>,
    terrain: Option<&Terrain>,
    until_s: Option<f64>,
) -> PyResult<Frames> {
    let scenario = read(path.as_deref(), text)?;
    let ground = ground(&scenario, terrain)?;
    let last = ticks(&scenario, until_s)?;
    frames(scenario.title.clone(), move |sender| {
        let mut engine = prepare(&scenario, ground)?;
        let mut outcome = Outcome {
            digest: String::new(),
            ticks: last,
            commands: 0,
            refused: Vec::new(),
            marks_compared: 0,
        };
        for _ in 0..last {
            let ticked = engine.tick(None).map_err(|error| error.to_string())?;
            outcome.commands += ticked.commands as u64;
            let refused = ticked.refused.iter();
            let tick = ticked.tick;
            outcome
                .refused
                .extend(refused.map(|(name, refusal)| format!("tick {tick}: {name}: {refusal}")));
            if sender.send(Message::Frame(engine.view())).is_err() {
                return Ok(());
            }
        }
        outcome.digest = engine.digest();
        engine.stop();
        sender.send(Message::Outcome(outcome)).ok();
        Ok(())
    })
}

#[pyfunction]
#[pyo3(signature = (path, terrain=None))]
pub fn replay(path: PathBuf, terrain: Option<&Terrain>) -> PyResult<Frames> {
    let mut log = journal_file::open(&path).map_err(invalid)?;
    let inputs = &log.header().inputs;
    let flat_m = inputs.get("flat_msl_m").map(|height| height.parse::<f64>());
    let ground = match (terrain, flat_m) {
        (Some(terrain), _) => Arc::clone(&terrain.ground),
        (None, Some(height)) => Terrain::of_flat(height.map_err(invalid)?).ground,
        (None, None) if inputs.contains_key("no_terrain") => Terrain::none(),
        (None, None) => {
            let name = inputs.get("terrain").map_or("tiles", String::as_str);
            return Err(invalid(format!(
                "missing terrain of the log: found {name} in it, allowed a `terrain` argument"
            )));
        }
    };
    let title = inputs.get("title").cloned().unwrap_or_default();
    evaluation::compare(&mut log);
    frames(title, move |sender| {
        let header = log.header().clone();
        let mut engine: Engine<Snapshot> =
            world(ground).build(header.seed, header.step_ns).map_err(|error| error.to_string())?;
        let replayed = groundwave_engine::replay(&mut engine, &mut log, |engine| {
            match sender.send(Message::Frame(engine.view())) {
                Ok(()) => Next::Go,
                Err(_) => Next::Stop,
            }
        });
        let replayed = replayed.map_err(|error| error.to_string())?;
        let outcome = Outcome {
            digest: replayed.digest,
            ticks: replayed.ticks,
            commands: replayed.commands,
            refused: Vec::new(),
            marks_compared: replayed.marks,
        };
        sender.send(Message::Outcome(outcome)).ok();
        Ok(())
    })
}
