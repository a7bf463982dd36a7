//! Rays of a radial sweep.

use rayon::prelude::*;

use crate::coverage::{CoverageSite, Grid};
use crate::propagation::itm::{self, PathProfile};
use crate::terrain::geodesic::inverse;
use crate::terrain::{Path, Terrain, fill_gaps};

use super::NODE;

/// The ground along one ray: sample `i` lies `i` spacings from the site.
#[derive(Debug, Clone, Default)]
pub(super) struct Ray {
    pub elevation_msl_m: Vec<f64>,
    /// Sums of the elevations before each sample, and of their products with their numbers.
    pub sum: Vec<f64>,
    pub moment: Vec<f64>,
    /// The steepest angle from the site's antenna to any sample up to each, rad, and the number of
    /// that sample.
    pub steepest_rad: Vec<f64>,
    pub steepest_at: Vec<u32>,
    /// Interdecile range of the terrain up to every `NODE`th sample, m.
    pub range_m: Vec<f64>,
    /// Whether the terrain knows every sample.
    pub clean: bool,
}

/// Rays in all directions from a site.
#[derive(Debug, Clone)]
pub struct Rays {
    pub(super) rays: Vec<Ray>,
    pub(super) spacing_m: f64,
}

impl Rays {
    /// Traces the rays that cover `grid` within the radius of `site`.
    #[must_use]
    pub fn trace(site: &CoverageSite<'_>, terrain: &dyn Terrain, grid: &Grid) -> Self {
        let (last_row, last_column) = (grid.rows() - 1, grid.columns() - 1);
        let corners = [
            (0, 0),
            (0, last_column),
            (last_row, 0),
            (last_row, last_column),
        ];
        let farthest_m = corners
            .map(|(row, column)| inverse(site.position, grid.centre(row, column)).distance_m)
            .into_iter()
            .fold(0.0, f64::max);
        let reach_m = farthest_m
            .min(site.radius_m)
            .min(crate::terrain::short::MAX_M);
        let spacing_m = site.spacing_m();
        let samples = (reach_m / spacing_m).ceil() as usize + 2;
        let around_m = std::f64::consts::TAU * reach_m;
        let mult: f64 = std::env::var("GW_MULT").map_or(1.0, |s| s.parse().unwrap());
        let count = ((mult * around_m / spacing_m).ceil() as usize).clamp(64, 1 << 16);
        let trace = |index: usize| {
            let azimuth_deg = 360.0 * index as f64 / count as f64;
            let length_m = spacing_m * (samples - 1) as f64;
            Ray::trace(site, terrain, azimuth_deg, length_m, samples)
        };
        let rays = (0..count).into_par_iter().map(trace).collect();
        Self { rays, spacing_m }
    }

    /// Distance from sample to sample, m.
    #[must_use]
    pub fn spacing_m(&self) -> f64 {
        self.spacing_m
    }

    /// Ground at the site above mean sea level, m.
    pub(in crate::coverage) fn ground_msl_m(&self) -> f64 {
        self.rays
            .first()
            .and_then(|ray| ray.elevation_msl_m.first())
            .copied()
            .unwrap_or(f64::NAN)
    }

    /// Number of rays.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rays.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rays.is_empty()
    }
}

impl Ray {
    fn trace(
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        azimuth_deg: f64,
        length_m: f64,
        samples: usize,
    ) -> Self {
        let mut ray = Self::default();
        let Ok(path) = Path::along(site.position, azimuth_deg, length_m) else {
            return ray;
        };
        let (mut lat_deg, mut lon_deg) = (Vec::new(), Vec::new());
        path.positions(samples, &mut lat_deg, &mut lon_deg);
        let mut elevation = vec![0.0; samples];
        let used = terrain.sample(&lat_deg, &lon_deg, &mut elevation);
        ray.clean = used.is_clean();
        fill_gaps(terrain, &used, &lat_deg, &lon_deg, &mut elevation);
        let step_m = path.step_m(samples);
        let Some(itm) = site.sector.itm(f64::INFINITY) else {
            return ray;
        };
        ray.sums(&elevation);
        ray.horizons(itm, &elevation, step_m);
        ray.ranges(itm, &elevation, step_m);
        ray.elevation_msl_m = elevation;
        ray
    }

    fn sums(&mut self, elevation: &[f64]) {
        let (mut sum, mut moment) = (0.0, 0.0);
        for (index, height_m) in elevation.iter().enumerate() {
            self.sum.push(sum);
            self.moment.push(moment);
            sum += height_m;
            moment += height_m * index as f64;
        }
        self.sum.push(sum);
        self.moment.push(moment);
    }

    fn horizons(&mut self, itm: &itm::Prepared, elevation: &[f64], step_m: f64) {
        let mean_m = self.sum[elevation.len()] / elevation.len() as f64;
        let bulge_per_m = 0.5 / itm.air(mean_m).1;
        let eye_m = elevation[0] + itm.antenna_agl_m()[0];
        let (mut steepest_rad, mut steepest_at) = (f64::NEG_INFINITY, 0);
        self.steepest_rad.push(steepest_rad);
        self.steepest_at.push(steepest_at);
        for (index, height_m) in elevation.iter().enumerate().skip(1) {
            let at_m = index as f64 * step_m;
            let angle_rad = (height_m - eye_m) / at_m - at_m * bulge_per_m;
            if angle_rad > steepest_rad {
                (steepest_rad, steepest_at) = (angle_rad, index as u32);
            }
            self.steepest_rad.push(steepest_rad);
            self.steepest_at.push(steepest_at);
        }
    }

    fn ranges(&mut self, itm: &itm::Prepared, elevation: &[f64], step_m: f64) {
        for last in (0..elevation.len() + NODE).step_by(NODE) {
            let last = last.clamp(1, elevation.len() - 1);
            let profile = PathProfile {
                step_m,
                elevation_msl_m: &elevation[..=last],
            };
            self.range_m.push(itm.usual_range(&profile).0);
        }
    }
}
