//! Limits: lengths of request bodies, rates of logins, registrations and heartbeats.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::Clock as _;
use governor::{DefaultKeyedRateLimiter, Quota};
use groundwave_gateway::account::AccountId;
use groundwave_simulation::site::NodeId;

pub use super::limited::limited;
use super::login_attempts::LoginAttempts;
use groundwave_http::Problem;
use groundwave_http::admission::network;
use groundwave_protocol::PublicKey;

/// Maximum length of a request body unless the operation has another limit, bytes.
pub const BODY_BYTES_MAX: usize = 64 << 10;
/// Maximum length of a heartbeat, bytes.
pub const HEARTBEAT_BYTES_MAX: usize = 16 << 10;
/// Maximum length of a telemetry batch, bytes, decompressed.
pub const BATCH_BYTES_MAX: usize = 256 << 10;

/// Maximum number of keys remembered by a limiter.
const REMEMBERED: usize = 20_000;

/// Wider network of a source address: the /24 of an IPv4 address, the /48 of an IPv6 address.
#[must_use]
pub fn wide_network(source: IpAddr) -> IpAddr {
    match network(source) {
        IpAddr::V4(ip) => IpAddr::V4(Ipv4Addr::from_bits(ip.to_bits() & (u32::MAX << 8))),
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & (u128::MAX << 80))),
    }
}

/// Rate limits of the gateway.
pub struct RateLimits {
    /// Login attempts.
    pub logins: LoginAttempts,
    /// Registration requests by source address: 6, then one in 10 s.
    pub registrations: RateLimiter<IpAddr>,
    /// Registration requests that prove a secret, a code or a registered key, by public key: 6, then one
    /// in 10 s, whatever the address: many nodes may be behind one.
    pub vouched_keys: RateLimiter<PublicKey>,
    /// Alerts of another hardware address with a registered key, by public key: one an hour.
    pub key_conflicts: RateLimiter<PublicKey>,
    /// Registration requests with a first unknown public key, by source address: one a minute.
    pub first_keys: RateLimiter<IpAddr>,
    /// Registration requests with further unknown public keys, by network: 60, then one a second.
    pub unknown_keys: RateLimiter<IpAddr>,
    /// Challenges by source address: 240, then four a second; they need no memory.
    pub challenges: RateLimiter<IpAddr>,
    /// Heartbeats by node: 4, then ten in a heartbeat period.
    pub heartbeats: RateLimiter<NodeId>,
    /// Telemetry samples by node: the hour that an agent keeps while it has no connection, then 100 a
    /// second, 25 times those of an agent with the usual period.
    pub samples: RateLimiter<NodeId>,
    /// Tests of external systems by account: 6, then one in 10 s.
    pub external_tests: RateLimiter<AccountId>,
    /// Calls of external systems by account: 30, then one in 2 s.
    pub external_calls: RateLimiter<AccountId>,
}

impl RateLimits {
    /// Limits for a heartbeat period.
    #[must_use]
    pub fn new(heartbeat: Duration) -> Self {
        Self {
            logins: LoginAttempts::default(),
            registrations: RateLimiter::new(6, Duration::from_secs(10)),
            vouched_keys: RateLimiter::new(6, Duration::from_secs(10)),
            key_conflicts: RateLimiter::new(1, Duration::from_secs(3_600)),
            first_keys: RateLimiter::new(1, Duration::from_secs(60)),
            unknown_keys: RateLimiter::new(60, Duration::from_secs(1)),
            challenges: RateLimiter::new(240, Duration::from_millis(250)),
            heartbeats: RateLimiter::new(4, heartbeat / 10),
            samples: RateLimiter::new(24_000, Duration::from_millis(10)),
            external_tests: RateLimiter::new(6, Duration::from_secs(10)),
            external_calls: RateLimiter::new(30, Duration::from_secs(2)),
        }
    }
}

/// Token bucket by key.
pub struct RateLimiter<K: Clone + Eq + std::hash::Hash> {
    buckets: DefaultKeyedRateLimiter<K>,
    /// Time to fill an empty bucket, s.
    full_s: u32,
}

