//! The world as other threads see it: submit commands, read snapshots, read its health.

use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::{Sender, TrySendError};
use tokio::sync::{Notify, oneshot};

use crate::command::{Envelope, Queued};
use crate::view::{Snapshot, Views};
use crate::{Recorded, Refusal};

/// Health of the world: only a ready one takes commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It ticks and takes commands.
    Ready,
    /// The disk has no space or is read-only: snapshots are shown, commands are refused until it has.
    Full(String),
    /// It stopped on request.
    Stopped,
    /// A system panicked or a write failed; the log up to there is intact.
    Broken(String),
}

/// The health shared between the engine and its handles.
#[derive(Clone)]
pub(crate) struct WorldHealth(Arc<Mutex<Health>>);

impl WorldHealth {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Mutex::new(Health::Ready)))
    }

    pub(crate) fn get(&self) -> Health {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn set(&self, health: Health) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = health;
    }
}

/// Handle of a running world; cheap to clone.
pub struct Handle<S: Snapshot> {
    pub(crate) inbox: Sender<Box<dyn Queued>>,
    pub(crate) views: Views<S>,
    pub(crate) health: WorldHealth,
    /// Notified at every command, for a world that waits on a task instead of a thread.
    pub(crate) wakeup: Arc<Notify>,
}

impl<S: Snapshot> Clone for Handle<S> {
    fn clone(&self) -> Self {
        Self {
            inbox: self.inbox.clone(),
            views: self.views.clone(),
            health: self.health.clone(),
            wakeup: Arc::clone(&self.wakeup),
        }
    }
}

/// A pending reply. It arrives after the tick's log, store and snapshot are written, so a submitter
/// reads its own writes.
pub struct Awaited<R>(oneshot::Receiver<Result<R, Refusal>>);

impl<R> Awaited<R> {
    /// Waits, as a future.
    ///
    /// # Errors
    /// What the world refused, or [`Refusal::Stopped`] when it ended first.
    pub async fn reply(self) -> Result<R, Refusal> {
        self.0.await.unwrap_or(Err(Refusal::Stopped))
    }

    /// Waits, blocking this thread. Not for use inside an async runtime.
    ///
    /// # Errors
    /// As [`Self::reply`].
    pub fn wait(self) -> Result<R, Refusal> {
        self.0.blocking_recv().unwrap_or(Err(Refusal::Stopped))
    }

    /// The reply if it is there, without waiting.
    pub fn ready(&mut self) -> Option<Result<R, Refusal>> {
        match self.0.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(oneshot::error::TryRecvError::Empty) => None,
            Err(oneshot::error::TryRecvError::Closed) => Some(Err(Refusal::Stopped)),
        }
    }
}

impl<S: Snapshot> Handle<S> {
    /// Handle of the same world with other snapshots of it.
    pub(crate) fn with_views<V: Snapshot>(&self, views: Views<V>) -> Handle<V> {
        Handle {
            inbox: self.inbox.clone(),
            views,
            health: self.health.clone(),
            wakeup: Arc::clone(&self.wakeup),
        }
    }

    /// Submits a command to the world.
    ///
    /// # Errors
    /// At once: [`Refusal::Busy`] when the inbox is full, [`Refusal::Stopped`] or
    /// [`Refusal::Broken`] when the world no longer ticks.
    pub fn submit<C: Recorded>(&self, command: C) -> Result<Awaited<C::Reply>, Refusal> {
        match self.health.get() {
            // The world itself refuses while there is no space: it detects first when there is again.
            Health::Ready | Health::Full(_) => {}
            Health::Stopped => return Err(Refusal::Stopped),
            Health::Broken(what) => return Err(Refusal::Broken { what }),
        }
        let (envelope, reply) = Envelope::awaited(command);
        self.post(Box::new(envelope))?;
        Ok(Awaited(reply))
    }

    /// Submits a command without waiting for its reply.
    pub(crate) fn post(&self, command: Box<dyn Queued>) -> Result<(), Refusal> {
        self.inbox.try_send(command).map_err(|err| match err {
            TrySendError::Full(_) => Refusal::Busy,
            TrySendError::Disconnected(_) => Refusal::Stopped,
        })?;
        self.wakeup.notify_one();
        Ok(())
    }

    /// The latest snapshot.
    #[must_use]
    pub fn view(&self) -> Arc<S> {
        self.views.borrow().clone()
    }

    /// A receiver that wakes on each new snapshot.
    #[must_use]
    pub fn watch(&self) -> Views<S> {
        self.views.clone()
    }

    /// Health of the world: only a ready one takes commands.
    #[must_use]
    pub fn health(&self) -> Health {
        self.health.get()
    }
}
