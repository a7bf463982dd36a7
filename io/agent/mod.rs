//! What a node's agent does, without its voice: looking at the machine, deciding what comes next,
//! keeping what nobody was told yet, setting the tunnel up. Talking to the gateway is `web`'s.

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
