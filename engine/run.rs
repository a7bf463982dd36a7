//! The engine: one world, one tick at a time.

mod checkpoint;
mod space;

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use bevy_ecs::prelude::*;
use crossbeam_channel::{Receiver, Select};
use thiserror::Error;
use tokio::sync::{oneshot, watch};

use crate::command::{Queued, Registry, Release, Watched};
use crate::effect::{Effect, Effects, Outbox};
use crate::handle::{Health, WorldHealth};
use crate::limits::{COMMANDS_PER_TICK_MAX, INBOX_COMMANDS_MAX};
use crate::log::{Entry, Journal, Mark, NullJournal, Record};
use crate::schedule_table::schedule_table;
use crate::state::Durables;
use crate::store::{NullStore, Row, Store};
use crate::view::{Snapshot, digest};
use crate::{Clock, Handle, Refusal};

/// A tick was lost; the world will not tick again.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("the world broke in tick {tick}: {what}")]
pub struct Broken {
    /// The tick that did not end.
    pub tick: u64,
    /// Cause: the message of the panic or of the failed write.
    pub what: String,
}

/// Summary of one tick.
#[derive(Debug, Default)]
pub struct Ticked {
    /// The tick that ended.
    pub tick: u64,
    /// Commands applied, refused ones included.
    pub commands: usize,
    /// Refusals of commands without a waiting submitter, by command name.
    pub refused: Vec<(&'static str, Refusal)>,
}

/// Publishes a snapshot of the world at the end of a tick.
type Publisher = Box<dyn Fn(&World, Clock) + Send>;

/// The world and everything around it that makes a tick.
pub struct Engine<S: Snapshot> {
    world: World,
    schedule: Schedule,
    registry: Registry,
    durables: Durables,
    journal: Box<dyn Journal>,
    store: Box<dyn Store>,
    /// Commands known ahead, by tick: a scenario or a log being replayed.
    script: VecDeque<(u64, Box<dyn Queued>)>,
    inbox: Receiver<Box<dyn Queued>>,
    /// The wall clock of the last tick that has one, and that tick.
    wall: (u64, u64),
    views: watch::Sender<Arc<S>>,
    /// Further snapshots of the same world, see [`Engine::handle_of`].
    other_views: Vec<Publisher>,
    handle: Handle<S>,
    health: WorldHealth,
    checkpoints: checkpoint::Due,
}

impl<S: Snapshot> Engine<S> {
    pub(crate) fn assemble(
        world: World,
        schedule: Schedule,
        registry: Registry,
        durables: Durables,
    ) -> Self {
        let (sender, inbox) = crossbeam_channel::bounded(INBOX_COMMANDS_MAX);
        let (views, receiver) = watch::channel(Arc::new(S::default()));
        let health = WorldHealth::new();
        let handle = Handle {
            inbox: sender,
            views: receiver,
            health: health.clone(),
            wakeup: Arc::default(),
        };
        Self {
            world,
            schedule,
            registry,
            durables,
            journal: Box::new(NullJournal),
            store: Box::new(NullStore),
            script: VecDeque::new(),
            inbox,
            wall: (0, 0),
            views,
            other_views: Vec::new(),
            handle,
            health,
            checkpoints: checkpoint::Due::default(),
        }
    }

    /// Keeps a log of every command from now on.
    pub fn record(&mut self, journal: impl Journal + 'static) -> &mut Self {
        self.journal = Box::new(journal);
        self
    }

    /// Brings back what `store` holds and commits to it from now on.
    ///
    /// # Errors
    /// When the store cannot be read or a row does not fit this world; then the store is left as
    /// it was found.
    pub fn keep(&mut self, mut store: impl Store + 'static) -> Result<usize, String> {
        let rows = store.load().map_err(|fault| fault.to_string())?;
        let restore = &self.durables.restore;
        let has_table = |row: &Row| restore.iter().any(|(table, _)| *table == row.table);
        if let Some(foreign) = rows.iter().find(|row| !has_table(row)) {
            let table = &foreign.table;
            return Err(format!("the store has a table {table:?} this version does not know"));
        }
        // Tables in the order their features moved in: rows may refer to earlier ones.
        for (table, restore) in restore {
            for row in rows.iter().filter(|row| row.table == *table) {
                restore(&mut self.world, row)
                    .map_err(|err| format!("restore a row of {table:?}: {err}"))?;
            }
        }
        self.world.clear_trackers();
        self.store = Box::new(store);
        Ok(rows.len())
    }

    /// Queues a command for `tick`, behind those already queued for it. Ticks must not fall.
    ///
    /// # Panics
    /// When `tick` is below that of an earlier script command or already over.
    pub fn script(&mut self, tick: u64, command: Box<dyn Queued>) {
        let earliest = self.script.back().map_or(self.clock().tick + 1, |(last, _)| *last);
        assert!(tick >= earliest, "script commands come in tick order: {tick} after {earliest}");
        self.script.push_back((tick, command));
    }

