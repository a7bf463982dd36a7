//! Coverage jobs: computation, registry, events.

mod encode;
mod events;
mod export;
mod job;
mod registry;
mod tiles;

pub use encode::{EncodedCell, Layers, encode};
pub use events::events;
pub use export::export;
pub use job::{Job, JobRequest, ReceiverPlace, receiver};
pub use registry::{JOBS_MAX, RETENTION, Registry};
pub use tiles::tiles;
