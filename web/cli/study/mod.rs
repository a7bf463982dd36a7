//! `study`: runs of a scenario with every value of some keys and many seeds, and a table of them.

mod cell;
mod claims;
mod measures;
mod summary;
mod tables;

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use groundwave_files::hex::hex;
use groundwave_http::Failure;
use groundwave_http::option_value::{folder_path, refuse_file};
use groundwave_model::EVALUATION;
use groundwave_scenario::overrides::check_varied;
use groundwave_scenario::study::CELLS_MAX;
use groundwave_scenario::{Override, Study as Plan};
use groundwave_setup::simulation::{ScenarioText, header};
use groundwave_setup::terrain::TerrainOptions;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::output::{self, Output, write_whole};
use super::run::interrupts;
use cell::{Cell, Grounds, Outcome, Source};

const EXAMPLES: &str = "\
Examples:
  groundwave study scenarios/two_nodes.toml --vary environment.rain_rate_mm_h=0,40 --seeds 2 -o out/rain
  groundwave study scenarios/manet50.toml --vary mesh.metric=etx,ett --seeds 10 -o out/metric --shard 1/2

Keys and values may stand in the scenario, which the options add to:
  [study]
  seeds = 20
  vary = { \"environment.rain_rate_mm_h\" = [0, 20, 50], \"node.west.height_agl_m\" = [10, 30] }

A study that was killed continues where it was; its tables have the same bytes as those of one that was not. Several
processes, of several machines with a folder in common, compute one study together: each run is computed once.";

/// Run a scenario with every value of some keys and many seeds; write a table of measures with intervals
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Study {
    /// Scenario file (TOML)
    scenario: PathBuf,

    /// Key of the scenario and its values: environment.rain_rate_mm_h=0,20,50; items of lists go by their names,
    /// as in node.west.height_agl_m=10,30; may be repeated
    #[arg(long, value_name = "KEY=VALUE,VALUE")]
    vary: Vec<String>,

    /// Runs of each combination, with the seed of the scenario and those after it [default: that of the scenario,
    /// else 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=CELLS_MAX as i64))]
    seeds: Option<u32>,

    /// Folder of the study; one that is there continues
    #[arg(short, long, value_name = "DIR", value_parser = PathBufValueParser::new().try_map(folder_path))]
    output: PathBuf,

    /// Share of the runs of this process, i/N; without it processes that have the folder in common take runs from
    /// each other by leases
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<[usize; 2]>,

    #[command(flatten)]
    ground: TerrainOptions,
}

/// Value of `--shard`.
fn shard(text: &str) -> Result<[usize; 2], String> {
    let parts = text.split_once('/').and_then(|(i, n)| Some([i.parse().ok()?, n.parse().ok()?]));
    let is_valid = |[i, n]: &[usize; 2]| (1..=*n).contains(i);
    parts.filter(is_valid).ok_or_else(|| format!("found {text:?}, allowed i/N with 1 <= i <= N"))
}

/// Identity of a study: another one does not continue in its folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Identity {
    /// SHA-256 of the scenario file.
    scenario_sha256: String,
    /// SHA-256 of what the combinations read: commands of their scenarios with those of the files they name, and
    /// terrain.
    #[serde(default)]
    inputs_sha256: String,
    /// Keys with their values.
    vary: Vec<Vec<String>>,
    seeds: u32,
    /// Version of the evaluation of links.
    evaluation: u32,
}

