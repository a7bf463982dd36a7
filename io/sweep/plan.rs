//! The plan of a sweep: everything its result depends on, and nothing else.
//!
//! The plan is written to `manifest.json`; its digest names the units. Two processes with the same
//! scenario, terrain and version make the same plan, so they can share a folder.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_files::hex::hex;
use groundwave_model::radio::{Environment, Station};
use groundwave_model::sweep::Variant;
use groundwave_model::terrain::{GeoPoint, geodesic};
use groundwave_raster::{GridGeometry, Window};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use thiserror::Error;

use super::unit::Column;

/// Cells along the side of a unit's tile: a quarter of a million evaluations are a few tenths of a
/// second, so that little is lost to a kill and little to starting.
pub const TILE_CELLS: u32 = 256;

/// Cells a sweep may have: a raster of 63,000 by 63,000. Beyond it the folder of units would not
/// fit an ordinary disk.
pub const CELLS_MAX: u64 = 4_000_000_000;

/// Sites a sweep may have; two bytes name one.
pub const SITES_MAX: usize = 10_000;

pub use groundwave_model::EVALUATION;

/// A transmitter site.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanSite {
    /// Name.
    pub name: String,
    /// Position.
    pub position: GeoPoint,
    /// Station, before any variant is applied.
    pub station: Station,
    /// Receiving station.
    pub receiver: Station,
}

/// A place that matters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PlanPoint {
    /// Name.
    pub name: String,
    /// Position.
    pub position: GeoPoint,
    /// Weight, above 0.
    pub weight: f64,
}

/// The raster, serialisable.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlanGrid {
    /// Western edge, deg.
    pub west_deg: f64,
    /// Northern edge, deg.
    pub north_deg: f64,
    /// Side of a cell, deg.
    pub cell_deg: f64,
    /// Cells from west to east.
    pub cols: u32,
    /// Cells from north to south.
    pub rows: u32,
}

/// Inputs of a sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// Version of the evaluation of a cell.
    pub evaluation: u32,
    /// Title of the scenario.
    pub title: String,
    /// The raster.
    pub grid: PlanGrid,
    /// Parameter combinations; at least one.
    pub variants: Vec<Variant>,
    /// Sites, in order: their place here is their number.
    pub sites: Vec<PlanSite>,
    /// Evaluation radius of a site, m.
    pub radius_m: f64,
    /// A cell is covered at this link margin, dB.
    pub margin_db: f64,
    /// The air.
    pub environment: Environment,
    /// Packet length, bytes.
    pub packet_bytes: u32,
    /// Samples of a path; absent takes one per post of the terrain.
    pub samples: Option<usize>,
    /// Spacing of samples, m; absent takes the terrain's.
    pub sample_spacing_m: Option<f64>,
    /// Places that matter.
    pub points: Vec<PlanPoint>,
    /// Number of sites to choose, if any.
    pub choose: Option<usize>,
    /// Terrain: names of its parts and digests of their bytes.
    pub terrain: BTreeMap<String, String>,
    /// Columns of units besides those that all have.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub columns: BTreeSet<Column>,
    /// GPU and driver that units are computed with; absent for the exact evaluation, whose bits do not depend on
    /// the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
}

/// Reasons for refusing a plan.
#[derive(Debug, Error)]
pub enum PlanError {
    /// There is nothing to evaluate.
    #[error("the sweep has no sites; name them in [coverage] or add nodes")]
    NoSites,
    /// Too many sites.
    #[error("the sweep has {found} sites; allowed: at most {SITES_MAX}")]
    Sites {
        /// Number found.
        found: usize,
    },
    /// Too many cells.
    #[error(
        "the raster has {cols} x {rows} cells; allowed: at most {CELLS_MAX} cells; use larger cells or a smaller radius"
    )]
    Cells {
        /// Columns.
        cols: u64,
        /// Rows.
        rows: u64,
    },
    /// Two sites of one raster lie too far apart.
    #[error(
        "sites {first} and {second} lie {distance_km:.0} km apart: one raster around them has {cols} x {rows} \
         cells; allowed: at most {CELLS_MAX}; sweep distant sites in folders of their own ([coverage] sites), \
         or use larger cells"
    )]
    Apart {
        /// Name of one of them.
        first: String,
        /// Name of the other.
        second: String,
        /// Length of the geodesic between them, km.
        distance_km: f64,
        /// Columns.
        cols: u64,
        /// Rows.
        rows: u64,
    },
    /// A directive antenna that looks nowhere.
    #[error(
        "site {site} has a directive antenna without pointing: its coverage would follow every receiver; give it pointing = {{ azimuth_deg = .. }}"
    )]
    Pointing {
        /// Name of the site.
        site: String,
    },
}

