//! Why SPLAT! and we differ where we do: the same cells with our ground and with SPLAT!'s.
//!
//! ```text
//! cargo bench --bench agreement -- LOSS.ano TILE_FOLDER LAT LON
//! ```
//!
//! `LOSS.ano` is SPLAT!'s table of path loss around a 15 m mast at LAT, LON on 900 MHz for
//! receivers at 3 m (`benches/splat.sh` makes one). Each cell is evaluated at SPLAT!'s own
//! position, once over bilinear ground, as we do, and once over the nearest post, as SPLAT! does.
//! Without arguments, as `cargo bench` runs it, it says so and does nothing.

use std::path::Path;

use groundwave_io::terrain::TerrainStack;
use groundwave_systems::link::{Inputs, judge, trace};
use groundwave_systems::radio::budget::Workspace;
use groundwave_systems::radio::{Environment, Station};
use groundwave_systems::sample;
use groundwave_systems::terrain::{GeoPoint, Terrain, TerrainSource, TerrainUse};

/// Cells that are compared, spread evenly over the table.
const CELLS: usize = 20_000;

/// Ground as SPLAT! 1.4.2 reads it: the height of the nearest 3 arc-second post.
struct Nearest<'a>(&'a dyn Terrain);

impl Terrain for Nearest<'_> {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse {
        let snap = |deg: &f64| (deg * 1200.0).round() / 1200.0;
        let lat_deg: Vec<f64> = lat_deg.iter().map(snap).collect();
        let lon_deg: Vec<f64> = lon_deg.iter().map(snap).collect();
        self.0.sample(&lat_deg, &lon_deg, elevation_msl_m)
    }
    fn undulation_m(&self, at: GeoPoint) -> f64 {
        self.0.undulation_m(at)
    }
    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        self.0.resolution_arcsec(at)
    }
    fn describe(&self) -> TerrainSource {
        self.0.describe()
    }
}

/// The isotropic 900 MHz station of the comparison.
fn station(height_agl_m: f64) -> Station {
    let mut station = sample::station();
    station.height_agl_m = height_agl_m;
    station.radio.frequency_mhz = 900.0;
    station.antenna.gain_dbi = 0.0;
    station.antenna.elevation_beamwidth_deg = 360.0;
    station
}

/// Positions and path losses of the table.
fn table(path: &str) -> Vec<(GeoPoint, f64)> {
    let text = std::fs::read(path).expect("the table can be read");
    let text = String::from_utf8_lossy(&text);
    let row = |line: &str| {
        let line = line.split(';').next()?.replace('*', "");
        let cells: Vec<f64> = line
            .split(',')
            .filter_map(|cell| cell.trim().parse().ok())
            .collect();
        let &[lat_deg, west_deg, _, _, loss_db] = cells.as_slice() else {
            return None;
        };
        Some((GeoPoint::new(lat_deg, -west_deg).ok()?, loss_db))
    };
    text.lines().filter_map(row).collect()
}

fn compare(name: &str, terrain: &dyn Terrain, from: GeoPoint, cells: &[(GeoPoint, f64)]) {
    let environment = Environment {
        refractivity_n_units: 301.0,
        ..Environment::default()
    };
    let inputs = Inputs {
        terrain,
        environment: &environment,
        packet_bytes: 1500,
        spacing_m: None,
    };
    let (tx, rx) = (station(15.0), station(3.0));
    let mut far_db = Vec::new();
    let mut workspace = Workspace::default();
    for (to, loss_db) in cells {
        let profile = trace(&inputs, from, *to, None);
        let ends = ((from, &tx), (*to, &rx));
        let result = judge(&inputs, &profile, ends.0, ends.1, &mut workspace);
        let (forward, _) = result.expect("a sound link");
        let losses = &forward.losses;
        let terrain_db = losses.reference_attenuation_db.unwrap_or(0.0)
            + losses.variability_db.unwrap_or(0.0)
            + losses.diffraction_loss_db.unwrap_or(0.0);
        far_db.push(losses.free_space_loss_db + terrain_db - loss_db);
    }
    far_db.sort_by(f64::total_cmp);
    let share = |db: f64| {
        let within = far_db.iter().filter(|far| far.abs() <= db).count();
        100.0 * within as f64 / far_db.len() as f64
    };
    println!(
        "{name:18} {} cells: {:5.1} % within 1 dB, {:5.1} % within 3 dB, {:5.1} % within 6 dB; median {:+.2} dB",
        far_db.len(),
        share(1.0),
        share(3.0),
        share(6.0),
        far_db[far_db.len() / 2],
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| arg != "--bench")
        .collect();
    let [loss, tiles, lat_deg, lon_deg] = arguments.as_slice() else {
        println!("agreement: needs LOSS.ano TILE_FOLDER LAT LON, see benches/splat.sh");
        return;
    };
    let number = |text: &str| text.parse::<f64>().expect("degrees");
    let from = GeoPoint::new(number(lat_deg), number(lon_deg)).expect("a place on Earth");
    let terrain = TerrainStack::open(Some(Path::new(tiles)), None).expect("a folder of tiles");
    let all = table(loss);
    let cells: Vec<_> = all
        .iter()
        .step_by((all.len() / CELLS).max(1))
        .copied()
        .collect();
    compare("bilinear ground", &terrain, from, &cells);
    compare("nearest post", &Nearest(&terrain), from, &cells);
}
