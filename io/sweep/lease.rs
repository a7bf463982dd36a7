//! Leases of units, of sweeps and of studies: files beside them by which workers that share nothing but a folder agree who
//! computes what.
//!
//! A lease is created exclusively and written anew while its holder works. One that is not written for
//! its stated time is taken over by creating the next number, again exclusively: of several that want
//! it one gets it, and no file is removed that somebody may just have renewed. Who watches compares
//! the bytes of a lease over time of its own; the times in it are for people. All numbers are removed
//! once the unit is there; two that computed it all the same wrote the same bytes.

use std::collections::BTreeMap;
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
struct Found {
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

    /// True if its holder is a process of `host`, which is this machine, and is none any more.
    fn has_ended(&self, host: &str) -> bool {
        let lease = self.read().filter(|lease| !host.is_empty() && lease.host == host);
        lease.is_some_and(|lease| !Path::new("/proc").join(lease.process.to_string()).exists())
    }

    /// Time without a renewal after which it lapses, s.
    pub fn lease_s(&self) -> Option<u64> {
        self.read().map(|lease| lease.lease_s)
    }
}

/// A lease of another worker, since when this process sees it unchanged.
#[derive(Debug)]
struct Seen {
    found: Found,
    since_ns: u64,
}

/// Leases of other workers as this process sees them over time.
#[derive(Debug, Default)]
pub struct Watch {
    seen: BTreeMap<PathBuf, Seen>,
    /// Leases of processes of this machine that ended lapse at once.
    pub has_process_table: bool,
}

/// State of a unit as seen by a worker that wants it.
#[derive(Debug)]
pub enum Claim {
    /// This worker has it, by the lease of this number: above 0 it was taken over.
    Taken(Held, u32),
    /// Another worker has it.
    Busy,
    /// It is there.
    There,
}

impl Watch {
    /// Claims the unit at `unit` at `now_ns` of this process; `is_there` looks whether it is there already.
    ///
    /// # Errors
    /// When the disk fails, and those of `is_there`.
    pub fn claim(
        &mut self,
        leases: Leases<'_>,
        unit: &Path,
        now_ns: u64,
        is_there: impl Fn() -> io::Result<bool>,
    ) -> io::Result<Claim> {
        if is_there()? {
            clear(unit)?;
            return Ok(Claim::There);
        }
        let number = match newest(unit)? {
            None => 0,
            Some(found) if found.is_released() => found.number + 1,
            Some(found) if self.has_process_table && found.has_ended(&leases.worker.host) => {
                found.number + 1
            }
            Some(found) => match self.seen.get(unit) {
                Some(seen) if seen.found == found => {
                    let lease_s = found.lease_s().unwrap_or(leases.lease_s);
                    if now_ns.saturating_sub(seen.since_ns) < lease_s.saturating_mul(1_000_000_000)
                    {
                        return Ok(Claim::Busy);
                    }
                    found.number + 1
                }
                _ => {
                    self.seen.insert(unit.to_owned(), Seen { found, since_ns: now_ns });
                    return Ok(Claim::Busy);
                }
            },
        };
        let Some(held) = leases.take(unit, number)? else {
            return Ok(Claim::Busy);
        };
        // It may have come between the look and the lease.
        if is_there()? {
            clear(unit)?;
            return Ok(Claim::There);
        }
        self.forget(unit);
        Ok(Claim::Taken(held, number))
    }

    /// Forgets the lease of a unit that is there.
    pub fn forget(&mut self, unit: &Path) {
        self.seen.remove(unit);
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
fn newest(unit: &Path) -> io::Result<Option<Found>> {
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
pub struct Held {
    path: PathBuf,
    renewals: u64,
}

/// Leases of one process.
#[derive(Debug, Clone, Copy)]
pub struct Leases<'w> {
    /// The process.
    pub worker: &'w Worker,
    /// Time without a renewal after which others take what it holds, s.
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
pub fn clear(unit: &Path) -> io::Result<()> {
    for number in 0.. {
        match fs::remove_file(path(unit, number)) {
            Ok(()) => {}
            Err(err) if err.kind() == io::ErrorKind::NotFound => break,
            Err(err) => return Err(err),
        }
    }
    Ok(())
}
