//! DHCP server of the underlay: leases and reservations of dnsmasq.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use axum::http::StatusCode;
use groundwave_gateway::onboarding::AddressPool;
use groundwave_host;
use groundwave_host::readings::leases;
use groundwave_host::readings::reservations::{HostLine, Reservations};
use groundwave_protocol::Mac;

pub use groundwave_host::readings::leases::Lease;
pub use groundwave_host::readings::reservations::Reservation;

use super::kernel::{absent, unread};
use groundwave_http::Problem;

/// Files of dnsmasq.
#[derive(Debug, Default)]
pub struct DhcpServer {
    leases: Option<PathBuf>,
    reservations: Option<PathBuf>,
    writing: Mutex<()>,
    /// Lines of the file of leases that could not be read the last time.
    unread_lines: AtomicUsize,
}

impl DhcpServer {
    /// Server with a file of leases and a folder of reservations.
    #[must_use]
    pub fn new(leases: Option<PathBuf>, reservations: Option<PathBuf>) -> Self {
        Self { leases, reservations, ..Self::default() }
    }

    /// Leases by address. Blocks.
    ///
    /// # Errors
    /// 503 without a file of leases.
    pub fn leases(&self) -> Result<Vec<Lease>, Problem> {
        let path = self.leases.as_deref().ok_or_else(|| absent("no DHCP lease file configured"))?;
        let read = leases::read(path).map_err(unread)?;
        let before = self.unread_lines.swap(read.dropped, Ordering::Relaxed);
        if read.dropped > before {
            tracing::warn!(
                lines = read.dropped,
                "file of DHCP leases {}: lines that cannot be read are left out",
                path.display()
            );
        }
        let mut leases = read.leases;
        leases.sort_by_key(|lease| lease.ip);
        Ok(leases)
    }

    /// Number of leases in a range of addresses. Blocks.
    #[must_use]
    pub fn leased(&self, pool: AddressPool) -> u32 {
        let leases = self.leases().unwrap_or_default();
        let count = leases.iter().filter(|lease| pool.holds(lease.ip)).count();
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    /// Folder of reservations.
    ///
    /// # Errors
    /// 503 without one.
    pub fn folder(&self) -> Result<Reservations, Problem> {
        let path = self
            .reservations
            .as_deref()
            .ok_or_else(|| absent("no DHCP reservation folder configured"))?;
        Ok(Reservations::at(path))
    }

    /// Adds a reservation. Blocks.
    ///
    /// # Errors
    /// 409 on a conflict with a reservation or a lease.
    pub fn reserve(&self, new: Reservation) -> Result<Reservation, Problem> {
        let folder = self.folder()?;
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        let reserved = folder.all().map_err(unread)?;
        check(&new, &reserved, &self.leases().unwrap_or_default())?;
        check_foreign(&new, &folder.foreign().map_err(unread)?)?;
        folder.put(&new).map_err(unread)?;
        Ok(new)
    }

    /// Removes the reservation of a MAC address; `true` if there was one. Blocks.
    ///
    /// # Errors
    /// 500 or 503.
    pub fn release(&self, mac: Mac) -> Result<bool, Problem> {
        let folder = self.folder()?;
        let _alone = self.writing.lock().unwrap_or_else(PoisonError::into_inner);
        folder.remove(groundwave_protocol::HardwareAddress::from(mac)).map_err(unread)
    }
}

/// Refuses a reservation whose MAC address, IP address or host name is taken.
fn check(new: &Reservation, reservations: &[Reservation], leases: &[Lease]) -> Result<(), Problem> {
    let conflict = |detail: String| Err(Problem::new(StatusCode::CONFLICT, detail));
    if reservations.iter().any(|one| one.mac == new.mac) {
        return conflict(format!("reservation exists for {}", new.mac));
    }
    if let Some(other) = reservations.iter().find(|one| one.ip == new.ip) {
        return conflict(format!("{} is reserved for {}", new.ip, other.mac));
    }
    let named = |one: &&Reservation| new.hostname.is_some() && one.hostname == new.hostname;
    if let Some(other) = reservations.iter().find(named) {
        return conflict(format!("host name in use by {}", other.mac));
    }
    let using = |one: &&Lease| one.ip == new.ip && one.mac != new.mac;
    if let Some(other) = leases.iter().find(using) {
        return conflict(format!("{} holds a lease of {}", other.mac, new.ip));
    }
    Ok(())
}

/// Refuses a reservation whose MAC address, IP address or host name another file of the folder has.
fn check_foreign(new: &Reservation, lines: &[HostLine]) -> Result<(), Problem> {
    let same_name = |line: &HostLine| match (&new.hostname, &line.hostname) {
        (Some(own), Some(other)) => own.eq_ignore_ascii_case(other),
        _ => false,
    };
    for line in lines {
        let what = if line.macs.contains(&new.mac) {
            new.mac.to_string()
        } else if line.ip == Some(new.ip) {
            new.ip.to_string()
        } else if same_name(line) {
            new.hostname.clone().unwrap_or_default()
        } else {
            continue;
        };
        let detail = format!("{what} is in another file of the folder of reservations");
        return Err(Problem::new(StatusCode::CONFLICT, detail));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn reservation(last: u8, ip: u8, name: Option<&str>) -> Reservation {
        Reservation {
            mac: groundwave_protocol::HardwareAddress([2, 0, 0, 0, 0, last]),
            ip: Ipv4Addr::new(10, 41, 0, ip),
            hostname: name.map(str::to_owned),
        }
    }

    #[test]
    fn reservations_of_other_files_are_not_taken() {
        let line = HostLine {
            macs: vec![groundwave_protocol::HardwareAddress([2, 0, 0, 0, 0, 7])],
            ip: Some(Ipv4Addr::new(10, 41, 0, 57)),
            hostname: Some("Hill".to_owned()),
        };
        let lines = [HostLine::default(), line];
        let check_new = |new| check_foreign(&new, &lines).map_err(|problem| problem.status);
        assert_eq!(check_new(reservation(8, 58, Some("dale"))), Ok(()));
        for bad in
            [reservation(7, 58, None), reservation(8, 57, None), reservation(8, 58, Some("hill"))]
        {
            assert_eq!(check_new(bad), Err(409));
        }
    }

    #[test]
    fn conflicting_reservations_are_refused() {
        let reservations = [reservation(1, 51, Some("hill")), reservation(2, 52, None)];
        let leases = leases::parse(b"0 02:00:00:00:00:09 10.41.0.59 * *\n").leases;
        let check_new = |new: Reservation| {
            check(&new, &reservations, &leases).map_err(|problem| problem.status)
        };
        assert_eq!(check_new(reservation(3, 53, None)), Ok(()));
        assert_eq!(check_new(reservation(9, 59, Some("dale"))), Ok(()));
        for bad in [
            reservation(1, 54, None),
            reservation(3, 52, None),
            reservation(3, 53, Some("hill")),
            reservation(3, 59, None),
        ] {
            assert_eq!(check_new(bad.clone()), Err(409), "{bad:?}");
        }
    }
}
