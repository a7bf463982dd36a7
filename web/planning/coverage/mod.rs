//! Coverage jobs: computation, registry, events.

mod events;
mod job;
mod registry;

pub use events::events;
pub use job::{Job, JobRequest};
pub use registry::{JOBS_MAX, RETENTION, Registry};
