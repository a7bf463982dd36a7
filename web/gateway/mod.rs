//! The mesh gateway: who is in the mesh, how they get in, how they are.
//!
//! Handlers parse, command or read, and show. Whoever calls passes `guard` first, and it lets
//! nobody through but by the table of [`access`].

pub mod access;
mod auth;
pub mod backup;
mod body;
pub mod chores;
mod deeds;
mod detail;
mod document;
mod events;
pub mod graph;
mod guard;
mod heartbeat;
pub mod keys;
mod limits;
mod meter;
mod network;
mod node;
mod nodes;
mod once;
mod page;
pub mod passwords;
pub mod past;
mod peers;
mod predict;
mod probes;
mod readings;
mod register;
mod registrations;
mod router;
mod settings;
mod state;
mod system;
mod telemetry;
mod topology;
mod trust;
pub mod tunnel;
mod users;
mod wire;

pub use document::document;
pub use router::router;
pub use settings::Settings;
pub use state::Gateway;
