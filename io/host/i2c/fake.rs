//! Buses as maps of registers.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use super::bus::{Adapters, Bus, BusError, BusLock, Presence};

/// Content by bus, address and register.
pub type Registers = BTreeMap<(u32, u16, u8), u8>;

/// Buses with registers that a test can read and change.
#[derive(Debug, Clone, Default)]
pub struct Fake {
    pub registers: Arc<Mutex<Registers>>,
    /// Recorded writes: bus, address, register, bytes.
    pub written: Arc<Mutex<Vec<(u32, u16, u8, Vec<u8>)>>>,
    /// Places used by a driver of the kernel.
    pub taken: Arc<Mutex<Vec<(u32, u16)>>>,
    /// Bytes that a device sends without a register address.
    pub frames: Arc<Mutex<BTreeMap<(u32, u16), Vec<u8>>>>,
}

#[derive(Debug)]
struct FakeBus {
    number: u32,
    fake: Fake,
}

impl Fake {
    /// Sets registers at `reg` and after.
    pub fn set(&self, bus: u32, address: u16, reg: u8, bytes: &[u8]) {
        let mut registers = self.registers.lock().unwrap();
        for (more, byte) in bytes.iter().enumerate() {
            registers.insert((bus, address, reg + more as u8), *byte);
        }
    }

    /// Removes a device from its bus.
    pub fn unplug(&self, bus: u32, address: u16) {
        let mut registers = self.registers.lock().unwrap();
        registers.retain(|(at, one, _), _| (*at, *one) != (bus, address));
    }
}

impl Adapters for Fake {
    fn numbers(&self) -> Vec<u32> {
        let registers = self.registers.lock().unwrap();
        let mut numbers: Vec<u32> = registers.keys().map(|(bus, ..)| *bus).collect();
        numbers.dedup();
        numbers
    }

    fn open(&self, number: u32) -> Box<dyn Bus> {
        Box::new(FakeBus { number, fake: self.clone() })
    }

    fn lock(&self, _: u32) -> Result<BusLock, BusError> {
        Ok(BusLock::default())
    }
}

impl FakeBus {
    fn check(&self, address: u16) -> Result<(), BusError> {
        assert!((0x08..=0x77).contains(&address), "{address:#04x} is touched");
        let place = (self.number, address);
        if self.fake.taken.lock().unwrap().contains(&place) {
            return Err(BusError::InUse);
        }
        let registers = self.fake.registers.lock().unwrap();
        if !registers.keys().any(|(bus, ..)| *bus == self.number) {
            return Err(BusError::Absent(format!("/dev/i2c-{}", self.number)));
        }
        let mut places = registers.keys().map(|(bus, one, _)| (*bus, *one));
        places.any(|one| one == place).then_some(()).ok_or(BusError::NoAnswer)
    }
}

impl Bus for FakeBus {
    fn read(&mut self, address: u16, reg: u8, out: &mut [u8]) -> Result<(), BusError> {
        self.check(address)?;
        let registers = self.fake.registers.lock().unwrap();
        for (more, byte) in out.iter_mut().enumerate() {
            let at = (self.number, address, reg + more as u8);
            *byte = registers.get(&at).copied().unwrap_or(0);
        }
        Ok(())
    }

    fn write(&mut self, address: u16, reg: u8, bytes: &[u8]) -> Result<(), BusError> {
        self.check(address)?;
        self.fake.set(self.number, address, reg, bytes);
        let mut written = self.fake.written.lock().unwrap();
        written.push((self.number, address, reg, bytes.to_vec()));
        Ok(())
    }

    fn receive(&mut self, address: u16, out: &mut [u8]) -> Result<(), BusError> {
        self.check(address)?;
        let frames = self.fake.frames.lock().unwrap();
        let frame = frames.get(&(self.number, address)).ok_or(BusError::NoAnswer)?;
        for (byte, sent) in out.iter_mut().zip(frame) {
            *byte = *sent;
        }
        Ok(())
    }

    fn probe(&mut self, address: u16) -> Result<Presence, BusError> {
        match self.check(address) {
            Ok(()) => Ok(Presence::Present),
            Err(BusError::InUse) => Ok(Presence::InUse),
            Err(BusError::NoAnswer) => Ok(Presence::Absent),
            Err(other) => Err(other),
        }
    }
}
