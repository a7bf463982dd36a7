//! Why SPLAT! and we differ where we do: its own profiles through our model, then one difference
//! between the two at a time.
//!
//! ```text
//! cargo bench --bench agreement -- LOSS.ano TILE_FOLDER LAT LON
//! ```
//!
//! `LOSS.ano` is SPLAT!'s table of path loss around a 15 m mast at LAT, LON on 900 MHz for
//! receivers at 3 m (`benches/splat.sh` makes one). Each row is compared with our loss over the
//! profile that SPLAT! took for it, and over profiles that are ours in one respect or in all.
//! Without arguments, as `cargo bench` runs it, it prints that and does nothing.

#![expect(clippy::print_stdout, reason = "its report is what it is run for")]

#[path = "agreement/rays.rs"]
mod rays;

use std::path::Path as File;

use groundwave_model::radio::budget::Workspace;
use groundwave_model::radio::{Environment, Station};
use groundwave_model::sample;
use groundwave_model::terrain::{
    GeoPoint, Path, Terrain, TerrainSource, TerrainUse, sample_filled,
};
use groundwave_propagation::itm;
use groundwave_propagation::polarization::Polarization;
use groundwave_propagation::profile::PathProfile;
use groundwave_simulation::link::{Inputs, judge, samples_for, trace};
use groundwave_terrain::TerrainStack;

use rays::{Cell, point};

/// Cells that are compared, spread evenly over the table.
const CELLS: usize = 40_000;

/// Frequency, MHz.
const FREQUENCY_MHZ: f64 = 900.0;

/// Antenna heights, transmitter and receiver, m above ground.
const ANTENNA_AGL_M: [f64; 2] = [15.0, 3.0];

/// Ground as SPLAT! 1.4.2 reads it: the height of the nearest post.
struct Nearest<'a> {
    terrain: &'a dyn Terrain,
    posts_per_deg: f64,
}

impl Terrain for Nearest<'_> {
    fn sample(&self, lat_deg: &[f64], lon_deg: &[f64], elevation_msl_m: &mut [f64]) -> TerrainUse {
        let snap = |deg: &f64| (deg * self.posts_per_deg).round() / self.posts_per_deg;
        let lat_deg: Vec<f64> = lat_deg.iter().map(snap).collect();
        let lon_deg: Vec<f64> = lon_deg.iter().map(snap).collect();
        self.terrain.sample(&lat_deg, &lon_deg, elevation_msl_m)
    }
    fn undulation_m(&self, at: GeoPoint) -> f64 {
        self.terrain.undulation_m(at)
    }
    fn resolution_arcsec(&self, at: GeoPoint) -> Option<f64> {
        self.terrain.resolution_arcsec(at)
    }
    fn describe(&self) -> TerrainSource {
        self.terrain.describe()
    }
}

/// Parts of a profile computed by our method; the others follow SPLAT!.
#[derive(Debug, Clone, Copy, Default)]
struct Ours {
    /// The path ends in the cell, not one sample before it.
    end: bool,
    /// The path follows the geodesic of the ellipsoid, not a great circle of a sphere.
    geodesic: bool,
    /// Samples lie one post apart along the meridian, and there are 32 or more.
    spacing: bool,
    /// Heights are interpolated bilinearly.
    bilinear: bool,
}

/// Both ways to see the ground, and where the transmitter stands on it.
struct Scene<'a> {
    from: GeoPoint,
    bilinear: &'a dyn Terrain,
    nearest: &'a dyn Terrain,
    model: itm::Prepared,
}

impl Scene<'_> {
    /// Basic transmission loss of the model to `cell`, dB, over a profile that is `ours` so far;
    /// `None` where the model refuses.
    fn loss_db(&self, cell: &Cell, ours: Ours) -> Option<f64> {
        let steps = if ours.end { cell.sample } else { cell.sample - 1 };
        let length_m = steps as f64 * cell.ray.step_m;
        let samples = if ours.spacing {
            samples_for(self.bilinear, self.from, length_m, None)
        } else {
            steps + 1
        };
        let (mut lat_deg, mut lon_deg) = (Vec::new(), Vec::new());
        let step_m;
        if ours.geodesic {
            let path = Path::between(self.from, point(cell.ray.at(length_m)));
            path.positions(samples, &mut lat_deg, &mut lon_deg);
            step_m = path.step_m(samples);
        } else {
            step_m = length_m / (samples - 1) as f64;
            let places = (0..samples).map(|i| cell.ray.at(i as f64 * step_m));
            (lat_deg, lon_deg) = places.map(|(lat, west)| (lat, -west)).unzip();
        }
        let terrain = if ours.bilinear { self.bilinear } else { self.nearest };
        let mut elevation_msl_m = vec![0.0; samples];
        sample_filled(terrain, &lat_deg, &lon_deg, &mut elevation_msl_m);
        let profile = PathProfile::bare(step_m, &elevation_msl_m);
        let reference = self.model.reference(&profile).ok()?;
        Some(reference.basic_transmission_loss_db(itm::Quantile::MEDIAN))
    }
}

/// The isotropic station of the comparison.
fn station(height_agl_m: f64) -> Station {
    let mut station = sample::station();
    station.height_agl_m = height_agl_m;
    station.radio.frequency_mhz = FREQUENCY_MHZ;
    station.antenna.gain_dbi = 0.0;
    station.antenna.elevation_beamwidth_deg = 360.0;
    station
}

