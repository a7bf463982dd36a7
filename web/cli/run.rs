//! `run`: a scenario through the world.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use groundwave_engine::limits::CHECKPOINT_TICKS;
use groundwave_engine::{Engine, Refusal, Store, Ticked};
use groundwave_io::journal::FileJournal;
use groundwave_io::scenario::Scenario;
use groundwave_io::store::RedbStore;
use groundwave_systems::Snapshot;
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::failure::Failure;
use super::ground::GroundArgs;
use super::output::Output;
use super::run_report::{Report, show};
use super::run_tables::Tables;
use super::simulation::{header, load, prepare};

const EXAMPLES: &str = "\
Examples:
  groundwave run scenarios/gothenburg.toml
  groundwave run scenarios/manet50.toml --record manet.gwlog && groundwave replay manet.gwlog
  groundwave run scenarios/storm.toml --until 300 --json | jq '.flows[].route'";

/// A scenario, and how far and how fast it goes.
#[derive(Args)]
struct Course {
    /// Scenario file (TOML; see `groundwave schema`)
    scenario: PathBuf,

    #[command(flatten)]
    ground: GroundArgs,

    /// Stop at this simulated time, s [default: the scenario's duration]
    #[arg(long, value_name = "SECONDS")]
    until: Option<f64>,

    /// Tick at the pace of real time instead of as fast as possible
    #[arg(long)]
    realtime: bool,
}

/// Run a scenario file and show its links, routes and rates
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Run {
    #[command(flatten)]
    course: Course,

    /// Record every command to a new log file, for `replay`
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,

    /// Record the whole state every so many ticks as well, for replays from the middle; 0 for never
    #[arg(long, value_name = "TICKS", default_value_t = CHECKPOINT_TICKS, requires = "record")]
    checkpoint_every: u64,

    /// Keep nodes in a store file; it must be new or empty
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,

    /// Print a JSON line for each tick that applied commands, once they are durable
    #[arg(long)]
    events: bool,

    /// Show at most this many links
    #[arg(long, value_name = "N", default_value_t = 20)]
    links: usize,
}

/// Run a scenario file and record it to a new log file, for `replay`
#[derive(Args)]
#[command(after_help = RECORD_EXAMPLES)]
pub struct Record {
    #[command(flatten)]
    course: Course,

    /// The log; it must not be there yet [default: the scenario's name with .gwlog, here]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Record the whole state every so many ticks as well, for replays from the middle; 0 for never
    #[arg(long, value_name = "TICKS", default_value_t = CHECKPOINT_TICKS)]
    checkpoint_every: u64,
}

const RECORD_EXAMPLES: &str = "\
Examples:
  groundwave record scenarios/manet50.toml && groundwave replay manet50.gwlog --check
  groundwave record scenarios/storm.toml -o storm.gwlog --until 600

What is live is recorded where it runs: `serve --record FILE`, `testbed up --record FILE`, and `log`
in the configuration of `impaird`.";

impl Record {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let name = self.course.scenario.file_name().unwrap_or_default();
        let beside = Path::new(name).with_extension("gwlog");
        let run = Run {
            course: self.course,
            record: Some(self.output.unwrap_or(beside)),
            checkpoint_every: self.checkpoint_every,
            store: None,
            events: false,
            links: 20,
        };
        run.run(output)
    }
}

/// A tick's commands are in the log and the store.
#[derive(Serialize)]
struct Acknowledged<'a> {
    tick: u64,
    commands: usize,
    refused: &'a [(&'static str, Refusal)],
}

