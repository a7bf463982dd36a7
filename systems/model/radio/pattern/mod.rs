//! Measured antenna patterns: two cuts, and the losses between them.

mod cut;

use std::fmt;
use std::sync::Arc;

use groundwave_propagation::numeric::{greater, lesser};
use groundwave_values::bounds::BadValue;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};

use self::cut::{Cut, SAMPLES};

/// Maximum loss of a pattern relative to its maximum, dB.
pub const LOSS_DB_MAX: f64 = 100.0;

/// A pattern as its document has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Cuts {
    /// Losses in the horizontal plane relative to the maximum, dB, [0, 100], at even angles of one turn from
    /// the boresight to the right: 4 to 3600 of them.
    #[schemars(length(min = 4, max = 3600), inner(range(min = 0.0, max = 100.0)))]
    pub horizontal_loss_db: Vec<f64>,
    /// Losses in the vertical plane through the boresight relative to the maximum, dB, [0, 100], at even
    /// angles of one turn from the boresight downwards, over the back and the zenith: 4 to 3600 of them.
    #[schemars(length(min = 4, max = 3600), inner(range(min = 0.0, max = 100.0)))]
    pub vertical_loss_db: Vec<f64>,
}

/// Losses of an antenna in all directions, from its horizontal and its vertical cut. Clones share them.
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Cuts", into = "Cuts")]
pub struct Pattern(Arc<Planes>);

#[derive(PartialEq)]
struct Planes {
    /// To the right of the boresight.
    horizontal: Cut,
    /// Down from the boresight.
    vertical: Cut,
    /// Losses of the horizontal cut ahead and behind, dB.
    ends_db: [f64; 2],
    /// Maximum loss of both cuts, dB.
    loss_db_max: f64,
}

impl Pattern {
    /// The pattern of two cuts.
    ///
    /// # Errors
    /// A loss outside [0, 100] dB, or a number of samples outside [4, 3600].
    pub fn new(cuts: Cuts) -> Result<Self, BadValue> {
        let Cuts { horizontal_loss_db, vertical_loss_db } = cuts;
        let both =
            [("horizontal_loss_db", &horizontal_loss_db), ("vertical_loss_db", &vertical_loss_db)];
        for (name, losses_db) in both {
            if !SAMPLES.contains(&losses_db.len()) {
                let count = format!("{} values", losses_db.len());
                return Err(BadValue::new(format!("pattern.{name}"), count, "4 to 3600 values"));
            }
            for (index, loss_db) in losses_db.iter().enumerate() {
                if !(0.0..=LOSS_DB_MAX).contains(loss_db) {
                    let key = format!("pattern.{name}[{index}]");
                    return Err(BadValue::new(key, loss_db, "[0, 100]"));
                }
            }
        }
        let losses_db = horizontal_loss_db.iter().chain(&vertical_loss_db);
        let loss_db_max = losses_db.fold(0.0, |most, loss_db| greater(*loss_db, most));
        let (horizontal, vertical) = (Cut::new(horizontal_loss_db), Cut::new(vertical_loss_db));
        let ends_db = [horizontal.loss_db(0.0), horizontal.loss_db(180.0)];
        Ok(Self(Arc::new(Planes { horizontal, vertical, ends_db, loss_db_max })))
    }

    /// Loss in a direction of the antenna frame relative to the maximum, dB, [0, the greatest of the cuts]:
    /// `across_deg` to the right, [-180, 180], and `up_deg` above the plane across it, [-180, 180].
    ///
    /// Horizontal projection interpolation (Altair WinProp, AMan user guide): the loss of the horizontal cut,
    /// and what the vertical cut loses beyond the horizon ahead and behind, each by the share of the angle.
    /// Unlike the sum of both cuts it has the vertical cut behind the antenna as well, and unlike weights by
    /// power it needs neither powers nor logarithms. The vertical cut is reproduced, and so is the horizontal
    /// one where both agree at 0 and 180 degrees. Patterns that are products of both cuts are exact.
    #[must_use]
    #[inline(always)]
    pub fn loss_db(&self, across_deg: f64, up_deg: f64) -> f64 {
        let planes = &*self.0;
        // Beyond the zenith or the nadir a direction lies on the other side.
        let is_over = up_deg.abs() > 90.0;
        let side_deg = across_deg - 180.0_f64.copysign(across_deg);
        let across_deg = if is_over { side_deg } else { across_deg };
        let up_deg = if is_over { 180.0_f64.copysign(up_deg) - up_deg } else { up_deg };
        let ahead_db = planes.vertical.loss_db(-up_deg) - planes.ends_db[0];
        let behind_db = planes.vertical.loss_db(180.0 + up_deg) - planes.ends_db[1];
        let share = across_deg.abs() / 180.0;
        let beyond_db = ahead_db + share * (behind_db - ahead_db);
        let loss_db = planes.horizontal.loss_db(across_deg) + beyond_db;
        lesser(greater(loss_db, 0.0), planes.loss_db_max)
    }

    /// The samples, as a document has them.
    #[must_use]
    pub fn cuts(&self) -> Cuts {
        Cuts {
            horizontal_loss_db: self.0.horizontal.samples().to_vec(),
            vertical_loss_db: self.0.vertical.samples().to_vec(),
        }
    }

    /// Half-power beamwidths in azimuth and elevation, deg, (0, 360]; 360 where nothing is 3 dB below the
    /// maximum of the cut.
    #[must_use]
    pub fn beamwidths_deg(&self) -> [f64; 2] {
        [self.0.horizontal.beamwidth_deg(), self.0.vertical.beamwidth_deg()]
    }

    /// Angles of the maxima of both cuts, deg, (-180, 180]: to the right and below the boresight.
    #[must_use]
    pub fn peaks_deg(&self) -> [f64; 2] {
        [self.0.horizontal.peak_deg(), self.0.vertical.peak_deg()]
    }

    /// Front-to-back ratio: loss of the horizontal cut opposite its maximum beyond that of the maximum, dB.
    #[must_use]
    pub fn front_to_back_db(&self) -> f64 {
        let cut = &self.0.horizontal;
        let peak_deg = cut.peak_deg();
        cut.loss_db(peak_deg - 180.0_f64.copysign(peak_deg)) - cut.loss_db(peak_deg)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl fmt::Debug for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [&self.0.horizontal, &self.0.vertical].map(|cut| cut.samples().len());
        write!(f, "Pattern({} x {} samples)", counts[0], counts[1])
    }
}

impl TryFrom<Cuts> for Pattern {
    type Error = BadValue;

    fn try_from(cuts: Cuts) -> Result<Self, BadValue> {
        Self::new(cuts)
    }
}

impl From<Pattern> for Cuts {
    fn from(pattern: Pattern) -> Self {
        pattern.cuts()
    }
}

impl JsonSchema for Pattern {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Pattern".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Cuts::json_schema(generator)
    }
}
