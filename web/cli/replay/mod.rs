//! `replay`: a log through a fresh world, and proof that it comes to the same; or not quite the
//! same, to see what would have become of it.

mod failures;
mod fork;
mod measured;
mod report;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use groundwave_engine::log::Header;
use groundwave_engine::{Engine, Next, Replayed};
use groundwave_io::changes::{self, Change};
use groundwave_io::journal;
use groundwave_systems::history::History;
use groundwave_systems::terrain::Terrain;
use groundwave_systems::{Snapshot, world};
use serde::Serialize;

use super::failure::Failure;
use super::ground::GroundArgs;
use super::log::tick_at;
use super::output::{self, Output};
use fork::Fork;
use measured::Summary;
use watch::{Pace, Watch};

const EXAMPLES: &str = "\
Examples:
  groundwave run scenarios/failover.toml --record run.gwlog
  groundwave replay run.gwlog
  groundwave replay run.gwlog --speed 10x --from 20 --to 60 --step 5
  groundwave replay run.gwlog --with changes.toml --report whatif.html
  groundwave replay run.gwlog --threads 1 --json | jq .digest

Changes are a TOML file:
  [[change]]
  at_s = 60
  fail = \"north\"            # or repair, or remove
  [[change]]
  at_s = 60
  node = \"south\"            # with height_agl_m, radio, antenna, tx_power_dbm
  height_agl_m = 30";

/// Replay a recorded log and compare digests, to the bit
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Replay {
    /// Log file made by `run --record`
    log: PathBuf,

    #[command(flatten)]
    ground: GroundArgs,

    /// Pace, as a multiple of real time such as `10x`, or `max`
    #[arg(long, value_name = "PACE", default_value = "max")]
    speed: Pace,

    /// Show and report from this simulated time on, s
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    from: f64,

    /// Stop at this simulated time, s [default: the log's end]
    #[arg(long, value_name = "SECONDS")]
    to: Option<f64>,

    /// Show the mesh every so many simulated seconds [default: 1 with a --speed, else never]
    #[arg(long, value_name = "SECONDS")]
    step: Option<f64>,

    /// Fail unless at least one digest was compared
    #[arg(long, conflicts_with = "with")]
    check: bool,

    /// Tell how what was measured compares with the model
    #[arg(long)]
    measured: bool,

    /// Change the world as this file says, and show what that makes of it
    #[arg(long, value_name = "FILE")]
    with: Option<PathBuf>,

    /// Write a page with pictures and tables, complete in itself
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
}

/// A finished replay.
pub struct Run {
    /// What it was of.
    pub header: Header,
    /// What it came to.
    pub replayed: Replayed,
    /// The mesh over time.
    pub history: History,
    /// The world in the end.
    pub engine: Engine<Snapshot>,
    /// What was changed, in words.
    pub changed: Vec<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    digest: &'a str,
    from_tick: u64,
    ticks: u64,
    commands: u64,
    marks_compared: u64,
    /// Apart from the last measurements, which are the snapshot's.
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Summary>,
    torn_bytes: u64,
    #[serde(flatten)]
    snapshot: &'a Snapshot,
}

