//! Time by which readings grow old: that of the wall clock as long as it agrees with the time since
//! boot, so that a clock that is set deletes nothing.

const HOUR_MS: u64 = 3_600_000;
/// Largest difference between both clocks that counts as agreement, ms.
const AGREED_MS: u64 = 60_000;
/// Time since the start or since a step before the mark follows a wall clock that is ahead, ms.
const STEADY_MS: u64 = HOUR_MS;
/// Pace at which the mark follows an unsynchronised clock that is ahead, as after a time without
/// power: a day in an hour.
const CATCH_UP: u64 = 24;

/// The mark: readings are as old as they are before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Retention {
    /// ms since the Unix epoch.
    mark_ms: u64,
    /// Wall clock and time since boot at the last call, ms.
    last_ms: Option<(u64, u64)>,
    /// Time that both clocks have agreed, ms.
    steady_ms: u64,
}

impl Retention {
    /// The mark as it was stored.
    pub fn at(mark_ms: u64) -> Self {
        Self { mark_ms, ..Self::default() }
    }

    /// The mark, ms since the Unix epoch; 0 before it was ever set.
    pub fn mark_ms(&self) -> u64 {
        self.mark_ms
    }

    /// Moves the mark to the present: wall clock and time since boot, ms, and whether a time server
    /// disciplines the wall clock.
    pub fn advance(&mut self, now_ms: u64, boot_ms: u64, synchronised: bool) -> u64 {
        let Some((last_now_ms, last_boot_ms)) = self.last_ms.replace((now_ms, boot_ms)) else {
            // An empty history has nothing to lose.
            if self.mark_ms == 0 {
                self.mark_ms = now_ms;
            }
            return self.mark_ms;
        };
        let elapsed_ms = boot_ms.saturating_sub(last_boot_ms);
        let stepped = now_ms.abs_diff(last_now_ms + elapsed_ms) > AGREED_MS;
        self.steady_ms = if stepped { 0 } else { self.steady_ms + elapsed_ms };
        let expected_ms = self.mark_ms + elapsed_ms;
        let is_steady = self.steady_ms >= STEADY_MS;
        self.mark_ms = if now_ms <= expected_ms + AGREED_MS {
            // A mark that falls deletes nothing.
            if is_steady || now_ms + AGREED_MS >= expected_ms { now_ms } else { self.mark_ms }
        } else if is_steady && synchronised {
            now_ms
        } else {
            let pace = if is_steady { CATCH_UP } else { 1 };
            now_ms.min(self.mark_ms + elapsed_ms * pace)
        };
        self.mark_ms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const T0: u64 = 20_000 * 24 * HOUR_MS;
    const MINUTE: u64 = 60_000;

    #[test]
    fn a_clock_that_is_set_forward_and_back_moves_the_mark_by_what_elapsed() {
        for synchronised in [false, true] {
            let mut retention = Retention::default();
            for minute in 0..120 {
                retention.advance(T0 + minute * MINUTE, minute * MINUTE, synchronised);
            }
            let years = 10 * 365 * 24 * HOUR_MS;
            for minute in 120..123 {
                let now = T0 + minute * MINUTE;
                let mark = retention.advance(now + years, minute * MINUTE, synchronised);
                assert!(mark <= now, "{synchronised}");
            }
            for minute in 123..300 {
                let now = T0 + minute * MINUTE;
                let mark = retention.advance(now, minute * MINUTE, synchronised);
                assert!(mark <= now && mark + 5 * MINUTE > now, "{synchronised}");
            }
        }
    }

    #[test]
    fn time_without_power_is_made_up_for() {
        for (synchronised, minutes) in [(true, 61), (false, 61 + 24 * 60 * 30 / 24)] {
            let mut retention = Retention::at(T0);
            let now = T0 + 30 * 24 * HOUR_MS;
            for minute in 0..=60 {
                let mark = retention.advance(now + minute * MINUTE, minute * MINUTE, synchronised);
                assert!(minute == 60 || mark <= T0 + HOUR_MS, "not within the first hour");
            }
            let mut last = 0;
            for minute in 61..=minutes + 100 {
                last = retention.advance(now + minute * MINUTE, minute * MINUTE, synchronised);
            }
            assert_eq!(last, now + (minutes + 100) * MINUTE);
        }
    }

    #[test]
    fn a_clock_that_was_ahead_for_long_is_followed_back() {
        let mut retention = Retention::at(T0 + 24 * HOUR_MS);
        let mut mark = 0;
        for minute in 0..=61 {
            mark = retention.advance(T0 + minute * MINUTE, minute * MINUTE, false);
        }
        assert_eq!(mark, T0 + 61 * MINUTE);
    }
}
