//! Terrain heights along a path.

use super::{
    Cover, CoverKind, Curve, CurveRow, GeoPoint, Path, PathGround, Terrain, TerrainUse,
    clutter_heights_agl_m, cover_points, step_m,
};

/// Mean radius of the Earth (m), the value of ITU-R P.452.
const EARTH_RADIUS_M: f64 = 6_371_000.0;

/// The ground along a path. Sample `i` lies `i * step_m` from the start; latitudes, longitudes and
/// elevations have one length, at least 2.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Profile {
    /// Length of the path (m, WGS84 geodesic).
    pub distance_m: f64,
    /// Bearing at the start towards the end, clockwise from true north, [0, 360).
    pub azimuth_deg: f64,
    /// Bearing at the end back towards the start, [0, 360).
    pub back_azimuth_deg: f64,
    /// Distance between neighbouring samples (m), of 24 bits; 0 when both ends are one point.
    pub step_m: f64,
    /// Latitudes (degrees).
    pub lat_deg: Vec<f64>,
    /// Longitudes (degrees), continuous along the path: they may leave [-180, 180].
    pub lon_deg: Vec<f64>,
    /// Ground heights above mean sea level (m), all finite.
    pub elevation_msl_m: Vec<f64>,
    /// Sources of the heights.
    pub terrain: TerrainUse,
    /// Knowledge of the ground.
    pub ground: PathGround,
    /// True if an end stands on a fine surface ([`Terrain::is_fine_surface`]).
    pub is_fine_surface: bool,
    /// True if undulations are those of a geoid ([`Terrain::has_geoid`]).
    pub has_geoid: bool,
    /// Samples without a readable tile, true at their places; empty where there are none.
    pub missing: Vec<bool>,
    /// Heights of buildings and trees, m above ground, NaN where they are unknown, at points of their own:
    /// evenly spaced from start to end, at most 30 m apart up to 600 km. Empty without land cover.
    pub clutter_agl_m: Vec<f64>,
    /// Kinds of land cover at these points.
    pub cover_kinds: Vec<CoverKind>,
    /// Land cover at start and end.
    pub cover: [CoverKind; 2],
}

impl Profile {
    /// Positions of both ends; `None` where the profile carries none.
    #[must_use]
    pub fn ends(&self) -> Option<[GeoPoint; 2]> {
        let last = self.lat_deg.len().checked_sub(1)?;
        Some([self.point(0)?, self.point(last)?])
    }

    /// The ground along `path` by heights that were measured elsewhere, 2 or more, evenly spaced, all known.
    #[must_use]
    pub fn over(path: &Path, elevation_msl_m: Vec<f64>) -> Self {
        let samples = elevation_msl_m.len();
        let mut profile = Self {
            distance_m: path.distance_m(),
            azimuth_deg: path.azimuth_deg(),
            back_azimuth_deg: path.back_azimuth_deg(),
            step_m: step_m(path.distance_m(), samples),
            elevation_msl_m,
            ..Self::default()
        };
        path.positions(samples, &mut profile.lat_deg, &mut profile.lon_deg);
        profile
    }

    /// Measures the ground along `path` with `samples` (at least 2) samples, replacing what
    /// was here. Nothing is allocated once the vectors have held as many samples before.
    pub fn trace(&mut self, terrain: &dyn Terrain, path: &Path, samples: usize) {
        self.distance_m = path.distance_m();
        self.azimuth_deg = path.azimuth_deg();
        self.back_azimuth_deg = path.back_azimuth_deg();
        self.step_m = step_m(self.distance_m, samples);
        path.positions(samples, &mut self.lat_deg, &mut self.lon_deg);
        self.elevation_msl_m.resize(self.lat_deg.len(), 0.0);
        self.has_geoid = terrain.has_geoid();
        let is_fine = |end: usize| self.point(end).is_some_and(|at| terrain.is_fine_surface(at));
        self.is_fine_surface =
            terrain.has_fine_surface() && [0, self.lat_deg.len() - 1].into_iter().any(is_fine);
        self.trace_cover(terrain, path);
        let curve = path.curve(samples);
        if let Some(used) = curve.as_ref().and_then(|curve| self.follow(terrain, curve)) {
            self.terrain = used;
            self.ground = PathGround::Known;
            self.missing.clear();
            return;
        }
        (self.terrain, self.ground) =
            sample_filled(terrain, &self.lat_deg, &self.lon_deg, &mut self.elevation_msl_m);
        self.missing.clear();
        if self.terrain.missing_samples > 0 {
            let places = self.lat_deg.iter().zip(&self.lon_deg);
            let off = |(&lat, &lon)| {
                GeoPoint::wrapping(lat, lon).is_ok_and(|at| terrain.resolution_arcsec(at).is_none())
            };
            self.missing.extend(places.map(off));
        }
    }