/// A unit of work: a variant and a tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// Index of the variant.
    pub variant: u32,
    /// Tile row from the north.
    pub row: u32,
    /// Tile column from the west.
    pub col: u32,
}

impl PlanGrid {
    /// The cells of `cell_arcsec` that hold all circles of `radius_m` around `places`. Edges lie on
    /// whole multiples of the cell, so that rasters of one resolution lie on each other.
    ///
    /// # Errors
    /// [`PlanError::NoSites`] and [`PlanError::Cells`].
    pub fn around(places: &[GeoPoint], radius_m: f64, cell_arcsec: f64) -> Result<Self, PlanError> {
        let first = places.first().ok_or(PlanError::NoSites)?;
        let cell_deg = cell_arcsec / 3600.0;
        let (mut south, mut north) = (90.0f64, -90.0f64);
        let (mut west, mut east) = (f64::INFINITY, f64::NEG_INFINITY);
        for place in places {
            // Longitudes near the first site's, so that a cluster may lie across the antimeridian.
            let turn = ((place.lon_deg() - first.lon_deg()) / 360.0).round() * 360.0;
            let lon_deg = place.lon_deg() - turn;
            let reach = |azimuth_deg: f64| geodesic::direct(*place, azimuth_deg, radius_m);
            let top = reach(0.0).map_or(90.0, |point| point.lat_deg().max(place.lat_deg()));
            let bottom = reach(180.0).map_or(-90.0, |point| point.lat_deg().min(place.lat_deg()));
            let half_width = half_width_deg(*place, radius_m);
            (south, north) = (south.min(bottom), north.max(top));
            (west, east) = (west.min(lon_deg - half_width), east.max(lon_deg + half_width));
        }
        let floor = |deg: f64| (deg / cell_deg).floor();
        let (left, right) = (floor(west), (east / cell_deg).ceil());
        let (below, above) =
            (floor(south).max(-90.0 / cell_deg), (north / cell_deg).ceil().min(90.0 / cell_deg));
        let (cols, rows) = ((right - left).min(360.0 / cell_deg), above - below);
        if cols * rows > CELLS_MAX as f64 {
            return Err(PlanError::Cells { cols: cols as u64, rows: rows as u64 });
        }
        let west_deg = left * cell_deg;
        let west_deg = if west_deg < -180.0 { west_deg + 360.0 } else { west_deg };
        Ok(Self {
            west_deg,
            north_deg: above * cell_deg,
            cell_deg,
            cols: cols as u32,
            rows: rows as u32,
        })
    }

    /// [`PlanGrid::around`] the sites of a plan. Names the two sites that make the raster too large, where
    /// each alone has one.
    ///
    /// # Errors
    /// As [`PlanGrid::around`], and [`PlanError::Apart`].
    pub fn around_sites(
        sites: &[PlanSite],
        radius_m: f64,
        cell_arcsec: f64,
    ) -> Result<Self, PlanError> {
        let places: Vec<GeoPoint> = sites.iter().map(|site| site.position).collect();
        Self::around(&places, radius_m, cell_arcsec).map_err(|error| {
            let PlanError::Cells { cols, rows } = error else { return error };
            let is_small =
                |place: &GeoPoint| Self::around(&[*place], radius_m, cell_arcsec).is_ok();
            // The sites at the edges: the farthest pair of all is not needed to name the cause.
            let extreme = |key: fn(&GeoPoint) -> f64| {
                let order =
                    |a: &&PlanSite, b: &&PlanSite| key(&a.position).total_cmp(&key(&b.position));
                [sites.iter().min_by(order), sites.iter().max_by(order)]
            };
            let edges = [extreme(|place| place.lat_deg()), extreme(|place| place.lon_deg())];
            let edges: Vec<&PlanSite> = edges.into_iter().flatten().flatten().collect();
            let pairs = edges.iter().flat_map(|one| edges.iter().map(move |other| (*one, *other)));
            let apart = |(one, other): &(&PlanSite, &PlanSite)| {
                geodesic::inverse(one.position, other.position).distance_m
            };
            let farthest = pairs.max_by(|a, b| apart(a).total_cmp(&apart(b)));
            match farthest.filter(|_| places.iter().all(is_small)) {
                Some(pair) => PlanError::Apart {
                    first: pair.0.name.clone(),
                    second: pair.1.name.clone(),
                    distance_km: apart(&pair) / 1e3,
                    cols,
                    rows,
                },
                None => error,
            }
        })
    }

