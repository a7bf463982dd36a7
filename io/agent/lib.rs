//! Agent of a node without its protocol: reading the machine, deciding the next task, storing
//! unreported readings, setting the tunnel up. Requests to the gateway are in `web`.

pub mod backlog;
mod backoff;
mod failure_log;
pub mod finished;
pub mod firmware;
mod gateway_time;
mod gpsd;
pub mod host_state;
pub mod keys;
mod machine;
#[cfg(test)]
mod machine_tests;
pub mod mesh_settings;
mod metrics;
pub mod node_commands;
pub mod reboot;
pub mod report;
pub mod request;
#[cfg(test)]
mod samples;
pub mod tunnel;

pub use backoff::{Backoff, Chance, MachineChance};
pub use failure_log::FailureLog;
pub use gateway_time::GatewayTime;
pub use gpsd::{Fix, Gpsd};
pub use machine::{Machine, Outcome, Rhythm, Task};
pub use metrics::Meter;
