//! Login attempts: admitted or refused before a password is checked.
//!
//! An attempt counts as failed from its admission until its outcome is known, so that attempts at once
//! are no more than attempts one after another. Failures lock the pair of network and username: a
//! guesser elsewhere locks nobody out. Failures of a network over all usernames make new usernames
//! wait there, but not those that logged in from it before.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};

use groundwave_http::Problem;
use groundwave_http::admission::network;

use super::limited::limited;

/// Failed attempts before the next one must wait.
const FAILURES: u32 = 5;
/// Memory of failures and longest wait of a pair of network and username, s.
const WINDOW_S: u64 = 15 * 60;
/// Maximum lock time of a network, s: it may be shared by many.
const NETWORK_WAIT_S: u64 = 60;
/// Maximum number of remembered pairs, of networks and of successful pairs.
const REMEMBERED: usize = 20_000;

#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    failed: u32,
    last_s: u64,
    /// Attempts that are being checked.
    pending: u32,
}

impl Tally {
    /// Refuses an attempt too many; at most `most_s` of waiting.
    fn allow(&self, now_s: u64, most_s: u64) -> Result<(), Problem> {
        let failed = match now_s < self.last_s + WINDOW_S {
            true => self.failed,
            false => 0,
        };
        // Beyond the free attempts one is checked at a time: after 1, 2, 4 ... s.
        let free = FAILURES.saturating_sub(failed).max(1);
        if self.pending >= free {
            return Err(limited("too many logins at once", 1));
        }
        if failed < FAILURES {
            return Ok(());
        }
        let beyond = (failed - FAILURES).min(20);
        let due_s = self.last_s + (1_u64 << beyond).min(most_s);
        if now_s < due_s {
            let wait_s = u32::try_from(due_s - now_s).unwrap_or(u32::MAX);
            return Err(limited("too many failed logins", wait_s));
        }
        Ok(())
    }

    fn fail(&mut self, now_s: u64) {
        if now_s >= self.last_s + WINDOW_S {
            self.failed = 0;
        }
        self.failed = self.failed.saturating_add(1);
        self.last_s = now_s;
    }

    fn is_idle(&self, now_s: u64) -> bool {
        self.pending == 0 && (self.failed == 0 || now_s >= self.last_s + WINDOW_S)
    }
}

type Pair = (IpAddr, String);

#[derive(Debug, Default)]
struct Memory {
    pairs: BTreeMap<Pair, Tally>,
    networks: BTreeMap<IpAddr, Tally>,
    /// Pairs that logged in, with the time, s.
    logins: BTreeMap<Pair, u64>,
}

impl Memory {
    /// Frees places for one more pair and network: the oldest that wait for no outcome are forgotten.
    fn evict_oldest(&mut self, now_s: u64) {
        evict_oldest(&mut self.pairs, now_s);
        evict_oldest(&mut self.networks, now_s);
    }
}

fn evict_oldest<K: Clone + Ord>(tallies: &mut BTreeMap<K, Tally>, now_s: u64) {
    if tallies.len() < REMEMBERED {
        return;
    }
    tallies.retain(|_, tally| !tally.is_idle(now_s));
    while tallies.len() >= REMEMBERED {
        let settled = tallies.iter().filter(|(_, tally)| tally.pending == 0);
        let oldest = settled.min_by_key(|(_, tally)| tally.last_s);
        let Some(oldest) = oldest.map(|(key, _)| key.clone()) else {
            return;
        };
        tallies.remove(&oldest);
    }
}

/// Login attempts by network and username.
#[derive(Debug, Default)]
pub struct LoginAttempts(Mutex<Memory>);

/// An admitted attempt. Dropped without an outcome, as when the client goes away, it counts as failed.
#[derive(Debug)]
pub struct Attempt<'l> {
    attempts: &'l LoginAttempts,
    pair: Pair,
    now_s: u64,
    outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Failed,
    Succeeded,
    NotChecked,
}

impl LoginAttempts {
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Admits an attempt, before its password is checked.
    ///
    /// # Errors
    /// 429 with the time to wait.
    pub fn begin(
        &self,
        username: &str,
        source: IpAddr,
        now_s: u64,
    ) -> Result<Attempt<'_>, Problem> {
        let pair = (network(source), username.to_owned());
        let mut memory = self.memory();
        let tally = |tally_before: Option<&Tally>| tally_before.copied().unwrap_or_default();
        tally(memory.pairs.get(&pair)).allow(now_s, WINDOW_S)?;
        if !memory.logins.contains_key(&pair) {
            tally(memory.networks.get(&pair.0)).allow(now_s, NETWORK_WAIT_S)?;
            memory.evict_oldest(now_s);
        }
        memory.pairs.entry(pair.clone()).or_default().pending += 1;
        memory.networks.entry(pair.0).or_default().pending += 1;
        Ok(Attempt { attempts: self, pair, now_s, outcome: Outcome::Failed })
    }
}

