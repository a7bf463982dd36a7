//! Coverage jobs: computation, registry, events.

mod events;
mod job;
mod registry;

pub use events::events;
pub use job::{Asked, Job};
pub use registry::{JOBS_MAX, RETENTION, Registry};
