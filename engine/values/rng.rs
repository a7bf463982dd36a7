//! Seeded randomness: one independent stream for each purpose, entity and tick.
//!
//! A shared generator would make a draw depend on who drew before; a stream derived from names
//! depends on nothing but the seed, so parallel systems cannot reorder chance.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use sha2::{Digest, Sha256};

/// The seed of a run. Part of the log header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "bevy", derive(bevy_ecs::resource::Resource))]
pub struct Seed(pub u64);

impl Seed {
    /// The stream for `purpose`, entity `id` (its UUID as a number) and `tick`.
    ///
    /// The generator is xoshiro256++, seeded with SHA-256 of the four inputs; both are fixed by
    /// publication, so a log replays alike on every platform and version.
    ///
    /// ```
    /// use groundwave_values::Seed;
    /// let draw = |tick| Seed(7).stream("motion", 1, tick).unit_prob();
    /// assert_eq!(draw(1).to_bits(), draw(1).to_bits());
    /// assert_ne!(draw(1).to_bits(), draw(2).to_bits());
    /// ```
    #[must_use]
    pub fn stream(self, purpose: &str, id: u128, tick: u64) -> Stream {
        let mut hash = Sha256::new();
        hash.update(self.0.to_le_bytes());
        hash.update(id.to_le_bytes());
        hash.update(tick.to_le_bytes());
        hash.update(purpose.as_bytes());
        Stream(Xoshiro256PlusPlus::from_seed(hash.finalize().into()))
    }
}

/// A short-lived stream of draws.
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// A uniform draw from [0, 1) with 53 random bits.
    pub fn unit_prob(&mut self) -> f64 {
        const SCALE: f64 = 1.0 / (1u64 << 53) as f64;
        (self.0.next_u64() >> 11) as f64 * SCALE
    }

    /// A uniform draw from [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit_prob()
    }

    /// 64 uniform bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
}
