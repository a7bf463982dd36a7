//! A configured sensor.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use super::bus::{Bus, BusError};
use super::selection::BusAddress;
use super::template::{Identify, Register, SensorTemplate, Step};

/// Failed reading.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum SensorError {
    /// Failed transfer.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// A different device at the address.
    #[error("register {0:#04x} identifies another device")]
    WrongDevice(u8),
}

/// A sensor.
#[derive(Debug)]
pub(super) struct Sensor {
    /// Prefix of its metrics.
    pub label: String,
    pub template: Arc<SensorTemplate>,
    pub place: BusAddress,
    /// Calibration, read once; `None` before that and after a failure.
    calibration: Option<BTreeMap<String, f64>>,
    /// Readings to skip.
    skipped: u32,
}

impl fmt::Display for Sensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.label, self.place)
    }
}

impl Sensor {
    pub(super) fn new(label: String, template: Arc<SensorTemplate>, place: BusAddress) -> Self {
        Self {
            label,
            template,
            place,
            calibration: None,
            skipped: 0,
        }
    }

    /// Success of the last reading.
    pub(super) fn is_ready(&self) -> bool {
        self.calibration.is_some()
    }

    /// Skips this many readings; the sensor is then initialised again.
    pub(super) fn skip_readings(&mut self, readings: u32) {
        self.calibration = None;
        self.skipped = readings;
    }

    /// `true` if this reading is skipped; counts it down.
    pub(super) fn skips_reading(&mut self) -> bool {
        let skip = self.skipped > 0;
        self.skipped = self.skipped.saturating_sub(1);
        skip
    }

    /// Values of its registers, with the calibration.
    pub(super) fn read(&mut self, bus: &mut dyn Bus) -> Result<BTreeMap<String, f64>, SensorError> {
        let address = self.place.address;
        // InUse: a failed reading leaves none.
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
            return Err(SensorError::WrongDevice(identify.reg));
        }
        do_steps(bus, address, &self.template.init)?;
        let mut calibration = BTreeMap::new();
        fetch(bus, address, &self.template.calibration, &mut calibration)?;
        Ok(calibration)
    }
}

/// Match of the device at an address with its template.
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
