//! Limits: lengths of request bodies, rates of logins, registrations and heartbeats.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use governor::clock::Clock as _;
use governor::{DefaultKeyedRateLimiter, Quota};

use groundwave_systems::site::NodeId;

use crate::http::Problem;

/// Longest request body unless the operation has another limit, bytes.
pub const BODY_BYTES_MAX: usize = 64 << 10;
/// Longest heartbeat, bytes.
pub const HEARTBEAT_BYTES_MAX: usize = 16 << 10;
/// Longest telemetry batch, bytes, decompressed.
pub const BATCH_BYTES_MAX: usize = 256 << 10;

/// Failed logins of an account or source address before it must wait.
const FAILURES: u32 = 5;
/// Memory of failures and longest wait, s.
const WINDOW_S: u64 = 15 * 60;
/// Most accounts and source addresses remembered.
const REMEMBERED: usize = 20_000;

#[derive(Debug, Clone, Copy)]
struct Failures {
    count: u32,
    last_s: u64,
}

impl Failures {
    /// Time of the next permitted attempt, s: at once up to [`FAILURES`], then after 1, 2, 4 ... s.
    fn allowed_s(self) -> u64 {
        let beyond = self.count.saturating_sub(FAILURES);
        match self.count >= FAILURES {
            true => self.last_s + (1 << beyond.min(20)).min(WINDOW_S),
            false => 0,
        }
    }
}

/// Failed logins by account name and source address.
#[derive(Debug, Default)]
pub struct FailedLogins(Mutex<BTreeMap<String, Failures>>);

/// Network of a source address: the IPv4 address itself, the /64 of an IPv6 address.
fn network(source: IpAddr) -> IpAddr {
    match source {
        IpAddr::V6(ip) => match ip.to_ipv4_mapped() {
            Some(ip) => IpAddr::V4(ip),
            None => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << 64))),
        },
        ip => ip,
    }
}

fn keys(username: &str, source: IpAddr) -> [String; 2] {
    [
        format!("name {username}"),
        format!("from {}", network(source)),
    ]
}

impl FailedLogins {
    /// Refuses an attempt before its time.
    ///
    /// # Errors
    /// 429 with the time to wait.
    pub fn allow(&self, username: &str, source: IpAddr, now_s: u64) -> Result<(), Problem> {
        let held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = |key: &String| held.get(key).map_or(0, |failures| failures.allowed_s());
        let due_s = keys(username, source).iter().map(due).max().unwrap_or(0);
        if now_s < due_s {
            let wait_s = u32::try_from(due_s - now_s).unwrap_or(u32::MAX);
            return Err(limited("too many failed logins", wait_s));
        }
        Ok(())
    }

    /// Records a failure.
    pub fn failed(&self, username: &str, source: IpAddr, now_s: u64) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if held.len() >= REMEMBERED {
            held.retain(|_, failures| now_s < failures.last_s + WINDOW_S);
        }
        for key in keys(username, source) {
            if held.len() >= REMEMBERED && !held.contains_key(&key) {
                continue;
            }
            let failures = held.entry(key).or_insert(Failures {
                count: 0,
                last_s: now_s,
            });
            if now_s >= failures.last_s + WINDOW_S {
                failures.count = 0;
            }
            failures.count = failures.count.saturating_add(1);
            failures.last_s = now_s;
        }
    }

    /// Forgets the failures of an account that logged in; those of its source address stay, for they
    /// may concern other accounts.
    pub fn succeeded(&self, username: &str) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        held.remove(&format!("name {username}"));
    }
}

/// Rate limits of the gateway.
pub struct RateLimits {
    /// Failed logins.
    pub logins: FailedLogins,
    /// Registration requests by source address: 6, then one in 10 s.
    pub registrations: RateLimiter<IpAddr>,
    /// Registration requests with unknown public keys, in all: 60, then one a second.
    pub unknown_keys: RateLimiter<()>,
    /// Heartbeats by node: 4, then ten in a heartbeat period.
    pub heartbeats: RateLimiter<NodeId>,
}

impl RateLimits {
    /// Limits for a heartbeat period.
    #[must_use]
    pub fn new(heartbeat: Duration) -> Self {
        Self {
            logins: FailedLogins::default(),
            registrations: RateLimiter::new(6, Duration::from_secs(10)),
            unknown_keys: RateLimiter::new(60, Duration::from_secs(1)),
            heartbeats: RateLimiter::new(4, heartbeat / 10),
        }
    }
}

/// Problem with status 429.
#[must_use]
pub fn limited(what: &str, wait_s: u32) -> Problem {
    let status = axum::http::StatusCode::TOO_MANY_REQUESTS;
    let wait_s = wait_s.max(1);
    Problem::new(status, format!("{what}; try again in {wait_s} s")).retry_after(wait_s)
}

/// Token bucket by key.
pub struct RateLimiter<K: Clone + Eq + std::hash::Hash>(DefaultKeyedRateLimiter<K>);

impl<K: Clone + Eq + std::hash::Hash> RateLimiter<K> {
    /// Buckets of `burst` tokens, refilled one every `every`.
    ///
    /// # Panics
    /// For zero `burst` or `every`.
    #[must_use]
    pub fn new(burst: u32, every: Duration) -> Self {
        let burst = NonZeroU32::new(burst).expect("a burst of one or more");
        let quota = Quota::with_period(every)
            .expect("some time")
            .allow_burst(burst);
        Self(DefaultKeyedRateLimiter::keyed(quota))
    }

    /// Takes a token of `key`.
    ///
    /// # Errors
    /// 429 with the time to wait.
    pub fn allow(&self, key: &K, what: &str) -> Result<(), Problem> {
        if self.0.len() > REMEMBERED {
            self.0.retain_recent();
        }
        self.0.check_key(key).map_err(|early| {
            let wait = early.wait_time_from(self.0.clock().now());
            let wait_s = u32::try_from(wait.as_secs() + 1).unwrap_or(u32::MAX);
            limited(what, wait_s)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_doubles_after_five_failures_and_ends_at_a_quarter_of_an_hour() {
        let logins = FailedLogins::default();
        let source = "192.0.2.1".parse().unwrap();
        for _ in 0..4 {
            logins.failed("ada", source, 100);
        }
        assert!(logins.allow("ada", source, 100).is_ok());
        logins.failed("ada", source, 100);
        assert!(logins.allow("ada", source, 100).is_err());
        assert!(logins.allow("ada", source, 101).is_ok());
        for _ in 0..30 {
            logins.failed("ada", source, 101);
        }
        assert!(logins.allow("ada", source, 101 + WINDOW_S - 1).is_err());
        assert!(logins.allow("ada", source, 101 + WINDOW_S).is_ok());
        // Another name from the same source waits as well, another source with the same name too.
        let other = "192.0.2.2".parse().unwrap();
        assert!(logins.allow("bob", source, 102).is_err());
        assert!(logins.allow("ada", other, 102).is_err());
        assert!(logins.allow("bob", other, 102).is_ok());
    }

    #[test]
    fn a_network_of_ipv6_is_one_source() {
        let logins = FailedLogins::default();
        for host in 0..9_u128 {
            let ip = Ipv6Addr::from_bits((0x2001_0db8_u128 << 96) + host);
            logins.failed(&format!("name{host}"), IpAddr::V6(ip), 0);
        }
        let next = IpAddr::V6(Ipv6Addr::from_bits((0x2001_0db8_u128 << 96) + 99));
        assert!(logins.allow("new", next, 0).is_err());
    }
}