    /// Middle of a cell; `None` when rounding leaves the globe.
    #[must_use]
    pub fn centre(&self, row: u32, col: u32) -> Option<GeoPoint> {
        let lat_deg = self.north_deg - (f64::from(row) + 0.5) * self.cell_deg;
        let lon_deg = self.west_deg + (f64::from(col) + 0.5) * self.cell_deg;
        GeoPoint::wrapping(lat_deg, lon_deg).ok()
    }

    /// Tiles from west to east and from north to south.
    #[must_use]
    pub fn tiles(&self) -> (u32, u32) {
        (self.cols.div_ceil(TILE_CELLS), self.rows.div_ceil(TILE_CELLS))
    }

    /// Cells of a tile.
    #[must_use]
    pub fn window(&self, row: u32, col: u32) -> Window {
        let (left, top) = (col * TILE_CELLS, row * TILE_CELLS);
        Window {
            left,
            top,
            cols: TILE_CELLS.min(self.cols - left),
            rows: TILE_CELLS.min(self.rows - top),
        }
    }

    /// The raster for the writers.
    #[must_use]
    pub fn geometry(&self) -> GridGeometry {
        GridGeometry {
            west_deg: self.west_deg,
            north_deg: self.north_deg,
            cell_lon_deg: self.cell_deg,
            cell_lat_deg: self.cell_deg,
            cols: self.cols,
            rows: self.rows,
        }
    }
}

/// Half the width in longitude of a circle around `place`, deg; 180 when it holds a pole. On the
/// sphere the widest meridian is where `sin Δλ = sin r / cos φ`; a part in a hundred covers the
/// ellipsoid.
pub(super) fn half_width_deg(place: GeoPoint, radius_m: f64) -> f64 {
    let angle = radius_m / 6_356_752.0;
    let ratio = angle.sin() / place.lat_deg().to_radians().cos().max(0.0);
    if ratio >= 1.0 || angle >= std::f64::consts::FRAC_PI_2 {
        return 180.0;
    }
    (ratio.asin().to_degrees() * 1.01).min(180.0)
}

impl Plan {
    /// Refuses sites that cannot be swept.
    ///
    /// # Errors
    /// See [`PlanError`].
    pub fn check(&self) -> Result<(), PlanError> {
        if self.sites.is_empty() {
            return Err(PlanError::NoSites);
        }
        if self.sites.len() > SITES_MAX {
            return Err(PlanError::Sites { found: self.sites.len() });
        }
        for site in &self.sites {
            if site.station.pointing.is_none() && site.station.antenna.azimuth_beamwidth_deg < 360.0
            {
                return Err(PlanError::Pointing { site: site.name.clone() });
            }
        }
        Ok(())
    }

