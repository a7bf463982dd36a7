//! Ground to plan over.

use groundwave_values::Seed;

use crate::terrain::{GeoPoint, Terrain, TerrainSource, TerrainUse};

/// Hills upon hills, different for each seed, the roughest of them `relief_m` high.
pub struct Hills {
    pub seed: u64,
    pub relief_m: f64,
}

/// Flat ground with one wall from west to east, crossed by a line from south to north.
pub struct Wall {
    pub lat_deg: f64,
    pub height_m: f64,
}

impl Hills {
    fn waves(&self) -> Vec<[f64; 4]> {
        let mut chance = Seed(self.seed).stream("hills", 0, 0);
        let mut size_m = self.relief_m;
        let mut wave = || {
            size_m *= 0.7;
            // Turns for each degree north and east: hills of some 10 km down to 2 km.
            let [north, east] = [chance.between(40.0, 300.0), chance.between(20.0, 150.0)];
            [size_m, north, east, chance.between(0.0, 6.3)]
        };
        (0..6).map(|_| wave()).collect()
    }
}

fn fill(lat: &[f64], lon: &[f64], out: &mut [f64], height: impl Fn(f64, f64) -> f64) {
    for ((lat, lon), out) in lat.iter().zip(lon).zip(out) {
        *out = height(*lat, *lon);
    }
}

fn source(name: &str) -> TerrainSource {
    TerrainSource {
        name: name.into(),
        has_geoid: false,
        tiles_used: None,
        ..TerrainSource::default()
    }
}

impl Terrain for Hills {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], out: &mut [f64]) -> TerrainUse {
        let waves = self.waves();
        fill(lat_deg, lon_deg, out, |lat, lon| {
            let wave = |[size, north, east, turn]: &[f64; 4]| {
                size * (north * (lat - 57.5) + turn).sin() * (east * (lon - 11.5) - turn).cos()
            };
            300.0 + waves.iter().map(wave).sum::<f64>()
        });
        TerrainUse::default()
    }

    fn undulation_m(&self, _at: GeoPoint) -> f64 {
        35.0
    }

    fn resolution_arcsec(&self, _at: GeoPoint) -> Option<f64> {
        Some(3.0)
    }

    fn describe(&self) -> TerrainSource {
        source("hills")
    }
}

impl Terrain for Wall {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], out: &mut [f64]) -> TerrainUse {
        fill(lat_deg, lon_deg, out, |lat, _| {
            let away = (lat - self.lat_deg) / 0.01;
            50.0 + self.height_m * (-away * away).exp()
        });
        TerrainUse::default()
    }

    fn undulation_m(&self, _at: GeoPoint) -> f64 {
        0.0
    }

    fn resolution_arcsec(&self, _at: GeoPoint) -> Option<f64> {
        Some(3.0)
    }

    fn describe(&self) -> TerrainSource {
        source("wall")
    }
}
