//! The world thread: ticks at the pace of real time until a request to stop.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::Pacer;
use crate::view::Snapshot;
use crate::{Broken, Engine};

/// Speed of a throttled world. Cheap to clone; all clones are one throttle.
#[derive(Debug, Clone)]
pub struct Throttle {
    /// Bits of the speed, simulated seconds per second.
    speed: Arc<AtomicU64>,
    /// Steps still to be taken at once.
    steps: Arc<AtomicU64>,
}

impl Default for Throttle {
    fn default() -> Self {
        Self { speed: Arc::new(AtomicU64::new(1.0f64.to_bits())), steps: Arc::default() }
    }
}

impl Throttle {
    /// Sets the speed, simulated seconds per second; 0 pauses, and so does a negative or non-finite
    /// value.
    pub fn set(&self, speed: f64) {
        self.speed.store(speed.to_bits(), Ordering::Release);
    }

    /// Takes `steps` more steps at once, however fast the world runs.
    pub fn step(&self, steps: u64) {
        self.steps.fetch_add(steps, Ordering::AcqRel);
    }

    /// `true` if the speed is 0: steps are only taken by [`step`](Self::step).
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.speed() == 0.0
    }

    fn speed(&self) -> f64 {
        let speed = f64::from_bits(self.speed.load(Ordering::Acquire));
        if speed.is_finite() { speed.max(0.0) } else { 0.0 }
    }

    fn take_step(&self) -> bool {
        let fewer = |steps: u64| steps.checked_sub(1);
        let step = self.steps.fetch_update(Ordering::AcqRel, Ordering::Acquire, fewer);
        step.is_ok()
    }
}

/// Longest time until a world that waits for commands notices a request to stop.
const STOP_LATENCY: Duration = Duration::from_millis(50);

/// A world on its own thread.
pub struct Running<S: Snapshot> {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<(Engine<S>, Result<(), Broken>)>,
}

impl<S: Snapshot> Running<S> {
    /// Asks the world to finish its tick and stop, and waits until it has. The inbox is drained
    /// by one last tick, so what was accepted is answered.
    ///
    /// # Errors
    /// [`Broken`] when the world broke before.
    ///
    /// # Panics
    /// When the world thread itself panicked outside a tick, which is a bug.
    pub fn stop(self) -> (Engine<S>, Result<(), Broken>) {
        self.stop.store(true, Ordering::Release);
        self.thread.thread().unpark();
        self.thread.join().expect("ticks catch their panics")
    }

    /// `true` if the thread has ended without [`stop`](Self::stop), as it does when the world
    /// broke.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }
}

impl<S: Snapshot> Engine<S> {
    /// Moves the world to a thread named `world` that ticks once every step of real time. A tick
    /// that takes longer delays the next one; ticks are never skipped, for each is a step of
    /// simulated time.
    ///
    /// # Errors
    /// When the thread cannot be spawned.
    pub fn spawn(mut self, mut pacer: impl Pacer) -> std::io::Result<Running<S>> {
        let stop = Arc::new(AtomicBool::new(false));
        let stop_flag = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("world".to_owned()).spawn(move || {
            let outcome = self.pace(&mut pacer, &stop_flag);
            self.stop();
            (self, outcome)
        })?;
        Ok(Running { stop, thread })
    }

    /// Moves the world to a thread named `world` that ticks when a command arrives, and not
    /// otherwise: for worlds in which nothing happens by itself. Commands that arrive while a tick
    /// is being committed share the next one, so that many writers share one flush to disk. When
    /// this returns, the first tick is over and the snapshot shows what the store brought back.
    ///
    /// # Errors
    /// When the first tick breaks the world or the thread cannot be spawned.
    pub fn spawn_on_demand(mut self, mut pacer: impl Pacer) -> std::io::Result<Running<S>> {
        self.tick(Some(pacer.wall_ns())).map_err(std::io::Error::other)?;
        let stop = Arc::new(AtomicBool::new(false));
        let stop_flag = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("world".to_owned()).spawn(move || {
            let outcome = self.answer(&mut pacer, &stop_flag);
            self.stop();
            (self, outcome)
        })?;
        Ok(Running { stop, thread })
    }

