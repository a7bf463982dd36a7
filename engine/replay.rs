//! Replay: apply a log to a fresh world and compare the digests.

use std::collections::BTreeMap;
use std::io::{Read, Seek};
use std::ops::ControlFlow;

use bevy_ecs::world::World;
use thiserror::Error;

use crate::log::{Checkpoint, Entry, LogError, Mark, Part, Reader};
use crate::view::Snapshot;
use crate::{Broken, BuildError, Engine};

/// Summary of a replay.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Replayed {
    /// Tick of the checkpoint it began with; 0 for the beginning.
    pub from: u64,
    /// The last tick that was run.
    pub ticks: u64,
    /// Commands applied.
    pub commands: u64,
    /// Marks whose digest was compared, all equal.
    pub marks: u64,
    /// Bytes of a torn tail that was dropped.
    pub torn_bytes: u64,
    /// The first [`REFUSED_MAX`] commands of the log that the world refused.
    pub refused: Vec<RefusedCommand>,
    /// Number of all commands that the world refused.
    pub refused_count: u64,
    /// Digest at the end.
    pub digest: String,
}

/// Refused commands that a summary names.
pub const REFUSED_MAX: usize = 10_000;

/// A command of a log that the world refused.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
pub struct RefusedCommand {
    /// Tick of the command.
    pub tick: u64,
    /// Name of the command.
    pub command: String,
    /// Reason of the refusal.
    pub reason: String,
}

/// Errors that stop a replay.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The log cannot be read further.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A command of the log is unknown here or has another form.
    #[error("tick {tick}: {what}")]
    Command {
        /// Tick of the command.
        tick: u64,
        /// Description of the error.
        what: String,
    },
    /// The state that the log begins with does not fit.
    #[error("the state the log begins with: {what}")]
    Beginning {
        /// Description of the error.
        what: String,
    },
    /// The log goes back in time.
    #[error("the log goes back from tick {from} to tick {to}")]
    Order {
        /// The later tick, which came first.
        from: u64,
        /// The earlier tick.
        to: u64,
    },
    /// The digest differs from that in the log.
    #[error("tick {tick}: {what}: digest {logged} in the log, {replayed} in the replay")]
    Diverged {
        /// The tick of the mark.
        tick: u64,
        /// The first thing that differs.
        what: String,
        /// Digest in the log.
        logged: String,
        /// Digest of the replay.
        replayed: String,
    },
    /// The world came to something else because it read other files.
    #[error("tick {tick}: {what}")]
    Files {
        /// The tick of the mark.
        tick: u64,
        /// The files that differ.
        what: String,
    },
    /// The world cannot be built.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// The world broke, as it may have broken when the log was made.
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// Observer's choice after a tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// The next tick.
    Go,
    /// The next tick, of another world than the log's: it was changed, and marks no longer count.
    Fork,
    /// Nothing more.
    Stop,
}

/// A world at the last checkpoint of `log` that is not after `tick`, to be handed to [`replay`]
/// together; a fresh one at the log's beginning where there is none. Checkpoints that do not fit,
/// as another version may have written them, are passed over. `build` makes fresh worlds with the
/// header's seed and step.
///
/// # Errors
/// When the log cannot be read or a world cannot be built.
pub fn resume<S: Snapshot, R: Read + Seek>(
    mut build: impl FnMut() -> Result<Engine<S>, BuildError>,
    log: &mut Reader<R>,
    mut tick: u64,
) -> Result<Engine<S>, ReplayError> {
    loop {
        let mut engine = build()?;
        let Some(checkpoint) = log.checkpoint(tick)? else {
            return Ok(engine);
        };
        match engine.take_up(&checkpoint) {
            Ok(()) => return Ok(engine),
            Err(what) => tracing::warn!(tick = checkpoint.tick, what, "a checkpoint does not fit"),
        }
        let Some(before) = checkpoint.tick.checked_sub(1) else {
            return Ok(build()?);
        };
        tick = before;
    }
}

