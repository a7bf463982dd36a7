//! Injection of changes into a replay, at their times.

use groundwave_engine::log::Header;
use groundwave_engine::{Clock, Engine, Next, Refusal};
use groundwave_simulation::{MeshSnapshot, WorldView};
use thiserror::Error;
use tokio::sync::oneshot::Receiver;

use super::Change;

/// A change that could not be made.
#[derive(Debug, Error)]
pub enum ChangeError {
    /// The world refused it, or it names what is not there.
    #[error("change at {at_s} s ({change}): {what}")]
    Invalid {
        /// Time of the change, s.
        at_s: f64,
        /// Description of the change.
        change: String,
        /// Cause.
        what: String,
    },
    /// Time after the end of the replay.
    #[error("change at {at_s} s: later than the end of the replay")]
    Late {
        /// Time of the change, s.
        at_s: f64,
    },
    /// The world takes no command.
    #[error("inject a change: {0}")]
    World(String),
}

/// Queue of changes, injected into the engine at their times.
pub struct Changer<'a> {
    waiting: &'a [Change],
    /// Changes of the next tick, and what came of them.
    injected: Vec<(&'a Change, Receiver<Result<(), Refusal>>)>,
    /// Applied changes as text.
    applied_changes: Vec<String>,
}

impl<'a> Changer<'a> {
    /// A queue of changes in the order of their times.
    #[must_use]
    pub fn new(changes: &'a [Change]) -> Self {
        Self { waiting: changes, injected: Vec::new(), applied_changes: Vec::new() }
    }

    /// Tick of the first change; `u64::MAX` without one.
    #[must_use]
    pub fn first_tick(&self, header: &Header) -> u64 {
        let clock = Clock::new(header.step_ns);
        let first = self.waiting.first();
        first.map_or(u64::MAX, |change| clock.tick_at(change.at_ns))
    }

    /// Fails where the world refused a change of the tick that ended.
    ///
    /// # Errors
    /// [`ChangeError::Invalid`] or [`ChangeError::Late`].
    pub fn settle(&mut self, now: &WorldView) -> Result<(), ChangeError> {
        for (change, mut outcome) in std::mem::take(&mut self.injected) {
            match outcome.try_recv() {
                Ok(Ok(())) => {
                    self.applied_changes.push(format!("{} s: {}", change.at_s(), change.describe()))
                }
                Ok(Err(refusal)) => {
                    return Err(invalid(change, now.with_names(&refusal.to_string())));
                }
                Err(_) => return Err(late(change)),
            }
        }
        Ok(())
    }

    /// Injects the changes due in the next tick.
    ///
    /// # Errors
    /// [`ChangeError::Invalid`] or [`ChangeError::World`].
    pub fn inject<S: MeshSnapshot>(&mut self, engine: &mut Engine<S>) -> Result<Next, ChangeError> {
        let next = engine.clock().tick + 1;
        while let Some((change, rest)) = self.waiting.split_first()
            && engine.clock().tick_at(change.at_ns).max(2) <= next
        {
            let view = engine.view();
            let now: &WorldView = (*view).as_ref();
            let wrong = |what: String| invalid(change, now.with_names(&what));
            let (name, body) = change.command(now).map_err(wrong)?;
            let command = engine.registry().from_json(&name, body).map_err(wrong)?;
            let outcome = engine
                .inject_watched(command)
                .map_err(|err| ChangeError::World(err.to_string()))?;
            self.injected.push((change, outcome));
            self.waiting = rest;
        }
        Ok(match self.injected.is_empty() {
            true => Next::Go,
            false => Next::Fork,
        })
    }

    /// Applied changes as text.
    ///
    /// # Errors
    /// [`ChangeError::Late`] where a change was not reached.
    pub fn finish(self) -> Result<Vec<String>, ChangeError> {
        let pending = self.injected.first().map(|(change, _)| *change);
        match pending.or(self.waiting.first()) {
            None => Ok(self.applied_changes),
            Some(change) => Err(late(change)),
        }
    }
}

fn late(change: &Change) -> ChangeError {
    let at_s = change.at_s();
    ChangeError::Late { at_s }
}

fn invalid(change: &Change, what: String) -> ChangeError {
    ChangeError::Invalid { at_s: change.at_s(), change: change.describe(), what }
}
