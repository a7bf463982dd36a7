//! The engine of Groundwave: one world, one clock, commands in, snapshots out.
//!
//! It has entities, commands, ticks, logs and snapshots, and never radios:
//! models and features live in `systems`, files and sockets in `io`.
//!
//! ```
//! use bevy_ecs::prelude::*;
//! use groundwave_engine::{Builder, Clock, Phase, Recorded, Refusal, Section, Snapshot};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Resource, Default)]
//! struct Count(u64);
//!
//! // A command: one verb, checked, then applied.
//! #[derive(Serialize, Deserialize)]
//! struct Add { amount: u64 }
//! impl Command for Add {
//!     type Out = Result<u64, Refusal>;
//!     fn apply(self, world: &mut World) -> Self::Out {
//!         if self.amount == 0 {
//!             return Err(Refusal::invalid("amount", 0, "1 or more"));
//!         }
//!         let mut count = world.resource_mut::<Count>();
//!         count.0 += self.amount;
//!         Ok(count.0)
//!     }
//! }
//! impl Recorded for Add { const NAME: &'static str = "count.add"; type Reply = u64; }
//!
//! // A view: what readers see.
//! #[derive(Default, Serialize)]
//! struct View { tick: u64, count: u64 }
//! impl Snapshot for View {
//!     fn gather(world: &World, clock: Clock) -> Self {
//!         Self { tick: clock.tick, count: *world.resource::<Section<u64>>().share() }
//!     }
//! }
//!
//! // A feature registers itself by one function.
//! fn counting(engine: &mut Builder) {
//!     engine
//!         .resource(Count::default())
//!         .command::<Add>()
//!         .section::<u64>()
//!         .systems(Phase::Publish, |count: Res<Count>, mut section: ResMut<Section<u64>>| {
//!             section.redraw(count.0);
//!         });
//! }
//!
//! let mut builder = Builder::new();
//! builder.plugin(counting);
//! let mut engine = builder.build::<View>(7, 1_000_000).unwrap();
//! let handle = engine.handle();
//! let reply = handle.submit(Add { amount: 2 }).unwrap();
//! engine.tick(None).unwrap();
//! assert_eq!(reply.wait(), Ok(2));
//! assert_eq!((handle.view().tick, handle.view().count), (1, 2));
//! ```

mod command;
mod component_document;
mod effect;
mod handle;
pub mod limits;
pub mod log;
mod pace;
pub mod parallel;
mod phase;
mod plugin;
mod replay;
mod run;
mod schedule_table;
mod state;
mod store;
mod time;
mod view;

pub use command::{Applied, Queued, Recorded, Registry};
pub use component_document::{ComponentDocument, StoredComponent};
pub use effect::{Effect, Effects, Outbox};
pub use groundwave_values::{Id, Index, Kind, Pacer, Refusal, Seed, Stream};
pub use handle::{Awaited, Handle, Health};
pub use pace::{Running, Throttle};
pub use phase::{Phase, Tick};
pub use plugin::{BuildError, Builder, Execution, Plugin};
pub use replay::{Next, REFUSED_MAX, RefusedCommand, ReplayError, Replayed, replay, resume};
pub use run::{Broken, Engine, Ticked};
pub use state::State;
pub use store::{Document, FaultKind, NullStore, Row, Store, StoreFault};
pub use time::Clock;
pub use view::{Section, Snapshot, Views, digest, parts_of};

#[cfg(test)]
mod tests;