impl Attempt<'_> {
    /// The password was right: the failures of the pair are forgotten, those of the network stay, for
    /// they may concern other accounts.
    pub fn succeeded(mut self) {
        self.outcome = Outcome::Succeeded;
    }

    /// The password was not checked.
    pub fn not_checked(mut self) {
        self.outcome = Outcome::NotChecked;
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let mut guard = self.attempts.memory();
        let memory = &mut *guard;
        let pair = memory.pairs.entry(self.pair.clone()).or_default();
        let from = memory.networks.entry(self.pair.0).or_default();
        for tally in [&mut *pair, &mut *from] {
            tally.pending = tally.pending.saturating_sub(1);
            if self.outcome == Outcome::Failed {
                tally.fail(self.now_s);
            }
        }
        if self.outcome != Outcome::Succeeded {
            return;
        }
        pair.failed = 0;
        if pair.pending == 0 {
            memory.pairs.remove(&self.pair);
        }
        if memory.logins.len() >= REMEMBERED {
            let oldest = memory.logins.iter().min_by_key(|(_, at_s)| **at_s);
            if let Some(oldest) = oldest.map(|(pair, _)| pair.clone()) {
                memory.logins.remove(&oldest);
            }
        }
        memory.logins.insert(self.pair.clone(), self.now_s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv6Addr;

    fn fail(logins: &LoginAttempts, username: &str, source: IpAddr, now_s: u64) {
        let mut memory = logins.memory();
        let pair = (network(source), username.to_owned());
        memory.networks.entry(pair.0).or_default().fail(now_s);
        memory.pairs.entry(pair).or_default().fail(now_s);
    }

    fn allows(logins: &LoginAttempts, username: &str, source: IpAddr, now_s: u64) -> bool {
        match logins.begin(username, source, now_s) {
            Ok(attempt) => {
                attempt.not_checked();
                true
            }
            Err(_) => false,
        }
    }

    #[test]
    fn waiting_doubles_after_five_failures_and_ends_at_a_quarter_of_an_hour() {
        let logins = LoginAttempts::default();
        let source = "192.0.2.1".parse().unwrap();
        for _ in 0..4 {
            fail(&logins, "ada", source, 100);
        }
        assert!(allows(&logins, "ada", source, 100));
        fail(&logins, "ada", source, 100);
        assert!(!allows(&logins, "ada", source, 100));
        assert!(allows(&logins, "ada", source, 101));
        for _ in 0..30 {
            fail(&logins, "ada", source, 101);
        }
        assert!(!allows(&logins, "ada", source, 101 + WINDOW_S - 1));
        assert!(allows(&logins, "ada", source, 101 + WINDOW_S));
        // Another name from the same source waits as well; the same name elsewhere does not.
        let other = "192.0.2.2".parse().unwrap();
        assert!(!allows(&logins, "bob", source, 102));
        assert!(allows(&logins, "ada", other, 102));
        assert!(allows(&logins, "bob", other, 102));
        // A network waits a minute at most.
        assert!(allows(&logins, "bob", source, 101 + NETWORK_WAIT_S));
    }

    #[test]
    fn a_network_of_ipv6_is_one_source() {
        let logins = LoginAttempts::default();
        for host in 0..9_u128 {
            let ip = Ipv6Addr::from_bits((0x2001_0db8_u128 << 96) + host);
            fail(&logins, &format!("name{host}"), IpAddr::V6(ip), 0);
        }
        let next = IpAddr::V6(Ipv6Addr::from_bits((0x2001_0db8_u128 << 96) + 99));
        assert!(!allows(&logins, "new", next, 0));
    }

    #[test]
    fn attempts_at_once_are_no_more_than_attempts_in_turn() {
        let logins = LoginAttempts::default();
        let source = "192.0.2.1".parse().unwrap();
        let attempts: Vec<_> =
            (0..30).filter_map(|_| logins.begin("ada", source, 100).ok()).collect();
        assert_eq!(attempts.len(), 5);
        drop(attempts);
        assert!(!allows(&logins, "ada", source, 100));
        // After the free ones, one at a time.
        let one = logins.begin("ada", source, 101).unwrap();
        assert!(logins.begin("ada", source, 101).is_err());
        drop(one);
    }

    #[test]
    fn who_logged_in_from_an_address_is_not_held_up_by_others_there() {
        let logins = LoginAttempts::default();
        let source = "192.0.2.1".parse().unwrap();
        logins.begin("ada", source, 100).unwrap().succeeded();
        for guess in 0..20 {
            fail(&logins, &format!("name{guess}"), source, 101);
        }
        assert!(allows(&logins, "ada", source, 101));
        assert!(!allows(&logins, "bob", source, 101));
    }
}