impl<K: Clone + Eq + std::hash::Hash> RateLimiter<K> {
    /// Buckets of `burst` tokens, refilled one every `every`.
    ///
    /// # Panics
    /// For zero `burst` or `every`.
    #[must_use]
    pub fn new(burst: u32, every: Duration) -> Self {
        let tokens = NonZeroU32::new(burst).expect("a burst of one or more");
        let quota = Quota::with_period(every).expect("some time").allow_burst(tokens);
        let full = every.saturating_mul(burst);
        Self {
            buckets: DefaultKeyedRateLimiter::keyed(quota),
            full_s: u32::try_from(full.as_secs()).unwrap_or(u32::MAX),
        }
    }

    /// Takes a token of `key`.
    ///
    /// # Errors
    /// 429 with the time to wait.
    pub fn allow(&self, key: &K, what: &str) -> Result<(), Problem> {
        self.allow_n(key, 1, what)
    }

    /// Takes `count` tokens of `key`, at least one.
    ///
    /// # Errors
    /// 429 with the time to wait; for more than a full bucket the time that it takes to fill.
    pub fn allow_n(&self, key: &K, count: usize, what: &str) -> Result<(), Problem> {
        if self.buckets.len() > REMEMBERED {
            self.buckets.retain_recent();
        }
        let count = u32::try_from(count.max(1)).unwrap_or(u32::MAX);
        let count = NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN);
        let checked =
            self.buckets.check_key_n(key, count).map_err(|_| limited(what, self.full_s))?;
        checked.map_err(|early| {
            let wait = early.wait_time_from(self.buckets.clock().now());
            let wait_s = u32::try_from(wait.as_secs() + 1).unwrap_or(u32::MAX);
            limited(what, wait_s)
        })
    }
}

impl RateLimits {
    /// Takes a request to register a key that is not known. The first of an address within a minute
    /// passes whatever others send; those that are vouched for by a proof or code do, too.
    ///
    /// # Errors
    /// 429 with the time to wait.
    pub fn unknown_key(&self, source: IpAddr, vouched: bool) -> Result<(), Problem> {
        let what = "registration rate limit of unknown keys exceeded";
        if vouched || self.first_keys.allow(&network(source), what).is_ok() {
            return Ok(());
        }
        self.unknown_keys.allow(&wide_network(source), what)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_of_keys_holds_up_no_other_address_of_its_network() {
        let limits = RateLimits::new(Duration::from_secs(5));
        let flood: IpAddr = "10.41.0.66".parse().unwrap();
        let passed = (0..1_000).filter(|_| limits.unknown_key(flood, false).is_ok());
        assert!(passed.count() <= 63);
        for host in 1..50 {
            let honest = IpAddr::from([10, 41, 0, host]);
            assert!(limits.unknown_key(honest, false).is_ok(), "{honest}");
        }
        assert!(limits.unknown_key(flood, false).is_err());
        assert!(limits.unknown_key(flood, true).is_ok());
    }

    #[test]
    fn proven_nodes_behind_one_address_wait_for_no_other() {
        let limits = RateLimits::new(Duration::from_secs(5));
        let relay = network("10.41.0.66".parse().unwrap());
        let key = |number: u8| PublicKey::new([number; 32]).unwrap();
        for number in 1..=200 {
            for _ in 0..3 {
                assert!(
                    limits.vouched_keys.allow(&key(number), "registration").is_ok(),
                    "{number}"
                );
            }
        }
        assert!((0..100).any(|_| limits.vouched_keys.allow(&key(1), "registration").is_err()));
        for _ in 0..24 * 5 {
            assert!(limits.challenges.allow(&relay, "challenge").is_ok());
        }
        // Without a proof the address counts.
        let count = (0..100).filter(|_| limits.registrations.allow(&relay, "x").is_ok()).count();
        assert!(count <= 7, "{count}");
    }

    #[test]
    fn several_tokens_are_taken_at_once_and_never_more_than_a_bucket_has() {
        let limits = RateLimits::new(Duration::from_secs(5));
        let (one, other) = (NodeId::from_u128(1), NodeId::from_u128(2));
        let wait_s = |count| {
            let refused = limits.samples.allow_n(&one, count, "too many samples");
            refused.err().and_then(|problem| problem.retry_after_s)
        };
        assert_eq!(wait_s(24_001), Some(240));
        assert_eq!(wait_s(24_000), None);
        assert!(wait_s(12_000).is_some_and(|wait_s| (119..=121).contains(&wait_s)));
        assert!(limits.samples.allow_n(&other, 0, "too many samples").is_ok());
    }
}
