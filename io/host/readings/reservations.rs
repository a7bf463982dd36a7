//! Address reservations for dnsmasq's `dhcp-hostsdir`: a file for each, which dnsmasq reads when it
//! appears. A deleted one stays in force until dnsmasq reloads (SIGHUP).

use std::fs;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use groundwave_files::ReadingError;
use groundwave_protocol::HardwareAddress;
use groundwave_protocol::is_hostname;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A reserved address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DhcpReservation")]
pub struct Reservation {
    /// Hardware address of the client.
    pub mac: HardwareAddress,
    /// Reserved address.
    pub ip: Ipv4Addr,
    /// Hostname of the client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
}

impl Reservation {
    fn line(&self) -> Result<String, ReadingError> {
        let Some(name) = &self.hostname else {
            return Ok(format!("{},{}\n", self.mac, self.ip));
        };
        // A line is a list of words; only what is a name may stand in it.
        if !is_hostname(name) {
            return Err(ReadingError::decode(format!("the host name {name:?}")));
        }
        Ok(format!("{},{},{name}\n", self.mac, self.ip))
    }

    fn read(text: &str) -> Option<Self> {
        let mut words = text.trim_end().split(',');
        let mac = words.next()?.parse().ok()?;
        let ip = words.next()?.parse().ok()?;
        let hostname = words.next().map(str::to_owned);
        let whole = words.next().is_none() && hostname.as_deref().is_none_or(is_hostname);
        whole.then_some(Self { mac, ip, hostname })
    }
}

/// Line of a file that a person or another program wrote, by what may conflict with a reservation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HostLine {
    /// Hardware addresses of the client.
    pub macs: Vec<HardwareAddress>,
    /// Reserved address.
    pub ip: Option<Ipv4Addr>,
    /// Hostname of the client.
    pub hostname: Option<String>,
}

impl HostLine {
    /// Reads a line as dnsmasq does: words in any order, tags and times among them.
    fn read(line: &str) -> Self {
        let mut host = Self::default();
        let line = line.split('#').next().unwrap_or_default();
        for word in line.split(',').map(str::trim) {
            if let Ok(mac) = word.parse::<HardwareAddress>() {
                host.macs.push(mac);
            } else if let Ok(ip) = word.parse::<Ipv4Addr>() {
                host.ip = Some(ip);
            } else if is_hostname(word) && !is_term(word) {
                host.hostname = Some(word.to_owned());
            }
        }
        host
    }
}

/// `true` for the time of a lease and for the word that refuses one.
fn is_term(word: &str) -> bool {
    let digits = word.trim_end_matches(['s', 'm', 'h', 'd', 'w']);
    let is_time = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_time || ["infinite", "ignore"].contains(&word)
}

/// A folder of reservations.
#[derive(Debug, Clone)]
pub struct Reservations {
    folder: PathBuf,
}

impl Reservations {
    /// Reservations in `folder`, which dnsmasq reads.
    #[must_use]
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    fn path(&self, mac: HardwareAddress) -> PathBuf {
        self.folder.join(mac.to_string().replace(':', "-"))
    }

    /// All of them by hardware address; files that are none are left out.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] when there is no such folder.
    pub fn all(&self) -> Result<Vec<Reservation>, ReadingError> {
        let io = |err| ReadingError::io(self.folder.display().to_string(), err);
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(io)? {
            let path = entry.map_err(io)?.path();
            // One that went away since is none.
            let read = fs::read_to_string(&path).ok().as_deref().and_then(Reservation::read);
            found.extend(read.filter(|one| self.path(one.mac) == path));
        }
        found.sort_by_key(|one| one.mac);
        Ok(found)
    }

    /// Lines of other files in the folder; hidden ones are none of dnsmasq's.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] when there is no such folder.
    pub fn foreign(&self) -> Result<Vec<HostLine>, ReadingError> {
        let io = |err| ReadingError::io(self.folder.display().to_string(), err);
        let mut lines = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(io)? {
            let path = entry.map_err(io)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let Some(text) = fs::read_to_string(&path).ok().filter(|_| !name.starts_with('.'))
            else {
                continue;
            };
            let is_own = |one: Reservation| self.path(one.mac) == path;
            if !Reservation::read(&text).is_some_and(is_own) {
                lines.extend(text.lines().map(HostLine::read));
            }
        }
        Ok(lines)
    }

