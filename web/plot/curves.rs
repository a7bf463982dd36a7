//! The curves of a scene, as points on the canvas.

use groundwave_model::radio::fresnel::CLEAR_RATIO;
use groundwave_raster::scene::svg::Point;

use super::scene::{LEFT, RIGHT, Scene};

/// Ellipses are drawn through this many points, and levels, which bend less, through fewer: both
/// stay within 0.2 px of the curve.
const CURVE_POINTS: u32 = 120;
const LEVEL_POINTS: u32 = 48;

impl Scene {
    /// Distances at which a curve is drawn, closer together near the ends, where Fresnel zones
    /// turn; smoothstep spacing.
    pub fn curve_stations(&self) -> Vec<f64> {
        let station = |i| {
            let t = f64::from(i) / f64::from(CURVE_POINTS);
            self.distance_m * t * t * (3.0 - 2.0 * t)
        };
        (0..=CURVE_POINTS).map(station).collect()
    }

    /// The curve of everything at `msl_m`: that height over the bulging Earth, px.
    pub fn level(&self, msl_m: f64) -> Vec<Point> {
        if self.distance_m <= 0.0 {
            return vec![[LEFT, self.y(msl_m)], [RIGHT, self.y(msl_m)]];
        }
        let point = |i| {
            let along_m = self.distance_m * f64::from(i) / f64::from(LEVEL_POINTS);
            self.at(along_m, msl_m + self.bulge_m(along_m))
        };
        (0..=LEVEL_POINTS).map(point).collect()
    }

    /// The surface of the ground, px; without a distance, level across the drawing.
    pub fn surface(&self) -> Vec<Point> {
        if self.distance_m <= 0.0 {
            return self.level(self.ground[0].msl_m);
        }
        self.ground.iter().map(|s| self.at(s.along_m, s.up_m)).collect()
    }

    /// Tops of the land cover, px; empty without it.
    pub fn canopy(&self) -> Vec<Point> {
        self.clutter.iter().map(|s| self.at(s.along_m, s.up_m)).collect()
    }

    /// The edge of the Fresnel zone at `share` of its radius above the ray (below, where
    /// negative), px.
    pub fn zone_edge(&self, share: f64) -> Vec<Point> {
        let up_m = |along_m| self.ray_m(along_m) + share * self.radius_m(along_m);
        let point = |along_m| self.at(along_m, up_m(along_m));
        self.curve_stations().into_iter().map(point).collect()
    }

    /// The ground within 0.6 Fresnel radii of the ray: pairs of (lower, upper) edges along each
    /// interval with such ground, px.
    pub fn intrusions(&self) -> Vec<Vec<[Point; 2]>> {
        let mut stations = self.curve_stations();
        stations.extend(self.ground.iter().map(|s| s.along_m));
        stations.sort_by(f64::total_cmp);
        stations.dedup();
        let depth = |along_m| {
            let [lower_m, upper_m] = self.intrusion_m(along_m);
            upper_m - lower_m
        };
        let pair = |along_m| self.intrusion_m(along_m).map(|up_m| self.at(along_m, up_m));
        let mut runs: Vec<Vec<[Point; 2]>> = Vec::new();
        let mut before: Option<(f64, f64)> = None;
        for &here in &stations {
            let deep = depth(here);
            let (was_in, is_in) = (before.is_some_and(|(_, d)| d > 0.0), deep > 0.0);
            if is_in && !was_in {
                runs.push(Vec::new());
            }
            let Some(run) = runs.last_mut() else {
                before = Some((here, deep));
                continue;
            };
            if let Some((there, depth_there)) = before.filter(|_| was_in != is_in) {
                // Both edges are nearly straight between two stations.
                let share = depth_there / (depth_there - deep);
                run.push(pair(there + (here - there) * share));
            }
            if is_in {
                run.push(pair(here));
            }
            before = Some((here, deep));
        }
        runs
    }

    /// Edges of the ground within 0.6 Fresnel radii of the ray (lower, upper), up, m; the upper
    /// lies below the lower where there is none.
    fn intrusion_m(&self, along_m: f64) -> [f64; 2] {
        let ray_m = self.ray_m(along_m);
        let reach_m = CLEAR_RATIO * self.radius_m(along_m);
        [ray_m - reach_m, self.ground_m(along_m).min(ray_m + reach_m)]
    }
}