/// Our path loss as coverage gives it, dB, to the place `steps` along the ray of `cell`.
fn coverage_db(scene: &Scene<'_>, cell: &Cell, steps: usize, workspace: &mut Workspace) -> f64 {
    let environment = Environment::default();
    let inputs = Inputs {
        terrain: scene.bilinear,
        environment: &environment,
        packet_bytes: 1500,
        spacing_m: None,
    };
    let [tx, rx] = ANTENNA_AGL_M.map(station);
    let to = point(cell.ray.at(steps as f64 * cell.ray.step_m));
    let profile = trace(&inputs, scene.from, to, None);
    let (forward, _) =
        judge(&inputs, &profile, (scene.from, &tx), (to, &rx), workspace).expect("a sound link");
    let losses = &forward.losses;
    losses.free_space_loss_db
        + losses.reference_attenuation_db.unwrap_or(0.0)
        + losses.variability_db.unwrap_or(0.0)
        + losses.diffraction_loss_db.unwrap_or(0.0)
}

/// Prints how far our losses are from the table's.
fn report(name: &str, cells: &[Cell], mut ours_db: impl FnMut(&Cell) -> Option<f64>) {
    let difference = |cell: &Cell| Some(ours_db(cell)? - cell.loss_db);
    let mut far_db: Vec<f64> = cells.iter().filter_map(difference).collect();
    far_db.sort_by(f64::total_cmp);
    let share = |db: f64| {
        let within = far_db.iter().filter(|far| far.abs() <= db).count();
        100.0 * within as f64 / far_db.len() as f64
    };
    println!(
        "    {name:44} {:6.2} {:6.2} {:6.2} {:6.2}   {:+.2}",
        share(0.1),
        share(1.0),
        share(3.0),
        share(6.0),
        far_db[far_db.len() / 2],
    );
}

fn reports(scene: &Scene<'_>, cells: &[Cell]) {
    let splat = Ours::default();
    let toggle = |name: &str, ours: Ours| report(name, cells, |cell| scene.loss_db(cell, ours));
    println!("    {:44}    0.1      1      3    6 dB   median", "% within");
    toggle("SPLAT!'s profile, our model", splat);
    toggle("  but to the cell itself", Ours { end: true, ..splat });
    toggle("  but our geodesic", Ours { geodesic: true, ..splat });
    toggle("  but our spacing", Ours { spacing: true, ..splat });
    toggle("  but our bilinear ground", Ours { bilinear: true, ..splat });
    let ours = Ours { end: false, geodesic: true, spacing: true, bilinear: true };
    toggle("our profile to SPLAT!'s end, our model", ours);
    toggle("our profile to the cell, our model", Ours { end: true, ..ours });
    let mut workspace = Workspace::default();
    report("our coverage at SPLAT!'s end", cells, |cell| {
        Some(coverage_db(scene, cell, cell.sample - 1, &mut workspace))
    });
    report("our coverage at the cell", cells, |cell| {
        Some(coverage_db(scene, cell, cell.sample, &mut workspace))
    });
}

/// Prints how many of the cells that differ over SPLAT!'s own profile do so by rounding alone: a
/// step changed by less than 1e-10 of itself brings them together. The model cuts the profile into
/// whole samples at nine tenths of the way to a horizon; where the horizon is a multiple of ten
/// samples away, the last bit of the quotient decides where.
fn report_rounding(scene: &Scene<'_>, cells: &[Cell]) {
    let agrees = |cell: &Cell, nudge: i32| {
        let mut cell = *cell;
        cell.ray.step_m *= 1.0 + 1e-11 * f64::from(nudge);
        let loss_db = scene.loss_db(&cell, Ours::default());
        loss_db.is_some_and(|loss_db| (loss_db - cell.loss_db).abs() <= 0.1)
    };
    let differ: Vec<&Cell> = cells.iter().filter(|cell| !agrees(cell, 0)).collect();
    let rounded = |cell: &&&Cell| (-9..=9).any(|nudge| agrees(cell, nudge));
    println!(
        "    {} cells differ by more than 0.1 dB over SPLAT!'s profile, {} of them by rounding alone",
        differ.len(),
        differ.iter().filter(rounded).count(),
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let [loss, tiles, lat_deg, lon_deg] = arguments.as_slice() else {
        println!("agreement: needs LOSS.ano TILE_FOLDER LAT LON, see benches/splat.sh");
        return;
    };
    let number = |text: &str| text.parse::<f64>().expect("degrees");
    let from = (number(lat_deg), (-number(lon_deg)).rem_euclid(360.0));
    let terrain = TerrainStack::open(Some(File::new(tiles)), None).expect("a folder of tiles");
    let arcsec = terrain.resolution_arcsec(point(from)).expect("a tile");
    let posts_per_deg = (3600.0 / arcsec).round();
    let (all, rows) = rays::cells(loss, from, posts_per_deg);
    let cells: Vec<_> = all.iter().step_by((all.len() / CELLS).max(1)).copied().collect();
    println!("  why: {} of {rows} rows found on their rays, {} compared", all.len(), cells.len());
    let medium = itm::Medium {
        n_0: 301.0,
        epsilon: 15.0,
        sigma_s_m: 0.005,
        climate: itm::Climate::ContinentalTemperate,
        frequency_mhz: FREQUENCY_MHZ,
        polarization: Polarization::Vertical,
        mdvar: itm::Mdvar::from_code(12).expect("a code of the model"),
    };
    let scene = Scene {
        from: point(from),
        bilinear: &terrain,
        nearest: &Nearest { terrain: &terrain, posts_per_deg },
        model: itm::Prepared::new(&medium, ANTENNA_AGL_M).expect("within the model"),
    };
    reports(&scene, &cells);
    report_rounding(&scene, &cells);
}
