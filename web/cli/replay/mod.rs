//! `replay`: replay a log, compare digests, and compare with a changed replay.

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
use groundwave_gateway::{Snapshot, world};
use groundwave_http::Failure;
use groundwave_http::option_value::require_file_if_some;
use groundwave_model::EVALUATION;
use groundwave_model::link::{Probe, ProbeRate};
use groundwave_model::terrain::Terrain;
use groundwave_planning::{ReplayWorld, Replaying, open_log, replay_player};
use groundwave_scenario::changes;
use groundwave_scenario::changes::{Change, ChangeError, Changer};
use groundwave_setup::terrain::{REMEDY, TerrainOptions};
use groundwave_simulation::evaluation;
use groundwave_simulation::history::History;
use groundwave_store::journal_file;
use serde::Serialize;

use super::log::span;
use super::output::{self, Output};
use super::placeholders;
use super::quantity::{self, LINE_STEP_S, probe_rate};
use fork::Fork;
use measured::Summary;
use watch::{Speed, Watch};

const EXAMPLES: &str = "\
Examples:
  groundwave record scenarios/failover.toml -o run.gwlog
  groundwave replay run.gwlog
  groundwave replay run.gwlog --speed 10x --from 20 --to 60 --step 5
  groundwave replay run.gwlog --with examples/changes.toml --report whatif.html
  groundwave replay run.gwlog --html run.html
  groundwave replay run.gwlog --threads 1 --json | jq .digest

Changes are a TOML file; nodes by label or by name:
  [[change]]
  at_s = 60
  fail = \"north\"            # or repair, or remove
  [[change]]
  at_s = 60
  node = \"south\"            # with height_agl_m, radio, antenna, tx_power_dbm
  height_agl_m = 30
  [[change]]
  at_s = 60
  add = \"relay\"             # or move; with lat_deg and lon_deg, add also with a station
  lat_deg = 57.7
  lon_deg = 11.9
  height_agl_m = 12
  radio = \"wifi_5g_mesh\"
  [[change]]
  at_s = 60
  cut = [\"north\", \"south\"]  # or mend
  [[change]]
  at_s = 60
  rain_rate_mm_h = 40
  [[change]]
  at_s = 60
  command = \"node.fail\"     # any command, as `log cat --json` shows it
  body = { node = \"south\" }";

/// Replay a recorded log and compare digests
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Replay {
    /// Log file made by `run --record`
    log: PathBuf,

    #[command(flatten)]
    ground: TerrainOptions,

    /// Multiple of real time such as `10x`, or `max`
    #[arg(long, value_name = "SPEED", default_value = "max", allow_hyphen_values = true)]
    speed: Speed,

    /// First simulated time shown and reported, s
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0)]
    from: f64,

    /// Last simulated time, s [default: the end of the log]
    #[arg(long, value_name = "SECONDS")]
    to: Option<f64>,

    /// Simulated seconds between status lines [default: 1 with --speed, else none]
    #[arg(long, value_name = "SECONDS")]
    step: Option<f64>,

    /// Fail when the log holds no digest to compare
    #[arg(long, conflicts_with = "with")]
    check: bool,

    /// Compare measurements of the log with the model
    #[arg(long)]
    measured: bool,

    /// Rate of the probes by which the recorded protocol measured links, to compare the shares that arrived with:
    /// dsss_1, ofdm_6, ofdm_12 or ofdm_24 [default: the probe of the log, if it has one]
    #[arg(long, value_name = "RATE", value_parser = probe_rate)]
    probe: Option<ProbeRate>,

    /// File with changes of the simulation; shows the differences they make
    #[arg(long, value_name = "FILE")]
    with: Option<PathBuf>,

    /// Write an HTML report with pictures and tables, without external resources; an existing
    /// file is written over; `-` is standard output
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    /// Write a player of the replay as one HTML file that needs no network, with up to 600 frames;
    /// with --with it plays the changed replay; an existing file is written over; `-` is standard output
    #[arg(long, value_name = "FILE", conflicts_with_all = ["from", "to"])]
    html: Option<PathBuf>,
}

/// A finished replay.
pub struct Run {
    /// Header of the log.
    pub header: Header,
    /// Result of the replay.
    pub replayed: Replayed,
    /// The mesh over time.
    pub history: History,
    /// The engine after the last tick.
    pub engine: Engine<Snapshot>,
    /// Applied changes as text.
    pub changed: Vec<String>,
}

#[derive(Serialize)]
struct Document<'a> {
    digest: &'a str,
    from_tick: u64,
    ticks: u64,
    commands: u64,
    marks_compared: u64,
    /// Statistics of all measurements; the snapshot holds the last ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    comparison: Option<Summary>,
    torn_bytes: u64,
    #[serde(flatten)]
    snapshot: &'a Snapshot,
}

