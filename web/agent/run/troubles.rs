//! Lines of the log about attempts that fail, and about entries that the gateway rejects.

use groundwave_io_agent::{Outcome, Task};
use groundwave_protocol::heartbeat::RejectedEntry;

use super::Agent;
use crate::connection::{RequestFailure, printable};

/// Rejected entries of a line at most.
const ENTRIES_MAX: usize = 8;

/// Rejected entries with their reasons.
fn describe(entries: &[RejectedEntry], count: usize) -> String {
    let one = |entry: &RejectedEntry| {
        format!("{}: {}", printable(&entry.pointer), printable(&entry.message))
    };
    let lines: Vec<_> = entries.iter().take(ENTRIES_MAX).map(one).collect();
    let further = match count.saturating_sub(lines.len()) {
        0 => String::new(),
        further => format!("; {further} more"),
    };
    format!("{count} entries rejected: {}{further}", lines.join("; "))
}

impl Agent {
    /// Outcome of an attempt for the machine; failures and their end are reported in the log.
    pub(super) fn report_attempt(
        &mut self,
        task: Task,
        attempt: Result<Outcome, RequestFailure>,
        now_ms: u64,
    ) -> Outcome {
        let subject = task.subject();
        match attempt {
            Ok(Outcome::Done) => {
                self.report_success(subject);
                Outcome::Done
            }
            Ok(outcome) => {
                let reason = match outcome {
                    Outcome::Pending(_) => "waits for the approval of an admin",
                    _ => "the gateway admits this node not, or without a credential",
                };
                self.report_failure(subject, reason, now_ms);
                outcome
            }
            Err(failure) => {
                let reason = self.reason(&failure);
                // The missing mesh interface has a line of its own.
                if !reason.is_empty() {
                    self.report_failure(subject, &reason, now_ms);
                }
                match failure {
                    RequestFailure::Refused(status, wait_ms) => Outcome::Refused(status, wait_ms),
                    RequestFailure::NoAnswer(_) => Outcome::Failed,
                }
            }
        }
    }

    /// The value of a request beside the tasks; its failure is reported in the log.
    pub(super) fn or_report<T>(
        &mut self,
        subject: &str,
        result: Result<T, RequestFailure>,
    ) -> Option<T> {
        match result {
            Ok(value) => {
                self.report_success(subject);
                Some(value)
            }
            Err(failure) => {
                let (reason, now_ms) = (self.reason(&failure), self.now_ms());
                self.report_failure(subject, &reason, now_ms);
                None
            }
        }
    }

    /// Reports entries that the gateway did not record.
    pub(super) fn report_rejected(
        &mut self,
        subject: &str,
        entries: &[RejectedEntry],
        count: usize,
    ) {
        let subject = format!("entries of the {subject}");
        if count == 0 {
            self.report_success(&subject);
            return;
        }
        let now_ms = self.now_ms();
        self.report_failure(&subject, &describe(entries, count), now_ms);
    }

    /// Reports stored readings that the gateway did not record.
    pub(super) fn report_dropped(&mut self, count: usize, reason: Option<&str>) {
        if count > 0 {
            let reason = printable(reason.unwrap_or("no reason"));
            tracing::warn!("{count} stored readings are not recorded: {reason}");
        }
    }

    fn reason(&mut self, failure: &RequestFailure) -> String {
        match failure {
            RequestFailure::Refused(status, _) => {
                self.connection.take_refusal().unwrap_or_else(|| format!("status {status}"))
            }
            RequestFailure::NoAnswer(reason) => reason.clone(),
        }
    }

    /// Reports a failure, unless the log has its line.
    pub(super) fn report_failure(&mut self, subject: &str, reason: &str, now_ms: u64) {
        if let Some(line) = self.failures.failure(subject, reason, now_ms) {
            tracing::warn!("{line}");
        }
    }

    /// Reports the end of a failure, if there was one.
    pub(super) fn report_success(&mut self, subject: &str) {
        if let Some(line) = self.failures.success(subject) {
            tracing::info!("{line}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejected_entries_give_a_line_with_their_reasons() {
        let entry = |number: usize| RejectedEntry {
            pointer: format!("/metrics/m{number}"),
            status: 422,
            message: "invalid value: found \u{1b}[31mNaN, allowed a number".to_owned(),
        };
        let entries: Vec<_> = (0..10).map(entry).collect();
        let line = describe(&entries, 70);
        assert!(line.starts_with("70 entries rejected: /metrics/m0: invalid value"), "{line}");
        assert!(line.ends_with("; 62 more") && !line.contains('\u{1b}'), "{line}");
        assert!(!describe(&entries[..1], 1).contains("more"));
    }
}
