//! The planning server: deployments, analyses, coverage, as HTTP over the one world.
//!
//! Handlers parse, command or query, and show. What changes the world is a command; analyses run
//! over snapshots, off the world's thread.

mod analyses;
mod analysis_cache;
mod backup;
mod calibrations;
mod change_log;
mod changes;
pub mod coverage;
mod coverages;
mod deployments;
mod exchange;
mod fair_queue;
pub mod ground;
mod ground_fetches;
mod health;
mod links;
mod live_coverages;
mod mesh;
mod mesh_coverage;
mod nodes;
mod patterns;
mod placement;
mod presets;
mod previews;
mod problems;
pub mod recorder;
mod replay_frames;
pub mod replay_player;
mod replay_store;
mod replay_world;
mod replays;
mod router;
mod state;
mod templates;
mod terrain;
mod tile_cache;
pub mod wire;

pub use problems::format_problem;
pub use replay_store::{LogTerrain, StoredLog};
pub use replay_world::{BuildWorld, ReplayWorld, Replaying};
pub use replays::open_log;
pub use router::{document, router};
pub use state::{Planner, StoreCopier, StoreProbe};
pub use wire::PACKET_BYTES;
pub use wire::template::built_in;
