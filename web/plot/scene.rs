//! Geometry of a profile in metres and its mapping to the canvas.
//!
//! Heights come in two kinds. `msl` is above mean sea level; `up` is above the chord between the
//! two points at sea level below the antennas, where the Earth, flattened by refraction, bulges and
//! the ray is straight: `up = msl + d1 d2 / (2 k a)`. The kinds agree at the two ends.

use groundwave_model::radio::LinkResult;
use groundwave_model::radio::PropagationMode;
use groundwave_model::radio::fresnel::first_radius_m;
use groundwave_model::terrain::{Profile, earth_bulge_m};
use groundwave_propagation::free_space::wavelength_m;
use groundwave_raster::scene::svg::Point;

/// Edges of the drawing, px.
pub(super) const LEFT: f64 = 80.0;
pub(super) const RIGHT: f64 = 1_164.0;
pub(super) const TOP: f64 = 176.0;
pub(super) const BOTTOM: f64 = 520.0;

/// Margins above and below the content for labels, px.
const HEADROOM: f64 = 40.0;
const FOOTROOM: f64 = 56.0;

/// Least height range, absolute and relative to the heights: smaller ranges would magnify noise.
const SPAN_MIN_M: f64 = 4.0;
const SPAN_MIN_SHARE: f64 = 0.002;

/// Distance between the lines of hatching, px.
const HATCH_PX: f64 = 9.0;

/// Half the Earth's circumference, m; no path is longer.
const LONGEST_M: f64 = 2.1e7;

/// Valid effective Earth radius factors; others are drawn as 4/3.
const K_FACTORS: std::ops::RangeInclusive<f64> = 0.1..=100.0;

/// Bound of heights, beyond any terrain and any mast, m.
const TALLEST_M: f64 = 1e6;

/// Geometry of a profile.
#[derive(Debug)]
pub(super) struct Scene {
    pub distance_m: f64,
    pub k_factor: f64,
    /// Antennas at the start and the end of the profile, msl = up, m.
    pub antenna_m: [f64; 2],
    /// The ground, start to end; two samples or more.
    pub ground: Vec<Sample>,
    /// Tops of buildings and trees where land cover is known, start to end; empty without it.
    pub clutter: Vec<Sample>,
    /// Samples without terrain data, as in the profile.
    pub missing: Vec<bool>,
    /// Point of least clearance in Fresnel radii.
    pub tightest: Option<Tightest>,
    /// Radio horizons of both antennas, without line of sight.
    pub horizons: Option<[Point; 2]>,
    wavelength_m: f64,
    low_m: f64,
    metres_per_px: f64,
}

/// A point on the ground, m.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sample {
    pub along_m: f64,
    pub msl_m: f64,
    pub up_m: f64,
}

/// Point of least clearance in Fresnel radii.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tightest {
    pub along_m: f64,
    pub msl_m: f64,
    /// Clearance over the first Fresnel radius.
    pub ratio: f64,
    /// The ratio is below 0.6.
    pub obstructs: bool,
}

impl Scene {
    pub fn of(profile: &Profile, result: &LinkResult) -> Self {
        let distance_m = sane(profile.distance_m, 0.0).clamp(0.0, LONGEST_M);
        let k_factor =
            Some(result.geometry.k_factor).filter(|&k| K_FACTORS.contains(&k)).unwrap_or(4.0 / 3.0);
        let ends = [result.geometry.tx_ground_msl_m, result.geometry.rx_ground_msl_m];
        let antennas = [result.geometry.tx_antenna_msl_m, result.geometry.rx_antenna_msl_m];
        let mut scene = Self {
            distance_m,
            k_factor,
            antenna_m: [height(antennas[0], 0.0), height(antennas[1], 0.0)],
            ground: Vec::new(),
            clutter: Vec::new(),
            missing: profile.missing.clone(),
            tightest: None,
            horizons: None,
            wavelength_m: sane(wavelength_m(result.frequency_mhz), 0.0).max(0.0),
            low_m: 0.0,
            metres_per_px: 1.0,
        };
        scene.survey(&profile.elevation_msl_m, ends);
        scene.cover(profile);
        scene.tightest = scene.find_tightest(result);
        scene.horizons = scene.find_horizons(result);
        scene.choose_range(result.propagation_mode == PropagationMode::Troposcatter);
        scene
    }