impl Replay {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let changes = self.with.as_deref().map(changes::load).transpose();
        let changes = changes.map_err(Failure::input)?;
        let header = journal::open(&self.log)
            .map_err(Failure::input)?
            .header()
            .clone();
        // Opening it reads every tile, to tell whether they are those of the log: once is enough.
        let ground = self.ground.for_log(&header.inputs)?;
        let run = self.once(&ground.terrain, &[], self.watch(output)?)?;
        let fork = match &changes {
            // As fast as can be: the first one was watched.
            Some(changes) => Some(self.once(&ground.terrain, changes, None)?),
            None => None,
        };
        if self.check && run.replayed.marks == 0 {
            let what = "the log holds no digest to compare with, up to where it was replayed";
            return Err(Failure::Input(what.to_owned()));
        }
        if let Some(path) = &self.report {
            let page = report::page(&run, fork.as_ref());
            let written = std::fs::write(path, page);
            written.map_err(|err| {
                Failure::Input(format!("write the report {}: {err}", path.display()))
            })?;
        }
        match &fork {
            Some(fork) => Fork::of(&run, fork).show(output),
            None => show(&run, output),
        }
    }

    fn watch(&self, output: Output) -> Result<Option<Watch>, Failure> {
        let step_s = match (self.step, self.speed) {
            (None, Pace::Max) => return Ok(None),
            (step, _) => step.unwrap_or(1.0),
        };
        if !(step_s > 0.0 && step_s <= 1e9) {
            let what = format!("--step is {step_s}; allowed: more than 0 seconds");
            return Err(Failure::Input(what));
        }
        Ok(Some(Watch::new(self.speed, self.from, step_s, output)))
    }

    /// One pass over the log, with `changes`.
    fn once(
        &self,
        terrain: &Arc<dyn Terrain>,
        changes: &[Change],
        mut watch: Option<Watch>,
    ) -> Result<Run, Failure> {
        let mut log = journal::open(&self.log).map_err(Failure::input)?;
        let header = log.header().clone();
        let from = tick_at(&header, "--from", self.from)?;
        let to = self.to.map(|to| tick_at(&header, "--to", to));
        let to = to.transpose()?.unwrap_or(u64::MAX);
        let mut changer = fork::Changer::new(changes);
        let build = || world(Arc::clone(terrain)).build::<Snapshot>(header.seed, header.step_ns);
        // Up to here nothing is shown and nothing changed: the tick shown first is made, and so is
        // the one after which the first change is queued.
        let begin = (from - 1).min(changer.first_tick(&header).saturating_sub(2));
        let resumed = groundwave_engine::resume(build, &mut log, begin);
        let mut engine = resumed.map_err(Failure::input)?;
        let wanted = self.report.is_some() || self.with.is_some() || self.measured;
        let mut history = History::default();
        let progress = indicatif::ProgressBar::new_spinner();
        let mut failed = None;
        let observer = |engine: &mut Engine<Snapshot>| -> Next {
            let view = engine.view();
            if wanted && view.tick >= from {
                history.note(&view, true);
            }
            match &mut watch {
                Some(watch) => {
                    if let Err(err) = watch.show(&view) {
                        failed = Some(err);
                        return Next::Stop;
                    }
                }
                None => {
                    progress.set_message(format!("tick {}", view.tick));
                    progress.tick();
                }
            }
            if view.tick >= to {
                return Next::Stop;
            }
            match changer.inject(engine) {
                Ok(next) => next,
                Err(err) => {
                    failed = Some(err);
                    Next::Stop
                }
            }
        };
        let replayed = groundwave_engine::replay(&mut engine, &mut log, observer);
        progress.finish_and_clear();
        if let Some(failure) = failed {
            return Err(failure);
        }
        let changed = changer.finish()?;
        Ok(Run {
            header,
            replayed: replayed.map_err(Failure::input)?,
            history,
            engine,
            changed,
        })
    }
}

fn show(run: &Run, output: Output) -> Result<(), Failure> {
    let Replayed {
        ticks,
        commands,
        marks,
        torn_bytes,
        digest,
        from,
    } = &run.replayed;
    if output.json {
        return output.json(&Document {
            digest,
            from_tick: *from,
            ticks: *ticks,
            commands: *commands,
            marks_compared: *marks,
            comparison: Summary::of(&run.history.levels, run.begin_unix_s()),
            torn_bytes: *torn_bytes,
            snapshot: &run.engine.view(),
        });
    }
    let proof = match marks {
        0 => "the log holds no digest to compare with".to_owned(),
        1 => "its digest is the log's".to_owned(),
        marks => format!("all {marks} digests are the log's"),
    };
    let levels = Summary::of(&run.history.levels, run.begin_unix_s());
    let levels = levels.map_or_else(String::new, |levels| {
        let table = measured::table(&run.history.levels, &run.engine.view());
        format!("{}\n{}", levels.words(), output::table(&table, None))
    });
    let made = match from {
        0 => format!("{ticks} ticks"),
        from => format!("ticks {from} to {ticks}, from a checkpoint on"),
    };
    let torn = if *torn_bytes > 0 {
        format!(
            "{}\n",
            output::warning(&format!("a torn tail of {torn_bytes} bytes was dropped"))
        )
    } else {
        String::new()
    };
    output.text(&format!(
        "{}\n{made}, {commands} commands replayed; {proof}\n{torn}{levels}{}\n",
        output::heading(run.title()),
        output::faint(&format!("digest {digest}"))
    ))
}

impl Run {
    /// Time its clock counts from, s since the Unix epoch, if the log tells.
    pub fn begin_unix_s(&self) -> Option<f64> {
        self.header.inputs.get("begin_unix_s")?.parse().ok()
    }

    /// What the recorded run was called.
    pub fn title(&self) -> &str {
        let title = self.header.inputs.get("title");
        title.map_or("a log without a title", String::as_str)
    }
}