impl Study {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let text = ScenarioText::read(&self.scenario)?;
        let scenario = text.scenario(&[])?;
        let plan = self.plan(scenario.study.unwrap_or_default(), &text)?;
        let cells = cells(&plan, scenario.seed);
        // Before anything is written.
        let grounds = Grounds::default();
        let inputs: Vec<String> = cells
            .par_iter()
            .step_by(plan.seeds as usize)
            .map(|cell| self.inputs(cell, &text, &grounds).map_err(|failure| cell.within(failure)))
            .collect::<Result<_, Failure>>()?;
        let inputs = serde_json::to_vec(&(inputs, grounds.files()?)).map_err(Failure::machine)?;
        let folder = &self.output;
        self.claim(&plan, &text, &inputs)?;
        let own = |cell: &&Cell| {
            self.shard.is_none_or(|[shard, shards]| cell.number % shards == shard - 1)
        };
        let own: Vec<&Cell> = cells.iter().filter(own).collect();
        let stop = interrupts()?;
        let progress =
            output::progress(own.len() as u64, "{bar:30} {pos}/{len} runs  {per_sec}  {eta} left");
        let (path, options) = (&self.scenario, &self.ground);
        let source = Source { path, text: &text, options, grounds: &grounds };
        let run = |cell: &Cell| cell.run(&source, folder, &stop);
        let shared = claims::share(&own, folder, &stop, run, || progress.inc(1));
        progress.finish_and_clear();
        let computed = shared.map_err(|(number, failure)| cells[number].within(failure))?;
        let outcomes: Result<Vec<Option<Outcome>>, Failure> =
            cells.iter().map(|cell| cell.finished(folder)).collect();
        let outcomes = outcomes?;
        let finished = outcomes.iter().flatten().count();
        let Some(outcomes) = outcomes.into_iter().collect::<Option<Vec<Outcome>>>() else {
            let text = format!("{finished} of {} runs are in {}\n", cells.len(), folder.display());
            let document = serde_json::json!({
                "folder": folder, "runs": cells.len(), "finished": finished, "computed": computed,
            });
            if output.json { output.json(&document) } else { output.text(&text) }?;
            return if stop.load(Ordering::Relaxed) { Err(Failure::stopped()) } else { Ok(()) };
        };
        let results = tables::Results { plan: &plan, cells: &cells, outcomes: &outcomes, computed };
        tables::write(folder, &results, output)
    }

    /// Inputs of a combination beside the scenario file, those of logs of its runs.
    fn inputs(
        &self,
        cell: &Cell,
        text: &ScenarioText,
        grounds: &Grounds,
    ) -> Result<String, Failure> {
        let scenario = text.scenario(&cell.settings()?)?;
        let ground = grounds.of(&self.ground, &scenario)?;
        let mut inputs = header(&scenario, &ground).inputs;
        // The version of the evaluation counts.
        inputs.remove("version");
        serde_json::to_string(&inputs).map_err(Failure::machine)
    }

    /// The plan of the scenario with that of the options.
    fn plan(&self, mut plan: Plan, text: &ScenarioText) -> Result<Plan, Failure> {
        for text in &self.vary {
            let values = Override::list(text).map_err(Failure::Input)?;
            let key = values[0].key().to_owned();
            if key == "scenario.seed" {
                return Err(Failure::Input(format!(
                    "invalid --vary: found {text:?}, allowed other keys; --seeds N makes runs of N seeds"
                )));
            }
            plan.vary.retain(|own| own.first().is_none_or(|own| own.key() != key));
            plan.vary.push(values);
        }
        let invalid = |what: String| Failure::Input(format!("invalid study: {what}"));
        check_varied(text.as_str(), &plan.vary).map_err(invalid)?;
        plan.seeds = self.seeds.unwrap_or(plan.seeds.max(1));
        match plan.cells() {
            Some(_) => Ok(plan),
            None => Err(Failure::Input(format!(
                "invalid study: found more than {CELLS_MAX} runs, allowed 1 to {CELLS_MAX}"
            ))),
        }
    }

    /// Makes the folder, or continues in that of the same study.
    fn claim(&self, plan: &Plan, text: &ScenarioText, inputs: &[u8]) -> Result<(), Failure> {
        let of_key = |own: &Vec<Override>| own.iter().map(ToString::to_string).collect();
        let identity = Identity {
            scenario_sha256: hex(&Sha256::digest(text.as_str())),
            inputs_sha256: hex(&Sha256::digest(inputs)),
            vary: plan.vary.iter().map(of_key).collect(),
            seeds: plan.seeds,
            evaluation: EVALUATION,
        };
        let path = self.output.join("study.json");
        if path.exists() {
            let before: Identity = serde_json::from_slice(&fs::read(&path)?)
                .map_err(|error| Failure::Input(format!("{}: {error}", path.display())))?;
            if before != identity {
                return Err(Failure::Input(format!(
                    "invalid --output: {} holds another study (scenario, files it names, terrain, values, \
                     seeds or evaluation of links differ); name a new folder",
                    self.output.display()
                )));
            }
            return Ok(());
        }
        refuse_file("--output", &self.output)?;
        let cells = self.output.join("cells");
        fs::create_dir_all(&cells)
            .map_err(|error| Failure::Machine(format!("{}: {error}", cells.display())))?;
        let mut json = serde_json::to_vec_pretty(&identity).map_err(Failure::machine)?;
        json.push(b'\n');
        write_whole(&path, &json)
    }
}

/// All runs: the seeds of a combination follow each other.
fn cells(plan: &Plan, seed: u64) -> Vec<Cell> {
    let combinations = plan.combinations();
    let runs = combinations
        .iter()
        .flat_map(|overrides| (0..plan.seeds).map(move |run| (overrides.clone(), u64::from(run))));
    let cell = |(number, (overrides, run)): (usize, (Vec<Override>, u64))| Cell {
        number,
        overrides,
        seed: seed.wrapping_add(run),
    };
    runs.enumerate().map(cell).collect()
}
