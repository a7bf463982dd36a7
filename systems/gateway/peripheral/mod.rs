//! Peripherals: sensors on I2C buses of nodes and of the gateway's own machine.
//!
//! Templates, boards and assignments are configuration objects. Nothing is driven without an
//! assignment; scans and the readings of the gateway's machine arrive as commands.

mod assignment;
mod objects;
mod observed;
#[cfg(test)]
mod tests;

use groundwave_engine::{Builder, Phase};

use crate::dependents;

pub use assignment::{SENSORS_MAX, SensorAssignment, plan_of};
pub(crate) use observed::Observed;
pub use observed::{
    BusScan, DEVICES_MAX, PeripheralState, Peripherals, RecordHostReadings, RecordScan,
};

/// Scans of buses and readings of the gateway's machine.
pub fn peripheral(engine: &mut Builder) {
    dependents::register(engine.world(), observed::remove_scans);
    engine
        .resource(Observed::default())
        .section::<Peripherals>()
        .command::<RecordScan>()
        .command::<RecordHostReadings>()
        .state::<PeripheralState>()
        .systems(Phase::Publish, observed::publish_peripherals);
}
