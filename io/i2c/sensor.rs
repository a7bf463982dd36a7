//! A sensor that is read.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::bus::{Bus, BusError};
use super::choice::Place;
use super::template::{Identify, Register, SensorTemplate, Step};

/// Why a sensor was not read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum SensorError {
    /// The bus would not.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// Another device is there.
    #[error("register {0:#04x} says that another device is there")]
    Another(u8),
}

/// A sensor.
#[derive(Debug)]
pub(super) struct Sensor {
    /// What its metrics are called after.
    pub label: String,
    pub template: Arc<SensorTemplate>,
    pub place: Place,
    /// What was read once; nothing before that, and after it failed.
    calibration: Option<BTreeMap<String, f64>>,
    /// Readings it is left alone for.
    rest: u32,
}

impl fmt::Display for Sensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.label, self.place)
    }
}

impl Sensor {
    pub(super) fn new(label: String, template: Arc<SensorTemplate>, place: Place) -> Self {
        Self {
            label,
            template,
            place,
            calibration: None,
            rest: 0,
        }
    }

    /// Whether it answered last.
    pub(super) fn is_ready(&self) -> bool {
        self.calibration.is_some()
    }

    /// Leaves it alone for so many readings; after that it is set up anew.
    pub(super) fn rest(&mut self, readings: u32) {
        self.calibration = None;
        self.rest = readings;
    }

    /// Whether it is left alone this time.
    pub(super) fn rests(&mut self) -> bool {
        let rests = self.rest > 0;
        self.rest = self.rest.saturating_sub(1);
        rests
    }

    /// What its registers hold, with its calibration.
    pub(super) fn read(&mut self, bus: &mut dyn Bus) -> Result<BTreeMap<String, f64>, SensorError> {
        let address = self.place.address;
        // Taken: a reading that fails leaves none behind.
        let calibration = match self.calibration.take() {
            Some(calibration) => calibration,
            None => self.set_up(bus)?,
        };
        do_steps(bus, address, &self.template.start)?;
        let mut known = calibration.clone();
        fetch(bus, address, &self.template.read, &mut known)?;
        self.calibration = Some(calibration);
        Ok(known)
    }

    fn set_up(&self, bus: &mut dyn Bus) -> Result<BTreeMap<String, f64>, SensorError> {
        let address = self.place.address;
        if let Some(identify) = self.template.identify
            && !identified(bus, address, identify)?
        {
            return Err(SensorError::Another(identify.reg));
        }
        do_steps(bus, address, &self.template.init)?;
        let mut calibration = BTreeMap::new();
        fetch(bus, address, &self.template.calibration, &mut calibration)?;
        Ok(calibration)
    }
}

/// Whether the device at an address says that it is the one.
pub(super) fn identified(
    bus: &mut dyn Bus,
    address: u16,
    identify: Identify,
) -> Result<bool, BusError> {
    let mut bytes = [0; 2];
    let bytes = &mut bytes[..usize::from(identify.len.clamp(1, 2))];
    bus.read(address, identify.reg, bytes)?;
    Ok(identify.fits(bytes))
}

fn do_steps(bus: &mut dyn Bus, address: u16, steps: &[Step]) -> Result<(), BusError> {
    for step in steps {
        match step {
            Step::Write(write) => bus.write(address, write.reg, &write.bytes)?,
            Step::DelayMs(wait_ms) => wait(*wait_ms),
        }
    }
    Ok(())
}

fn fetch(
    bus: &mut dyn Bus,
    address: u16,
    registers: &[Register],
    known: &mut BTreeMap<String, f64>,
) -> Result<(), BusError> {
    for register in registers {
        wait(register.delay_ms);
        let mut bytes = [0; 4];
        let bytes = &mut bytes[..usize::from(register.len.clamp(1, 4))];
        bus.read(address, register.reg, bytes)?;
        known.insert(register.name.clone(), register.decode(bytes));
    }
    Ok(())
}

fn wait(wait_ms: u32) {
    if wait_ms > 0 {
        std::thread::sleep(Duration::from_millis(wait_ms.into()));
    }
}
