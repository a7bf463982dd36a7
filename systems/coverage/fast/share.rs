//! The paths to some cells, from the rays beside them and a few samples of their own.

use super::NEAR_M;
use super::common::Common;
use super::fan::Fan;
use super::own::{GUESSES, Own, SLOTS, TAIL};
use super::pair::Composite;
use crate::coverage::CoverageSite;
use crate::propagation::itm::{self, BATCH, Measured, PathProfile};
use crate::terrain::Terrain;
use crate::terrain::short::Geodesics;

/// Steps of a path and spacing of the rays may differ by such factors.
const PACE: std::ops::RangeInclusive<f64> = 0.6..=2.5;

/// Most steps of a path whose irregularity is worked out over all of its own ground: deciles of few
/// samples leave nothing to guess.
const SHORT: usize = 128;

const _: () = assert!(SHORT < SLOTS * BATCH, "the buffers hold the positions");

/// Rays shared between the cells of a block, and working buffers.
#[derive(Debug, Clone, Default)]
pub(in crate::coverage) struct Sharing {
    fan: Fan,
    common: Option<Common>,
    own: Box<Own>,
    lat_deg: Vec<f64>,
    lon_deg: Vec<f64>,
    /// Numbers of the rays beside the path in each place, and where it lies between them.
    beside: Vec<([usize; 2], f64)>,
    /// Places in use.
    places: Vec<usize>,
}

/// Measures of the path to one cell.
pub(in crate::coverage) struct Shared {
    pub measured: Measured,
    /// Ground at site and cell, m.
    pub ground_msl_m: [f64; 2],
}

impl Sharing {
    /// Begins a block. What was known of the ground before is forgotten.
    pub fn open(&mut self, site: &CoverageSite<'_>, terrain: &dyn Terrain) {
        self.fan.clear(site);
        self.beside.resize(BATCH, ([0; 2], 0.0));
        let itm = site.transmitter.shared_rays(f64::INFINITY);
        let ground_msl_m = terrain.elevation_msl_m(site.position);
        self.common = itm
            .zip(ground_msl_m)
            .map(|(itm, ground_msl_m)| Common::new(site, itm, ground_msl_m));
        self.own.ground_msl_m = ground_msl_m.unwrap_or(f64::NAN);
    }

    /// Measures the paths to the first `count` cells of `ways` that the rays know enough of, and
    /// says what they are, by place.
    pub fn measure(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        geodesics: &Geodesics,
        count: usize,
        mut found: impl FnMut(usize, Shared),
    ) {
        self.places.clear();
        let (Some(common), Some(itm)) = (
            self.common.take(),
            site.transmitter.shared_rays(f64::INFINITY),
        ) else {
            return;
        };
        for place in 0..count {
            if self
                .guess(site, terrain, geodesics, place, &common)
                .is_some()
            {
                self.places.push(place);
            }
        }
        if !self.places.is_empty() {
            self.sample(terrain, geodesics);
            self.own.look(itm, &common);
            let places = std::mem::take(&mut self.places);
            for &place in &places {
                if let Some(shared) = self.finish(terrain, geodesics, place, itm, &common) {
                    found(place, shared);
                }
            }
            self.places = places;
        }
        self.common = Some(common);
    }

    /// Finds out from the rays where the horizons of a path may be. `None` where the path is to be
    /// evaluated exactly.
    fn guess(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        geodesics: &Geodesics,
        place: usize,
        common: &Common,
    ) -> Option<()> {
        let (distance_m, azimuth_rad, valid) = geodesics.head(place);
        if !valid || !(NEAR_M..=site.radius_m).contains(&distance_m) {
            return None;
        }
        site.transmitter.shared_rays(distance_m)?;
        let steps = site.samples(distance_m).max(2) - 1;
        let pace = distance_m / common.spacing_m / steps as f64;
        if !PACE.contains(&pace) || steps <= TAIL + 4 {
            return None;
        }
        let turns = azimuth_rad[0] * (0.5 * std::f64::consts::FRAC_1_PI);
        let turns = if turns < 0.0 { turns + 1.0 } else { turns };
        let (rays, share) = self.fan.beside(turns);
        let at = distance_m / common.spacing_m;
        let last = at as usize + 5;
        for ray in rays {
            if !self.fan.reaches(ray, last, common, terrain) {
                return None;
            }
        }
        let pair = self.fan.pair(rays, share);
        // Up to where the path's own last samples begin.
        let until = ((steps + 1 - TAIL) as f64 * pace) as usize;
        let eye_m = pair.at(at)[0] + common.antenna_agl_m[1];
        let own = &mut *self.own;
        for (end, ray) in pair.rays.into_iter().enumerate() {
            let seen = [
                ray.seen_from_site(until),
                ray.seen_from_cell(until, at, eye_m, common),
            ];
            own.guesses[end][place] = nearest(seen[0] as f64 / pace);
            own.guesses[GUESSES / 2 + end][place] = nearest(seen[1] as f64 / pace);
        }
        let tenth = (0.1 * steps as f64) as usize;
        let nearer = pair.rays[usize::from(share > 0.5)];
        let (start, end) = (tenth as f64 * pace, (steps - tenth) as f64 * pace);
        own.mean_msl_m[place] = (nearer.at(end)[1] - nearer.at(start)[1]) / (end - start);
        own.distance_m[place] = distance_m;
        own.steps[place] = steps as f64;
        self.beside[place] = (rays, share);
        Some(())
    }

