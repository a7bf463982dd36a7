//! Sampling of refused requests in the audit log: the first ones of a source and outcome have a line
//! each, further ones are counted.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use groundwave_http::admission::network;
use groundwave_io_gateway::AuditEntry;

/// Period after which counts are written.
pub const PERIOD: Duration = Duration::from_secs(60);
/// Refusals of a source, operation and outcome with a line of their own, a period.
const WHOLE_PER_KEY: u32 = 5;
/// Refusals of all sources with a line of their own, a period.
const WHOLE_MAX: u32 = 100;
/// Sources, operations and outcomes that are counted apart.
const KEYS_MAX: usize = 512;
/// Maximum length of the path of a line, bytes.
const TARGET_BYTES_MAX: usize = 256;
/// Source of refusals that are no longer counted apart.
const OTHERS: &str = "others";

/// Source, operation and outcome.
type Key = (String, String, u16);

/// Refusals of a key in a period.
#[derive(Debug)]
struct Count {
    since_ns: u64,
    whole: u32,
    /// The last one without a line, and the number of those before it.
    last: Option<AuditEntry>,
}

#[derive(Debug, Default)]
struct Counts {
    by_key: BTreeMap<Key, Count>,
    since_ns: u64,
    whole: u32,
}

/// Sampling of refused requests.
#[derive(Debug, Default)]
pub struct AuditSampling(Mutex<Counts>);

/// Cuts a text at a character boundary.
fn cut(text: &mut String, bytes_max: usize) {
    if text.len() > bytes_max {
        text.truncate(text.floor_char_boundary(bytes_max));
        text.push_str("...");
    }
}

impl AuditSampling {
    /// The entries to write for a request: itself, or nothing when it is counted. `now_ns` is a
    /// monotonic time.
    #[must_use]
    pub fn admit(&self, mut entry: AuditEntry, now_ns: u64) -> Option<AuditEntry> {
        cut(&mut entry.target, TARGET_BYTES_MAX);
        if entry.outcome < 400 {
            return Some(entry);
        }
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if now_ns.saturating_sub(counts.since_ns) >= period_ns() {
            (counts.since_ns, counts.whole) = (now_ns, 0);
        }
        let source = entry
            .source_ip
            .parse::<IpAddr>()
            .map(network)
            .map_or_else(|_| entry.source_ip.clone(), |ip| ip.to_string());
        let mut key = (source, entry.action.clone(), entry.outcome);
        if counts.by_key.len() >= KEYS_MAX && !counts.by_key.contains_key(&key) {
            OTHERS.clone_into(&mut key.0);
            OTHERS.clone_into(&mut entry.source_ip);
        }
        let below_limit = counts.whole < WHOLE_MAX;
        let count =
            counts.by_key.entry(key).or_insert(Count { since_ns: now_ns, whole: 0, last: None });
        if below_limit && count.whole < WHOLE_PER_KEY {
            count.whole += 1;
            counts.whole += 1;
            return Some(entry);
        }
        let before = count.last.take().map_or(0, |last| last.repeated + 1);
        entry.repeated = before;
        count.last = Some(entry);
        None
    }

    /// The entries of counts whose period is over, or of all.
    #[must_use]
    pub fn due(&self, now_ns: u64, all: bool) -> Vec<AuditEntry> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut due = Vec::new();
        counts.by_key.retain(|_, count| {
            let is_over = all || now_ns.saturating_sub(count.since_ns) >= period_ns();
            if is_over {
                due.extend(count.last.take());
            }
            !is_over
        });
        due
    }
}

fn period_ns() -> u64 {
    u64::try_from(PERIOD.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(source: &str, outcome: u16) -> AuditEntry {
        AuditEntry {
            at_ns: 0,
            actor: "anonymous".to_owned(),
            kind: "none".to_owned(),
            action: "login".to_owned(),
            target: "/api/auth/login".to_owned(),
            outcome,
            source_ip: source.to_owned(),
            request_id: "r".to_owned(),
            repeated: 0,
            name: None,
            token: None,
        }
    }

    #[test]
    fn a_flood_of_refusals_has_a_few_lines_and_a_count() {
        let sampling = AuditSampling::default();
        let flood = |count: usize| {
            let admitted = (0..count).filter_map(|_| sampling.admit(entry("192.0.2.1", 401), 0));
            admitted.count()
        };
        assert_eq!(flood(10_000), WHOLE_PER_KEY as usize);
        // Others, and other outcomes, have lines of their own; so has every success.
        assert!(sampling.admit(entry("192.0.2.2", 401), 0).is_some());
        assert!(sampling.admit(entry("192.0.2.1", 403), 0).is_some());
        assert!((0..1_000).all(|_| sampling.admit(entry("192.0.2.1", 200), 0).is_some()));
        assert!(sampling.due(period_ns() - 1, false).is_empty());
        let due = sampling.due(period_ns(), false);
        assert_eq!(due.len(), 1);
        // The line itself stands for one.
        assert_eq!(due[0].repeated + 1 + u64::from(WHOLE_PER_KEY), 10_000);
        assert_eq!(flood(10), WHOLE_PER_KEY as usize);
    }

    #[test]
    fn many_sources_share_a_bound_of_lines_and_of_counts() {
        let sampling = AuditSampling::default();
        let source = |number: u32| std::net::Ipv4Addr::from_bits(number).to_string();
        let flood =
            (0..20_000).filter(|number| sampling.admit(entry(&source(*number), 401), 0).is_some());
        assert_eq!(flood.count(), WHOLE_MAX as usize);
        let due = sampling.due(0, true);
        assert!(due.len() <= KEYS_MAX + 1);
        let counted: u64 = due.iter().map(|entry| entry.repeated + 1).sum();
        assert_eq!(counted + u64::from(WHOLE_MAX), 20_000);
        assert!(due.iter().any(|entry| entry.source_ip == OTHERS));
    }

    #[test]
    fn a_long_path_is_cut() {
        let mut long = entry("192.0.2.1", 200);
        long.target = "/ü".repeat(10_000);
        let target = AuditSampling::default().admit(long, 0).unwrap().target;
        assert!(target.len() <= TARGET_BYTES_MAX + 3, "{}", target.len());
    }
}
