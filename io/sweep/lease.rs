//! Leases of units: files beside them by which workers that share nothing but a folder agree who
//! computes what.
//!
//! A lease is created exclusively and written anew while its holder works. One that is not written for
//! its stated time is taken over by creating the next number, again exclusively: of several that want
//! it one gets it, and no file is removed that somebody may just have renewed. Who watches compares
//! the bytes of a lease over time of its own; the times in it are for people. All numbers are removed
//! once the unit is there; two that computed it all the same wrote the same bytes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use groundwave_files::Root;
use groundwave_files::wall::wall_ns;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Longest lease that is read, bytes.
const BYTES_MAX: u64 = 4096;

/// A process that takes units of a sweep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// Name of its machine.
    pub host: String,
    /// Number of the process there.
    pub process: u32,
    /// Random number, another one for each worker.
    pub id: u64,
}

impl Worker {
    /// This process, with a random id.
    ///
    /// # Errors
    /// When the machine supplies no random number.
    pub fn this() -> io::Result<Self> {
        let host = Root::default().line("proc/sys/kernel/hostname");
        Ok(Self {
            host: host.unwrap_or_default(),
            process: std::process::id(),
            id: getrandom::u64().map_err(io::Error::other)?,
        })
    }
}

/// Contents of a lease.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Lease {
    host: String,
    process: u32,
    worker: String,
    /// Time without a renewal after which others take the unit, s.
    lease_s: u64,
    /// By the clock of the holder.
    written: String,
    renewals: u64,
    /// True once the holder gave it back without the unit.
    is_released: bool,
}

/// The newest lease of a unit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// Counted from 0, one more at each takeover.
    pub number: u32,
    /// Contents, to see them change.
    pub bytes: Vec<u8>,
}

impl Found {
    /// The time that its holder states, s, and whether it was given back; none while it is being
    /// written.
    fn read(&self) -> Option<Lease> {
        serde_json::from_slice(&self.bytes).ok()
    }

    /// True if its holder gave it back.
    pub fn is_released(&self) -> bool {
        self.read().is_some_and(|lease| lease.is_released)
    }

    /// Time without a renewal after which it lapses, s.
    pub fn lease_s(&self) -> Option<u64> {
        self.read().map(|lease| lease.lease_s)
    }
}

/// Path of a lease of the unit at `unit`.
fn path(unit: &Path, number: u32) -> PathBuf {
    unit.with_extension(match number {
        0 => "lease".to_owned(),
        number => format!("lease.{number}"),
    })
}

/// The newest lease of the unit at `unit`.
///
/// # Errors
/// When the disk fails.
pub(super) fn newest(unit: &Path) -> io::Result<Option<Found>> {
    let mut newest = None;
    for number in 0.. {
        match read(&path(unit, number)) {
            Ok(bytes) => newest = Some(Found { number, bytes }),
            Err(err) if err.kind() == io::ErrorKind::NotFound => break,
            Err(err) => return Err(err),
        }
    }
    Ok(newest)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut io::Read::take(File::open(path)?, BYTES_MAX), &mut bytes)?;
    Ok(bytes)
}

/// A lease that this process holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Held {
    path: PathBuf,
    renewals: u64,
}

/// Leases of one process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leases<'w> {
    pub worker: &'w Worker,
    pub lease_s: u64,
}

impl Leases<'_> {
    /// Takes the lease `number` of the unit at `unit`; none when another worker was first.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn take(self, unit: &Path, number: u32) -> io::Result<Option<Held>> {
        let path = path(unit, number);
        fs::create_dir_all(path.parent().expect("a unit lies in a folder"))?;
        match File::create_new(&path) {
            Ok(mut file) => {
                file.write_all(&self.contents(0, false))?;
                Ok(Some(Held { path, renewals: 0 }))
            }
            Err(err) if err.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(err) => Err(err),
        }
    }

    /// Writes a lease anew. One that was removed stays so: its unit is there.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn renew(self, held: &mut Held) -> io::Result<()> {
        held.renewals += 1;
        self.write(held, false)
    }

    /// Gives a lease back without the unit: others need not wait.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn release(self, held: &Held) -> io::Result<()> {
        self.write(held, true)
    }

    fn write(self, held: &Held, is_released: bool) -> io::Result<()> {
        let file = File::options().write(true).truncate(true).open(&held.path);
        match file {
            Ok(mut file) => file.write_all(&self.contents(held.renewals, is_released)),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(()),
            Err(err) => Err(err),
        }
    }

    fn contents(self, renewals: u64, is_released: bool) -> Vec<u8> {
        let Worker { host, process, id } = self.worker;
        let written = Timestamp::from_nanosecond(i128::from(wall_ns()));
        let lease = Lease {
            host: host.clone(),
            process: *process,
            worker: format!("{id:016x}"),
            lease_s: self.lease_s,
            written: written.map_or_else(|_| String::new(), |time| time.to_string()),
            renewals,
            is_released,
        };
        let mut json = serde_json::to_vec(&lease).expect("a lease is plain data");
        json.push(b'\n');
        json
    }
}

/// Removes all leases of the unit at `unit`, which is there.
///
/// # Errors
/// When the disk fails.
pub(super) fn clear(unit: &Path) -> io::Result<()> {
    for number in 0.. {
        match fs::remove_file(path(unit, number)) {
            Ok(()) => {}
            Err(err) if err.kind() == io::ErrorKind::NotFound => break,
            Err(err) => return Err(err),
        }
    }
    Ok(())
}
