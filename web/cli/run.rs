//! `run` and `record`: simulate a scenario.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use groundwave_engine::limits::CHECKPOINT_TICKS;
use groundwave_engine::log::Header;
use groundwave_engine::{Clock, Engine, Execution, Next, Refusal, Store, Ticked};
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_http::option_value::{file_path, refuse_folder};
use groundwave_scenario::{Override, Scenario};
use groundwave_setup::simulation::{SCENARIO_DIGEST, header, load_with, over, prepare, queue};
use groundwave_setup::terrain::{OpenTerrain, TerrainOptions, replay_failure};
use groundwave_simulation::evaluation;
use groundwave_store::RedbStore;
use groundwave_store::journal_file;
use groundwave_store::journal_file::FileJournal;
use serde::Serialize;

use super::log;
use super::output::{self, Output, named};
use super::run_extremes::Extremes;
use super::run_report::{Report, show};
use super::run_tables::{Tables, links_table};

const EXAMPLES: &str = "\
Examples:
  groundwave run scenarios/failover.toml
  groundwave run scenarios/failover.toml --record run.gwlog && groundwave replay run.gwlog
  groundwave run scenarios/failover.toml --seed 7 --set environment.rain_rate_mm_h=40
  groundwave run scenarios/failover.toml -o links.csv
  groundwave run scenarios/failover.toml --until 60 --json | jq '.flows[].route'";

/// A scenario with its end and its pace.
#[derive(Args)]
struct RunArgs {
    /// Scenario file (TOML; see `groundwave schema`); `-` is standard input
    scenario: PathBuf,

    #[command(flatten)]
    ground: TerrainOptions,

    /// Last simulated time, s [default: the scenario's duration]
    #[arg(long, value_name = "SECONDS")]
    until: Option<f64>,

    /// Tick in real time instead of as fast as possible
    #[arg(long)]
    realtime: bool,

    /// Value of a key of the scenario, as in environment.rain_rate_mm_h=20 or node.west.height_agl_m=30; may be
    /// repeated
    #[arg(long = "set", value_name = "KEY=VALUE")]
    settings: Vec<Override>,

    /// Seed of the random draws, 0 to 9223372036854775807 [default: that of the scenario]
    #[arg(long, value_name = "N", value_parser = seed)]
    seed: Option<u64>,
}

/// Value of `--seed`: a whole number of TOML.
fn seed(text: &str) -> Result<u64, String> {
    let seed = text.parse().ok().filter(|seed| *seed <= i64::MAX as u64);
    seed.ok_or_else(|| format!("found {text}, allowed 0 to {}", i64::MAX))
}

impl RunArgs {
    /// The scenario with the values of the options.
    fn load(&self) -> Result<Scenario, Failure> {
        let mut settings = self.settings.clone();
        if let Some(seed) = self.seed {
            settings.push(format!("scenario.seed={seed}").parse().map_err(Failure::Input)?);
        }
        load_with(&self.scenario, &settings)
    }
}

/// Simulate a scenario and show its links, routes and rates
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Run {
    #[command(flatten)]
    args: RunArgs,

    /// Record every command to a new log file, for `replay`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Ticks between checkpoints of the whole state in the log, for replays from the middle; 0: none
    #[arg(long, value_name = "TICKS", default_value_t = CHECKPOINT_TICKS, requires = "record")]
    checkpoint_every: u64,

    #[command(flatten)]
    log: LogOptions,

    /// Store file for the nodes; must be new or empty
    #[arg(long, value_name = "FILE", conflicts_with = "resume",
        value_parser = PathBufValueParser::new().try_map(file_path))]
    store: Option<PathBuf>,

    /// Print one JSON line for each tick with commands, once they are durable
    #[arg(long)]
    events: bool,

    /// Most links in the table
    #[arg(long, value_name = "N", default_value_t = 20)]
    links: usize,

    /// Write all links at the end as CSV, with the columns of the table `links` of [output]; `-` is standard
    /// output, in place of the report
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// Simulate a scenario and record it to a new log file, for `replay`
#[derive(Args)]
#[command(after_help = RECORD_EXAMPLES)]
pub struct Record {
    #[command(flatten)]
    args: RunArgs,

