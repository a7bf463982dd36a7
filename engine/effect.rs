//! Effects: work outside the world, such as kernel settings, that systems request from drivers.
//!
//! A system of [`Phase::Mirror`](crate::Phase::Mirror) emits effects into the [`Outbox`]; the
//! engine releases them after the tick is committed, and a driver takes them from [`Effects`]. The
//! result returns as a command. The world never waits for a driver: while no driver is attached, as
//! in a replay, effects are dropped and nothing else changes.
//!
//! An effect is the desired state of one thing. A later effect on the same thing replaces a pending
//! one, so the queue is bounded by the number of things, however slow the driver is.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bevy_ecs::prelude::{Resource, World};
use tokio::sync::Notify;

/// Work for a driver: the desired state of one thing, such as a port.
pub trait Effect: Send + Sync + 'static {
    /// Key that identifies the thing; a pending effect with an equal key is replaced.
    type Key: Ord + Clone + Send + Sync + 'static;
    /// Key of the thing that this effect is about.
    fn key(&self) -> Self::Key;
}

/// Released effects that the driver has not taken yet, in the order of arrival.
struct Waiting<E: Effect> {
    next: u64,
    places: BTreeMap<E::Key, u64>,
    queue: BTreeMap<u64, E>,
    open: bool,
    ended: bool,
}

struct EffectQueue<E: Effect> {
    waiting: Mutex<Waiting<E>>,
    arrived: Notify,
}

impl<E: Effect> EffectQueue<E> {
    fn lock(&self) -> MutexGuard<'_, Waiting<E>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Queue into which systems emit effects. Declared by [`Builder::effect`](crate::Builder::effect).
#[derive(Resource)]
pub struct Outbox<E: Effect> {
    fresh: Vec<E>,
    queue: Arc<EffectQueue<E>>,
}

impl<E: Effect> Default for Outbox<E> {
    fn default() -> Self {
        let waiting = Waiting {
            next: 0,
            places: BTreeMap::new(),
            queue: BTreeMap::new(),
            open: false,
            ended: false,
        };
        Self {
            fresh: Vec::new(),
            queue: Arc::new(EffectQueue { waiting: Mutex::new(waiting), arrived: Notify::new() }),
        }
    }
}

impl<E: Effect> Outbox<E> {
    /// Emits `effect` to the driver once this tick is committed.
    pub fn emit(&mut self, effect: E) {
        self.fresh.push(effect);
    }

    pub(crate) fn open(&self) -> Effects<E> {
        let mut waiting = self.queue.lock();
        assert!(!waiting.open, "the effects of one kind have one driver: two would race");
        waiting.open = true;
        Effects(Arc::clone(&self.queue))
    }
}

impl<E: Effect> Drop for Outbox<E> {
    fn drop(&mut self) {
        self.queue.lock().ended = true;
        self.queue.arrived.notify_one();
    }
}

/// Releases the effects that the committed tick emitted; drops them without a driver.
pub(crate) fn release<E: Effect>(world: &mut World) {
    let mut outbox = world.resource_mut::<Outbox<E>>();
    if outbox.fresh.is_empty() {
        return;
    }
    let fresh = std::mem::take(&mut outbox.fresh);
    let mut waiting = outbox.queue.lock();
    if !waiting.open {
        return;
    }
    for effect in fresh {
        let key = effect.key();
        // The newer one takes the older one's place, so that nothing starves.
        let place = waiting.places.get(&key).copied().unwrap_or(waiting.next);
        waiting.next = waiting.next.max(place + 1);
        waiting.places.insert(key, place);
        waiting.queue.insert(place, effect);
    }
    drop(waiting);
    outbox.queue.arrived.notify_one();
}

/// The driver's end of the effect queue of one kind; there is one driver a kind. Dropping it
/// detaches the driver and drops pending effects.
pub struct Effects<E: Effect>(Arc<EffectQueue<E>>);

impl<E: Effect> Effects<E> {
    /// The next effect, or `None` when the world is gone and nothing waits. Cancelling it loses
    /// nothing.
    pub async fn next(&mut self) -> Option<E> {
        loop {
            if let Some(effect) = self.try_next() {
                return Some(effect);
            }
            if self.0.lock().ended {
                return self.try_next();
            }
            self.0.arrived.notified().await;
        }
    }

    /// The next effect if one waits.
    pub fn try_next(&mut self) -> Option<E> {
        let mut waiting = self.0.lock();
        let (_, effect) = waiting.queue.pop_first()?;
        waiting.places.remove(&effect.key());
        Some(effect)
    }
}

impl<E: Effect> Drop for Effects<E> {
    fn drop(&mut self) {
        let mut waiting = self.0.lock();
        waiting.open = false;
        waiting.queue.clear();
        waiting.places.clear();
    }
}