    /// As [`Self::spawn_on_demand`], on the task that polls this instead of a thread, until `stop`
    /// ends: for small worlds whose callers and drivers are tasks of one thread, where handing a
    /// command to another thread would cost more than the tick. Everything else on that thread
    /// waits for each tick, the flush of its log included.
    ///
    /// # Errors
    /// [`Broken`] when a tick broke the world.
    pub async fn tend(
        &mut self,
        mut pacer: impl Pacer,
        stop: impl Future<Output = ()>,
    ) -> Result<(), Broken> {
        let outcome = self.attend(&mut pacer, stop).await;
        self.stop();
        outcome
    }

    async fn attend(
        &mut self,
        pacer: &mut impl Pacer,
        stop: impl Future<Output = ()>,
    ) -> Result<(), Broken> {
        let mut stop = pin!(stop);
        self.tick(Some(pacer.wall_ns()))?;
        loop {
            tokio::select! {
                () = &mut stop => return self.tick(Some(pacer.wall_ns())).map(drop),
                () = self.command_arrived() => {}
            }
            self.tick(Some(pacer.wall_ns()))?;
        }
    }

    /// As [`Self::spawn`], at the pace of `throttle`, of which a change is noticed within 50 ms. In a
    /// paused world commands wait for the next step.
    ///
    /// # Errors
    /// When the thread cannot be spawned.
    pub fn spawn_throttled(
        mut self,
        mut pacer: impl Pacer,
        throttle: Throttle,
    ) -> std::io::Result<Running<S>> {
        let stop = Arc::new(AtomicBool::new(false));
        let stop_flag = Arc::clone(&stop);
        let thread = std::thread::Builder::new().name("world".to_owned()).spawn(move || {
            let outcome = self.amble(&mut pacer, &throttle, &stop_flag);
            self.stop();
            (self, outcome)
        })?;
        Ok(Running { stop, thread })
    }

    fn amble(
        &mut self,
        pacer: &mut impl Pacer,
        throttle: &Throttle,
        stop: &AtomicBool,
    ) -> Result<(), Broken> {
        let step_ns = self.clock().step_ns as f64;
        let mut last_ns = pacer.monotonic_ns();
        while !stop.load(Ordering::Acquire) {
            let speed = throttle.speed();
            let at_once = throttle.take_step();
            if !at_once && speed == 0.0 {
                std::thread::park_timeout(STOP_LATENCY);
                last_ns = pacer.monotonic_ns();
                continue;
            }
            let due_ns = last_ns.saturating_add((step_ns / speed) as u64);
            let now_ns = pacer.monotonic_ns();
            if !at_once && now_ns < due_ns {
                let nap = Duration::from_nanos(due_ns - now_ns);
                std::thread::park_timeout(nap.min(STOP_LATENCY));
                continue;
            }
            self.tick(Some(pacer.wall_ns()))?;
            // Time lost by a slow tick is not caught up.
            last_ns = if at_once {
                now_ns
            } else {
                due_ns.max(pacer.monotonic_ns().saturating_sub(step_ns as u64))
            };
        }
        self.tick(Some(pacer.wall_ns())).map(drop)
    }

    fn answer(&mut self, pacer: &mut impl Pacer, stop: &AtomicBool) -> Result<(), Broken> {
        while !stop.load(Ordering::Acquire) {
            if self.await_command(STOP_LATENCY) {
                self.tick(Some(pacer.wall_ns()))?;
            } else {
                self.look_for_space();
            }
        }
        self.tick(Some(pacer.wall_ns())).map(drop)
    }

    fn pace(&mut self, pacer: &mut impl Pacer, stop: &AtomicBool) -> Result<(), Broken> {
        let step_ns = self.clock().step_ns;
        let mut due_ns = pacer.monotonic_ns();
        while !stop.load(Ordering::Acquire) {
            let now_ns = pacer.monotonic_ns();
            if now_ns < due_ns {
                std::thread::park_timeout(Duration::from_nanos(due_ns - now_ns));
                continue;
            }
            self.tick(Some(pacer.wall_ns()))?;
            due_ns = due_ns.saturating_add(step_ns).max(pacer.monotonic_ns());
        }
        self.tick(Some(pacer.wall_ns())).map(drop)
    }
}