    /// Takes the land cover along `path`.
    fn trace_cover(&mut self, terrain: &dyn Terrain, path: &Path) {
        self.clutter_agl_m.clear();
        self.cover_kinds.clear();
        self.cover = [CoverKind::Unknown; 2];
        if !terrain.has_cover() {
            return;
        }
        let (mut lat_deg, mut lon_deg) = (Vec::new(), Vec::new());
        path.positions(cover_points(path.distance_m()), &mut lat_deg, &mut lon_deg);
        let mut cover = vec![Cover::default(); lat_deg.len()];
        terrain.sample_cover(&lat_deg, &lon_deg, &mut cover);
        self.clutter_agl_m.extend(clutter_heights_agl_m(&cover));
        self.cover_kinds.extend(cover.iter().map(|cover| cover.kind));
        self.cover = [0, cover.len() - 1].map(|end| cover[end].kind);
    }

    /// Takes the heights of a short way as a coverage does: its first, then those along its curve.
    /// `None` where something is void or missing, or the terrain has no curves.
    fn follow(&mut self, terrain: &dyn Terrain, curve: &Curve) -> Option<TerrainUse> {
        let (first, rest) = self.elevation_msl_m.split_at_mut(1);
        let mut used = terrain.sample(&self.lat_deg[..1], &self.lon_deg[..1], first);
        let mut rows =
            [CurveRow { curve, elevation_msl_m: rest, greatest_m: None, used: Some(&mut used) }];
        terrain.sample_curves(&mut rows);
        let is_complete = rows[0].greatest_m.is_some();
        (is_complete && used.is_clean()).then_some(used)
    }

    /// Height of the buildings and trees at a share of the path, [0, 1], m above ground: that of the nearest
    /// point of land cover; `None` where it is unknown.
    #[must_use]
    pub fn clutter_at(&self, share: f64) -> Option<f64> {
        let height_m = self.clutter_agl_m.get(self.cover_point(share)?);
        height_m.copied().filter(|height_m| !height_m.is_nan())
    }

    /// Kind of the land cover at a share of the path, [0, 1]: that of the same point; `None` where it is unknown.
    #[must_use]
    pub fn cover_at(&self, share: f64) -> Option<CoverKind> {
        let kind = self.cover_kinds.get(self.cover_point(share)?);
        kind.copied().filter(|kind| *kind != CoverKind::Unknown)
    }

    /// Number of the point of land cover that is nearest to a share of the path; `None` without land cover.
    fn cover_point(&self, share: f64) -> Option<usize> {
        let last = self.clutter_agl_m.len().checked_sub(1)?;
        Some((share.clamp(0.0, 1.0) * last as f64).round() as usize)
    }

    /// The position of sample `i`, longitude wrapped; `None` past the end.
    #[must_use]
    pub fn point(&self, i: usize) -> Option<GeoPoint> {
        GeoPoint::wrapping(*self.lat_deg.get(i)?, *self.lon_deg.get(i)?).ok()
    }
}

