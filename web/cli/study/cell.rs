//! Cells of a study: one run each, written to a file of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use groundwave_http::Failure;
use groundwave_scenario::{Override, Scenario, Terrain};
use groundwave_setup::simulation::{ScenarioText, prepare};
use groundwave_setup::terrain::{OpenTerrain, TerrainOptions};
use serde::{Deserialize, Serialize};

use super::super::output::write_whole;
use super::measures::{COUNT, MEASURES, Sums};

/// A run of a study.
#[derive(Debug, Clone)]
pub struct Cell {
    /// Place among all cells, from 0.
    pub number: usize,
    /// Values of this cell.
    pub overrides: Vec<Override>,
    /// Seed of the run.
    pub seed: u64,
}

/// Result of a cell, as its file has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// Values of the keys that the study varies.
    pub values: BTreeMap<String, String>,
    /// Seed of the run.
    pub seed: u64,
    /// Mean of each measure over the ticks; null where it never had a value.
    pub measures: BTreeMap<String, Option<f64>>,
    /// Commands that were refused.
    pub refused: usize,
    /// Digest of the world at the end: a run with these values and this seed has the same one.
    pub digest: String,
}

impl Outcome {
    /// The measures in their order.
    pub fn means(&self) -> [Option<f64>; COUNT] {
        std::array::from_fn(|at| self.measures.get(MEASURES[at].0).copied().flatten())
    }
}

/// Inputs of all cells.
pub struct Source<'s> {
    /// Path of the scenario, for messages.
    pub path: &'s Path,
    /// Scenario.
    pub text: &'s ScenarioText,
    /// Terrain.
    pub options: &'s TerrainOptions,
    /// Terrains that were opened.
    pub grounds: &'s Grounds,
}

/// Terrains that were opened, by what scenarios say of them: cells mostly share one.
#[derive(Default)]
pub struct Grounds(Mutex<Vec<(GroundKey, std::sync::Arc<OpenTerrain>)>>);

type GroundKey = (Terrain, Option<PathBuf>, bool);

impl Grounds {
    /// The terrain of a scenario.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn of(
        &self,
        options: &TerrainOptions,
        scenario: &Scenario,
    ) -> Result<std::sync::Arc<OpenTerrain>, Failure> {
        let key = (scenario.terrain.clone(), scenario.land_cover.clone(), scenario.names_terrain);
        let mut opened = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some((_, ground)) = opened.iter().find(|(own, _)| *own == key) {
            return Ok(ground.clone());
        }
        let ground = std::sync::Arc::new(options.for_scenario(scenario)?);
        opened.push((key, ground.clone()));
        Ok(ground)
    }

    /// Files of the terrains that were opened, by names, with their digests.
    ///
    /// # Errors
    /// When one cannot be read.
    pub fn files(&self) -> Result<Vec<BTreeMap<String, String>>, Failure> {
        let opened = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let files: Result<BTreeSet<_>, Failure> =
            opened.iter().map(|(_, ground)| ground.identity_of_files()).collect();
        Ok(files?.into_iter().collect())
    }
}

impl Cell {
    /// File in the folder of the study.
    pub fn path(&self, folder: &Path) -> PathBuf {
        folder.join("cells").join(format!("{:06}.json", self.number))
    }

    /// The outcome that an earlier run of the study wrote; `None` where there is none.
    ///
    /// # Errors
    /// When the file cannot be read or is none of a cell.
    pub fn finished(&self, folder: &Path) -> Result<Option<Outcome>, Failure> {
        let path = self.path(folder);
        let bytes = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Failure::Machine(format!("{}: {error}", path.display()))),
            Ok(bytes) => bytes,
        };
        let outcome = serde_json::from_slice(&bytes).map_err(|error| {
            Failure::Input(format!("invalid cell: {}: {error}; remove it", path.display()))
        })?;
        Ok(Some(outcome))
    }

    /// Settings of its scenario.
    pub fn settings(&self) -> Result<Vec<Override>, Failure> {
        let seed = format!("scenario.seed={}", self.seed).parse().map_err(Failure::Input)?;
        Ok([&self.overrides[..], &[seed]].concat())
    }

    /// A failure of this cell.
    pub fn within(&self, failure: Failure) -> Failure {
        let settings = self.settings().unwrap_or_default();
        let settings: Vec<_> = settings.iter().map(ToString::to_string).collect();
        failure.within(&format!("run {} ({})", self.number, settings.join(", ")))
    }

    /// Runs the cell and writes its file, unless it is stopped before its end.
    ///
    /// # Errors
    /// When the scenario with these values is invalid, or the machine fails.
    pub fn run(
        &self,
        source: &Source<'_>,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<(), Failure> {
        let Source { path, text, options, grounds } = source;
        let scenario = text.scenario(&self.settings()?)?;
        let ground = grounds.of(options, &scenario)?;
        let mut engine = prepare(path, &scenario, &ground)?;
        let (mut sums, mut refused) = (Sums::default(), 0);
        for _ in 0..scenario.ticks() {
            if stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let ticked = engine.tick(None).map_err(Failure::machine)?;
            refused += ticked.refused.len();
            sums.add(&engine.view());
        }
        ground.check_tiles()?;
        let digest = engine.mark()?;
        engine.stop();
        let means = sums.means();
        let values = self.overrides.iter().map(|own| {
            let text = own.to_string();
            let value = text.split_once('=').map_or("", |(_, value)| value);
            (own.key().to_owned(), value.to_owned())
        });
        let outcome = Outcome {
            values: values.collect(),
            seed: self.seed,
            measures: MEASURES
                .iter()
                .zip(means)
                .map(|((name, _), mean)| ((*name).to_owned(), mean))
                .collect(),
            refused,
            digest,
        };
        let mut json = serde_json::to_vec_pretty(&outcome).map_err(Failure::machine)?;
        json.push(b'\n');
        write_whole(&self.path(folder), &json)
    }
}
