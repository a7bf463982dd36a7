//! The ground between two rays and, at its end, a path's own.

use super::own::TAIL;
use super::ray::Ray;
use crate::propagation::itm;

/// Two rays and how far a path lies from the first towards the second, 0 to 1.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub rays: [&'a Ray; 2],
    pub share: f64,
}

/// A path between two rays, whose last samples are known.
pub(super) struct Composite<'a> {
    pub pair: Pair<'a>,
    /// Steps of the path.
    pub steps: usize,
    /// Length of a step, samples of the rays.
    pub pace: f64,
    /// Heights of the path's last samples, m.
    pub tail_m: [f64; TAIL],
}

impl Pair<'_> {
    /// [`Ray::at`] between the rays.
    #[inline(always)]
    pub fn at(&self, at: f64) -> [f64; 3] {
        let (a, b) = (self.rays[0].at(at), self.rays[1].at(at));
        let between = |of: usize| a[of] + (b[of] - a[of]) * self.share;
        [between(0), between(1), between(2)]
    }
}

impl Composite<'_> {
    /// Heights at the site's and at the cell's end of a line fitted to the ground between `start`
    /// and `end` in steps, as [`itm`] fits it.
    pub fn line_ends(&self, start: f64, end: f64) -> [f64; 2] {
        let (from, to) = itm::fit_interval(self.steps, start, end);
        let (mut area, mut moment) = (0.0, 0.0);
        let tail = self.steps + 1 - TAIL;
        let known = tail.clamp(from, to);
        if from < known {
            let [low_m, area_0, moment_0] = self.pair.at(from as f64 * self.pace);
            let [high_m, area_1, moment_1] = self.pair.at(known as f64 * self.pace);
            area = (area_1 - area_0) / self.pace;
            // Weighted sums have a sixth of the rise over integrals.
            moment = (moment_1 - moment_0) / (self.pace * self.pace) + (high_m - low_m) / 6.0;
        }
        for step in known..to {
            let [low_m, high_m] = [0, 1].map(|next| self.tail_m[step - tail + next]);
            area += 0.5 * (low_m + high_m);
            moment += 0.5 * (low_m * step as f64 + high_m * (step + 1) as f64);
        }
        let length = (to - from) as f64;
        let middle = 0.5 * (from + to) as f64;
        let mean = area / length;
        let slope = (moment - middle * area) * 12.0 / ((length * length + 2.0) * length);
        [
            mean - slope * middle,
            mean + slope * (self.steps as f64 - middle),
        ]
    }
}