impl Replay {
    /// Refuses to write over a file that is read, or two documents into one file.
    fn refuse_shared(&self) -> Result<(), Failure> {
        let written = output::named("--report", &self.report);
        let written: Vec<_> = written.chain(output::named("--html", &self.html)).collect();
        let read = output::named("the log", [&self.log]);
        let read: Vec<_> = read.chain(output::named("--with", &self.with)).collect();
        output::refuse_shared(&written, &read)
    }

    /// Refuses standard output for a document where something else goes there; `true` if a document does.
    fn is_written_to_stdout(&self, output: Output) -> Result<bool, Failure> {
        let (report, html) = (self.report.as_deref(), self.html.as_deref());
        let has_lines = self.watch(output)?.is_some();
        for (name, path) in [("--report", report), ("--html", html)] {
            let Some(path) = path else { continue };
            output.refuse_stdout(name, path)?;
            if has_lines {
                output::refuse_stdout_beside(name, path, "the status lines of --step and --speed")?;
            }
        }
        let is_report = report.is_some_and(output::is_stdio);
        if let Some(html) = html.filter(|_| is_report) {
            output::refuse_stdout_beside("--html", html, "--report")?;
        }
        Ok(is_report || html.is_some_and(output::is_stdio))
    }

    pub fn run(mut self, output: Output) -> Result<(), Failure> {
        let is_written_to_stdout = self.is_written_to_stdout(output)?;
        self.refuse_shared()?;
        let changes = "changes of the simulation (TOML)";
        require_file_if_some("--with", self.with.as_deref(), changes)?;
        let whole = super::log::local(&self.log)?;
        self.log = whole.path().to_owned();
        let changes =
            self.with.as_deref().map(changes::load).transpose().map_err(Failure::input)?;
        let header = journal_file::open(&self.log).map_err(Failure::input)?.header().clone();
        // Opened once: tiles that were read are kept.
        let ground = self.ground.for_log(&header.inputs)?;
        let run = self.replay_once(&ground.terrain, &[], self.watch(output)?)?;
        if self.measured || self.probe.is_some() {
            placeholders::refuse(&run.history.levels, &run.engine.view())?;
        }
        let fork = match &changes {
            // Without status lines: the first replay showed them.
            Some(changes) => Some(self.replay_once(&ground.terrain, changes, None)?),
            None => None,
        };
        ground.check_tiles()?;
        if self.check && run.replayed.marks == 0 {
            let own = EVALUATION.to_string();
            let other = evaluation::recorded(&header).filter(|recorded| *recorded != own);
            let message = match other {
                None => "the replayed part of the log holds no digest to compare".to_owned(),
                Some(recorded) => format!(
                    "the digests of the log are those of evaluation {recorded} of links, this program has {own}: \
                     nothing to compare"
                ),
            };
            return Err(Failure::Input(message));
        }
        if let Some(path) = &self.report {
            let page = report::page(&run, fork.as_ref());
            let failed = |what: &str| format!("write report {}: {what}", path.display());
            output::write_whole(path, page.as_bytes()).map_err(|err| match err {
                Failure::Machine(what) => Failure::Input(failed(&what)),
                other => other,
            })?;
        }
        if let Some(path) = &self.html {
            let replayed = ReplayWorld::new::<Snapshot>(world);
            let log = open_log(replayed, &self.log)
                .map_err(Failure::Input)?
                .with_changes(changes.unwrap_or_default());
            let page = replay_player::html(Replaying {
                log: &log,
                world: replayed,
                terrain: &ground.terrain,
            })
            .map_err(|problem| Failure::Input(problem.detail))?;
            output::write_whole(path, page.as_bytes())?;
        }
        match &fork {
            _ if is_written_to_stdout => Ok(()),
            Some(fork) => Fork::of(&run, fork).show(output),
            None => show(&run, output),
        }
    }

    fn watch(&self, output: Output) -> Result<Option<Watch>, Failure> {
        let step_s = match (self.step, self.speed) {
            (None, Speed::Max) => return Ok(None),
            (step, _) => step.unwrap_or(1.0),
        };
        let step_s = quantity::step_s("--step", step_s, LINE_STEP_S)?;
        Ok(Some(Watch::new(self.speed, self.from, step_s, output)))
    }

