//! Waiting times between attempts: jitter, so that nodes that failed together do not retry
//! together.

use groundwave_values::{Seed, Stream};

/// Chance, drawn from outside: tests give their own.
pub trait Chance {
    /// The next number in [0, 1).
    fn unit(&mut self) -> f64;
}

/// Chance seeded by the machine.
pub struct MachineChance(Stream);

impl MachineChance {
    /// A fresh stream.
    ///
    /// # Errors
    /// When the system has no random bytes.
    pub fn new() -> std::io::Result<Self> {
        let seed = getrandom::u64().map_err(std::io::Error::other)?;
        Ok(Self::seeded(seed))
    }

    /// The stream of this seed.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(Seed(seed).stream("agent", 0, 0))
    }
}

impl Chance for MachineChance {
    fn unit(&mut self) -> f64 {
        self.0.unit_prob()
    }
}

/// A time between `least` and `most`, ms.
pub(super) fn between(chance: &mut dyn Chance, least_ms: u64, most_ms: u64) -> u64 {
    let width = most_ms.saturating_sub(least_ms) as f64;
    least_ms + (chance.unit() * width) as u64
}

/// A period give or take a tenth, ms.
pub(super) fn about(chance: &mut dyn Chance, period_ms: u64) -> u64 {
    let tenth = period_ms / 10;
    between(chance, period_ms - tenth, period_ms + tenth)
}

/// Backoff of waiting after failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// After the first failure, ms.
    pub least_ms: u64,
    /// Upper bound, ms.
    pub most_ms: u64,
}

impl Backoff {
    /// Waiting time after the `failures`-th failure in a row, ms: doubled each time, drawn from its
    /// upper half (full jitter of half, after AWS's "equal jitter").
    pub(super) fn wait(&self, chance: &mut dyn Chance, failures: u32) -> u64 {
        let doubled = self.least_ms.saturating_mul(1 << failures.saturating_sub(1).min(20));
        let most = doubled.clamp(self.least_ms, self.most_ms);
        between(chance, most / 2, most).max(self.least_ms.min(most))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_doubles_within_its_bounds() {
        let backoff = Backoff { least_ms: 5_000, most_ms: 300_000 };
        let mut chance = MachineChance::seeded(1);
        let mut longest = 0;
        for failures in 1..40 {
            let wait = backoff.wait(&mut chance, failures);
            assert!((5_000..=300_000).contains(&wait), "{failures}: {wait}");
            longest = longest.max(wait);
        }
        assert!(longest > 150_000);
        assert!(backoff.wait(&mut chance, 1) == 5_000 && backoff.wait(&mut chance, 2) <= 10_000);
    }

    #[test]
    fn periods_are_spread_by_a_tenth() {
        let mut chance = MachineChance::seeded(7);
        let spread: Vec<u64> = (0..1000).map(|_| about(&mut chance, 5_000)).collect();
        assert!(spread.iter().all(|wait| (4_500..=5_500).contains(wait)));
        assert!(spread.iter().any(|wait| *wait < 4_600) && spread.iter().any(|wait| *wait > 5_400));
    }
}
