//! I2C buses: those of this machine, and a model for tests.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use i2cdev::core::I2CDevice;
use i2cdev::linux::{LinuxI2CDevice, LinuxI2CError};
use rustix::io::Errno;
use thiserror::Error;

use super::template::ADDRESSES;

/// Most bytes of one SMBus transfer.
pub const TRANSFER_BYTES_MAX: usize = 32;

/// Failed transfer.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum BusError {
    /// No device answers at this address.
    #[error("no answer")]
    NoAnswer,
    /// A driver of the kernel uses the device.
    #[error("in use by a kernel driver")]
    InUse,
    /// Unknown bus.
    #[error("{0} is absent")]
    Absent(String),
    /// Missing permission for the bus.
    #[error("{0}: permission denied; its group, usually i2c, may")]
    Permission(String),
    /// Reserved address.
    #[error("address {0:#04x}; allowed: 0x08 to 0x77")]
    Reserved(u16),
    /// More bytes than a transfer carries.
    #[error("{0} bytes; allowed: {TRANSFER_BYTES_MAX}")]
    Long(usize),
    /// Unsupported by the adapter.
    #[error("the adapter cannot do this")]
    Unsupported,
    /// Any other error.
    #[error("{0}")]
    Other(String),
}

impl BusError {
    /// Failure of the bus as a whole, at any address.
    #[must_use]
    pub fn is_bus_failure(&self) -> bool {
        matches!(self, Self::Absent(_) | Self::Permission(_))
    }
}

/// An I2C bus.
pub trait Bus: Debug + Send {
    /// Fills `out` from the registers at `reg` and after.
    ///
    /// # Errors
    /// When no device answers, or access is refused.
    fn read(&mut self, address: u16, reg: u8, out: &mut [u8]) -> Result<(), BusError>;

    /// Writes registers at `reg` and after.
    ///
    /// # Errors
    /// When no device answers, or access is refused.
    fn write(&mut self, address: u16, reg: u8, bytes: &[u8]) -> Result<(), BusError>;
}

/// A set of buses.
pub trait Adapters: Debug + Send {
    /// Numbers of the existing buses.
    fn numbers(&self) -> Vec<u32>;

    /// A bus by its number; it need not exist.
    fn open(&self, number: u32) -> Box<dyn Bus>;
}

/// The buses of this machine.
#[derive(Debug, Clone)]
pub struct MachineBuses {
    folder: PathBuf,
}

impl Default for MachineBuses {
    fn default() -> Self {
        Self {
            folder: "/dev".into(),
        }
    }
}

impl Adapters for MachineBuses {
    fn numbers(&self) -> Vec<u32> {
        let entries = std::fs::read_dir(&self.folder).into_iter().flatten();
        let number = |entry: std::io::Result<std::fs::DirEntry>| {
            let name = entry.ok()?.file_name();
            name.to_str()?.strip_prefix("i2c-")?.parse().ok()
        };
        let mut numbers: Vec<u32> = entries.filter_map(number).collect();
        numbers.sort_unstable();
        numbers
    }

    fn open(&self, number: u32) -> Box<dyn Bus> {
        Box::new(MachineBus::at(self.folder.join(format!("i2c-{number}"))))
    }
}

/// A bus of this machine, opened for each transfer: adapters come and go, and a driver may take a
/// device at any time.
#[derive(Debug, Clone)]
pub struct MachineBus {
    path: PathBuf,
}

impl MachineBus {
    /// The bus of a device file, such as `/dev/i2c-1`.
    #[must_use]
    pub fn at(path: PathBuf) -> Self {
        Self { path }
    }

    /// The device at an address, unless a driver uses it.
    fn device(&self, address: u16) -> Result<LinuxI2CDevice, BusError> {
        if !ADDRESSES.contains(&address) {
            return Err(BusError::Reserved(address));
        }
        LinuxI2CDevice::new(&self.path, address).map_err(|err| meaning(err, &self.path, true))
    }
}