    /// New log file [default: the name of the scenario with .gwlog, in the working directory]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Ticks between checkpoints of the whole state in the log, for replays from the middle; 0: none
    #[arg(long, value_name = "TICKS", default_value_t = CHECKPOINT_TICKS)]
    checkpoint_every: u64,

    #[command(flatten)]
    log: LogOptions,
}

/// Treatment of a log that exists.
#[derive(Args, Clone, Copy)]
struct LogOptions {
    /// Continue the log of a run that was killed: replay it, then go on to the end
    #[arg(long = "continue", conflicts_with = "force")]
    resume: bool,

    /// Write over an existing log, and over existing tables of `[output]`
    #[arg(long)]
    force: bool,
}

const RECORD_EXAMPLES: &str = "\
Examples:
  groundwave record scenarios/failover.toml && groundwave replay failover.gwlog --check
  groundwave record scenarios/failover.toml -o first-minute.gwlog --until 60
  groundwave record scenarios/failover.toml -o first-minute.gwlog --continue

Live systems record themselves: `serve --record FILE`, `testbed up --record FILE`, and `log` in the
configuration of `impaird`.";

impl Record {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let record = self.log_path()?;
        let run = Run {
            args: self.args,
            record: Some(record),
            checkpoint_every: self.checkpoint_every,
            log: self.log,
            store: None,
            events: false,
            links: 20,
            output: None,
        };
        run.run(output)
    }

    /// The log: that of the option, or named after the scenario, which standard input does not name.
    fn log_path(&self) -> Result<PathBuf, Failure> {
        let scenario = &self.args.scenario;
        match &self.output {
            Some(path) => Ok(path.clone()),
            None if output::is_stdio(scenario) => Err(Failure::Input(
                "missing --output: found a scenario from standard input, allowed --output FILE.gwlog"
                    .to_owned(),
            )),
            None => {
                Ok(Path::new(scenario.file_name().unwrap_or_default()).with_extension("gwlog"))
            }
        }
    }
}

/// A tick whose commands are in the log and the store.
#[derive(Serialize)]
struct Acknowledged<'a> {
    tick: u64,
    commands: usize,
    refused: &'a [(&'static str, Refusal)],
}