/// Applies `log` to `engine`, which must be fresh and built with the header's seed and step, or
/// come from [`resume`] of this log. A log that begins with a checkpoint is of a world that was not
/// empty: a fresh one takes it up. `observer` sees the world after each tick, and may inject
/// commands for the next one.
///
/// # Errors
/// See [`ReplayError`]; the first difference stops the replay.
pub fn replay<S: Snapshot, R: Read>(
    engine: &mut Engine<S>,
    log: &mut Reader<R>,
    observer: impl FnMut(&mut Engine<S>) -> Next,
) -> Result<Replayed, ReplayError> {
    let mut outcome = Replayed { from: engine.clock().tick, ..Replayed::default() };
    let mut fold = Fold {
        engine,
        observer,
        beginning: (outcome.from == 0).then(Vec::new),
        pending: None,
        forked: !log.has_results(),
        refused: Vec::new(),
        refused_count: 0,
    };
    let folded = fold.all(log, &mut outcome);
    (outcome.refused, outcome.refused_count) = (fold.refused, fold.refused_count);
    if let ControlFlow::Break(Some(error)) = folded {
        return Err(error);
    }
    outcome.ticks = engine.clock().tick;
    outcome.torn_bytes = log.torn_bytes();
    outcome.digest = engine.digest();
    Ok(outcome)
}

struct Fold<'a, S: Snapshot, F> {
    engine: &'a mut Engine<S>,
    observer: F,
    /// Parts of the checkpoint that the log begins with; nothing once that is over.
    beginning: Option<Vec<Part>>,
    /// Tick and wall clock of commands that are queued.
    pending: Option<(u64, u64)>,
    forked: bool,
    refused: Vec<RefusedCommand>,
    refused_count: u64,
}

/// Breaks with an error, or, where the observer has seen enough, with none.
type Flow = ControlFlow<Option<ReplayError>>;

impl<S: Snapshot, F: FnMut(&mut Engine<S>) -> Next> Fold<'_, S, F> {
    fn all<R: Read>(&mut self, log: &mut Reader<R>, outcome: &mut Replayed) -> Flow {
        loop {
            let entry = match log.next_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => return self.settle(),
                Err(err) => return ControlFlow::Break(Some(err.into())),
            };
            if self.pending.is_some_and(|(tick, _)| entry.tick() > tick) {
                self.settle()?;
            }
            if !matches!(entry, Entry::Checkpoint(_)) {
                self.beginning = None;
            }
            match entry {
                Entry::Command(record) => {
                    let (tick, wall_ns) = (record.tick, record.wall_ns);
                    let at = self.engine.clock().tick;
                    let last_tick = self.pending.map_or(at, |(tick, _)| tick - 1);
                    let broken = |error| ControlFlow::Break(Some(error));
                    if tick <= last_tick {
                        return broken(ReplayError::Order { from: last_tick, to: tick });
                    }
                    let command = self.engine.registry().from_bytes(&record.name, &record.body);
                    match command {
                        Ok(command) => self.engine.script(tick, command),
                        Err(what) => return broken(ReplayError::Command { tick, what }),
                    }
                    self.pending = Some((tick, wall_ns));
                    outcome.commands += 1;
                }
                // Later ones are shortcuts for those who begin there.
                Entry::Checkpoint(part) => self.begin_with(part)?,
                Entry::Mark(mark) => {
                    self.settle()?;
                    self.run_to(mark.tick, None)?;
                    if !self.forked && !mark.digest.is_empty() {
                        self.compare(mark)?;
                        outcome.marks += 1;
                    }
                }
            }
        }
    }

    /// Takes up the state that the log begins with, once all of it is there.
    fn begin_with(&mut self, part: Part) -> Flow {
        let last = part.last;
        if let Some(parts) = &mut self.beginning {
            parts.push(part);
        }
        let Some(parts) = self.beginning.take_if(|_| last) else {
            return ControlFlow::Continue(());
        };
        let outcome =
            Checkpoint::join(parts).and_then(|checkpoint| self.engine.take_up(&checkpoint));
        match outcome {
            Ok(()) => ControlFlow::Continue(()),
            Err(what) => ControlFlow::Break(Some(ReplayError::Beginning { what })),
        }
    }

    /// Runs the tick of the commands that are queued.
    fn settle(&mut self) -> Flow {
        let Some((tick, wall_ns)) = self.pending.take() else {
            return ControlFlow::Continue(());
        };
        self.run_to(tick - 1, None)?;
        self.run_to(tick, Some(wall_ns))
    }

    fn run_to(&mut self, tick: u64, wall_ns: Option<u64>) -> Flow {
        while self.engine.clock().tick < tick {
            let ticked = match self.engine.tick(wall_ns) {
                Ok(ticked) => ticked,
                Err(broken) => return ControlFlow::Break(Some(broken.into())),
            };
            self.refused_count += ticked.refused.len() as u64;
            let remainder = REFUSED_MAX - self.refused.len();
            let refused = ticked.refused.into_iter().take(remainder).map(|(command, refusal)| {
                let (command, reason) = (command.to_owned(), refusal.to_string());
                RefusedCommand { tick: ticked.tick, command, reason }
            });
            self.refused.extend(refused);
            match (self.observer)(self.engine) {
                Next::Go => {}
                Next::Fork => self.forked = true,
                Next::Stop => return ControlFlow::Break(None),
            }
        }
        ControlFlow::Continue(())
    }

    fn compare(&self, mark: Mark) -> Flow {
        let replayed = self.engine.digest();
        if replayed == mark.digest {
            return ControlFlow::Continue(());
        }
        if let Some(what) = other_files::<S>(&mark.files, self.engine.world()) {
            let tick = mark.tick;
            return ControlFlow::Break(Some(ReplayError::Files { tick, what }));
        }
        let what = difference(&mark, &*self.engine.view());
        ControlFlow::Break(Some(ReplayError::Diverged {
            tick: mark.tick,
            what,
            logged: mark.digest,
            replayed,
        }))
    }
}