    /// Replays the log once with `changes`.
    fn replay_once(
        &self,
        terrain: &Arc<dyn Terrain>,
        changes: &[Change],
        mut watch: Option<Watch>,
    ) -> Result<Run, Failure> {
        let mut log = journal_file::open(&self.log).map_err(Failure::input)?;
        evaluation::compare(&mut log);
        let header = log.header().clone();
        let (from, to) = span(&header, self.from, self.to)?;
        let mut changer = Changer::new(changes);
        let build = || world(Arc::clone(terrain)).build::<Snapshot>(header.seed, header.step_ns);
        // Nothing is shown or changed up to here: the first shown tick and the tick after which
        // the first change is queued are computed.
        let begin = (from - 1).min(changer.first_tick(&header).saturating_sub(2));
        let resumed = groundwave_engine::resume(build, &mut log, begin);
        let mut engine = resumed.map_err(Failure::input)?;
        let has_history =
            self.report.is_some() || self.with.is_some() || self.measured || self.probe.is_some();
        let mut history = History::default();
        history.levels.probe = self.probe.map(|rate| Probe { rate, ..Probe::default() });
        let progress = output::progress(0, "{spinner} {msg}  {elapsed} elapsed");
        let mut failed = None;
        let observer = |engine: &mut Engine<Snapshot>| -> Next {
            let view = engine.view();
            if has_history && view.tick >= from {
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
                }
            }
            let next = changer.settle(&view).and_then(|()| match view.tick >= to {
                true => Ok(Next::Stop),
                false => changer.inject(engine),
            });
            next.unwrap_or_else(|err| {
                failed = Some(change_failure(err));
                Next::Stop
            })
        };
        let replayed = groundwave_engine::replay(&mut engine, &mut log, observer);
        progress.finish_and_clear();
        if let Some(failure) = failed {
            return Err(failure);
        }
        let changed = changer.finish().map_err(change_failure)?;
        let end_tick = engine.clock().tick;
        if end_tick < from && from > 1 {
            let end_s = end_tick.saturating_sub(1) as f64 * header.step_ns as f64 * 1e-9;
            let from_s = self.from;
            return Err(Failure::Input(format!(
                "invalid --from: found {from_s} s, allowed 0 to {end_s} s, the end of the log"
            )));
        }
        let failed = |error| self.ground.replay_failure(error).within(&super::log::name(&self.log));
        Ok(Run { header, replayed: replayed.map_err(failed)?, history, engine, changed })
    }
}

fn change_failure(error: ChangeError) -> Failure {
    match error {
        ChangeError::World(_) => Failure::machine(error),
        error => Failure::input(error),
    }
}

fn show(run: &Run, output: Output) -> Result<(), Failure> {
    let Replayed { ticks, commands, marks, torn_bytes, digest, from, .. } = &run.replayed;
    if output.json {
        return output.json(&Document {
            digest,
            from_tick: *from,
            ticks: *ticks,
            commands: *commands,
            marks_compared: *marks,
            comparison: run.measured(),
            torn_bytes: *torn_bytes,
            snapshot: &run.engine.view(),
        });
    }
    let proof = match marks {
        0 => "no digest in the log to compare".to_owned(),
        1 => "its digest equals that of the log".to_owned(),
        marks => format!("all {marks} digests equal those of the log"),
    };
    let levels = run.measured();
    let levels = levels.map_or_else(String::new, |levels| {
        let table = measured::table(&run.history);
        format!("{}\n{}", levels.text(), output::table(&table, None))
    });
    let span = match from {
        0 => format!("{ticks} ticks"),
        from => format!("ticks {from} to {ticks}, from a checkpoint"),
    };
    let torn = if *torn_bytes > 0 {
        format!(
            "{}\n",
            output::warning(&format!("{torn_bytes} bytes of an incomplete last entry dropped"))
        )
    } else {
        String::new()
    };
    let gaps = output::gaps(&run.engine.view(), REMEDY)
        .map_or_else(String::new, |line| format!("{}\n", output::warning(&line)));
    output.text(&format!(
        "{}\n{span}, {commands} commands replayed; {proof}\n{torn}{gaps}{levels}{}\n",
        output::heading(run.title()),
        output::faint(&format!("digest {digest}"))
    ))
}

impl Run {
    /// Start of the simulated time, s since the Unix epoch, if known.
    pub fn begin_unix_s(&self) -> Option<f64> {
        self.header.inputs.get("begin_unix_s")?.parse().ok()
    }

    /// Summary of what was measured; `None` without measurements, or without positions to compare
    /// them at.
    pub fn measured(&self) -> Option<Summary> {
        let levels = &self.history.levels;
        match placeholders::nodes_without_position(levels, &self.engine.view()) {
            None => Summary::of(levels, self.begin_unix_s()),
            Some(_) => None,
        }
    }

    /// Title of the recorded run.
    pub fn title(&self) -> &str {
        let title = self.header.inputs.get("title");
        title.map_or("log without a title", String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        replay: Replay,
    }

    #[test]
    fn standard_output_has_one_document_of_a_replay() {
        let is_written = |line: &str, json: bool| {
            let replay = Line::parse_from(line.split(' ')).replay;
            replay.is_written_to_stdout(Output { json })
        };
        assert!(!is_written("replay a.gwlog --report a.html --html b.html", true).unwrap());
        assert!(is_written("replay a.gwlog --report -", false).unwrap());
        assert!(is_written("replay a.gwlog --report a.html --html -", false).unwrap());
        for (line, json, option) in [
            ("replay a.gwlog --report - --html -", false, "--html: found - beside --report"),
            ("replay a.gwlog --report -", true, "--report: found - beside --json"),
            ("replay a.gwlog --html -", true, "--html: found - beside --json"),
            ("replay a.gwlog --html - --step 1", false, "--html: found - beside the status lines"),
        ] {
            let error = is_written(line, json).unwrap_err();
            assert!(error.message().contains(option), "{line}: {error:?}");
        }
    }
}
