//! Leases of dnsmasq, from its file: a line `expiry hardware address name client` each.
//!
//! On a machine without a clock of its own, as OpenWrt assumes, dnsmasq writes the length of a lease in
//! place of its expiry, and the largest 32-bit number for one that does not expire.
//!
//! Names and client ids come from whoever asked for an address. A name that is none (RFC 1123) is
//! dropped, a line that is none is left out; nothing of either is passed on.

use std::net::Ipv4Addr;
use std::path::Path;

use groundwave_files::ReadingError;
use groundwave_protocol::HardwareAddress;
use groundwave_protocol::is_hostname;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most leases read; a /16 has as many addresses.
const LEASES_MAX: usize = 65_536;
/// Length of a lease that does not expire, s.
const ENDLESS_S: i64 = 0xffff_ffff;
/// Expiry below which a number is the length of a lease, s since the Unix epoch: a length of 31 years.
const LENGTH_BELOW_S: i64 = 1_000_000_000;
/// Longest file read, bytes: so many leases of some 120 bytes.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// A lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "DhcpLease")]
pub struct Lease {
    /// The address given.
    pub ip: Ipv4Addr,
    /// Hardware address of the client.
    pub mac: HardwareAddress,
    /// Hostname that the client sent, if valid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// Client identifier, bytes in hexadecimal with colons.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// Time of expiry, RFC 3339 in UTC; `None` if the lease does not expire, or where the server writes
    /// its length instead.
    pub expires_at: Option<String>,
    /// Length of the lease, s, where the server writes that instead of its expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_s: Option<u32>,
}

/// Content of a file of leases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leases {
    /// Leases, in the order of the file.
    pub leases: Vec<Lease>,
    /// Number of invalid lines.
    pub dropped: usize,
}

/// Reads the file at `path`.
///
/// # Errors
/// [`ReadingError::Absent`] when there is none.
pub fn read(path: &Path) -> Result<Leases, ReadingError> {
    let io = |err| ReadingError::io(path.display().to_string(), err);
    let file = std::fs::File::open(path).map_err(io)?;
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, FILE_BYTES_MAX), &mut bytes)
        .map_err(io)?;
    Ok(parse(&bytes))
}

/// Reads the text of a file. Leases of IPv6 follow a line that begins with `duid`; they are not
/// read.
#[must_use]
pub fn parse(bytes: &[u8]) -> Leases {
    let mut found = Leases::default();
    for line in bytes.split(|byte| *byte == b'\n') {
        if line.trim_ascii().is_empty() {
            continue;
        }
        let line = std::str::from_utf8(line).ok();
        if line.is_some_and(|line| line.split(' ').next() == Some("duid")) {
            break;
        }
        match line.and_then(lease) {
            Some(lease) if found.leases.len() < LEASES_MAX => found.leases.push(lease),
            _ => found.dropped += 1,
        }
    }
    found
}

fn lease(line: &str) -> Option<Lease> {
    let mut words = line.trim_end_matches('\r').split(' ');
    let expiry: i64 = words.next()?.parse().ok()?;
    let hardware = words.next()?;
    // `06-` and the like before it name a kind of hardware other than Ethernet.
    let mac = hardware.split_once('-').map_or(hardware, |(_, mac)| mac).parse().ok()?;
    let ip = words.next()?.parse().ok()?;
    let hostname = words.next()?;
    let client = words.next()?;
    if words.next().is_some() || expiry < 0 {
        return None;
    }
    let (expires_at, length_s) = match expiry {
        0 | ENDLESS_S => (None, None),
        1..LENGTH_BELOW_S => (None, Some(u32::try_from(expiry).ok()?)),
        _ => (Some(rfc3339(expiry)?), None),
    };
    Some(Lease {
        ip,
        mac,
        hostname: is_hostname(hostname).then(|| hostname.to_ascii_lowercase()),
        client_id: is_client_id(client).then(|| client.to_ascii_lowercase()),
        expires_at,
        length_s,
    })
}

/// Seconds since the Unix epoch as RFC 3339, in UTC to the millisecond; `None` beyond year 9999.
#[must_use]
pub fn rfc3339(seconds: i64) -> Option<String> {
    let at = jiff::Timestamp::from_second(seconds).ok()?;
    Some(format!("{at:.3}"))
}

/// Bytes in hexadecimal with colons, at most the 255 of an option (RFC 2132).
fn is_client_id(text: &str) -> bool {
    let byte = |byte: &str| byte.len() == 2 && byte.bytes().all(|digit| digit.is_ascii_hexdigit());
    text.len() < 255 * 3 && text.split(':').all(byte)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const FILE: &str = "1795228030 02:00:00:00:01:00 10.41.0.57 hill ff:00:01\n\
                        0 02:00:00:00:02:00 10.41.0.58 * *\n\
                        1795228031 02:00:00:00:03:00 10.41.0.59 <script> 01:02:00:00:00:03:00\n\
                        garbage\n\
                        1795228031 02:00:00:00:04:00 10.41.0.60 a b c\n\
                        duid 00:01:00:01\n\
                        1795228032 1 fd00::5 hill ff:00:01\n";

    #[test]
    fn leases_are_read_and_names_that_are_none_dropped() {
        let found = parse(FILE.as_bytes());
        assert_eq!((found.leases.len(), found.dropped), (3, 2));
        let [first, second, third] = found.leases.try_into().unwrap();
        assert_eq!(first.hostname.as_deref(), Some("hill"));
        assert_eq!(first.expires_at.as_deref(), Some("2026-11-21T02:27:10.000Z"));
        assert_eq!(first.client_id.as_deref(), Some("ff:00:01"));
        assert_eq!((second.expires_at, second.hostname), (None, None));
        assert_eq!(third.hostname, None);
        assert!(is_hostname(&"a".repeat(63)) && !is_hostname(&"a".repeat(64)));
        for wrong in ["", "-a", "a-", "a..b", "a_b", "ä", "a b", "."] {
            assert!(!is_hostname(wrong), "{wrong}");
        }
    }

    #[test]
    fn lengths_of_leases_are_no_times() {
        let read = parse(
            b"43200 02:00:00:00:01:00 10.41.0.57 hill *\n\
              4294967295 02:00:00:00:02:00 10.41.0.58 dale *\n",
        );
        let [first, second] = read.leases.try_into().unwrap();
        assert_eq!((first.expires_at, first.length_s), (None, Some(43_200)));
        assert_eq!((second.expires_at, second.length_s), (None, None));
    }

    proptest! {
        #[test]
        fn no_bytes_break_it_and_nothing_foreign_comes_out(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
            check(&parse(&bytes));
        }

        #[test]
        fn no_change_of_a_file_breaks_it(at in 0..FILE.len(), byte in any::<u8>(), cut in 0..FILE.len()) {
            let mut bytes = FILE.as_bytes().to_vec();
            bytes[at] = byte;
            bytes.truncate(cut);
            check(&parse(&bytes));
        }

        #[test]
        fn no_name_of_anybody_comes_out_changed(name in "\\PC{0,80}") {
            let found = parse(format!("1 02:00:00:00:01:00 10.41.0.57 {name} *\n").as_bytes());
            for lease in &found.leases {
                prop_assert!(lease.hostname.is_none() || lease.hostname == Some(name.to_ascii_lowercase()));
            }
            check(&found);
        }
    }

    fn check(found: &Leases) {
        for lease in &found.leases {
            let texts = [&lease.hostname, &lease.client_id];
            for byte in texts.into_iter().flatten().flat_map(|text| text.bytes()) {
                assert!(byte.is_ascii_alphanumeric() || b".-:".contains(&byte));
            }
        }
    }
}