    /// Sets the ground from the profile, or from the endpoints without a profile.
    fn survey(&mut self, elevation_msl_m: &[f64], ends_msl_m: [f64; 2]) {
        let heights = if elevation_msl_m.len() < 2 { &ends_msl_m } else { elevation_msl_m };
        let gaps = (heights.len() - 1) as f64;
        let mut last_m = 0.0;
        for (i, &elevation) in heights.iter().enumerate() {
            let along_m = self.distance_m * i as f64 / gaps;
            last_m = height(elevation, last_m);
            let up_m = last_m + self.bulge_m(along_m);
            self.ground.push(Sample { along_m, msl_m: last_m, up_m });
        }
    }

    /// Sets the tops of the land cover.
    fn cover(&mut self, profile: &Profile) {
        let [ground, points] = [self.ground.len(), profile.clutter_agl_m.len()];
        if points < 2 || ground < 2 {
            return;
        }
        for point in 0..points {
            let share = point as f64 / (points - 1) as f64;
            let place = share * (ground - 1) as f64;
            let before = (place as usize).min(ground - 2);
            let [low, high] = [self.ground[before], self.ground[before + 1]];
            let of_step = place - before as f64;
            let height_m = sane(profile.clutter_at(share).unwrap_or(0.0), 0.0).clamp(0.0, 1e3);
            let msl_m = low.msl_m + of_step * (high.msl_m - low.msl_m) + height_m;
            let along_m = share * self.distance_m;
            let up_m = low.up_m + of_step * (high.up_m - low.up_m) + height_m;
            self.clutter.push(Sample { along_m, msl_m, up_m });
        }
    }

    /// The obstruction of the result, else the point of least clearance.
    fn find_tightest(&self, result: &LinkResult) -> Option<Tightest> {
        let ratio = result.clearance.fresnel_clearance_ratio?;
        if let Some(at) = &result.clearance.obstruction {
            let along_m = sane(at.distance_m, 0.0).clamp(0.0, self.distance_m);
            let msl_m = height(at.height_msl_m, 0.0);
            return Some(Tightest { along_m, msl_m, ratio, obstructs: true });
        }
        let between = self.ground.get(1..self.ground.len() - 1)?;
        let ratio_at = |s: &Sample| (self.ray_m(s.along_m) - s.up_m) / self.radius_m(s.along_m);
        let at = between.iter().min_by(|a, b| ratio_at(a).total_cmp(&ratio_at(b)))?;
        let (along_m, msl_m) = (at.along_m, at.msl_m);
        Some(Tightest { along_m, msl_m, ratio, obstructs: false })
    }

    /// Position of the point (along, up), m.
    pub fn place(&self, tightest: &Tightest) -> Point {
        [tightest.along_m, tightest.msl_m + self.bulge_m(tightest.along_m)]
    }

    /// Radio horizons (along, up), m.
    fn find_horizons(&self, result: &LinkResult) -> Option<[Point; 2]> {
        let itm = result.itm.as_ref().filter(|_| !result.clearance.line_of_sight)?;
        let within = |m: f64| m > 0.0 && m < self.distance_m;
        let [tx_m, rx_m] = itm.horizon_distance_m;
        if !within(tx_m) || !within(rx_m) {
            return None;
        }
        Some([tx_m, self.distance_m - rx_m].map(|along| [along, self.ground_m(along)]))
    }

    /// Crossing of the lines over the two horizons (along, up), m.
    pub fn horizon_crossing(&self) -> Option<Point> {
        let [tx, rx] = self.horizons?;
        let tx_slope = (tx[1] - self.antenna_m[0]) / tx[0];
        let rx_slope = (rx[1] - self.antenna_m[1]) / (rx[0] - self.distance_m);
        let rise_m = self.antenna_m[1] - self.antenna_m[0] - rx_slope * self.distance_m;
        let along_m = rise_m / (tx_slope - rx_slope);
        let inside = along_m > 0.0 && along_m < self.distance_m;
        inside.then(|| [along_m, self.antenna_m[0] + tx_slope * along_m])
    }

    /// Lines that hatch the ground without terrain data, from the surface down to `bottom_px`.
    pub fn hatching(&self, bottom_px: f64) -> Vec<[Point; 2]> {
        let mut lines = Vec::new();
        let pairs = self.ground.windows(2).zip(self.missing.windows(2));
        let mut next_px = f64::NEG_INFINITY;
        for (pair, _) in pairs.filter(|(_, missing)| missing.contains(&true)) {
            let [from, to] = [pair[0], pair[1]].map(|sample| self.at(sample.along_m, sample.up_m));
            let mut x = next_px.max(from[0]);
            while x <= to[0] {
                let share = (x - from[0]) / (to[0] - from[0]).max(1e-9);
                let y = from[1] + share * (to[1] - from[1]);
                lines.push([[x, y], [x - HATCH_PX, bottom_px]]);
                x += HATCH_PX;
            }
            next_px = x;
        }
        lines
    }

