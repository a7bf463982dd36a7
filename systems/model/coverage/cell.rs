//! Link budget of a receiver in one cell.

use crate::radio::deciles::sigma_of_deciles_db;
use crate::radio::prediction::normal_prob;
use crate::radio::{ModulationId, Verdict};
use crate::terrain::PathGround;

/// One cell of a coverage. All figures are those of the link from the site to the cell's centre.
///
/// Where [`Flags::OUTSIDE`] or [`Flags::FAILED`] is set nothing was evaluated: powers and margins
/// are minus infinity and the verdict is [`Verdict::NoLink`].
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "bevy", derive(bevy_ecs::component::Component))]
pub struct Cell {
    /// Power at the receiver's connector, dBm.
    pub rx_power_dbm: f64,
    /// Total path loss, dB.
    pub path_loss_db: f64,
    /// Field strength at the receiver, whatever its antenna, dBµV/m.
    pub field_strength_dbuv_m: f64,
    /// Received power over noise and interference, dB.
    pub sinr_db: f64,
    /// SNR over what the lowest modulation needs, dB.
    pub link_margin_db: f64,
    /// Rate left to payload, bit/s; 0 without a modulation.
    pub data_rate_bps: f64,
    /// Received power exceeded in 10, 50 and 90 % of links like this one, dBm: falling. See
    /// [`Prediction`](crate::radio::Prediction).
    pub rx_power_quantiles_dbm: [f32; 3],
    /// The modulation in use.
    pub modulation_id: Option<ModulationId>,
    /// The link in one word.
    pub verdict: Verdict,
    /// Flags.
    pub flags: Flags,
}

impl Cell {
    /// A cell that was not evaluated.
    #[must_use]
    pub const fn void(flags: Flags) -> Self {
        Self {
            rx_power_dbm: f64::NEG_INFINITY,
            path_loss_db: f64::INFINITY,
            field_strength_dbuv_m: f64::NEG_INFINITY,
            sinr_db: f64::NEG_INFINITY,
            link_margin_db: f64::NEG_INFINITY,
            data_rate_bps: 0.0,
            rx_power_quantiles_dbm: [f32::NEG_INFINITY; 3],
            modulation_id: None,
            verdict: Verdict::NoLink,
            flags,
        }
    }

    /// True if the cell has an answer at all: within the radius, over known ground.
    #[must_use]
    pub fn has_data(&self) -> bool {
        !self.flags.intersects(Flags::OUTSIDE | Flags::NO_DATA)
    }

    /// True if a receiver here has a link with `margin_db` to spare, dB, by the model. A cell that lies in a
    /// void or off all tiles never is.
    #[must_use]
    pub fn covered(&self, margin_db: f64) -> bool {
        let usable = self.has_data() && !self.flags.intersects(Flags::UNDECODABLE);
        usable && self.link_margin_db >= margin_db
    }

    /// Probability that a link like this one works, by the distribution of its received power, [0, 1]; 0 where
    /// the receiver cannot decode the transmitter or nothing was evaluated.
    #[must_use]
    pub fn link_prob(&self) -> f64 {
        let [high_dbm, median_dbm, low_dbm] = self.rx_power_quantiles_dbm.map(f64::from);
        let sensitivity_dbm = self.rx_power_dbm - self.link_margin_db;
        normal_prob((median_dbm - sensitivity_dbm) / sigma_of_deciles_db([high_dbm, low_dbm]))
    }

    /// [`Self::link_prob`] in whole percent, rounded down, so that the thresholds of verdicts stay what they are:
    /// [0, 100].
    #[must_use]
    pub fn link_percent(&self) -> u8 {
        // Deciles have 32 bits: a probability of 1/2 may lie a little below.
        (self.link_prob() * 100.0 + 1e-4) as u8
    }

    /// The link margin where there is an answer, dB; minus infinity where the ends cannot
    /// understand each other.
    #[must_use]
    pub fn margin_db(&self) -> Option<f64> {
        self.has_data().then_some(self.link_margin_db)
    }
}

impl Default for Cell {
    fn default() -> Self {
        Self::void(Flags::OUTSIDE)
    }
}

/// Place of the verdict in the byte that unit files store.
const VERDICT_SHIFT: u32 = 4;

/// Flags of a cell. The low four are those of the unit files of sweeps ([`Flags::STORED`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Flags(u16);

impl Flags {
    /// No flag.
    pub const NONE: Self = Self(0);
    /// Beyond the radius of the site: not evaluated.
    pub const OUTSIDE: Self = Self(1);
    /// Ground of the cell or of its path unknown
    /// ([`PathGround::Unknown`](crate::terrain::PathGround::Unknown)): evaluated over assumed ground,
    /// never covered.
    pub const NO_DATA: Self = Self(1 << 1);
    /// Terrain along the path partly unknown.
    pub const PATH_UNKNOWN: Self = Self(1 << 2);
    /// No terrain stands above the ray over the earth of ITM. Known only where ITM is used.
    pub const CLEAR: Self = Self(1 << 3);
    /// The flags that unit files store.
    pub const STORED: Self = Self(0b1111);
    /// Path partly off all tiles, taken as sea level.
    pub const PATH_MISSING: Self = Self(1 << 4);
    /// Path partly in voids of tiles, interpolated.
    pub const PATH_VOID: Self = Self(1 << 5);
    /// Fallback model used: the path is outside the range of the model of the environment.
    pub const FALLBACK_MODEL: Self = Self(1 << 6);
    /// The receiver cannot decode the transmitter.
    pub const UNDECODABLE: Self = Self(1 << 7);
    /// Ground outside the range of links: not evaluated.
    pub const FAILED: Self = Self(1 << 8 | Self::NO_DATA.0);

    /// The byte that unit files store: the low four flags, and the number of the verdict above them.
    #[must_use]
    pub const fn stored(self, verdict: Verdict) -> u8 {
        (self.0 & Self::STORED.0) as u8 | (verdict as u8) << VERDICT_SHIFT
    }

    /// The verdict of a stored byte.
    #[must_use]
    pub fn stored_verdict(byte: u8) -> Verdict {
        let verdict = Verdict::ALL.get(usize::from(byte >> VERDICT_SHIFT));
        verdict.copied().unwrap_or(Verdict::NoLink)
    }

    /// The flags of a stored byte.
    #[must_use]
    pub const fn from_stored(byte: u8) -> Self {
        Self(byte as u16 & Self::STORED.0)
    }

    /// Knowledge of the ground along the path.
    #[must_use]
    pub const fn ground(self) -> PathGround {
        if self.intersects(Self::NO_DATA) {
            PathGround::Unknown
        } else if self.intersects(Self::PATH_UNKNOWN) {
            PathGround::Partial
        } else {
            PathGround::Known
        }
    }

    /// True if any of `others` is set.
    #[must_use]
    pub const fn intersects(self, others: Self) -> bool {
        self.0 & others.0 != 0
    }

    /// True if all of `others` are set.
    #[must_use]
    pub const fn contains(self, others: Self) -> bool {
        self.0 & others.0 == others.0
    }

    /// Sets `other` if `condition` holds.
    pub(super) fn note(&mut self, condition: bool, other: Self) {
        if condition {
            self.0 |= other.0;
        }
    }
}

impl std::ops::BitOr for Flags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}
