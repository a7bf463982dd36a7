//! One ray of a radial sweep.

use super::common::Common;
use crate::propagation::itm::{self, PathProfile};
use crate::terrain::{Path, Terrain};

/// Samples taken together. A ray grows by whole chunks, so that what is known of it never depends
/// on who asked.
const CHUNK: usize = 64;

/// Samples from one place where terrain irregularity is worked out to the next.
const NODE: usize = 4;

/// The ground along one ray: sample `i` lies `i` spacings from the site.
#[derive(Debug, Clone, Default)]
pub(super) struct Ray {
    path: Option<Path>,
    /// Heights of the samples known so far, m.
    elevation_msl_m: Vec<f64>,
    /// Integrals from the site to each sample of the height, and of the height times the distance
    /// in samples.
    integrals: Vec<[f64; 2]>,
    /// Index of the sample, up to each, at the steepest angle from the antenna of the site; 0
    /// before the first.
    steepest: Vec<u32>,
    /// The next sample towards the site on the upper hull of the samples up to each; 0 for none.
    before: Vec<u32>,
    /// Interdecile range of the terrain up to every `NODE`th sample, m; `NaN` until asked for.
    range_m: Vec<f64>,
    /// True if the terrain has no data beyond the last sample.
    ends: bool,
}

impl Ray {
    /// Clears the terrain; the buffers keep their capacity.
    pub fn clear(&mut self) {
        self.path = None;
        self.elevation_msl_m.clear();
        self.integrals.clear();
        self.steepest.clear();
        self.before.clear();
        self.range_m.clear();
        self.ends = false;
    }

    /// True if no sample was taken.
    pub fn is_empty(&self) -> bool {
        self.path.is_none()
    }

    /// Takes samples up to `last` where needed; true if all are known.
    pub fn reaches(
        &mut self,
        last: usize,
        azimuth_deg: f64,
        common: &Common,
        terrain: &dyn Terrain,
    ) -> bool {
        while self.elevation_msl_m.len() <= last && !self.ends {
            self.grow(azimuth_deg, common, terrain);
        }
        self.elevation_msl_m.len() > last
    }

    /// Takes the next chunk of samples.
    fn grow(&mut self, azimuth_deg: f64, common: &Common, terrain: &dyn Terrain) {
        let first = self.elevation_msl_m.len();
        let count = CHUNK.min(common.samples - first);
        if self.path.is_none() {
            let length_m = common.spacing_m * (common.samples - 1) as f64;
            self.path = Path::along(common.position, azimuth_deg, length_m).ok();
        }
        let (mut lat_deg, mut lon_deg) = ([0.0; CHUNK], [0.0; CHUNK]);
        let (lat_deg, lon_deg) = (&mut lat_deg[..count], &mut lon_deg[..count]);
        let mut elevation = [0.0; CHUNK];
        let known = self.path.as_ref().is_some_and(|path| {
            path.some_positions(common.samples, first, lat_deg, lon_deg);
            terrain
                .sample(lat_deg, lon_deg, &mut elevation[..count])
                .is_clean()
        });
        self.ends = !known || first + count == common.samples;
        if known {
            for height_m in &elevation[..count] {
                self.push(*height_m, common);
            }
        }
    }

    fn push(&mut self, height_m: f64, common: &Common) {
        let index = self.elevation_msl_m.len();
        self.elevation_msl_m.push(height_m);
        if index.is_multiple_of(NODE) {
            self.range_m.push(f64::NAN);
        }
        if index == 0 {
            self.integrals.push([0.0; 2]);
            self.steepest.push(0);
            self.before.push(0);
            return;
        }
        let last_m = self.elevation_msl_m[index - 1];
        let [area, moment] = self.integrals[index - 1];
        let piece = 0.5 * (last_m + height_m);
        let about = (index - 1) as f64 * piece + last_m / 6.0 + height_m / 3.0;
        self.integrals.push([area + piece, moment + about]);

        let steepest = self.steepest[index - 1];
        let rises = steepest == 0
            || self.slope_from_site(index, common)
                > self.slope_from_site(steepest as usize, common);
        self.steepest
            .push(if rises { index as u32 } else { steepest });

        let mut before = index - 1;
        while before > 0 {
            let next = self.before[before] as usize;
            let over =
                next > 0 && self.slope(next, before, common) > self.slope(before, index, common);
            if over || next == 0 {
                break;
            }
            before = next;
        }
        self.before.push(before as u32);
    }

    /// Height of a sample over the parabola along which the earth falls away, m: straight lines
    /// between such heights are rays.
    #[inline]
    fn straightened_m(&self, index: usize, common: &Common) -> f64 {
        let at = index as f64;
        self.elevation_msl_m[index] - common.bulge_m * at * at
    }