    /// Takes the paths' own samples; leaves out paths of which the terrain does not know all.
    fn sample(&mut self, terrain: &dyn Terrain, geodesics: &Geodesics) {
        self.own.place();
        for room in [&mut self.lat_deg, &mut self.lon_deg] {
            room.resize(SLOTS * BATCH, 0.0);
        }
        geodesics.positions(&self.own.shares, &mut self.lat_deg, &mut self.lon_deg);
        // Idle places repeat one in use: elsewhere the terrain might know nothing.
        if self.places.len() < BATCH {
            let (busy, mut idle) = (self.places[0], [true; BATCH]);
            for &place in &self.places {
                idle[place] = false;
            }
            for slot in (0..SLOTS * BATCH).step_by(BATCH) {
                for place in (0..BATCH).filter(|place| idle[*place]) {
                    self.lat_deg[slot + place] = self.lat_deg[slot + busy];
                    self.lon_deg[slot + place] = self.lon_deg[slot + busy];
                }
            }
        }
        let (lat_deg, lon_deg) = (&self.lat_deg, &self.lon_deg);
        let height_m = self.own.height_m.as_flattened_mut();
        if terrain.sample(lat_deg, lon_deg, height_m).is_clean() {
            return;
        }
        self.places.retain(|&place| {
            let of = |all: &[f64]| -> [f64; SLOTS] {
                std::array::from_fn(|slot| all[slot * BATCH + place])
            };
            let mut heights = [0.0; SLOTS];
            let used = terrain.sample(&of(lat_deg), &of(lon_deg), &mut heights);
            used.is_clean()
        });
    }

    /// Combines the path's own samples with the rays.
    fn finish(
        &mut self,
        terrain: &dyn Terrain,
        geodesics: &Geodesics,
        place: usize,
        itm: &itm::Prepared,
        common: &Common,
    ) -> Option<Shared> {
        let own = &*self.own;
        let (n_s, earth_radius_m) = (own.n_s[place], own.earth_radius_m[place]);
        if !itm.applies(n_s, earth_radius_m) {
            return None;
        }
        let (distance_m, steps) = (own.distance_m[place], own.steps[place]);
        let (rays, share) = self.beside[place];
        let [near_m, far_m] = [0, 1].map(|end| own.horizon_distance_m[end][place]);
        let ground_msl_m = [own.ground_msl_m, own.height_m[SLOTS - 1][place]];
        let horizon_angle_rad = [0, 1].map(|end| own.horizon_angle_rad[end][place]);
        let skipped_m = itm.skipped_m([near_m, far_m]);

        let at = distance_m / common.spacing_m;
        let (step_m, whole_steps) = (distance_m / steps, steps as usize);
        let path = Composite {
            pair: self.fan.pair(rays, share),
            steps: whole_steps,
            pace: at / steps,
            tail_m: std::array::from_fn(|back| own.height_m[SLOTS - TAIL + back][place]),
        };
        let line = |start_m: f64, end_m: f64| path.line_ends(start_m / step_m, end_m / step_m);
        let (start_m, end_m) = (skipped_m[0], distance_m - skipped_m[1]);
        let [fit_tx_m, fit_rx_m] = if near_m + far_m > 1.5 * distance_m {
            line(start_m, end_m)
        } else {
            [
                line(start_m, 0.9 * near_m)[0],
                line(distance_m - 0.9 * far_m, end_m)[1],
            ]
        };
        let range_m = if whole_steps <= SHORT {
            let (lat_deg, lon_deg) = (
                &mut self.lat_deg[..=whole_steps],
                &mut self.lon_deg[..=whole_steps],
            );
            geodesics.along(place, lat_deg, lon_deg);
            // The site itself, lest a hair beyond it another tile begins.
            (lat_deg[0], lon_deg[0]) = (common.position.lat_deg(), common.position.lon_deg());
            let mut height_m = [0.0; SHORT + 1];
            let height_m = &mut height_m[..=whole_steps];
            if !terrain.sample(lat_deg, lon_deg, height_m).is_clean() {
                return None;
            }
            let profile = PathProfile {
                step_m,
                elevation_msl_m: height_m,
            };
            itm.range_m(&profile, start_m, end_m)
        } else {
            let [one_m, other_m] = rays.map(|ray| self.fan.ray_mut(ray).range_m(at, common, itm));
            one_m + (other_m - one_m) * share
        };
        let measured = Measured {
            distance_m,
            n_s,
            earth_radius_m,
            horizon_distance_m: [near_m, far_m],
            horizon_angle_rad,
            raised_m: [
                (ground_msl_m[0] - fit_tx_m).max(0.0),
                (ground_msl_m[1] - fit_rx_m).max(0.0),
            ],
            range_m,
            start_m,
            end_m,
        };
        Some(Shared {
            measured,
            ground_msl_m,
        })
    }
}

/// The nearest whole number to one that is not negative.
#[inline(always)]
fn nearest(to: f64) -> f64 {
    f64::from((to + 0.5) as u32)
}