    /// Queues a command for the next tick, behind the script's.
    ///
    /// # Errors
    /// As [`Handle::submit`].
    pub fn inject(&mut self, command: Box<dyn Queued>) -> Result<(), Refusal> {
        self.handle.post(command)
    }

    /// As [`inject`](Self::inject); the receiver has what came of the command after that tick.
    ///
    /// # Errors
    /// As [`Handle::submit`].
    pub fn inject_watched(
        &mut self,
        command: Box<dyn Queued>,
    ) -> Result<oneshot::Receiver<Result<(), Refusal>>, Refusal> {
        let (command, outcome) = Watched::new(command);
        self.handle.post(Box::new(command))?;
        Ok(outcome)
    }

    /// Handle for other threads.
    pub fn handle(&self) -> Handle<S> {
        self.handle.clone()
    }

    /// Attaches the one driver of effects of kind `E`. Effects of earlier ticks were dropped.
    ///
    /// # Panics
    /// When no feature declared `E`, or a driver is attached already.
    #[must_use]
    pub fn effects<E: Effect>(&self) -> Effects<E> {
        self.world.resource::<Outbox<E>>().open()
    }

    /// The commands this world understands.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// The systems of a tick as a Markdown table: stage, phase, name, and the data each reads and writes.
    #[must_use]
    pub fn schedule_table(&self) -> String {
        schedule_table(&self.schedule, &self.world)
    }

    /// The world's clock.
    pub fn clock(&self) -> Clock {
        *self.world.resource::<Clock>()
    }

    /// The latest snapshot.
    pub fn view(&self) -> Arc<S> {
        self.views.borrow().clone()
    }

    /// Read access to the world, for queries in tests and drivers on its own thread.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Write access to the world, for queries that cache. Changing it this way is not recorded:
    /// a replay does not repeat it.
    pub fn world_mut(&mut self) -> &mut World {
        &mut self.world
    }

    /// One tick: apply, compute, write log and store, publish, reply.
    ///
    /// `wall_ns` is the driver's wall clock, or `None` when it does not matter.
    ///
    /// # Errors
    /// [`Broken`] when a system panicked or a write failed. The commands of that tick are in the
    /// log if the log still could be written; no submitter got a successful reply. While the disk has
    /// no space the tick is not taken: its commands are refused, and the result is an empty one.
    pub fn tick(&mut self, wall_ns: Option<u64>) -> Result<Ticked, Broken> {
        let tick = self.clock().tick + 1;
        match self.health.get() {
            Health::Ready | Health::Full(_) => {}
            Health::Stopped => {
                return Err(Broken { tick, what: "it was stopped".to_owned() });
            }
            Health::Broken(what) => return Err(Broken { tick, what }),
        }
        match self.space() {
            Ok(true) => {}
            // Nothing is applied that could not be stored: the tick is not taken.
            Ok(false) => return Ok(Ticked::default()),
            Err(what) => return Err(self.break_in(tick, what, Vec::new())),
        }
        self.advance(tick, wall_ns);
        let mut ticked = Ticked { tick, ..Ticked::default() };
        let mut releases = Vec::new();
        let outcome = self.attempt(&mut ticked, &mut releases);
        match outcome {
            Ok(()) => {
                for release in releases {
                    release(None);
                }
                Ok(ticked)
            }
            Err(what) => Err(self.break_in(tick, what, releases)),
        }
    }

    /// Ends the world in a tick that was lost.
    fn break_in(&mut self, tick: u64, what: String, releases: Vec<Release>) -> Broken {
        tracing::error!(tick, what, "the world broke");
        self.health.set(Health::Broken(what.clone()));
        // Best effort: what was appended is worth having, but the tick is lost already.
        if let Err(err) = self.journal.commit() {
            tracing::error!(%err, "the log could not be flushed after the break");
        }
        let refusal = Refusal::Broken { what: what.clone() };
        for release in releases {
            release(Some(&refusal));
        }
        self.refuse_waiting();
        Broken { tick, what }
    }

    /// Waits for a command, at most so long; true if one is there.
    pub(crate) fn await_command(&self, most: std::time::Duration) -> bool {
        let mut arrival = Select::new();
        arrival.recv(&self.inbox);
        arrival.ready_timeout(most).is_ok()
    }

    /// Waits for a command on the task that polls this.
    pub(crate) async fn command_arrived(&mut self) {
        while self.inbox.is_empty() {
            self.handle.wakeup.notified().await;
        }
    }

    fn advance(&mut self, tick: u64, wall_ns: Option<u64>) {
        let mut clock = self.world.resource_mut::<Clock>();
        clock.tick = tick;
        let (wall_tick, wall) = self.wall;
        clock.wall_ns = wall.saturating_add((tick - wall_tick).saturating_mul(clock.step_ns));
        // Only a tick that is logged may take the driver's word; see Clock::wall_ns.
        let scripted = self.script.front().is_some_and(|(due, _)| *due <= tick);
        if let Some(wall_ns) = wall_ns
            && (scripted || !self.inbox.is_empty())
        {
            clock.wall_ns = wall_ns;
            self.wall = (tick, wall_ns);
        }
    }

