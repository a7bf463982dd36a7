//! Synthetic ground of the unit tests.

use super::{Cover, CoverKind, GeoPoint, Terrain, TerrainSource, TerrainUse, TileId};

/// Rough ground: hills upon hills, the same everywhere and always, with posts 3" apart as far as
/// sampling is concerned.
pub struct Rough;

impl Rough {
    fn height_m(lat_deg: f64, lon_deg: f64) -> f64 {
        let (mut height_m, mut size_m, mut scale) = (600.0, 260.0, 40.0);
        for octave in 0..7 {
            let turn = f64::from(octave) * 1.3;
            let (x, y) =
                (lon_deg * scale * libm::cos(turn) + lat_deg * scale, lat_deg * scale * 1.7);
            height_m +=
                size_m * (libm::sin(x + turn) * libm::cos(y - turn) + 0.3 * libm::sin(x * 1.9 - y));
            size_m *= 0.5;
            scale *= 2.3;
        }
        height_m
    }
}

impl Terrain for Rough {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], out: &mut [f64]) -> TerrainUse {
        for ((lat_deg, lon_deg), out) in lat_deg.iter().zip(lon_deg).zip(out) {
            *out = Self::height_m(*lat_deg, *lon_deg);
        }
        TerrainUse::default()
    }

    fn undulation_m(&self, at: GeoPoint) -> f64 {
        30.0 + at.lat_deg()
    }

    fn resolution_arcsec(&self, _at: GeoPoint) -> Option<f64> {
        Some(3.0)
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource {
            name: "rough".into(),
            has_geoid: false,
            tiles_used: None,
            ..TerrainSource::default()
        }
    }
}

/// [`Rough`] with a void and a missing stretch in longitude.
pub struct Holed {
    pub void_lon: std::ops::Range<f64>,
    pub missing_lon: std::ops::Range<f64>,
}

impl Terrain for Holed {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], out: &mut [f64]) -> TerrainUse {
        let mut used = Rough.sample(lat_deg, lon_deg, out);
        for (lon_deg, out) in lon_deg.iter().zip(out) {
            if self.missing_lon.contains(lon_deg) {
                used.missing_samples += 1;
                *out = f64::NAN;
            } else if self.void_lon.contains(lon_deg) {
                used.note_tile(TileId::default(), 3.0);
                used.void_samples += 1;
                *out = f64::NAN;
            }
        }
        used
    }

    fn undulation_m(&self, _at: GeoPoint) -> f64 {
        0.0
    }

    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        (!self.missing_lon.contains(&at.lon_deg())).then_some(3.0)
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource {
            name: "holed".into(),
            has_geoid: false,
            tiles_used: None,
            ..TerrainSource::default()
        }
    }
}

/// [`Rough`] with land cover in squares of some 300 m: all kinds, with heights of their own.
pub struct Covered;

impl Covered {
    fn cover(lat_deg: f64, lon_deg: f64) -> Cover {
        let [row, column] = [lat_deg, lon_deg].map(|deg| (deg * 360.0).floor() as i64);
        let kind = CoverKind::ALL[(row * 5 + column * 3).rem_euclid(6) as usize];
        let height_agl_m = match kind {
            CoverKind::Unknown | CoverKind::Open => 0.0,
            CoverKind::Forest => 18.0,
            _ => 9.0,
        };
        Cover { kind, height_agl_m }
    }
}

impl Terrain for Covered {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], out: &mut [f64]) -> TerrainUse {
        Rough.sample(lat_deg, lon_deg, out)
    }

    fn undulation_m(&self, at: GeoPoint) -> f64 {
        Rough.undulation_m(at)
    }

    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        Rough.resolution_arcsec(at)
    }

    fn sample_cover(&self, lat_deg: &[f64], lon_deg: &[f64], cover: &mut [Cover]) {
        for ((lat_deg, lon_deg), cover) in lat_deg.iter().zip(lon_deg).zip(cover) {
            *cover = Self::cover(*lat_deg, *lon_deg);
        }
    }

    fn has_cover(&self) -> bool {
        true
    }

    fn describe(&self) -> TerrainSource {
        TerrainSource { name: "covered".into(), ..TerrainSource::default() }
    }
}
