//! Sites near a tile of the raster: the units of a plan, and the ground that they need.

use groundwave_model::terrain::{GeoPoint, geodesic};
use groundwave_terrain::Supplying;

use super::plan::{Plan, PlanSite, TILE_CELLS, Unit, half_width_deg};

/// Least and largest radius of curvature of a meridian, at the equator and at the poles (WGS 84), m.
const MERIDIAN_M: [f64; 2] = [6_335_439.0, 6_399_594.0];

/// Ground beyond the outermost paths that an area has, deg: posts around a sample, and rounding.
const BEYOND_DEG: f64 = 0.02;

/// Area on the globe between two parallels and two meridians.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    /// Southern edge, deg.
    pub south_deg: f64,
    /// Northern edge, deg.
    pub north_deg: f64,
    /// Western edge, deg.
    pub west_deg: f64,
    /// Eastern edge, deg; at least the western one, above 180 across the antimeridian.
    pub east_deg: f64,
}

impl Area {
    /// An area that holds all within this distance of a position, and the posts around it.
    fn around(middle: GeoPoint, radius_m: f64) -> Self {
        let height_deg = (radius_m / MERIDIAN_M[0]).to_degrees() + BEYOND_DEG;
        let (south_deg, north_deg) = (middle.lat_deg() - height_deg, middle.lat_deg() + height_deg);
        let width_deg = if south_deg <= -90.0 || north_deg >= 90.0 {
            180.0
        } else {
            let cos = south_deg.to_radians().cos().min(north_deg.to_radians().cos());
            (half_width_deg(middle, radius_m) + BEYOND_DEG / cos).min(180.0)
        };
        Self {
            south_deg,
            north_deg,
            west_deg: middle.lon_deg() - width_deg,
            east_deg: middle.lon_deg() + width_deg,
        }
    }

    /// True if a rectangle with these edges (south, west, north, east, deg) touches it.
    #[must_use]
    pub fn touches(&self, [south, west, north, east]: [f64; 4]) -> bool {
        if south > self.north_deg || north < self.south_deg {
            return false;
        }
        // The rectangle, so many times around the globe that it begins east of the area's western edge.
        let turns = ((self.west_deg - west) / 360.0).ceil() * 360.0;
        let (west, east) = (west + turns, east + turns);
        west <= self.east_deg || east - 360.0 >= self.west_deg
    }
}

impl Plan {
    /// All units, in the order of variants and of tiles from the north-west.
    #[must_use]
    pub fn units(&self) -> Vec<Unit> {
        let variants = u32::try_from(self.variants.len()).expect("the scenario bounds variants");
        let tiles = self.tiles();
        let unit = |variant| move |&(row, col): &(u32, u32)| Unit { variant, row, col };
        (0..variants).flat_map(|variant| tiles.iter().map(unit(variant))).collect()
    }

    /// Rows and columns of the tiles that a site's circle may touch, from the north-west. Each site is
    /// asked for tiles around it, because a continent has tens of thousands of both.
    fn tiles(&self) -> Vec<(u32, u32)> {
        let (cols, rows) = self.grid.tiles();
        let mut circles = vec![None; cols as usize * rows as usize];
        let mut is_reached = vec![false; circles.len()];
        for site in &self.sites {
            for row in (0..rows).filter(|row| !self.is_far(site, *row)) {
                for col in self.columns_near(site, row) {
                    let place = row as usize * cols as usize + col as usize;
                    if is_reached[place] {
                        continue;
                    }
                    let circle = *circles[place].get_or_insert_with(|| self.tile_circle(row, col));
                    is_reached[place] =
                        circle.is_some_and(|(middle, m)| self.is_near(site, middle, m));
                }
            }
        }
        let all = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
        let reached = all.zip(is_reached).filter(|(_, is_reached)| *is_reached);
        reached.map(|(tile, _)| tile).collect()
    }

    /// Sites whose circle may touch a tile.
    #[must_use]
    pub fn reaching(&self, row: u32, col: u32) -> Vec<u16> {
        let Some((middle, reach_m)) = self.tile_circle(row, col) else {
            return Vec::new();
        };
        let near = self
            .sites
            .iter()
            .enumerate()
            .filter(|(_, site)| !self.is_far(site, row) && self.is_near(site, middle, reach_m));
        near.map(|(i, _)| i as u16).collect()
    }

    /// True if the circle of `site` may touch a tile.
    #[must_use]
    pub fn reaches(&self, site: u16, row: u32, col: u32) -> bool {
        let site = &self.sites[usize::from(site)];
        let circle = || self.tile_circle(row, col);
        !self.is_far(site, row)
            && circle().is_some_and(|(middle, reach_m)| self.is_near(site, middle, reach_m))
    }