/// The ground between two points with `samples` (at least 2) samples. The points may be equal:
/// then the distance is 0 and every sample is that point.
#[must_use]
pub fn sample_profile(
    terrain: &dyn Terrain,
    from: GeoPoint,
    to: GeoPoint,
    samples: usize,
) -> Profile {
    let mut profile = Profile::default();
    profile.trace(terrain, &Path::between(from, to), samples);
    profile
}

/// Samples positions along a path and fills the gaps, so that every height is finite:
///
/// - a void takes the straight line between the nearest heights before and after it, or the
///   nearest height where there is one on one side only
/// - a sample without a readable tile is sea level, 0 m (no tiles are published for open sea),
///   and so is a void when the path holds no height at all
///
/// The counts in the result disclose both, and the knowledge of the ground is that before the filling.
pub fn sample_filled(
    terrain: &dyn Terrain,
    lat_deg: &[f64],
    lon_deg: &[f64],
    elevation_msl_m: &mut [f64],
) -> (TerrainUse, PathGround) {
    let used = terrain.sample(lat_deg, lon_deg, elevation_msl_m);
    let ground = PathGround::of(&used, elevation_msl_m);
    fill_gaps(terrain, &used, lat_deg, lon_deg, elevation_msl_m);
    (used, ground)
}

/// Fills the gaps that a terrain left in samples along a path, as [`sample_filled`] does.
pub(crate) fn fill_gaps(
    terrain: &dyn Terrain,
    used: &TerrainUse,
    lat_deg: &[f64],
    lon_deg: &[f64],
    elevation_msl_m: &mut [f64],
) {
    if used.is_clean() {
        return;
    }
    if used.void_samples > 0 {
        fill_voids(elevation_msl_m, |i| {
            used.missing_samples > 0
                && GeoPoint::wrapping(lat_deg[i], lon_deg[i])
                    .is_ok_and(|at| terrain.resolution_arcsec(at).is_none())
        });
    }
    for elevation in elevation_msl_m.iter_mut().filter(|m| m.is_nan()) {
        *elevation = 0.0;
    }
}

/// Replaces NaN by linear interpolation between the heights around it, except where
/// `is_missing`. Leaves NaN where there is no height to take.
fn fill_voids(elevation_msl_m: &mut [f64], is_missing: impl Fn(usize) -> bool) {
    let mut before: Option<(usize, f64)> = None;
    let mut i = 0;
    while i < elevation_msl_m.len() {
        if !elevation_msl_m[i].is_nan() {
            before = Some((i, elevation_msl_m[i]));
            i += 1;
            continue;
        }
        let end = (i..elevation_msl_m.len())
            .find(|&j| !elevation_msl_m[j].is_nan())
            .unwrap_or(elevation_msl_m.len());
        let after = elevation_msl_m.get(end).map(|&height| (end, height));
        for (j, elevation) in (i..end).zip(&mut elevation_msl_m[i..end]) {
            if !is_missing(j) {
                *elevation = between(before, after, j);
            }
        }
        i = end;
    }
}

#[expect(clippy::cast_precision_loss, reason = "sample counts stay far below 2^53")]
fn between(before: Option<(usize, f64)>, after: Option<(usize, f64)>, j: usize) -> f64 {
    match (before, after) {
        (Some((a, low)), Some((b, high))) => low + (high - low) * (j - a) as f64 / (b - a) as f64,
        (Some((_, nearest)), None) | (None, Some((_, nearest))) => nearest,
        (None, None) => f64::NAN,
    }
}

/// Height (m) by which the Earth, flattened by refraction, rises above the straight line
/// between two points at a place `d1_m` from one and `d2_m` from the other:
/// `d1 d2 / (2 k a)`, where `k` is the effective Earth radius factor (4/3 in a standard
/// atmosphere, ITU-R P.310).
#[must_use]
pub fn earth_bulge_m(d1_m: f64, d2_m: f64, k_factor: f64) -> f64 {
    d1_m * d2_m / (2.0 * k_factor * EARTH_RADIUS_M)
}

#[cfg(test)]
#[path = "profile_tests.rs"]
mod tests;