    /// Chooses the heights to show: ground, antennas, the Fresnel zone (below ground only a part
    /// of it), sea level where it is near, and for troposcatter the place that scatters.
    fn choose_range(&mut self, scatters: bool) {
        let (mut floor_m, mut high_m) = (f64::INFINITY, self.antenna_m[0].max(self.antenna_m[1]));
        for sample in self.ground.iter().chain(&self.clutter) {
            floor_m = floor_m.min(sample.up_m);
            high_m = high_m.max(sample.up_m);
        }
        floor_m = floor_m.min(self.antenna_m[0]).min(self.antenna_m[1]);
        let mut zone_m = floor_m;
        for along_m in self.curve_stations() {
            let (ray_m, radius_m) = (self.ray_m(along_m), self.radius_m(along_m));
            high_m = high_m.max(ray_m + radius_m);
            zone_m = zone_m.min(ray_m - radius_m);
        }
        if let Some(crossing) = self.horizon_crossing().filter(|_| scatters) {
            high_m = high_m.max(crossing[1].min(floor_m + 2.5 * (high_m - floor_m)));
        }
        let mut low_m = zone_m.max(floor_m - 0.3 * (high_m - floor_m));
        if low_m > 0.0 && low_m < 0.35 * (high_m - low_m) {
            low_m = 0.0;
        }
        let least_m = SPAN_MIN_M.max(SPAN_MIN_SHARE * high_m.abs().max(low_m.abs()));
        let span_m = (high_m - low_m).max(least_m);
        self.metres_per_px = span_m / (BOTTOM - TOP - HEADROOM - FOOTROOM);
        self.low_m = low_m - FOOTROOM * self.metres_per_px;
    }

    /// Height of the Earth's bulge, m.
    pub fn bulge_m(&self, along_m: f64) -> f64 {
        earth_bulge_m(along_m, self.distance_m - along_m, self.k_factor)
    }

    /// Height of the straight ray, up, m.
    pub fn ray_m(&self, along_m: f64) -> f64 {
        let share = if self.distance_m > 0.0 { along_m / self.distance_m } else { 0.0 };
        self.antenna_m[0] + (self.antenna_m[1] - self.antenna_m[0]) * share
    }

    /// Radius of the first Fresnel zone, m.
    pub fn radius_m(&self, along_m: f64) -> f64 {
        first_radius_m(self.wavelength_m, along_m, (self.distance_m - along_m).max(0.0))
    }

    /// Height of the ground, up, m: the straight line between samples.
    pub fn ground_m(&self, along_m: f64) -> f64 {
        let after =
            self.ground.partition_point(|s| s.along_m < along_m).clamp(1, self.ground.len() - 1);
        let (a, b) = (self.ground[after - 1], self.ground[after]);
        let gap_m = b.along_m - a.along_m;
        let share = if gap_m > 0.0 { ((along_m - a.along_m) / gap_m).clamp(0.0, 1.0) } else { 0.0 };
        a.up_m + (b.up_m - a.up_m) * share
    }

    /// Heights shown, lowest and highest, up, m.
    pub fn shown_m(&self) -> [f64; 2] {
        [self.low_m, self.low_m + (BOTTOM - TOP) * self.metres_per_px]
    }

    /// Vertical exaggeration; absent without a distance.
    pub fn exaggeration(&self) -> Option<f64> {
        let across = self.distance_m / (RIGHT - LEFT);
        (across > 0.0).then(|| across / self.metres_per_px)
    }

    /// Position on the canvas, px.
    pub fn at(&self, along_m: f64, up_m: f64) -> Point {
        [self.x(along_m), self.y(up_m)]
    }

    /// Horizontal position, px; the middle without a distance.
    pub fn x(&self, along_m: f64) -> f64 {
        let share = if self.distance_m > 0.0 { along_m / self.distance_m } else { 0.5 };
        LEFT + (RIGHT - LEFT) * share
    }

    /// Vertical position, px.
    pub fn y(&self, up_m: f64) -> f64 {
        BOTTOM - (up_m - self.low_m) / self.metres_per_px
    }
}

/// `value` if finite, else `otherwise`.
fn sane(value: f64, otherwise: f64) -> f64 {
    if value.is_finite() { value } else { otherwise }
}

/// As [`sane`], bounded to ±[`TALLEST_M`].
fn height(value_m: f64, otherwise_m: f64) -> f64 {
    sane(value_m, otherwise_m).clamp(-TALLEST_M, TALLEST_M)
}