    /// Frequencies of all sites in all variants, MHz, rising, each once.
    #[must_use]
    pub fn frequencies_mhz(&self) -> Vec<f64> {
        let of_variant = |variant: &Variant| {
            let own = self.sites.iter().map(|site| site.station.radio.frequency_mhz);
            let variant_mhz = variant.frequency_mhz;
            own.map(move |own_mhz| variant_mhz.unwrap_or(own_mhz)).collect::<Vec<_>>()
        };
        let mut all: Vec<f64> = self.variants.iter().flat_map(of_variant).collect();
        all.sort_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// The cells of the raster that are not computed, in words.
    #[must_use]
    pub fn not_computed(&self) -> String {
        let of = if self.sites.len() == 1 { "the" } else { "every" };
        format!("cells further than {} km from {of} site", self.radius_m / 1e3)
    }

    /// True if units of this plan are those of `other` and hold all of its columns.
    #[must_use]
    pub fn serves(&self, other: &Self) -> bool {
        let alike = Self { columns: self.columns.clone(), ..other.clone() };
        self.columns.is_superset(&other.columns) && *self == alike
    }

    /// SHA-256 of the plan, in hexadecimal.
    ///
    /// # Panics
    /// When the plan cannot be written as JSON, which is a bug of its type.
    #[must_use]
    pub fn digest(&self) -> String {
        let json = serde_json::to_vec(self).expect("a plan is plain data");
        hex(&Sha256::digest(&json))
    }

    /// Name of a unit: a digest of the plan and of its place.
    #[must_use]
    pub fn name(&self, digest: &str, unit: Unit) -> String {
        let Unit { variant, row, col } = unit;
        let named = Sha256::digest(format!("{digest}/{variant}/{row}/{col}"));
        hex(&named[..16])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(lat_deg: f64, lon_deg: f64) -> GeoPoint {
        GeoPoint::new(lat_deg, lon_deg).unwrap()
    }

    /// Every point of the circle lies in the raster.
    fn check(place: GeoPoint, radius_m: f64, cell_arcsec: f64) -> PlanGrid {
        let grid = PlanGrid::around(&[place], radius_m, cell_arcsec).unwrap();
        for azimuth_deg in 0..360 {
            let edge = geodesic::direct(place, f64::from(azimuth_deg), radius_m).unwrap();
            let [col, row] = grid.geometry().at(edge.lat_deg(), edge.lon_deg());
            let inside = (0.0..=f64::from(grid.cols)).contains(&col)
                && (0.0..=f64::from(grid.rows)).contains(&row);
            assert!(inside, "{place:?} {azimuth_deg}: {col} {row} of {grid:?}");
        }
        grid
    }

    #[test]
    fn the_raster_holds_the_circle_wherever_it_lies() {
        for lat_deg in [0.0, 57.7, -45.0, 79.0] {
            for lon_deg in [0.0, 11.9, -120.0, 179.99, -179.99] {
                let grid = check(at(lat_deg, lon_deg), 20_000.0, 30.0);
                assert!(grid.cols < 2_000, "{grid:?}");
            }
        }
        let polar = check(at(89.95, 0.0), 20_000.0, 300.0);
        assert_eq!(f64::from(polar.cols) * polar.cell_deg, 360.0);
    }

    #[test]
    fn edges_lie_on_multiples_of_the_cell() {
        let grid = PlanGrid::around(&[at(57.71, 11.93)], 5_000.0, 3.0).unwrap();
        for edge in [grid.west_deg, grid.north_deg] {
            let cells = edge / grid.cell_deg;
            assert!((cells - cells.round()).abs() < 1e-6, "{edge}");
        }
    }

    #[test]
    fn sites_too_far_apart_are_named_with_their_distance() {
        let places = [at(57.7, 11.9), at(57.8, 12.0), at(48.1, 11.6)];
        let sites = super::super::fixtures::plan(&places[..1], 1e3, 60.0).sites;
        let named = |(number, place): (usize, &GeoPoint)| PlanSite {
            name: format!("mast {number}"),
            position: *place,
            ..sites[0].clone()
        };
        let sites: Vec<PlanSite> = places.iter().enumerate().map(named).collect();
        let error = PlanGrid::around_sites(&sites, 5_000.0, 0.05).unwrap_err().to_string();
        assert!(error.contains("mast 1") && error.contains("mast 2"), "{error}");
        assert!(error.contains("1080 km apart"), "{error}");
        assert!(PlanGrid::around_sites(&sites[..2], 5_000.0, 0.05).is_ok());
        let error = PlanGrid::around_sites(&sites[..1], 500_000.0, 0.1).unwrap_err();
        assert!(matches!(error, PlanError::Cells { .. }), "{error}");
    }

    #[test]
    fn rasters_too_large_are_refused_with_their_size() {
        let error = PlanGrid::around(&[at(57.0, 11.0)], 500_000.0, 0.1).unwrap_err();
        assert!(error.to_string().contains("larger cells"), "{error}");
        assert!(matches!(PlanGrid::around(&[], 1.0, 3.0), Err(PlanError::NoSites)));
    }
}
