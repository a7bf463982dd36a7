//! One plane of an antenna pattern, sampled at even angles.

/// Angles at which a cut may be sampled on a full turn.
pub const SAMPLES: std::ops::RangeInclusive<usize> = 4..=3600;

/// Loss of a main lobe at its half-power edge, dB.
const HALF_POWER_DB: f64 = 3.0;

/// Losses of a plane through the boresight: sample `i` of `n` stands at `360 i / n` degrees.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Cut {
    /// Losses relative to the maximum of the antenna, dB; the first is also the last.
    loss_db: Vec<f64>,
    /// Samples of a degree.
    samples_per_deg: f64,
}

impl Cut {
    /// A cut of `loss_db`, of at least one sample.
    pub fn new(mut loss_db: Vec<f64>) -> Self {
        let samples_per_deg = loss_db.len() as f64 / 360.0;
        loss_db.push(loss_db[0]);
        Self { loss_db, samples_per_deg }
    }

    /// Losses of one turn, dB.
    pub fn samples(&self) -> &[f64] {
        &self.loss_db[..self.loss_db.len() - 1]
    }

    /// Loss at an angle, dB, straight between samples; the angle is in [-360, 360] deg.
    #[inline(always)]
    pub fn loss_db(&self, angle_deg: f64) -> f64 {
        let turned_deg = if angle_deg < 0.0 { angle_deg + 360.0 } else { angle_deg };
        let place = turned_deg * self.samples_per_deg;
        // A cast takes what is no number for the first sample.
        let before = (place as usize).min(self.loss_db.len() - 2);
        let share = place - before as f64;
        let [from_db, to_db] = [self.loss_db[before], self.loss_db[before + 1]];
        from_db + share * (to_db - from_db)
    }

    /// Angle of the sample with the least loss, the nearest to 0 of those alike, deg, (-180, 180].
    pub fn peak_deg(&self) -> f64 {
        let count = self.samples().len();
        let signed_deg = |index: usize| {
            let angle_deg = index as f64 / self.samples_per_deg;
            if angle_deg > 180.0 { angle_deg - 360.0 } else { angle_deg }
        };
        let nearer = |a: usize, b: usize| {
            let by_loss = self.loss_db[a].total_cmp(&self.loss_db[b]);
            by_loss.then(signed_deg(a).abs().total_cmp(&signed_deg(b).abs()))
        };
        signed_deg((0..count).min_by(|a, b| nearer(*a, *b)).unwrap_or(0))
    }

    /// Half-power beamwidth of the lobe around [`Self::peak_deg`], deg, (0, 360]; 360 where nothing is
    /// 3 dB below it.
    pub fn beamwidth_deg(&self) -> f64 {
        let peak_deg = self.peak_deg();
        let peak_db = self.loss_db(peak_deg);
        let step_deg = 1.0 / self.samples_per_deg;
        let edge_deg = |side: f64| {
            let mut before_db = 0.0;
            for step in 1..=self.samples().len() {
                let offset_deg = step as f64 * step_deg;
                let angle_deg = (peak_deg + side * offset_deg) % 360.0;
                let below_db = self.loss_db(angle_deg) - peak_db;
                if below_db >= HALF_POWER_DB {
                    let share = (HALF_POWER_DB - before_db) / (below_db - before_db);
                    return Some(offset_deg - step_deg * (1.0 - share));
                }
                before_db = below_db;
            }
            None
        };
        match (edge_deg(1.0), edge_deg(-1.0)) {
            (Some(right_deg), Some(left_deg)) => (right_deg + left_deg).min(360.0),
            _ => 360.0,
        }
    }
}