    /// The area that holds all paths of a unit, from its cells to the sites that may reach them.
    #[must_use]
    pub fn area_of(&self, unit: Unit) -> Option<Area> {
        let (middle, reach_m) = self.tile_circle(unit.row, unit.col)?;
        // Cells and sites lie in this circle, and with them the shortest ways between them.
        Some(Area::around(middle, self.radius_m + reach_m))
    }

    /// The area that holds all paths of each site.
    fn areas(&self) -> Vec<Area> {
        let around = |site: &PlanSite| Area::around(site.position, self.radius_m);
        self.sites.iter().map(around).collect()
    }

    /// Latitudes between which all paths lie, deg.
    #[must_use]
    pub fn latitudes_deg(&self) -> [f64; 2] {
        let join = |[south, north]: [f64; 2], area: Area| {
            [south.min(area.south_deg), north.max(area.north_deg)]
        };
        self.areas().into_iter().fold([90.0, -90.0], join)
    }

    /// Files of terrain, of these, that paths from the sites to their cells may cross.
    #[must_use]
    pub fn files_near(&self, files: Vec<Supplying>) -> Vec<Supplying> {
        let areas = self.areas();
        let is_near = |file: &Supplying| areas.iter().any(|area| area.touches(file.bounds_deg));
        files.into_iter().filter(is_near).collect()
    }

    /// True if the latitude of a row of tiles alone shows that a site does not reach it. Never true of one
    /// that [`Self::is_near`].
    fn is_far(&self, site: &PlanSite, row: u32) -> bool {
        let (cell_deg, tile_deg) = (self.grid.cell_deg, f64::from(TILE_CELLS) * self.grid.cell_deg);
        // The middle of the last row of tiles may lie half a tile further north than that of a whole one.
        let middle_deg = self.grid.north_deg - (f64::from(row) + 0.5) * tile_deg;
        let apart_deg = (site.position.lat_deg() - middle_deg).abs() - tile_deg / 2.0 - cell_deg;
        apart_deg.to_radians() * MERIDIAN_M[0] > self.radius_m + self.reach_max_m()
    }

    /// Columns of tiles in a row whose middles may be near enough to a site.
    fn columns_near(&self, site: &PlanSite, row: u32) -> Vec<u32> {
        let (cols, _) = self.grid.tiles();
        let width_deg = half_width_deg(site.position, self.radius_m + self.reach_max_m());
        let tile_deg = f64::from(TILE_CELLS) * self.grid.cell_deg;
        let is_near = |col: &u32| {
            let Some(middle) = self.tile_middle(row, *col) else {
                return false;
            };
            let apart_deg = middle.lon_deg() - site.position.lon_deg();
            let apart_deg = apart_deg - (apart_deg / 360.0).round() * 360.0;
            apart_deg.abs() <= width_deg + tile_deg * 1e-6
        };
        (0..cols).filter(is_near).collect()
    }

    /// Bound of the radius of a tile's circle, m.
    fn reach_max_m(&self) -> f64 {
        let side_m = (f64::from(TILE_CELLS) * self.grid.cell_deg).to_radians() * MERIDIAN_M[1];
        // Half a diagonal, and the margin of the circle.
        side_m * std::f64::consts::FRAC_1_SQRT_2 * 1.1 + 2.0
    }

    fn is_near(&self, site: &PlanSite, middle: GeoPoint, reach_m: f64) -> bool {
        geodesic::inverse(middle, site.position).distance_m <= self.radius_m + reach_m
    }

    /// First and last row and column of cells of a tile.
    fn tile_cells(&self, row: u32, col: u32) -> [[u32; 2]; 2] {
        let grid = &self.grid;
        let (first_row, first_col) = (row * TILE_CELLS, col * TILE_CELLS);
        let last_row = (first_row + TILE_CELLS).min(grid.rows) - 1;
        let last_col = (first_col + TILE_CELLS).min(grid.cols) - 1;
        [[first_row, last_row], [first_col, last_col]]
    }

    fn tile_middle(&self, row: u32, col: u32) -> Option<GeoPoint> {
        let [rows, cols] = self.tile_cells(row, col);
        let middle = |[first, last]: [u32; 2]| u32::midpoint(first, last);
        self.grid.centre(middle(rows), middle(cols))
    }

