//! Replay: fold a log over a fresh world and prove that it comes to the same.

use std::io::Read;

use thiserror::Error;

use crate::log::{Entry, LogError, Reader};
use crate::view::Snapshot;
use crate::{Broken, Engine};

/// What a replay came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replayed {
    /// Ticks made.
    pub ticks: u64,
    /// Commands applied.
    pub commands: u64,
    /// Marks whose digest was compared, all equal.
    pub marks: u64,
    /// Bytes of a torn tail that was dropped.
    pub torn_bytes: u64,
    /// Digest at the end.
    pub digest: String,
}

/// Why a replay stopped.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The log cannot be read further.
    #[error(transparent)]
    Log(#[from] LogError),
    /// A command of the log is unknown here or has another form.
    #[error("tick {tick}: {what}")]
    Command {
        /// Its tick.
        tick: u64,
        /// What is wrong with it.
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
    /// The world came to something else.
    #[error("tick {tick}: the log says digest {logged}, the replay came to {replayed}")]
    Diverged {
        /// The tick of the mark.
        tick: u64,
        /// Digest in the log.
        logged: String,
        /// Digest here.
        replayed: String,
    },
    /// The world broke, as it may have broken when the log was made.
    #[error(transparent)]
    Broken(#[from] Broken),
}

/// Folds `log` over `engine`, which must be fresh and built with the header's seed and step.
/// `progress` hears each tick made.
///
/// # Errors
/// See [`ReplayError`]; the first difference stops the replay.
pub fn replay<S: Snapshot, R: Read>(
    engine: &mut Engine<S>,
    log: &mut Reader<R>,
    mut progress: impl FnMut(u64),
) -> Result<Replayed, ReplayError> {
    let mut outcome = Replayed {
        ticks: 0,
        commands: 0,
        marks: 0,
        torn_bytes: 0,
        digest: String::new(),
    };
    let mut pending: Option<(u64, u64)> = None;
    while let Some(entry) = log.next_entry()? {
        let at = match &entry {
            Entry::Command(record) => record.tick,
            Entry::Mark(mark) => mark.tick,
        };
        if let Some((tick, wall_ns)) = pending
            && at > tick
        {
            run_to(engine, tick - 1, None, &mut progress)?;
            run_to(engine, tick, Some(wall_ns), &mut progress)?;
            pending = None;
        }
        let done = pending.map_or(engine.clock().tick, |(tick, _)| tick - 1);
        match entry {
            Entry::Command(record) => {
                if record.tick <= done {
                    return Err(ReplayError::Order {
                        from: done,
                        to: record.tick,
                    });
                }
                let command = engine
                    .registry()
                    .from_bytes(&record.name, &record.body)
                    .map_err(|what| ReplayError::Command {
                        tick: record.tick,
                        what,
                    })?;
                engine.script(record.tick, command);
                pending = Some((record.tick, record.wall_ns));
                outcome.commands += 1;
            }
            Entry::Mark(mark) => {
                if let Some((tick, wall_ns)) = pending.take() {
                    run_to(engine, tick - 1, None, &mut progress)?;
                    run_to(engine, tick, Some(wall_ns), &mut progress)?;
                }
                run_to(engine, mark.tick, None, &mut progress)?;
                let replayed = engine.digest();
                if replayed != mark.digest {
                    let (tick, logged) = (mark.tick, mark.digest);
                    return Err(ReplayError::Diverged {
                        tick,
                        logged,
                        replayed,
                    });
                }
                outcome.marks += 1;
            }
        }
    }
    if let Some((tick, wall_ns)) = pending {
        run_to(engine, tick - 1, None, &mut progress)?;
        run_to(engine, tick, Some(wall_ns), &mut progress)?;
    }
    outcome.ticks = engine.clock().tick;
    outcome.torn_bytes = log.torn_bytes();
    outcome.digest = engine.digest();
    Ok(outcome)
}

fn run_to<S: Snapshot>(
    engine: &mut Engine<S>,
    tick: u64,
    wall_ns: Option<u64>,
    progress: &mut impl FnMut(u64),
) -> Result<(), Broken> {
    while engine.clock().tick < tick {
        engine.tick(wall_ns)?;
        progress(engine.clock().tick);
    }
    Ok(())
}
