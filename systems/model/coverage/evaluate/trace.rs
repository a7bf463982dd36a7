//! The ground on the way to cells, eight side by side.

use groundwave_propagation::itm;
use groundwave_propagation::itm::SIDE_BY_SIDE;
use groundwave_propagation::numeric::all_within;

use super::super::cell::Flags;
use super::super::site::CoverageSite;
use super::{Scratch, far_m, grounded};
use crate::terrain::short::Parallel;
use crate::terrain::{CurveRow, GeoPoint, PathGround, Terrain, fill_gaps, step_m};

impl Scratch {
    /// Samples the ground to those of the cells from place `first` on that `mask` selects. False where
    /// there is nothing to evaluate.
    pub(super) fn trace(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        first: usize,
        mut mask: [bool; SIDE_BY_SIDE],
    ) -> [bool; SIDE_BY_SIDE] {
        for row in 0..SIDE_BY_SIDE {
            mask[row] = mask[row] && self.reach(site, terrain, parallel, first + row);
        }
        if mask.contains(&true) {
            self.follow(site, terrain, parallel, first, mask);
        }
        for row in 0..SIDE_BY_SIDE {
            mask[row] = mask[row] && self.stand(site, terrain, parallel, first + row);
        }
        mask
    }

    /// Computes the distance of the cell in a place and allocates the buffer for the heights of its
    /// path, which are sampled at once if the path is not a short one. Returns `false` when the
    /// cell is out of reach.
    fn reach(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        place: usize,
    ) -> bool {
        let (mut distance_m, _, valid) = self.geodesics.head(place);
        if distance_m > far_m(site) {
            self.flags[place] = Flags::OUTSIDE;
            return false;
        }
        let [there_deg, back_deg] = &self.geodesics.bearing_deg;
        let mut bearing_deg = [there_deg[place], back_deg[place]];
        if !valid {
            let Ok(centre) = GeoPoint::wrapping(parallel.lat_deg, self.centres_deg[place]) else {
                self.flags[place] = Flags::FAILED;
                return false;
            };
            self.path.set_between(site.position, centre);
            distance_m = self.path.distance_m();
            bearing_deg = [self.path.azimuth_deg(), self.path.back_azimuth_deg()];
        }
        if distance_m > site.radius_m {
            self.flags[place] = Flags::OUTSIDE;
            return false;
        }
        let samples = site.samples(distance_m).max(2);
        let row = place % SIDE_BY_SIDE;
        self.step_m[row] = step_m(distance_m, samples);
        self.elevation_msl_m[row].resize(samples);
        self.receivers.distance_m[place] = distance_m;
        for end in 0..2 {
            self.receivers.azimuth_deg[end][place] = bearing_deg[end];
        }
        if !valid {
            self.sample(site, terrain, place);
        }
        true
    }

    /// Takes the heights along the short ways to the places of `mask` from `first` on.
    fn follow(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        first: usize,
        mask: [bool; SIDE_BY_SIDE],
    ) {
        let ground_msl_m = site.ground_msl_m.unwrap_or(f64::NAN);
        let mut has_length = [false; SIDE_BY_SIDE];
        for row in 0..SIDE_BY_SIDE {
            let (distance_m, _, valid) = self.geodesics.head(first + row);
            // Without a length there is no direction.
            has_length[row] = mask[row] && valid && distance_m > 0.0 && !ground_msl_m.is_nan();
            if has_length[row] {
                let heights = &mut self.elevation_msl_m[row];
                heights[0] = ground_msl_m;
                let last = heights.len() - 1;
                self.curves[row] = self.geodesics.curve(first + row, last, parallel.lat_deg);
            }
        }
        let mut heights = self.elevation_msl_m.iter_mut();
        let mut rows = std::array::from_fn::<_, SIDE_BY_SIDE, _>(|row| {
            let heights = heights.next().expect("a row for each");
            CurveRow {
                curve: &self.curves[row],
                elevation_msl_m: if has_length[row] { &mut heights[1..] } else { &mut [] },
                greatest_m: None,
                used: None,
            }
        });
        terrain.sample_curves(&mut rows);
        let mut highest_m = [None; SIDE_BY_SIDE];
        for (highest_m, row) in highest_m.iter_mut().zip(&rows) {
            *highest_m = row.greatest_m.filter(|_| !row.elevation_msl_m.is_empty());
        }
        for row in 0..SIDE_BY_SIDE {
            let place = first + row;
            self.credible[row] = highest_m[row].is_some_and(|m| m + 1.0 < itm::MAX_ELEVATION_M);
            if mask[row] && highest_m[row].is_none() && self.geodesics.head(place).2 {
                let centre = GeoPoint::wrapping(parallel.lat_deg, self.centres_deg[place]);
                let geodesic = self.geodesics.get(place);
                let centre = centre.expect("cells lie on the Earth");
                self.path.set_geodesic(site.position, centre, &geodesic);
                self.sample(site, terrain, place);
            }
        }
    }

