//! Cells whose attenuation another processor has worked out.
//!
//! Budgets, classes and flags of such a cell are those of the one evaluator. A cell without an attenuation, or
//! so near to a decision that its error could change it, is evaluated as a whole.

use super::cell::{Cell, Flags};
use crate::radio::path_loss::QUANTILES;
use crate::radio::transmitter::PreparedTransmitter;
use crate::radio::{ModulationId, Verdict};

/// Maximum error of an attenuation that another processor has worked out and not flagged, dB.
pub const KNOWN_ERROR_DB: f64 = 0.002;

/// Flags of a [`KnownLoss`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KnownFlags(pub u32);

impl KnownFlags {
    /// There is a value.
    pub const VALID: u32 = 1;
    /// No terrain stands above the ray over the earth of ITM.
    pub const CLEAR: u32 = 1 << 1;
    /// 0.6 of the first Fresnel zone is clear.
    pub const FRESNEL_CLEAR: u32 = 1 << 2;
    /// Two points of the profile have the same angle but for rounding.
    pub const TIE: u32 = 1 << 8;
    /// Number of samples of the terrain irregularity undecided.
    pub const SPAN: u32 = 1 << 9;
    /// Number of samples of the profile, or a cut, undecided.
    pub const COUNT: u32 = 1 << 10;
    /// Formulas without a finite value, or air outside the range of the model.
    pub const ODD: u32 = 1 << 11;
    /// Next to a change of formula within the horizons.
    pub const BEND: u32 = 1 << 12;
    /// A void or no post below the path.
    pub const VOID: u32 = 1 << 13;
    /// So short that another model counts.
    pub const NEAR: u32 = 1 << 14;
    /// Next to a step of a formula.
    pub const JUMP: u32 = 1 << 15;
    /// Next to a step of the formulas of troposcatter.
    pub const SCATTER: u32 = 1 << 16;
    /// Clearance of the Fresnel zone undecided.
    pub const FRESNEL: u32 = 1 << 17;
    /// All reasons not to use the value.
    pub const REASONS: u32 = 0xffff_ff00;

    /// True if the value counts.
    #[must_use]
    pub const fn is_usable(self) -> bool {
        self.0 & (Self::REASONS | Self::VALID) == Self::VALID
    }

    /// True if any bit of `bits` is set.
    #[must_use]
    pub const fn has(self, bits: u32) -> bool {
        self.0 & bits != 0
    }
}

/// Attenuation over free space of the path to one cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct KnownLoss {
    /// At the quantile of the environment and at the median of time and locations, dB, 0 or more.
    pub attenuation_db: [f32; QUANTILES],
    /// Standard deviation in time and over locations, dB.
    pub sigma_db: f32,
    /// Validity and reasons.
    pub flags: KnownFlags,
}

/// Numbers of cells within the radius by how they were evaluated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct KnownCounts {
    /// All cells within the radius.
    pub cells: u64,
    /// Of them evaluated as a whole because of a short path or one over a void.
    pub other_model: u64,
    /// Of them evaluated as a whole because the value was flagged.
    pub flagged: u64,
    /// Of them evaluated as a whole because they lie next to a decision.
    pub decisions: u64,
}

impl KnownCounts {
    /// Adds others.
    pub fn add(&mut self, other: Self) {
        self.cells += other.cells;
        self.other_model += other.other_model;
        self.flagged += other.flagged;
        self.decisions += other.decisions;
    }
}

/// Losses of a rectangle, and what they decide.
pub(super) struct Known<'a> {
    pub losses: ndarray::ArrayView2<'a, KnownLoss>,
    pub thresholds_db: &'a [f64],
}

/// True if an error of the attenuation of [`KNOWN_ERROR_DB`] changes neither modulation, verdict nor the side of
/// a threshold of the link margin.
pub(super) fn is_decided(
    cell: &Cell,
    transmitter: &PreparedTransmitter<'_>,
    verdict: impl Fn(f64) -> Verdict,
    thresholds_db: &[f64],
) -> bool {
    let modulation = |error_db: f64| -> Option<ModulationId> {
        transmitter.modulation(cell.sinr_db + error_db).map(|modulation| modulation.id)
    };
    let ends_db = [-KNOWN_ERROR_DB, KNOWN_ERROR_DB];
    let is_far = |threshold_db: &f64| (cell.link_margin_db - threshold_db).abs() > KNOWN_ERROR_DB;
    // A margin of 0 decides whether a link closes.
    thresholds_db.iter().chain(&[0.0]).all(is_far)
        && ends_db.into_iter().all(|db| modulation(db) == cell.modulation_id)
        && ends_db.into_iter().all(|db| verdict(db) == cell.verdict)
        || cell.flags.intersects(Flags::OUTSIDE)
}