/// Files of a log that are missing here or are others; nothing where they are the same, or the log
/// does not name them.
fn other_files<S: Snapshot>(logged: &BTreeMap<String, String>, world: &World) -> Option<String> {
    if logged.is_empty() {
        return None;
    }
    let wrong = |(name, digest): (&String, &String)| match S::file_digest(world, name) {
        None => Some(format!("{name} is missing")),
        Some(other) if other != *digest => {
            let (other, digest) = (shortened(&other), shortened(digest));
            Some(format!("{name} is another one: found SHA-256 {other}, recorded {digest}"))
        }
        Some(_) => None,
    };
    let files = S::files(world);
    let added = files
        .keys()
        .filter(|name| !logged.contains_key(*name))
        .map(|name| format!("{name} is there, and was not when the log was recorded"));
    let all: Vec<String> = logged.iter().filter_map(wrong).chain(added).collect();
    Some(all.join("; ")).filter(|what| !what.is_empty())
}

/// The first digits of a digest.
fn shortened(digest: &str) -> &str {
    digest.get(..16).unwrap_or(digest)
}

/// The first thing in which `view` differs from `mark`.
fn difference<S: Snapshot>(mark: &Mark, view: &S) -> String {
    let ours = view.parts();
    for (part, logged) in &mark.parts {
        let Some((_, current)) = ours.iter().find(|(name, _)| name == part) else {
            return format!("this version has no {part}");
        };
        let same = logged.iter().zip(current).take_while(|(a, b)| a == b).count();
        if same < logged.len().min(current.len()) {
            let label = view.label(part, same);
            return format!("{} differs", label.unwrap_or_else(|| part.clone()));
        }
        if logged.len() != current.len() {
            let (logged, current) = (logged.len(), current.len());
            return format!("there are {current} {part}, {logged} in the log");
        }
    }
    "something outside the parts differs".to_owned()
}