    /// The middle of a tile, and how far from it its cells may lie (m).
    fn tile_circle(&self, row: u32, col: u32) -> Option<(GeoPoint, f64)> {
        let middle = self.tile_middle(row, col)?;
        let [rows, cols] = self.tile_cells(row, col);
        let corners = rows
            .into_iter()
            .flat_map(|r| cols.map(|c| (r, c)))
            .filter_map(|(row, col)| self.grid.centre(row, col));
        let corner_m =
            corners.map(|corner| geodesic::inverse(middle, corner).distance_m).fold(0.0, f64::max);
        // A tenth more than the corners: near a pole a tile's edge bulges beyond them.
        Some((middle, corner_m * 1.1 + 1.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixtures::plan;
    use super::*;

    fn at(lat_deg: f64, lon_deg: f64) -> GeoPoint {
        GeoPoint::wrapping(lat_deg, lon_deg).unwrap()
    }

    /// Sites in the temperate zone, across the antimeridian, and around a pole.
    fn plans() -> Vec<Plan> {
        let ring = |count: u32, lat_deg: f64, first_deg: f64, step_deg: f64| -> Vec<GeoPoint> {
            let place =
                |n| at(lat_deg + 0.17 * f64::from(n % 5), first_deg + step_deg * f64::from(n));
            (0..count).map(place).collect()
        };
        vec![
            plan(&ring(20, 56.0, 10.0, 0.41), 15_000.0, 3.0),
            plan(&ring(12, -1.0, 178.2, 0.37), 40_000.0, 9.0),
            plan(&ring(9, 88.7, 0.0, 40.0), 30_000.0, 30.0),
        ]
    }

    /// Without looking at latitudes and longitudes first.
    #[test]
    fn units_are_the_tiles_that_any_site_is_near() {
        let (mut all_tiles, mut all_units) = (0, 0);
        for plan in plans() {
            let (cols, rows) = plan.grid.tiles();
            let units = plan.units();
            all_tiles += cols as usize * rows as usize;
            all_units += units.len();
            for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
                let (middle, reach_m) = plan.tile_circle(row, col).unwrap();
                let near =
                    |site: &u16| plan.is_near(&plan.sites[usize::from(*site)], middle, reach_m);
                let sites: Vec<u16> = (0..plan.sites.len() as u16).filter(near).collect();
                assert_eq!(plan.reaching(row, col), sites, "{row} {col}");
                let all = 0..plan.sites.len() as u16;
                assert!(
                    all.clone().all(|site| plan.reaches(site, row, col) == sites.contains(&site))
                );
                let is_unit = units.iter().any(|unit| (unit.row, unit.col) == (row, col));
                assert_eq!(is_unit, !sites.is_empty(), "{row} {col}");
            }
        }
        assert!((1..all_tiles).contains(&all_units), "{all_units} of {all_tiles}");
    }

    #[test]
    fn the_areas_of_a_unit_and_of_a_site_hold_their_paths() {
        for plan in plans() {
            let of_sites = plan.areas();
            for unit in plan.units().into_iter().step_by(7) {
                let area = plan.area_of(unit).unwrap();
                let [rows, cols] = plan.tile_cells(unit.row, unit.col);
                for (row, col) in rows.into_iter().flat_map(|row| cols.map(|col| (row, col))) {
                    let cell = plan.grid.centre(row, col).unwrap();
                    for site in plan.reaching(unit.row, unit.col).into_iter().map(usize::from) {
                        let of_site = of_sites[site];
                        let site = plan.sites[site].position;
                        let way = geodesic::inverse(site, cell);
                        if way.distance_m > plan.radius_m {
                            continue;
                        }
                        for part in 0..=8 {
                            let distance_m = way.distance_m * f64::from(part) / 8.0;
                            let on = geodesic::direct(site, way.azimuth_deg, distance_m).unwrap();
                            let (lat, lon) = (on.lat_deg(), on.lon_deg());
                            for area in [area, of_site] {
                                assert!(area.touches([lat, lon, lat, lon]), "{on:?} {area:?}");
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn rectangles_touch_an_area_across_the_antimeridian() {
        let area =
            |west_deg, east_deg| Area { south_deg: 10.0, north_deg: 12.0, west_deg, east_deg };
        let square = |south: f64, west: f64| [south, west, south + 1.0, west + 1.0];
        let pacific = area(179.5, 181.5);
        assert!([179.0, -180.0, -179.0].iter().all(|west| pacific.touches(square(11.0, *west))));
        assert!([177.0, -178.0, 0.0].iter().all(|west| !pacific.touches(square(11.0, *west))));
        let western = area(-180.5, -179.5);
        assert!([179.0, -180.0].iter().all(|west| western.touches(square(10.0, *west))));
        assert!(![-179.0, 178.0].iter().any(|west| western.touches(square(10.0, *west))));
        assert!(!pacific.touches(square(8.5, 180.0)) && !pacific.touches(square(12.5, 180.0)));
        assert!(area(-180.0, 180.0).touches(square(11.0, 77.0)));
    }
}
