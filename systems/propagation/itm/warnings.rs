//! Doubts about a result that is returned all the same.

use std::ops::{BitOr, BitOrAssign};

use serde::{Deserialize, Serialize};

/// A set of warnings. The low fifteen bits are NTIA's (`ERRORS_AND_WARNINGS.md`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Warnings(u16);

impl Warnings {
    /// No doubts.
    pub const NONE: Self = Self(0);
    /// Transmitter height is below 1 m or above 1000 m.
    pub const TX_TERMINAL_HEIGHT: Self = Self(0x0001);
    /// Receiver height is below 1 m or above 1000 m.
    pub const RX_TERMINAL_HEIGHT: Self = Self(0x0002);
    /// Frequency is below 40 MHz or above 10 GHz.
    pub const FREQUENCY: Self = Self(0x0004);
    /// The path is longer than 1000 km.
    pub const PATH_DISTANCE_TOO_BIG_1: Self = Self(0x0008);
    /// The path is longer than 2000 km.
    pub const PATH_DISTANCE_TOO_BIG_2: Self = Self(0x0010);
    /// The path is shorter than five times the difference of effective heights.
    pub const PATH_DISTANCE_TOO_SMALL_1: Self = Self(0x0020);
    /// The path is shorter than 1 km.
    pub const PATH_DISTANCE_TOO_SMALL_2: Self = Self(0x0040);
    /// The transmitter's horizon angle exceeds 200 mrad.
    pub const TX_HORIZON_ANGLE: Self = Self(0x0080);
    /// The receiver's horizon angle exceeds 200 mrad.
    pub const RX_HORIZON_ANGLE: Self = Self(0x0100);
    /// The transmitter's horizon is nearer than a tenth of the smooth earth's.
    pub const TX_HORIZON_DISTANCE_1: Self = Self(0x0200);
    /// The receiver's horizon is nearer than a tenth of the smooth earth's.
    pub const RX_HORIZON_DISTANCE_1: Self = Self(0x0400);
    /// The transmitter's horizon is farther than three times the smooth earth's.
    pub const TX_HORIZON_DISTANCE_2: Self = Self(0x0800);
    /// The receiver's horizon is farther than three times the smooth earth's.
    pub const RX_HORIZON_DISTANCE_2: Self = Self(0x1000);
    /// The quantile asked for is far out in the tail (beyond 3.1 standard deviations).
    pub const EXTREME_VARIABILITIES: Self = Self(0x2000);
    /// Surface refractivity at the height of the path is below 250 N-units.
    pub const SURFACE_REFRACTIVITY: Self = Self(0x4000);
    /// The model's formulas have no value here (very near horizons over well-conducting ground
    /// defeat the smooth-earth method) and the reference attenuation stands at 0 dB for want of
    /// one. NTIA returns the same 0 dB without a word; this bit is not NTIA's.
    pub const ATTENUATION_UNDEFINED: Self = Self(0x8000);

    const NAMES: [&str; 16] = [
        "tx_terminal_height",
        "rx_terminal_height",
        "frequency",
        "path_distance_too_big_1",
        "path_distance_too_big_2",
        "path_distance_too_small_1",
        "path_distance_too_small_2",
        "tx_horizon_angle",
        "rx_horizon_angle",
        "tx_horizon_distance_1",
        "rx_horizon_distance_1",
        "tx_horizon_distance_2",
        "rx_horizon_distance_2",
        "extreme_variabilities",
        "surface_refractivity",
        "attenuation_undefined",
    ];

    /// All bits, NTIA's and our own.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The bits NTIA's implementation would set.
    #[must_use]
    pub const fn ntia_bits(self) -> u16 {
        self.0 & !Self::ATTENUATION_UNDEFINED.0
    }

    /// True if the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True if all of `other` are set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The names of those set, from the lowest bit up.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        let named = Self::NAMES.into_iter().enumerate();
        named.filter_map(move |(bit, name)| (self.0 >> bit & 1 == 1).then_some(name))
    }

    /// Adds `other` if `doubtful`.
    pub(super) fn note(&mut self, doubtful: bool, other: Self) {
        if doubtful {
            *self |= other;
        }
    }
}

impl BitOr for Warnings {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitOrAssign for Warnings {
    fn bitor_assign(&mut self, other: Self) {
        self.0 |= other.0;
    }
}
