//! Agent of a node without its protocol: reading the machine, deciding the next task, storing
//! unreported readings, setting the tunnel up. Requests to the gateway are in `web`.

mod gpsd;
pub mod keys;
pub mod look;
mod machine;
#[cfg(test)]
mod machine_tests;
mod metrics;
pub mod orders;
mod pace;
pub mod report;
pub mod request;
pub mod ring;
#[cfg(test)]
mod samples;
pub mod tunnel;

pub use gpsd::{Fix, Gpsd};
pub use machine::{Machine, Outcome, Rhythm, Task};
pub use metrics::Meter;
pub use pace::{Bounds, Chance, MachineChance};
