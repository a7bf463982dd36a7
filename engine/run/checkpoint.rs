//! Writing checkpoints into the log, and taking one up.

use std::sync::Arc;

use super::{Engine, guarded};
use crate::limits::{CHECKPOINT_BYTES_FREE, CHECKPOINT_BYTES_MAX, CHECKPOINT_SHARE_MAX};
use crate::log::{Checkpoint, Entry, Journal};
use crate::store::Row;
use crate::{Clock, Snapshot};

/// Interval of checkpoints, and bytes of the log so far.
#[derive(Debug, Default)]
pub(super) struct Due {
    /// Ticks between two; `None` writes none.
    every: Option<u64>,
    command_bytes: u64,
    checkpoint_bytes: u64,
    /// Bytes of the last checkpoint.
    bytes: u64,
}

impl Due {
    /// Counts a logged command of so many bytes.
    pub(super) fn logged(&mut self, bytes: usize) {
        self.command_bytes += bytes as u64;
    }

    /// `true` if another checkpoint, as long as the last, keeps within [`CHECKPOINT_BYTES_FREE`]
    /// plus [`CHECKPOINT_SHARE_MAX`] of the bytes of the commands, and within
    /// [`CHECKPOINT_BYTES_MAX`].
    fn affordable(&self) -> bool {
        let most = CHECKPOINT_BYTES_FREE + self.command_bytes * CHECKPOINT_SHARE_MAX;
        self.checkpoint_bytes + self.bytes <= most && self.bytes <= CHECKPOINT_BYTES_MAX as u64
    }
}

impl<S: Snapshot> Engine<S> {
    /// Writes a checkpoint into the log every so many ticks from now on, so that a replay can begin
    /// in the middle; see [`crate::log`]. One that would make checkpoints most of the log, by
    /// [`CHECKPOINT_SHARE_MAX`], is left out.
    ///
    /// # Panics
    /// When `ticks` is 0.
    pub fn checkpoint_every(&mut self, ticks: u64) -> &mut Self {
        assert!(ticks > 0, "a tick has one end");
        self.checkpoints.every = Some(ticks);
        self
    }

    /// Keeps a log of every command from now on, of a world that is not empty: it begins with the
    /// world as it is.
    ///
    /// # Errors
    /// When the state is too long for a log, or the log cannot be written.
    pub fn record_from_here(&mut self, journal: impl Journal + 'static) -> Result<(), String> {
        // Systems run once more when a checkpoint is taken up: here they run before it is written.
        self.tick(None).map_err(|broken| broken.to_string())?;
        let checkpoint = self.checkpoint()?;
        self.record(journal);
        self.write(&checkpoint)
    }

    fn write(&mut self, checkpoint: &Checkpoint) -> Result<(), String> {
        let wrong = |err: std::io::Error| format!("write a checkpoint: {err}");
        for part in checkpoint.split().map_err(wrong)? {
            let entry = Entry::Checkpoint(part);
            self.journal.append(&entry).map_err(wrong)?;
        }
        self.mark().map(drop).map_err(wrong)
    }

    /// The state of the world as it is between two ticks.
    ///
    /// # Errors
    /// When a table cannot be written, which is a bug of its type.
    pub fn checkpoint(&self) -> Result<Checkpoint, String> {
        let mut rows: Vec<Row> = Vec::new();
        for (table, save, _) in &self.durables.tables {
            let table_rows = guarded(|| save(&self.world)).and_then(|rows| rows);
            rows.extend(table_rows.map_err(|what| format!("save {table}: {what}"))?);
        }
        let Clock { tick, wall_ns, .. } = self.clock();
        Ok(Checkpoint::new(tick, wall_ns, rows))
    }

    pub(super) fn checkpoint_if_due(&mut self) -> Result<(), String> {
        let due = &self.checkpoints;
        let now = due.every.is_some_and(|every| self.clock().tick.is_multiple_of(every));
        if !now || !due.affordable() {
            return Ok(());
        }
        let checkpoint = self.checkpoint()?;
        let bytes: usize = checkpoint.tables().map(|(.., bytes)| bytes).sum();
        self.checkpoints.bytes = bytes as u64;
        if !self.checkpoints.affordable() {
            return Ok(());
        }
        self.checkpoints.checkpoint_bytes += bytes as u64;
        self.write(&checkpoint)
    }

    /// Brings this world, which must be fresh, to where another one was. Derived state and the view
    /// are there as well; no effect leaves.
    ///
    /// # Errors
    /// When the checkpoint does not fit; then this world must be discarded.
    pub fn take_up(&mut self, checkpoint: &Checkpoint) -> Result<(), String> {
        let tables = &self.durables.tables;
        for (table, ..) in checkpoint.tables() {
            if !tables.iter().any(|(name, ..)| *name == table) {
                return Err(format!("it has a table {table:?} this version does not know"));
            }
        }
        let Clock { step_ns, .. } = self.clock();
        let Checkpoint { tick, wall_ns, .. } = *checkpoint;
        *self.world.resource_mut::<Clock>() = Clock { tick, step_ns, wall_ns };
        self.wall = (tick, wall_ns);
        for (table, _, restore) in tables {
            for row in checkpoint.rows(table) {
                let restored =
                    guarded(|| restore(&mut self.world, &row)).and_then(|outcome| outcome);
                restored.map_err(|what| format!("restore a row of {table:?}: {what}"))?;
            }
        }
        // Everything is new to the systems, so everything derived is computed.
        // The store, if any, has the documents already.
        self.settle()?;
        let view = S::gather(&self.world, self.clock());
        self.views.send_replace(Arc::new(view));
        for release in &self.durables.release {
            release(&mut self.world);
        }
        match self.checkpoint()? == *checkpoint {
            true => Ok(()),
            false => Err("what was computed from it changed it".to_owned()),
        }
    }
}
