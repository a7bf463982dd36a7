//! A configured sensor.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use groundwave_sensor::BusAddress;
use groundwave_sensor::decode::Known;
use groundwave_sensor::template::{FRAME_BYTES_MAX, Frame, Register, SensorTemplate, Step};
use thiserror::Error;

use super::bus::{Bus, BusError};
use super::scan::identified;

/// Failed reading.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum SensorError {
    /// Failed transfer.
    #[error(transparent)]
    Bus(#[from] BusError),
    /// A different device at the address.
    #[error("register {0:#04x} identifies another device")]
    WrongDevice(u8),
    /// A frame with a wrong checksum.
    #[error("{name}: wrong checksum of group {group}")]
    Checksum {
        /// Name of the frame.
        name: String,
        /// Group of the frame, from 1.
        group: usize,
    },
}

/// A sensor.
#[derive(Debug)]
pub(super) struct Sensor {
    /// Prefix of its metrics.
    pub label: String,
    pub template: Arc<SensorTemplate>,
    pub place: BusAddress,
    /// Calibration, read once; `None` before that and after a failure.
    calibration: Option<Known>,
    /// Readings to skip.
    skipped: u32,
    /// Interval of readings, ms; 0: each time.
    interval_ms: u64,
    /// Time from which on it is read again, ms.
    due_ms: u64,
}

impl fmt::Display for Sensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.label, self.place)
    }
}

impl Sensor {
    pub(super) fn new(
        label: String,
        template: Arc<SensorTemplate>,
        place: BusAddress,
        interval_s: Option<u32>,
    ) -> Self {
        let interval_s = interval_s.or(template.interval_s).unwrap_or(0);
        Self {
            interval_ms: u64::from(interval_s) * 1_000,
            due_ms: 0,
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

    /// `true` if the reading at `now_ms` is skipped, because it is not due or the last one failed.
    pub(super) fn skips_reading(&mut self, now_ms: u64) -> bool {
        if now_ms < self.due_ms {
            return true;
        }
        let skip = self.skipped > 0;
        self.skipped = self.skipped.saturating_sub(1);
        if !skip {
            self.due_ms = now_ms + self.interval_ms;
        }
        skip
    }

    /// Values of its registers, with the calibration.
    pub(super) fn read(&mut self, bus: &mut dyn Bus) -> Result<Known, SensorError> {
        let address = self.place.address;
        // Taken out, so that a failed reading leaves none.
        let calibration = match self.calibration.take() {
            Some(calibration) => calibration,
            None => self.set_up(bus)?,
        };
        do_steps(bus, address, &self.template.start)?;
        let mut known = calibration.clone();
        fetch(bus, address, &self.template.read, &mut known)?;
        for frame in &self.template.frames {
            receive(bus, address, frame, &mut known)?;
        }
        self.calibration = Some(calibration);
        Ok(known)
    }

    fn set_up(&self, bus: &mut dyn Bus) -> Result<Known, SensorError> {
        let address = self.place.address;
        if let Some(identify) = self.template.identify
            && !identified(bus, address, identify)?
        {
            return Err(SensorError::WrongDevice(identify.reg));
        }
        do_steps(bus, address, &self.template.init)?;
        let mut calibration = Known::new();
        fetch(bus, address, &self.template.calibration, &mut calibration)?;
        Ok(calibration)
    }
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
    known: &mut Known,
) -> Result<(), BusError> {
    for register in registers {
        if let Some(write) = &register.write {
            bus.write(address, write.reg, &write.bytes)?;
        }
        wait(register.delay_ms);
        let mut bytes = [0; 4];
        let bytes = &mut bytes[..usize::from(register.len.clamp(1, 4))];
        bus.read(address, register.reg, bytes)?;
        known.insert(register.name.clone(), register.decode(bytes));
    }
    Ok(())
}

fn receive(
    bus: &mut dyn Bus,
    address: u16,
    frame: &Frame,
    known: &mut Known,
) -> Result<(), SensorError> {
    wait(frame.delay_ms);
    let mut bytes = [0; FRAME_BYTES_MAX];
    let bytes = &mut bytes[..usize::from(frame.len).min(FRAME_BYTES_MAX)];
    bus.receive(address, bytes)?;
    frame
        .decode(bytes, known)
        .map_err(|group| SensorError::Checksum { name: frame.name.clone(), group })
}

fn wait(wait_ms: u32) {
    if wait_ms > 0 {
        std::thread::sleep(Duration::from_millis(wait_ms.into()));
    }
}