    /// Stores a reservation, in place of the previous one of the same hardware address.
    ///
    /// # Errors
    /// [`ReadingError::Decode`] for an invalid name, else the error of the file system; the
    /// previous reservation then stays.
    pub fn put(&self, reservation: &Reservation) -> Result<(), ReadingError> {
        let line = reservation.line()?;
        let path = self.path(reservation.mac);
        let write = || -> io::Result<()> {
            // dnsmasq looks over names that begin with a dot.
            let mut file = tempfile::Builder::new().prefix(".").tempfile_in(&self.folder)?;
            file.write_all(line.as_bytes())?;
            readable(file.as_file())?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|err| err.error)?;
            Ok(())
        };
        write().map_err(|err| ReadingError::io(path.display().to_string(), err))
    }

    /// Removes the reservation of `mac`; `true` if there was one.
    ///
    /// # Errors
    /// Error of the file system.
    pub fn remove(&self, mac: HardwareAddress) -> Result<bool, ReadingError> {
        let path = self.path(mac);
        match fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(err) if err.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(err) => Err(ReadingError::io(path.display().to_string(), err)),
        }
    }
}

/// dnsmasq reads as a user of its own.
fn readable(file: &fs::File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_others_are_read_as_dnsmasq_does() {
        let folder = tempfile::tempdir().unwrap();
        let reservations = Reservations::at(folder.path());
        let own = "02:00:00:00:01:00".parse().unwrap();
        let one = Reservation { mac: own, ip: Ipv4Addr::new(10, 41, 0, 60), hostname: None };
        reservations.put(&one).unwrap();
        let text = "# printers\n02:00:00:00:02:00,02:00:00:00:02:01, set:known,Printer,10.41.0.70,12h\n\
                    id:01:02,10.41.0.71,infinite # door\nlaptop,ignore\n";
        fs::write(folder.path().join("office"), text).unwrap();
        fs::write(folder.path().join(".office.swp"), "10.41.0.72\n").unwrap();
        let lines = reservations.foreign().unwrap();
        let [comment, printer, door, laptop] = lines.try_into().unwrap();
        assert_eq!(comment, HostLine::default());
        let macs: [HardwareAddress; 2] =
            ["02:00:00:00:02:00", "02:00:00:00:02:01"].map(|mac| mac.parse().unwrap());
        assert_eq!(
            (printer.macs.as_slice(), printer.hostname.as_deref()),
            (&macs[..], Some("Printer"))
        );
        let ips = (printer.ip, door.ip, door.hostname);
        let (first, second) = (Ipv4Addr::new(10, 41, 0, 70), Ipv4Addr::new(10, 41, 0, 71));
        assert_eq!(ips, (Some(first), Some(second), None));
        assert_eq!((laptop.hostname.as_deref(), laptop.ip), (Some("laptop"), None));
    }

    #[test]
    fn reservations_are_files_that_come_whole_and_go() {
        let folder = tempfile::tempdir().unwrap();
        let reservations = Reservations::at(folder.path());
        let one = Reservation {
            mac: "02:00:00:00:01:00".parse().unwrap(),
            ip: Ipv4Addr::new(10, 41, 0, 60),
            hostname: Some("hill".to_owned()),
        };
        let two = Reservation {
            mac: "02:00:00:00:00:00".parse().unwrap(),
            ip: Ipv4Addr::new(10, 41, 0, 61),
            hostname: None,
        };
        reservations.put(&one).unwrap();
        reservations.put(&two).unwrap();
        let moved = Reservation { ip: Ipv4Addr::new(10, 41, 0, 62), ..one.clone() };
        reservations.put(&moved).unwrap();
        assert_eq!(reservations.all().unwrap(), [two.clone(), moved]);
        let text = fs::read_to_string(folder.path().join("02-00-00-00-01-00")).unwrap();
        assert_eq!(text, "02:00:00:00:01:00,10.41.0.62,hill\n");
        assert!(reservations.remove(one.mac).unwrap() && !reservations.remove(one.mac).unwrap());
        assert_eq!(reservations.all().unwrap(), std::slice::from_ref(&two));
        let hostile =
            Reservation { hostname: Some("a\ndhcp-script=/bin/sh".to_owned()), ..two.clone() };
        assert!(matches!(reservations.put(&hostile), Err(ReadingError::Decode { .. })));
        assert_eq!(reservations.all().unwrap(), [two]);
        assert!(Reservations::at(&folder.path().join("no")).all().unwrap_err().is_absent());
    }
}