impl Run {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let args = &self.args;
        if self.log.resume && self.record.is_none() {
            let what = "invalid --continue: found no log, allowed with --record";
            return Err(Failure::Input(what.to_owned()));
        }
        if let Some(path) = &self.output {
            output.refuse_stdout("--output", path)?;
            if self.events {
                output::refuse_stdout_beside("--output", path, "--events")?;
            }
        }
        let scenario = args.load()?;
        let ticks = ticks(&scenario, args.until)?;
        self.refuse_shared(&scenario)?;
        let ground = args.ground.offering().for_scenario(&scenario)?;
        let continued = self.record.as_deref().filter(|_| self.log.resume);
        if continued.is_none() {
            // First: a rejected run leaves neither tables nor a log behind.
            if let Some(path) = &self.record {
                output::refuse_existing_log(path, self.log.force)?;
            }
            Tables::refuse_existing(&scenario, self.log.force)?;
        }
        if let Some(path) = &self.output {
            output::refuse_existing(path, self.log.force)?;
        }
        if let Some(path) = &self.store {
            refuse_folder("--store", path, "the path of a file")?;
        }
        let mut outcome = Outcome::default();
        let (mut engine, mut tables) = match continued {
            Some(log) => self.resumed(log, &scenario, &ground, &mut outcome)?,
            None => {
                let mut engine = prepare(&args.scenario, &scenario, &ground)?;
                if let Some(path) = &self.store {
                    keep(&mut engine, path)?;
                }
                (engine, Tables::create(&scenario)?)
            }
        };
        // Last: a rejected run leaves no log behind.
        if let Some(path) = &self.record {
            engine.record(match continued {
                Some(_) => FileJournal::append_to(path).map_err(Failure::input)?.0,
                None => {
                    let path = output::make_way(path, self.log.force)?;
                    let header = header(&scenario, &ground);
                    FileJournal::create(&path, &header).map_err(Failure::input)?
                }
            });
            if self.checkpoint_every > 0 {
                engine.checkpoint_every(self.checkpoint_every);
            }
        }
        output::advise(&scenario, &*ground.terrain, output);
        self.tick(&mut engine, ticks, &mut tables, &mut outcome, output)?;
        ground.check_tiles()?;
        let digest = engine.mark()?;
        engine.stop();
        tables.finish(&engine.view())?;
        let report = Report {
            scenario: &scenario,
            terrain: ground.terrain.describe(),
            remedy: &ground.remedy,
            snapshot: &engine.view(),
            digest,
            commands: outcome.commands,
            refused: &outcome.refused,
            stopped: outcome.stopped,
            extremes: outcome.extremes.lines(),
        };
        if let Some(path) = &self.output {
            output::write_whole(path, &links_table(report.snapshot)?)?;
        }
        if !self.output.as_deref().is_some_and(output::is_stdio) {
            show(&report, self.links, output)?;
        }
        output::warn_of_swapped(&engine.view(), &*ground.terrain);
        if !outcome.refused.is_empty() {
            let count = outcome.refused.len();
            return Err(Failure::Input(format!(
                "{count} command(s) of the scenario were rejected"
            )));
        }
        if outcome.stopped {
            return Err(Failure::stopped());
        }
        Ok(())
    }

    /// Refuses a log, a store and tables that are one file, or the scenario.
    fn refuse_shared(&self, scenario: &Scenario) -> Result<(), Failure> {
        let tables: Vec<_> = Tables::files(scenario).collect();
        let files = named("--record", &self.record).chain(named("--store", &self.store));
        let files = files.chain(named("--output", &self.output));
        let written: Vec<_> = files.chain(named("[output]", &tables)).collect();
        output::refuse_shared(&written, &[("the scenario", &self.args.scenario)])
    }

    fn tick(
        &self,
        engine: &mut Engine<Snapshot>,
        ticks: u64,
        tables: &mut Tables,
        outcome: &mut Outcome,
        output: Output,
    ) -> Result<(), Failure> {
        let stop = interrupts()?;
        let progress = output::progress(ticks, "{bar:30} {pos}/{len} ticks  {per_sec}  {eta} left");
        let mut clock = groundwave_files::wall::MachineClock::start();
        let start_tick = engine.clock().tick;
        for tick in start_tick + 1..=ticks {
            if stop.load(Ordering::Relaxed) {
                outcome.stopped = true;
                break;
            }
            // Without a wall clock the log of a run is always the same.
            let wall_ns = self.args.realtime.then(groundwave_files::wall::wall_ns);
            let ticked = engine.tick(wall_ns).map_err(Failure::machine)?;
            self.acknowledge(&ticked, output)?;
            outcome.note(ticked);
            let view = engine.view();
            outcome.extremes.note(&view);
            tables.row(&view)?;
            progress.set_position(tick);
            if self.args.realtime {
                sleep_until(&mut clock, (tick - start_tick) * engine.clock().step_ns, &stop);
            }
        }
        progress.finish_and_clear();
        Ok(())
    }

    /// The world at the end of a log of this scenario, with the rest of its commands queued, and
    /// the tables up to there.
    fn resumed(
        &self,
        path: &Path,
        scenario: &Scenario,
        ground: &OpenTerrain,
        outcome: &mut Outcome,
    ) -> Result<(Engine<Snapshot>, Tables), Failure> {
        let mut log = journal_file::open(path).map_err(Failure::input)?;
        let invalid = |what: &str| {
            let file = path.display();
            Failure::Input(format!("invalid --continue: {file} {what}"))
        };
        let (actual, expected) = (log.header().clone(), header(scenario, ground));
        let identity = |header: &Header| {
            let inputs = ["title", "flat_msl_m", "geoid_sha256", evaluation::INPUT]
                .map(|key| header.inputs.get(key).cloned());
            (header.seed, header.step_ns, inputs)
        };
        // Logs of earlier versions have no digest of their commands, which are counted below.
        let of_commands = |header: &Header| header.inputs.get(SCENARIO_DIGEST).cloned();
        let is_other = of_commands(&actual).is_some_and(|own| Some(own) != of_commands(&expected));
        if is_other {
            return Err(invalid(
                "was recorded with other commands of the scenario; allowed the same",
            ));
        }
        if identity(&actual) != identity(&expected) {
            return Err(invalid(
                "was recorded with another scenario, terrain or evaluation of links",
            ));
        }
        let mut builder = world(ground.terrain.clone());
        builder.execution(Execution::Parallel);
        let mut engine: Engine<Snapshot> =
            builder.build(actual.seed, actual.step_ns).map_err(Failure::input)?;
        let mut tables = Tables::create(scenario)?;
        let mut failed = None;
        let replayed = groundwave_engine::replay(&mut engine, &mut log, |engine| {
            match tables.row(&engine.view()) {
                Ok(()) => Next::Go,
                Err(err) => {
                    failed = Some(err);
                    Next::Stop
                }
            }
        });
        if let Some(failure) = failed {
            return Err(failure);
        }
        let replayed = replayed.map_err(|error| replay_failure(error).within(&log::name(path)))?;
        let start_tick = engine.clock().tick;
        let clock = Clock::new(scenario.step_ns);
        let scenario_over = over(scenario, ground);
        let records = scenario_over.records.iter();
        let due = records.filter(|record| clock.tick_at(record.at_ns) <= start_tick);
        if replayed.commands != due.count() as u64 {
            return Err(invalid("ends within a tick, or is not of this scenario"));
        }
        queue(&mut engine, &self.args.scenario, (scenario, ground), |tick| tick > start_tick)?;
        outcome.commands = usize::try_from(replayed.commands).unwrap_or(usize::MAX);
        Ok((engine, tables))
    }

    fn acknowledge(&self, ticked: &Ticked, output: Output) -> Result<(), Failure> {
        if !self.events || ticked.commands == 0 {
            return Ok(());
        }
        let (tick, commands) = (ticked.tick, ticked.commands);
        let line = Acknowledged { tick, commands, refused: &ticked.refused };
        output.json_line(&line)
    }
}

