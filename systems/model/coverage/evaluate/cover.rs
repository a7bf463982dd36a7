//! Land cover at cells and along the paths to them.

use groundwave_propagation::itm::SIDE_BY_SIDE;

use super::super::cell::Cell;
use super::super::site::CoverageSite;
use super::{BATCH, Scratch};
use crate::terrain::short::Parallel;
use crate::terrain::{Cover, CoverKind, GeoPoint, Terrain, clutter_heights_agl_m, cover_points};

impl Scratch {
    /// Evaluates cells over terrain with land cover: those of each kind together, because surroundings of
    /// receivers decide which terms their budgets have.
    pub(super) fn run_covered(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        cells: &mut [Cell],
    ) {
        let count = cells.len();
        let lat_deg = [parallel.lat_deg; BATCH];
        self.cover = [Cover::default(); BATCH];
        terrain.sample_cover(
            &lat_deg[..count],
            &self.centres_deg[..count],
            &mut self.cover[..count],
        );
        for kind in CoverKind::ALL {
            let mask = std::array::from_fn(|place| place < count && self.cover[place].kind == kind);
            if !mask.contains(&true) {
                continue;
            }
            self.paths.clear();
            self.blends.clear();
            if self.losses(site, terrain, parallel, &mask) {
                self.budgets(site.transmitter(kind), count);
            }
            for place in (0..count).filter(|place| mask[*place]) {
                cells[place] = self.cell(site, place);
            }
        }
    }

    /// Takes the land cover along the paths to the places from `first` on that `mask` selects, for models that
    /// read it.
    pub(super) fn trace_cover(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        first: usize,
        mask: [bool; SIDE_BY_SIDE],
    ) {
        self.clutter_agl_m.iter_mut().for_each(Vec::clear);
        if !site.traces_cover {
            return;
        }
        let mut cover = Vec::new();
        for row in (0..SIDE_BY_SIDE).filter(|row| mask[*row]) {
            let Ok(centre) = GeoPoint::wrapping(parallel.lat_deg, self.centres_deg[first + row])
            else {
                continue;
            };
            self.path.set_between(site.position, centre);
            let points = cover_points(self.path.distance_m());
            self.path.positions(points, &mut self.lat_deg, &mut self.lon_deg);
            cover.clear();
            cover.resize(points, Cover::default());
            terrain.sample_cover(&self.lat_deg, &self.lon_deg, &mut cover);
            self.clutter_agl_m[row].extend(clutter_heights_agl_m(&cover));
        }
    }
}
