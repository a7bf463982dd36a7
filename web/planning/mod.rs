//! The planning server: deployments, analyses, coverage, as HTTP over the one world.
//!
//! Handlers parse, command or query, and show. What changes the world is a command; analyses run
//! over snapshots, off the world's thread.

mod analyses;
mod analysis_cache;
mod backup;
pub mod coverage;
mod coverages;
mod deployments;
mod exchange;
mod fair_queue;
mod health;
mod links;
mod mesh;
mod nodes;
mod page;
mod presets;
mod router;
mod state;
mod statics;
mod templates;
mod terrain;
pub mod wire;

pub use router::{document, router};
pub use state::{Frontend, Planner, StoreCopier, StoreProbe};
pub use wire::PACKET_BYTES;
pub use wire::template::built_in;