impl Run {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let course = &self.course;
        let scenario = load(&course.scenario)?;
        let ticks = ticks(&scenario, course.until)?;
        let ground = course.ground.for_scenario(&scenario.terrain)?;
        let mut engine = prepare(&course.scenario, &scenario, &ground)?;
        if let Some(path) = &self.store {
            keep(&mut engine, path)?;
        }
        let mut tables = Tables::create(&scenario)?;
        // Last, so that a refused run leaves no log behind.
        if let Some(path) = &self.record {
            let header = header(&scenario, &ground);
            engine.record(FileJournal::create(path, &header).map_err(Failure::input)?);
            if self.checkpoint_every > 0 {
                engine.checkpoint_every(self.checkpoint_every);
            }
        }
        let outcome = self.tick(&mut engine, ticks, &mut tables)?;
        ground.refuse_faults()?;
        let digest = engine.mark()?;
        engine.stop();
        tables.finish(&engine.view())?;
        let report = Report {
            scenario: &scenario,
            terrain: ground.terrain.describe(),
            snapshot: &engine.view(),
            digest,
            commands: outcome.commands,
            refused: &outcome.refused,
            stopped: outcome.stopped,
        };
        show(&report, self.links, output)?;
        if !outcome.refused.is_empty() {
            let count = outcome.refused.len();
            return Err(Failure::Input(format!(
                "the world refused {count} command(s) of the scenario"
            )));
        }
        Ok(())
    }

    fn tick(
        &self,
        engine: &mut Engine<Snapshot>,
        ticks: u64,
        tables: &mut Tables,
    ) -> Result<Outcome, Failure> {
        let stop = interrupts()?;
        let progress = progress(ticks);
        let mut outcome = Outcome::default();
        let mut pace = groundwave_io::wall::MachineClock::start();
        for tick in 1..=ticks {
            if stop.load(Ordering::Relaxed) {
                outcome.stopped = true;
                break;
            }
            // A run as fast as possible knows no wall clock, so its log is the same every time.
            let wall_ns = self.course.realtime.then(groundwave_io::wall::wall_ns);
            let ticked = engine.tick(wall_ns).map_err(Failure::machine)?;
            self.acknowledge(&ticked)?;
            outcome.note(ticked);
            tables.row(&engine.view())?;
            progress.set_position(tick);
            if self.course.realtime {
                wait(&mut pace, tick * engine.clock().step_ns, &stop);
            }
        }
        progress.finish_and_clear();
        Ok(outcome)
    }

    fn acknowledge(&self, ticked: &Ticked) -> Result<(), Failure> {
        if !self.events || ticked.commands == 0 {
            return Ok(());
        }
        let (tick, commands) = (ticked.tick, ticked.commands);
        let line = Acknowledged {
            tick,
            commands,
            refused: &ticked.refused,
        };
        let mut out = std::io::stdout().lock();
        serde_json::to_writer(&mut out, &line).map_err(std::io::Error::from)?;
        writeln!(out)?;
        out.flush()?;
        Ok(())
    }
}

/// What a run came to besides its snapshot.
#[derive(Default)]
struct Outcome {
    commands: usize,
    refused: Vec<(u64, &'static str, Refusal)>,
    stopped: bool,
}

impl Outcome {
    fn note(&mut self, ticked: Ticked) {
        self.commands += ticked.commands;
        let tick = ticked.tick;
        self.refused.extend(
            ticked
                .refused
                .into_iter()
                .map(|(name, no)| (tick, name, no)),
        );
    }
}

fn ticks(scenario: &Scenario, until_s: Option<f64>) -> Result<u64, Failure> {
    let all = scenario.duration_ns.div_ceil(scenario.step_ns);
    let Some(until_s) = until_s else {
        return Ok(all);
    };
    if !(until_s >= 0.0 && until_s.is_finite()) {
        return Err(Failure::Input(format!(
            "--until is {until_s}; allowed: 0 or more seconds"
        )));
    }
    let until_ns = (until_s * 1e9) as u64;
    Ok(until_ns.div_ceil(scenario.step_ns).clamp(1, all))
}

fn keep(engine: &mut Engine<Snapshot>, path: &Path) -> Result<(), Failure> {
    let mut store = RedbStore::open(path).map_err(Failure::input)?;
    let rows = store.load().map_err(Failure::machine)?.len();
    if rows > 0 {
        let what = format!(
            "store {} holds {rows} documents; run needs a new one",
            path.display()
        );
        return Err(Failure::Input(what));
    }
    engine.keep(store).map(drop).map_err(Failure::Machine)
}

/// A flag that Ctrl-C and SIGTERM raise, so that the tick under way ends well.
pub fn interrupts() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // A second one ends the program at once.
        signal_hook::flag::register_conditional_shutdown(signal, 130, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}

/// A bar on stderr, hidden when that is no terminal.
pub fn progress(ticks: u64) -> ProgressBar {
    let template = "{bar:30} {pos}/{len} ticks  {per_sec}  {eta} left";
    let style = ProgressStyle::with_template(template).expect("the template is constant");
    ProgressBar::new(ticks).with_style(style)
}

fn wait(pace: &mut groundwave_io::wall::MachineClock, until_ns: u64, stop: &AtomicBool) {
    use groundwave_engine::Pacer;
    const NAP_NS: u64 = 50_000_000;
    loop {
        let now_ns = pace.monotonic_ns();
        if now_ns >= until_ns || stop.load(Ordering::Relaxed) {
            return;
        }
        std::thread::sleep(Duration::from_nanos((until_ns - now_ns).min(NAP_NS)));
    }
}