/// The error of a system call; `opening` when it preceded the transfer.
fn meaning(err: LinuxI2CError, path: &Path, opening: bool) -> BusError {
    let err = std::io::Error::from(err);
    let name = || path.display().to_string();
    match Errno::from_io_error(&err) {
        Some(Errno::NOENT | Errno::NODEV | Errno::NXIO) if opening => BusError::Absent(name()),
        Some(Errno::PERM | Errno::ACCESS) => BusError::Permission(name()),
        Some(Errno::BUSY) if opening => BusError::InUse,
        Some(Errno::NXIO | Errno::NODEV | Errno::IO | Errno::REMOTEIO | Errno::TIMEDOUT) => {
            BusError::NoAnswer
        }
        Some(Errno::OPNOTSUPP) => BusError::Unsupported,
        _ => BusError::Other(err.to_string()),
    }
}

/// The length of a transfer.
fn length(bytes: usize) -> Result<u8, BusError> {
    let fits = u8::try_from(bytes)
        .ok()
        .filter(|_| bytes <= TRANSFER_BYTES_MAX);
    fits.ok_or(BusError::Long(bytes))
}

impl Bus for MachineBus {
    fn read(&mut self, address: u16, reg: u8, out: &mut [u8]) -> Result<(), BusError> {
        let len = length(out.len())?;
        let mut device = self.device(address)?;
        let found = match len {
            0 => Ok(Vec::new()),
            1 => device.smbus_read_byte_data(reg).map(|byte| vec![byte]),
            // The first byte sent is the low one; not every adapter supports block transfers.
            2 => device
                .smbus_read_word_data(reg)
                .map(|word| word.to_le_bytes().to_vec()),
            _ => device.smbus_read_i2c_block_data(reg, len),
        };
        let found = match found.map_err(|err| meaning(err, &self.path, false)) {
            Err(BusError::Unsupported) if len > 2 => {
                one_by_one(&mut device, reg, len).map_err(|err| meaning(err, &self.path, false))?
            }
            other => other?,
        };
        if found.len() != out.len() {
            let what = format!("{} bytes came instead of {len}", found.len());
            return Err(BusError::Other(what));
        }
        out.copy_from_slice(&found);
        Ok(())
    }

    fn write(&mut self, address: u16, reg: u8, bytes: &[u8]) -> Result<(), BusError> {
        length(bytes.len())?;
        let mut device = self.device(address)?;
        let written = match bytes {
            [] => device.smbus_write_byte(reg),
            [byte] => device.smbus_write_byte_data(reg, *byte),
            [first, second] => {
                let word = u16::from_le_bytes([*first, *second]);
                device.smbus_write_word_data(reg, word)
            }
            block => device.smbus_write_i2c_block_data(reg, block),
        };
        written.map_err(|err| meaning(err, &self.path, false))
    }
}

/// Reads registers one by one, for adapters without block transfers.
fn one_by_one(device: &mut LinuxI2CDevice, reg: u8, len: u8) -> Result<Vec<u8>, LinuxI2CError> {
    (0..len)
        .map(|more| device.smbus_read_byte_data(reg.wrapping_add(more)))
        .collect()
}

#[cfg(test)]
pub(super) mod fake {
    //! Buses as maps of registers.

    use std::collections::BTreeMap;
    use std::sync::{Arc, Mutex};

    use super::{Adapters, Bus, BusError};

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
            Box::new(FakeBus {
                number,
                fake: self.clone(),
            })
        }
    }

    impl FakeBus {
        fn check(&self, address: u16) -> Result<(), BusError> {
            assert!(
                (0x08..=0x77).contains(&address),
                "{address:#04x} is touched"
            );
            let place = (self.number, address);
            if self.fake.taken.lock().unwrap().contains(&place) {
                return Err(BusError::InUse);
            }
            let registers = self.fake.registers.lock().unwrap();
            if !registers.keys().any(|(bus, ..)| *bus == self.number) {
                return Err(BusError::Absent(format!("/dev/i2c-{}", self.number)));
            }
            let mut places = registers.keys().map(|(bus, one, _)| (*bus, *one));
            places
                .any(|one| one == place)
                .then_some(())
                .ok_or(BusError::NoAnswer)
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
    }
}