/// Result of a run besides its snapshot.
#[derive(Default)]
struct Outcome {
    commands: usize,
    refused: Vec<(u64, &'static str, Refusal)>,
    stopped: bool,
    extremes: Extremes,
}

impl Outcome {
    fn note(&mut self, ticked: Ticked) {
        self.commands += ticked.commands;
        let tick = ticked.tick;
        self.refused.extend(ticked.refused.into_iter().map(|(name, no)| (tick, name, no)));
    }
}

fn ticks(scenario: &Scenario, until_s: Option<f64>) -> Result<u64, Failure> {
    let all = scenario.ticks();
    let Some(until_s) = until_s else {
        return Ok(all);
    };
    let duration_s = (all * scenario.step_ns) as f64 / 1e9;
    if !(0.0..=duration_s).contains(&until_s) {
        return Err(Failure::Input(format!(
            "invalid --until: found {until_s} s, allowed 0 to {duration_s} s, the duration of the scenario"
        )));
    }
    // The tick that begins then is the last one, as with --to of a replay.
    let until_ns = (until_s * 1e9).round() as u64;
    let last = Clock::new(scenario.step_ns).tick_at(until_ns);
    Ok(last.clamp(1, all))
}

fn keep(engine: &mut Engine<Snapshot>, path: &Path) -> Result<(), Failure> {
    output::folder_of(path)?;
    let mut store = RedbStore::open(path).map_err(Failure::input)?;
    let rows = store.load().map_err(Failure::machine)?.len();
    if rows > 0 {
        let message =
            format!("store {} holds {rows} documents, allowed a new or empty one", path.display());
        return Err(Failure::Input(message));
    }
    engine.keep(store).map(drop).map_err(Failure::Machine)
}

/// A flag set by SIGINT and SIGTERM, checked between ticks.
pub fn interrupts() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // A second signal ends the program at once.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

fn sleep_until(clock: &mut groundwave_files::wall::MachineClock, until_ns: u64, stop: &AtomicBool) {
    use groundwave_engine::Pacer;
    const SLEEP_MAX_NS: u64 = 50_000_000;
    loop {
        let now_ns = clock.monotonic_ns();
        if now_ns >= until_ns || stop.load(Ordering::Relaxed) {
            return;
        }
        std::thread::sleep(Duration::from_nanos((until_ns - now_ns).min(SLEEP_MAX_NS)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_whole_numbers_up_to_that_of_toml() {
        assert_eq!(seed("0"), Ok(0));
        assert_eq!(seed("9223372036854775807"), Ok(i64::MAX as u64));
        for text in ["9223372036854775808", "-1", "1.5", "", "99999999999999999999999"] {
            let error = seed(text).unwrap_err();
            assert_eq!(error, format!("found {text}, allowed 0 to 9223372036854775807"));
        }
    }
}
