//! Lines of the agent's log about failures: each failure once when it begins, again while it lasts, and
//! once when it is over, whatever the period of attempts.

use std::collections::BTreeMap;

/// Time after which a failure that lasts has another line, ms.
const REPEAT_MS: u64 = 600_000;
/// Subjects at most.
const SUBJECTS_MAX: usize = 64;

#[derive(Debug)]
struct Failure {
    reason: String,
    /// Time of the last line, ms.
    line_ms: u64,
    /// Failures since the last line.
    count: u64,
}

/// Failures that last, by subject.
#[derive(Debug, Default)]
pub struct FailureLog(BTreeMap<String, Failure>);

impl FailureLog {
    /// Records a failure; the line for the log, if it is a new one, has another reason or has lasted.
    pub fn failure(&mut self, subject: &str, reason: &str, now_ms: u64) -> Option<String> {
        let line = match self.0.get_mut(subject) {
            Some(failure) if failure.reason == reason && now_ms < failure.line_ms + REPEAT_MS => {
                failure.count += 1;
                return None;
            }
            Some(failure) if failure.reason == reason => {
                format!("{subject}: {reason} ({} times more)", failure.count + 1)
            }
            _ => format!("{subject}: {reason}"),
        };
        if self.0.len() >= SUBJECTS_MAX && !self.0.contains_key(subject) {
            self.0.pop_first();
        }
        let failure = Failure { reason: reason.to_owned(), line_ms: now_ms, count: 0 };
        self.0.insert(subject.to_owned(), failure);
        Some(line)
    }

    /// Records a success; the line for the log, if there was a failure before.
    pub fn success(&mut self, subject: &str) -> Option<String> {
        self.0.remove(subject).map(|_| format!("{subject}: works again"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lasting_failure_gives_a_line_at_its_begin_again_later_and_at_its_end() {
        let mut log = FailureLog::default();
        let mut lines = Vec::new();
        for beat in 0..=240 {
            lines.extend(log.failure("heartbeat", "connection refused", beat * 5_000));
        }
        lines.extend(log.failure("heartbeat", "no answer", 1_201_000));
        lines.extend(log.success("heartbeat"));
        lines.extend(log.success("heartbeat"));
        assert_eq!(
            lines,
            [
                "heartbeat: connection refused",
                "heartbeat: connection refused (120 times more)",
                "heartbeat: connection refused (120 times more)",
                "heartbeat: no answer",
                "heartbeat: works again",
            ]
        );
    }

    #[test]
    fn subjects_are_bounded() {
        let mut log = FailureLog::default();
        for number in 0..1_000 {
            assert!(log.failure(&number.to_string(), "x", 0).is_some());
        }
        assert_eq!(log.0.len(), SUBJECTS_MAX);
    }
}
