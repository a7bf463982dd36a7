//! Space for what a tick writes, reserved before its commands are applied.
//!
//! A command that was applied but not stored could neither be acknowledged nor undone. So commands
//! that arrive while the disk is full are refused, and the world goes on by itself when it is not.

use super::Engine;
use crate::handle::Health;
use crate::limits::COMMANDS_PER_TICK_MAX;
use crate::{FaultKind, Refusal, Snapshot};

impl<S: Snapshot> Engine<S> {
    /// Looks for space for the next tick in log and store, and refuses the commands that wait while
    /// there is none. Commands of a script are not refused: a run without space ends.
    ///
    /// # Errors
    /// A failure that does not pass.
    pub(super) fn space(&mut self) -> Result<bool, String> {
        let scripted = self.script.front().is_some_and(|(due, _)| *due <= self.clock().tick + 1);
        let was_full = matches!(self.health.get(), Health::Full(_));
        if scripted || (self.inbox.is_empty() && !was_full) {
            return Ok(true);
        }
        let Err((kind, what)) = self.ask_for_space() else {
            if was_full {
                tracing::info!("storage has space again: commands are taken");
                self.health.set(Health::Ready);
            }
            return Ok(true);
        };
        if !kind.may_pass() {
            return Err(what);
        }
        if !was_full {
            tracing::error!(what, "storage is full: commands are refused until it has space");
        }
        self.health.set(Health::Full(what.clone()));
        let refusal = Refusal::Full { what };
        for _ in 0..COMMANDS_PER_TICK_MAX {
            let Ok(command) = self.inbox.try_recv() else {
                break;
            };
            command.refuse(&refusal);
        }
        Ok(false)
    }

    fn ask_for_space(&mut self) -> Result<(), (FaultKind, String)> {
        let space = self.journal.space();
        space.map_err(|err| (FaultKind::of(&err), format!("the log: {err}")))?;
        let space = self.store.space();
        space.map_err(|fault| (fault.kind, fault.to_string()))
    }

    /// Asks for space if there was none, so that a world without commands notices that there is.
    pub(crate) fn look_for_space(&mut self) {
        if matches!(self.health.get(), Health::Full(_)) && self.inbox.is_empty() {
            // A failure that does not pass is that of the next tick.
            let _ = self.space();
        }
    }
}