    /// Rise of the ray from one sample to a later one, m in a spacing.
    #[inline]
    fn slope(&self, from: usize, to: usize, common: &Common) -> f64 {
        (self.straightened_m(to, common) - self.straightened_m(from, common)) / (to - from) as f64
    }

    #[inline]
    fn slope_from_site(&self, index: usize, common: &Common) -> f64 {
        let eye_m = self.elevation_msl_m[0] + common.antenna_agl_m[0];
        (self.straightened_m(index, common) - eye_m) / index as f64
    }

    /// The sample from 1 to `last` that an antenna at the site sees highest.
    #[inline]
    pub fn seen_from_site(&self, last: usize) -> usize {
        self.steepest[last] as usize
    }

    /// The sample from 1 to `last` that an antenna `eye_msl_m` high and `at` samples from the
    /// site, beyond `last`, sees highest: a tangent to the hull.
    #[inline]
    pub fn seen_from_cell(&self, last: usize, at: f64, eye_msl_m: f64, common: &Common) -> usize {
        let eye_m = eye_msl_m - common.bulge_m * at * at;
        let slope =
            |index: usize| (self.straightened_m(index, common) - eye_m) / (at - index as f64);
        let (mut seen, mut top) = (last, slope(last));
        loop {
            let next = self.before[seen] as usize;
            if next == 0 {
                return seen;
            }
            let rise = slope(next);
            if rise <= top {
                return seen;
            }
            (seen, top) = (next, rise);
        }
    }

    /// Height `at` samples from the site, m, and the integrals up to there.
    #[inline]
    pub fn at(&self, at: f64) -> [f64; 3] {
        let index = (at as usize).min(self.elevation_msl_m.len() - 2);
        let (low, high) = (self.elevation_msl_m[index], self.elevation_msl_m[index + 1]);
        let [area, moment] = self.integrals[index];
        let (share, rise) = (at - index as f64, high - low);
        let piece = share * (low + 0.5 * share * rise);
        let about = share * share * (0.5 * low + share * rise * (1.0 / 3.0));
        [
            low + share * rise,
            area + piece,
            moment + index as f64 * piece + about,
        ]
    }

    /// Interdecile range of the terrain, m, about `at` samples from the site: between those of the
    /// nodes before and after.
    pub fn range_m(&mut self, at: f64, common: &Common, itm: &itm::Prepared) -> f64 {
        let place = at / NODE as f64;
        let node = (place as usize).min(self.range_m.len().saturating_sub(2));
        let low = self.node_m(node, common, itm);
        let high = self.node_m(node + 1, common, itm);
        low + (high - low) * (place - node as f64).min(1.0)
    }

    /// Interdecile range at a node, m, with the horizons of the path that ends there.
    fn node_m(&mut self, node: usize, common: &Common, itm: &itm::Prepared) -> f64 {
        let Some(&known_m) = self.range_m.get(node) else {
            return 0.0;
        };
        if !known_m.is_nan() {
            return known_m;
        }
        let last = node * NODE;
        let range_m = if last < 2 {
            0.0
        } else {
            let [near_m, far_m] = self.horizons_m(last, common);
            let distance_m = last as f64 * common.spacing_m;
            let profile = PathProfile {
                step_m: common.spacing_m,
                elevation_msl_m: &self.elevation_msl_m[..=last],
            };
            let [tx_m, rx_m] = itm.skipped_m([near_m, far_m]);
            itm.range_m(&profile, tx_m, distance_m - rx_m)
        };
        self.range_m[node] = range_m;
        range_m
    }

    /// Distances to the horizons of the path to a sample, m.
    fn horizons_m(&self, last: usize, common: &Common) -> [f64; 2] {
        let distance_m = last as f64 * common.spacing_m;
        let eye_msl_m = self.elevation_msl_m[last] + common.antenna_agl_m[1];
        let eye_m = eye_msl_m - common.bulge_m * (last * last) as f64;
        let site_m = self.elevation_msl_m[0] + common.antenna_agl_m[0];
        let near = self.seen_from_site(last - 1);
        let open = (eye_m - site_m) / last as f64;
        let near_m = if self.slope_from_site(near, common) > open {
            near as f64 * common.spacing_m
        } else {
            distance_m
        };
        let far = self.seen_from_cell(last - 1, last as f64, eye_msl_m, common);
        let rise = (self.straightened_m(far, common) - eye_m) / (last - far) as f64;
        let far_m = if rise > -open {
            (last - far) as f64 * common.spacing_m
        } else {
            distance_m
        };
        [near_m, far_m]
    }
}