    /// Notes what stands on the ground sampled to a place. False where nothing can.
    fn stand(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        place: usize,
    ) -> bool {
        let row = place % SIDE_BY_SIDE;
        let elevation_msl_m = &self.elevation_msl_m[row];
        let is_credible = self.credible[row] || all_within(elevation_msl_m, itm::MAX_ELEVATION_M);
        let ends_m = [elevation_msl_m[0], elevation_msl_m[elevation_msl_m.len() - 1]];
        if !is_credible {
            self.flags[place] = Flags::FAILED;
            return false;
        }
        self.stand_at(site, terrain, parallel, place, ends_m)
    }

    /// Notes the ground at both ends of the path to a place. False where nothing can stand on it.
    pub(super) fn stand_at(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        place: usize,
        ends_m: [f64; 2],
    ) -> bool {
        let centre = GeoPoint::wrapping(parallel.lat_deg, self.centres_deg[place]);
        let undulation_m = centre.as_ref().map_or(f64::NAN, |centre| terrain.undulation_m(*centre));
        if !grounded(ends_m, undulation_m) {
            self.flags[place] = Flags::FAILED;
            return false;
        }
        for end in 0..2 {
            self.receivers.ground_msl_m[end][place] = ends_m[end];
        }
        self.fine_surface[place] = site.fine_surface.is_some_and(|own| {
            own || centre.as_ref().is_ok_and(|centre| terrain.is_fine_surface(*centre))
        });
        self.receivers.undulation_m[place] = undulation_m;
        self.receivers.is_elsewhere[place] =
            centre.is_ok_and(|centre| site.transmitter.is_elsewhere([site.position, centre]));
        true
    }

    /// Samples the path to the cell in a place.
    fn sample(&mut self, site: &CoverageSite<'_>, terrain: &dyn Terrain, place: usize) {
        let elevation_msl_m = &mut self.elevation_msl_m[place % SIDE_BY_SIDE];
        let samples = elevation_msl_m.len();
        self.path.positions(samples, &mut self.lat_deg, &mut self.lon_deg);
        // Sites often lie on an edge of tiles, and reading there takes longer.
        let offset = usize::from(site.ground_msl_m.is_some());
        elevation_msl_m[0] = site.ground_msl_m.unwrap_or(f64::NAN);
        let used = terrain.sample(
            &self.lat_deg[offset..],
            &self.lon_deg[offset..],
            &mut elevation_msl_m[offset..],
        );
        if !used.is_clean() {
            let flags = &mut self.flags[place];
            let ground = PathGround::of(&used, elevation_msl_m);
            flags.note(!ground.is_enough(), Flags::NO_DATA);
            let unknown = Flags::PATH_UNKNOWN;
            flags.note(used.missing_samples > 0, Flags::PATH_MISSING | unknown);
            flags.note(used.void_samples > 0, Flags::PATH_VOID | unknown);
            fill_gaps(terrain, &used, &self.lat_deg, &self.lon_deg, elevation_msl_m);
        }
    }
}
