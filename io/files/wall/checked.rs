//! Wall clock that is checked against the time since boot, which nobody sets.

/// Largest difference that is followed without an event, ns: a clock that is being disciplined.
const FOLLOWED_NS: u64 = 2_000_000_000;
/// Largest step that is taken over from a clock that is not synchronised, ns.
const TRUSTED_NS: u64 = 60_000_000_000;

/// A step of the system clock: it was set, by a person, a program or a time server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockStep {
    /// Time expected by the time since boot, ns since the Unix epoch.
    pub expected_ns: u64,
    /// Time of the system clock, ns since the Unix epoch.
    pub system_ns: u64,
    /// True when it was taken over: up to 60 s always, beyond that from a synchronised clock only.
    pub adopted: bool,
}

/// Wall clock as a time since boot plus an offset.
#[derive(Debug, Clone, Copy)]
pub struct CheckedClock {
    wall_ns: u64,
    boot_ns: u64,
    /// Difference that was refused and told, ns.
    refused_ns: Option<i128>,
}

impl CheckedClock {
    /// A clock that begins with the system clock.
    #[must_use]
    pub const fn new(system_ns: u64, boot_ns: u64) -> Self {
        Self { wall_ns: system_ns, boot_ns, refused_ns: None }
    }

    /// Time by both clocks, ns since the Unix epoch, and the step of the system clock, if there was
    /// one since the last reading. `synchronised` tells whether a time server disciplines the system
    /// clock.
    pub fn read(
        &mut self,
        system_ns: u64,
        boot_ns: u64,
        synchronised: impl FnOnce() -> bool,
    ) -> (u64, Option<ClockStep>) {
        let expected_ns = self.wall_ns + boot_ns.saturating_sub(self.boot_ns);
        let off_ns = i128::from(system_ns) - i128::from(expected_ns);
        let within = |most_ns: u64| off_ns.unsigned_abs() <= u128::from(most_ns);
        if within(FOLLOWED_NS) {
            *self = Self::new(system_ns, boot_ns);
            return (system_ns, None);
        }
        let adopted = within(TRUSTED_NS) || synchronised();
        let step = ClockStep { expected_ns, system_ns, adopted };
        if adopted {
            *self = Self::new(system_ns, boot_ns);
            return (system_ns, Some(step));
        }
        let told = self
            .refused_ns
            .is_some_and(|told_ns| (off_ns - told_ns).unsigned_abs() <= u128::from(FOLLOWED_NS));
        self.refused_ns = Some(off_ns);
        (expected_ns, (!told).then_some(step))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;
    const NOW: u64 = 1_800_000_000 * S;

    #[test]
    fn a_jump_of_an_unsynchronised_clock_is_told_once_and_not_followed() {
        let mut clock = CheckedClock::new(NOW, 0);
        let years = 10 * 365 * 86_400 * S;
        let (wall_ns, step) = clock.read(NOW + years + S, S, || false);
        assert_eq!(wall_ns, NOW + S);
        let step = step.unwrap();
        assert_eq!((step.system_ns, step.adopted), (NOW + years + S, false));
        for at in 2..130 {
            let read = clock.read(NOW + years + at * S, at * S, || false);
            assert_eq!(read, (NOW + at * S, None));
        }
        // Back again: nothing happened.
        assert_eq!(clock.read(NOW + 130 * S, 130 * S, || false), (NOW + 130 * S, None));
    }

    #[test]
    fn a_step_is_taken_over_when_it_is_small_or_synchronised() {
        for (off, synchronised, adopted) in [
            (30, false, true),
            (-30, false, true),
            (-3600, false, false),
            (3600, true, true),
            (-3600, true, true),
        ] {
            let mut clock = CheckedClock::new(NOW, 0);
            let system_ns = (NOW + S).saturating_add_signed(off * S as i64);
            let (wall_ns, step) = clock.read(system_ns, S, || synchronised);
            assert_eq!(step.unwrap().adopted, adopted, "{off}");
            assert_eq!(wall_ns, if adopted { system_ns } else { NOW + S }, "{off}");
        }
    }

    #[test]
    fn a_clock_that_is_disciplined_is_followed_in_silence() {
        let mut clock = CheckedClock::new(NOW, 0);
        let mut system_ns = NOW;
        for at in 1..1000 {
            system_ns += S + S / 1000;
            assert_eq!(clock.read(system_ns, at * S, || false), (system_ns, None));
        }
    }
}
