//! Plugins: a feature is one function that registers its kinds, commands, systems, documents and
//! views.

use bevy_ecs::prelude::*;
use bevy_ecs::schedule::{
    IntoScheduleConfigs, LogLevel, MultiThreadedExecutor, ScheduleBuildSettings, ScheduleConfigs,
    ScheduleLabel, SingleThreadedExecutor,
};
use bevy_ecs::system::ScheduleSystem;
use groundwave_values::forget_departed;
use thiserror::Error;

use crate::command::Registry;
use crate::effect::{Effect, Outbox, release};
use crate::limits::{STEP_NS_MAX, STEP_NS_MIN};
use crate::phase::{Phase, Tick};
use crate::state::{Durables, Save, State, restore_state, save_documents, save_state};
use crate::store::{Document, Restore, collector, restorer};
use crate::view::{Section, Snapshot};
use crate::{Clock, Engine, Index, Kind, Recorded, Seed};

/// A feature. Every `fn(&mut Builder)` is one.
pub trait Plugin {
    /// Registers what the feature brings.
    fn build(&self, engine: &mut Builder);
}

impl<F: Fn(&mut Builder)> Plugin for F {
    fn build(&self, engine: &mut Builder) {
        self(engine);
    }
}

/// Execution order of the systems of a tick. The outcome is the same for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Execution {
    /// Systems without conflicting access run side by side.
    #[default]
    Parallel,
    /// One after the other, in the schedule's own order.
    Serial,
    /// One after the other, in an order shuffled from this seed within what is declared.
    Shuffled(u64),
}

/// Errors of building a world.
#[derive(Debug, Error)]
pub enum BuildError {
    /// Two systems conflict and no order between them is declared.
    #[error("the schedule is not a schedule: {0}")]
    Schedule(String),
    /// The step is outside the limits.
    #[error("step_ns is {found}; allowed: {STEP_NS_MIN} to {STEP_NS_MAX}")]
    Step {
        /// The step found.
        found: u64,
    },
}

/// A world under construction.
pub struct Builder {
    world: World,
    schedule: Schedule,
    registry: Registry,
    durables: Durables,
    execution: Execution,
}

impl Default for Builder {
    fn default() -> Self {
        Self::new()
    }
}

impl Builder {
    /// An empty world.
    #[must_use]
    pub fn new() -> Self {
        crate::parallel::install();
        let mut schedule = Schedule::new(Tick.intern());
        schedule.configure_sets(
            (
                Phase::Ingest,
                Phase::Plan,
                Phase::Propagate,
                Phase::Route,
                Phase::Respond,
                Phase::Mirror,
                Phase::Publish,
            )
                .chain(),
        );
        Self {
            world: World::new(),
            schedule,
            registry: Registry::default(),
            durables: Durables {
                collect: Vec::new(),
                restore: Vec::new(),
                tables: Vec::new(),
                forget: Vec::new(),
                release: Vec::new(),
            },
            execution: Execution::default(),
        }
    }

    /// Registers a feature.
    pub fn plugin(&mut self, plugin: impl Plugin) -> &mut Self {
        plugin.build(self);
        self
    }

    /// Declares a kind of entity that has ids.
    pub fn kind<K: Kind>(&mut self) -> &mut Self {
        self.world.init_resource::<Index<K>>();
        self.durables.forget.push(forget_departed::<K>);
        self
    }

    /// Declares a command.
    pub fn command<C: Recorded>(&mut self) -> &mut Self {
        self.registry.register::<C>();
        self
    }

    /// Adds systems to a phase.
    pub fn systems<M>(
        &mut self,
        phase: Phase,
        systems: impl IntoScheduleConfigs<ScheduleSystem, M>,
    ) -> &mut Self {
        let systems: ScheduleConfigs<ScheduleSystem> = systems.in_set(phase);
        self.schedule.add_systems(systems);
        self
    }

    /// Declares the documents of a kind.
    pub fn document<D: Document>(&mut self) -> &mut Self {
        self.durables.collect.push(collector::<D>(&mut self.world));
        self.durables.restore.push((D::TABLE, restorer::<D>));
        let table = (D::TABLE, save_documents::<D> as Save, restorer::<D> as Restore);
        self.durables.tables.push(table);
        self
    }

    /// Declares state that no document holds, for checkpoints.
    pub fn state<T: State>(&mut self) -> &mut Self {
        let table = (T::TABLE, save_state::<T> as Save, restore_state::<T> as Restore);
        self.durables.tables.push(table);
        self
    }

    /// Declares a part of the view.
    pub fn section<T: Default + Send + Sync + 'static>(&mut self) -> &mut Self {
        self.world.init_resource::<Section<T>>();
        self
    }

    /// Declares a kind of effect: systems emit it into [`Outbox`], a driver takes it from what
    /// [`Engine::effects`] gives.
    pub fn effect<E: Effect>(&mut self) -> &mut Self {
        self.world.init_resource::<Outbox<E>>();
        self.durables.release.push(release::<E>);
        self
    }

    /// Puts a resource into the world.
    pub fn resource(&mut self, resource: impl Resource) -> &mut Self {
        self.world.insert_resource(resource);
        self
    }

    /// Chooses how systems are executed.
    pub fn execution(&mut self, execution: Execution) -> &mut Self {
        self.execution = execution;
        self
    }

    /// The world as built so far, for set-up that no other method serves.
    pub fn world(&mut self) -> &mut World {
        &mut self.world
    }

    /// Closes the world: checks the schedule and hands the engine over, before its first tick.
    ///
    /// # Errors
    /// [`BuildError::Schedule`] when two systems conflict without a declared order, and
    /// [`BuildError::Step`] when `step_ns` is outside [`STEP_NS_MIN`] to [`STEP_NS_MAX`].
    pub fn build<S: Snapshot>(mut self, seed: u64, step_ns: u64) -> Result<Engine<S>, BuildError> {
        if !(STEP_NS_MIN..=STEP_NS_MAX).contains(&step_ns) {
            return Err(BuildError::Step { found: step_ns });
        }
        self.world.insert_resource(Clock::new(step_ns));
        self.world.insert_resource(Seed(seed));
        let mut settings = ScheduleBuildSettings {
            ambiguity_detection: LogLevel::Error,
            hierarchy_detection: LogLevel::Error,
            ..ScheduleBuildSettings::default()
        };
        match self.execution {
            Execution::Parallel => {
                self.schedule.set_executor(MultiThreadedExecutor::new());
            }
            Execution::Serial => {
                self.schedule.set_executor(SingleThreadedExecutor::new());
            }
            Execution::Shuffled(shuffle_seed) => {
                settings.shuffle_seed = Some(shuffle_seed);
                self.schedule.set_executor(SingleThreadedExecutor::new());
            }
        }
        self.schedule.set_build_settings(settings);
        if let Err(error) = self.schedule.initialize(&mut self.world) {
            let text = error.to_string(self.schedule.graph(), &self.world);
            return Err(BuildError::Schedule(text));
        }
        self.world.clear_trackers();
        Ok(Engine::assemble(self.world, self.schedule, self.registry, self.durables))
    }
}
