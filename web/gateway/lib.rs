//! Mesh gateway: node onboarding, telemetry, topology and administration over HTTP.
//!
//! One folder a category of endpoints. Handlers parse, command or query, and show; [`access`]
//! admits callers by role before a handler runs.

pub mod access;
mod admin;
mod auth;
pub mod background_tasks;
pub mod camera;
mod canonical;
mod document;
mod endpoints;
pub mod external;
mod firewall;
mod firmware;
pub mod flow_workers;
mod flows;
mod history_writer;
mod impairment;
pub mod mesh;
mod network;
mod nodes;
mod object_endpoints;
mod power;
mod public;
mod router;
mod sensors;
pub mod serve;
pub mod services;
mod settings;
mod state;
mod system;
mod telemetry;
mod testbed;
mod trust;
mod tunnel_device;

pub use document::{document, operations};
pub use router::router;
pub use settings::{Effort, Settings};
pub use state::{Gateway, STREAMS_PER_ACCOUNT_MAX};