    fn attempt(&mut self, ticked: &mut Ticked, releases: &mut Vec<Release>) -> Result<(), String> {
        self.ingest(ticked, releases)?;
        let rows = self.settle()?;
        if ticked.commands > 0 {
            self.journal.commit().map_err(|err| format!("commit the log: {err}"))?;
        }
        if !rows.is_empty() {
            self.store.commit(ticked.tick, &rows).map_err(|fault| fault.to_string())?;
        }
        self.publish();
        for release in &self.durables.release {
            release(&mut self.world);
        }
        self.checkpoint_if_due()
    }

    /// Runs the systems; returns the rows of the documents that changed.
    pub(super) fn settle(&mut self) -> Result<Vec<Row>, String> {
        // Commands of observers, such as the end of a motion, apply before the systems run.
        guarded(|| self.world.flush())?;
        guarded(|| self.schedule.run(&mut self.world))?;
        let mut rows = Vec::new();
        for collect in &mut self.durables.collect {
            collect(&mut self.world, &mut rows);
        }
        for forget in &self.durables.forget {
            forget(&mut self.world);
        }
        self.world.clear_trackers();
        Ok(rows)
    }

    fn ingest(&mut self, ticked: &mut Ticked, releases: &mut Vec<Release>) -> Result<(), String> {
        while self.script.front().is_some_and(|(due, _)| *due <= ticked.tick) {
            let (_, command) = self.script.pop_front().expect("just seen");
            self.apply(command, ticked, releases)?;
        }
        for _ in 0..COMMANDS_PER_TICK_MAX {
            let Ok(command) = self.inbox.try_recv() else {
                break;
            };
            self.apply(command, ticked, releases)?;
        }
        Ok(())
    }

    fn apply(
        &mut self,
        command: Box<dyn Queued>,
        ticked: &mut Ticked,
        releases: &mut Vec<Release>,
    ) -> Result<(), String> {
        let name = command.name();
        let body = command.encode().map_err(|err| format!("encode {name}: {err}"))?;
        let wall_ns = self.clock().wall_ns;
        self.checkpoints.logged(body.len());
        let record = Record { tick: ticked.tick, wall_ns, name: name.to_owned(), body };
        self.journal
            .append(&Entry::Command(record))
            .map_err(|err| format!("append {name} to the log: {err}"))?;
        let applied = guarded(|| command.apply(&mut self.world))
            .map_err(|what| format!("{name} panicked: {what}"))?;
        ticked.commands += 1;
        if let Some(refusal) = applied.refusal {
            tracing::debug!(command = name, %refusal, "refused");
            ticked.refused.push((name, refusal));
        }
        releases.push(applied.release);
        Ok(())
    }

    fn publish(&mut self) {
        let clock = self.clock();
        self.views.send_replace(Arc::new(S::gather(&self.world, clock)));
        for publish in &self.other_views {
            publish(&self.world, clock);
        }
    }

    /// Handle of this world that shows another snapshot of it, which is published at the end of each
    /// tick beside the engine's own: a service names the sections that it reads, and no others.
    pub fn handle_of<V: Snapshot>(&mut self) -> Handle<V> {
        let (views, receiver) = watch::channel(Arc::new(V::gather(&self.world, self.clock())));
        self.other_views.push(Box::new(move |world, clock| {
            views.send_replace(Arc::new(V::gather(world, clock)));
        }));
        self.handle.with_views(receiver)
    }

    /// Digest of the latest snapshot.
    #[must_use]
    pub fn digest(&self) -> String {
        digest(&**self.views.borrow())
    }

    /// Writes the digest of this tick into the log, so that a replay can be verified.
    ///
    /// # Errors
    /// When the log cannot be written.
    pub fn mark(&mut self) -> std::io::Result<String> {
        let digest = self.digest();
        let mark = Mark {
            tick: self.clock().tick,
            digest: digest.clone(),
            parts: self.views.borrow().parts(),
            files: S::files(&self.world),
        };
        self.journal.append(&Entry::Mark(mark))?;
        self.journal.commit()?;
        Ok(digest)
    }

    /// Ends the world: no command is accepted, waiting submitters receive [`Refusal::Stopped`].
    pub fn stop(&mut self) {
        if matches!(self.health.get(), Health::Ready | Health::Full(_)) {
            self.health.set(Health::Stopped);
        }
        self.refuse_waiting();
    }

    /// Drops the queued commands: that closes their reply channels, which submitters see as
    /// [`Refusal::Stopped`].
    fn refuse_waiting(&mut self) {
        while self.inbox.try_recv().is_ok() {}
    }
}

/// Runs `work` and turns a panic into its message.
fn guarded<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| {
        payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a message".to_owned())
    })
}
