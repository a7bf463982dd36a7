//! The rays of a radial sweep.

use super::common::{Common, reach_m};
use super::pair::Pair;
use super::ray::Ray;
use crate::coverage::CoverageSite;
use crate::terrain::Terrain;

/// Spacing of rays at the end of the sweep, in samples of a ray. Closer rays change nothing:
/// what decides is sampled on each path itself.
const APART: f64 = 2.0;

/// Most rays.
const COUNT_MAX: usize = 1 << 15;

/// Rays in all directions from a site, each known as far as anyone asked.
#[derive(Debug, Clone, Default)]
pub(super) struct Fan {
    rays: Vec<Ray>,
    count: usize,
    /// The rays that know anything.
    known: Vec<usize>,
}

impl Fan {
    /// Makes ready for another site, or for the same again.
    pub fn clear(&mut self, site: &CoverageSite<'_>) {
        for ray in self.known.drain(..) {
            self.rays[ray].clear();
        }
        let around = std::f64::consts::TAU * reach_m(site) / site.spacing_m();
        self.count = ((around / APART).ceil() as usize).clamp(64, COUNT_MAX);
        if self.rays.len() < self.count {
            self.rays.resize_with(self.count, Ray::default);
        }
    }

    /// Numbers of the rays beside a path that leaves `turns` (0 to 1) around the compass, and how
    /// far it lies from the first towards the second.
    #[inline]
    pub fn beside(&self, turns: f64) -> ([usize; 2], f64) {
        let place = turns * self.count as f64;
        let first = (place as usize).min(self.count - 1);
        let second = if first + 1 == self.count {
            0
        } else {
            first + 1
        };
        ([first, second], place - first as f64)
    }

    /// Extends a ray up to sample `last`; true if all samples are known.
    #[inline]
    pub fn reaches(
        &mut self,
        ray: usize,
        last: usize,
        common: &Common,
        terrain: &dyn Terrain,
    ) -> bool {
        if self.rays[ray].is_empty() {
            self.known.push(ray);
        }
        let azimuth_deg = 360.0 * ray as f64 / self.count as f64;
        self.rays[ray].reaches(last, azimuth_deg, common, terrain)
    }

    /// A ray, to be asked for irregularity.
    #[inline]
    pub fn ray_mut(&mut self, ray: usize) -> &mut Ray {
        &mut self.rays[ray]
    }

    /// Two rays as one, `share` of the way from the first to the second.
    #[inline]
    pub fn pair(&self, rays: [usize; 2], share: f64) -> Pair<'_> {
        Pair {
            rays: rays.map(|ray| &self.rays[ray]),
            share,
        }
    }
}
