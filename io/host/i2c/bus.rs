//! I2C buses: those of this machine, and a model for tests.

use std::fmt::Debug;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use groundwave_sensor::template::ADDRESSES;
use i2cdev::core::{I2CDevice, I2CMessage, I2CTransfer};
use i2cdev::linux::{LinuxI2CDevice, LinuxI2CError, LinuxI2CMessage};
use rustix::io::Errno;
use thiserror::Error;

/// Most bytes of one SMBus transfer.
pub const TRANSFER_BYTES_MAX: usize = 32;
/// Waits for the lock of a bus: their number, and the length of each.
const LOCK_TRIES: u32 = 40;
const LOCK_STEP: Duration = Duration::from_millis(50);

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
    /// Another reader holds the lock of the bus.
    #[error("{0}: locked by another reader")]
    Locked(String),
    /// Any other error.
    #[error("{0}")]
    Other(String),
}

/// Answer of an address to a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// No device.
    Absent,
    /// A device.
    Present,
    /// A device that a driver of the kernel uses; it was not accessed.
    InUse,
}

/// Exclusive use of a bus until it is dropped, among all that lock it.
#[derive(Debug, Default)]
pub struct BusLock {
    /// The device file; its lock ends when it is closed.
    _file: Option<File>,
}

impl BusError {
    /// Failure of the bus as a whole, at any address.
    #[must_use]
    pub fn is_bus_failure(&self) -> bool {
        matches!(self, Self::Absent(_) | Self::Permission(_) | Self::Locked(_))
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

    /// Fills `out` with bytes that the device sends without a register address.
    ///
    /// # Errors
    /// When no device answers, access is refused, or the adapter transfers registers only.
    fn receive(&mut self, address: u16, out: &mut [u8]) -> Result<(), BusError>;

    /// Reads one byte to see whether a device answers; reserved addresses may be probed.
    ///
    /// # Errors
    /// When the bus fails.
    fn probe(&mut self, address: u16) -> Result<Presence, BusError>;
}

/// A set of buses.
pub trait Adapters: Debug + Send {
    /// Numbers of the existing buses.
    fn numbers(&self) -> Vec<u32>;

    /// A bus by its number; it need not exist.
    fn open(&self, number: u32) -> Box<dyn Bus>;

    /// Locks a bus for a sequence of transfers; waits for two seconds at most.
    ///
    /// # Errors
    /// When the bus is absent, may not be opened, or stays locked.
    fn lock(&self, number: u32) -> Result<BusLock, BusError>;
}

/// The buses of this machine.
#[derive(Debug, Clone)]
pub struct MachineBuses {
    folder: PathBuf,
}

impl Default for MachineBuses {
    fn default() -> Self {
        Self { folder: "/dev".into() }
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

    fn lock(&self, number: u32) -> Result<BusLock, BusError> {
        let path = self.folder.join(format!("i2c-{number}"));
        let failed = |err| meaning(LinuxI2CError::from(err), &path, true);
        let file = File::open(&path).map_err(failed)?;
        for _ in 0..LOCK_TRIES {
            match file.try_lock() {
                Ok(()) => return Ok(BusLock { _file: Some(file) }),
                Err(TryLockError::WouldBlock) => std::thread::sleep(LOCK_STEP),
                Err(TryLockError::Error(err)) => return Err(failed(err)),
            }
        }
        Err(BusError::Locked(path.display().to_string()))
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
    let fits = u8::try_from(bytes).ok().filter(|_| bytes <= TRANSFER_BYTES_MAX);
    fits.ok_or(BusError::Long(bytes))
}

impl Bus for MachineBus {
    fn read(&mut self, address: u16, reg: u8, out: &mut [u8]) -> Result<(), BusError> {
        let len = length(out.len())?;
        let mut device = self.device(address)?;
        let failed = |err| meaning(err, &self.path, false);
        let found = match len {
            0 => Vec::new(),
            1 => vec![device.smbus_read_byte_data(reg).map_err(failed)?],
            // The first byte sent is the low one; not every adapter supports block transfers.
            2 => {
                let word = device.smbus_read_word_data(reg).map_err(failed)?;
                word.to_le_bytes().to_vec()
            }
            // Plain messages first: with a block the driver hid-mcp2221 of Linux 6.1 overwrites the
            // length, and i2cdev panics.
            _ => match messages(&mut device, reg, len).map_err(failed) {
                Err(BusError::Unsupported) => {
                    let block = device.smbus_read_i2c_block_data(reg, len);
                    match block.map_err(failed) {
                        Err(BusError::Unsupported) => {
                            one_by_one(&mut device, reg, len).map_err(failed)?
                        }
                        other => other?,
                    }
                }
                other => other?,
            },
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

    fn receive(&mut self, address: u16, out: &mut [u8]) -> Result<(), BusError> {
        length(out.len())?;
        let mut device = self.device(address)?;
        device.read(out).map_err(|err| meaning(err, &self.path, false))
    }

    fn probe(&mut self, address: u16) -> Result<Presence, BusError> {
        let opened = LinuxI2CDevice::new(&self.path, address);
        let mut device = match opened.map_err(|err| meaning(err, &self.path, true)) {
            Err(BusError::InUse) => return Ok(Presence::InUse),
            opened => opened?,
        };
        match device.smbus_read_byte() {
            Ok(_) => Ok(Presence::Present),
            Err(err) => match meaning(err, &self.path, false) {
                BusError::NoAnswer => Ok(Presence::Absent),
                other => Err(other),
            },
        }
    }
}

/// Reads registers with one message that names the first and one that reads, for adapters that carry
/// more than SMBus.
fn messages(device: &mut LinuxI2CDevice, reg: u8, len: u8) -> Result<Vec<u8>, LinuxI2CError> {
    let mut found = vec![0; usize::from(len)];
    device.transfer(&mut [LinuxI2CMessage::write(&[reg]), LinuxI2CMessage::read(&mut found)])?;
    Ok(found)
}

/// Reads registers one by one, for adapters without block transfers.
fn one_by_one(device: &mut LinuxI2CDevice, reg: u8, len: u8) -> Result<Vec<u8>, LinuxI2CError> {
    (0..len).map(|more| device.smbus_read_byte_data(reg.wrapping_add(more))).collect()
}
