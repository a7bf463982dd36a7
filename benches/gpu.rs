//! Coverage on a GPU beside the exact evaluation on all cores of the same machine, in one run: one site, many sites
//! with the best server, the choice of sites to build; then the differences on twelve tiles and eight
//! frequencies. A figure counts only with the names of card and processor, which come first.
//!
//! `cargo bench -p groundwave_gpu --features wgpu --bench gpu`; tiles are read from the folder in the variable
//! `GROUNDWAVE_TILES`. `any` among the arguments allows an adapter that the processor imitates, `check` leaves out
//! the durations, `time` the differences.

#![expect(clippy::print_stdout, reason = "its report is what it is run for")]
#![expect(clippy::disallowed_methods, reason = "a bench reads the clock and its environment")]

use std::path::PathBuf;
use std::time::Instant;

use groundwave_gpu::{Adapters, Engine, ServersRequest};
use groundwave_model::coverage::placement::{Exact, PlacementChoice, PlacementRequest, place};
use groundwave_model::coverage::{
    Block, Cell, CoverageRequest, CoverageSite, Evaluation, Flags, Grid, KnownCounts, KnownFlags,
    KnownLoss, Sampling, Scratch, evaluate_grid, evaluate_known,
};
use groundwave_model::radio::Environment;
use groundwave_model::terrain::{GeoPoint, PostWindow, Terrain};
use groundwave_terrain::TerrainStack;
use ndarray::{Array2, ArrayView2, Axis};
use rayon::prelude::*;

/// Rounds of which the median counts.
const ROUNDS: usize = 5;

/// Frequencies of the differences, MHz.
const FREQUENCIES_MHZ: [f64; 8] = [100.0, 169.0, 433.0, 868.0, 1_800.0, 2_400.0, 5_800.0, 10_000.0];

/// Places of the differences, each on a tile of its own, and whether most of it is sea.
const PLACES: [([f64; 2], bool); 13] = [
    ([0.5, 10.5], false),
    ([0.5, 11.4], false),
    ([41.5, 1.5], false),
    ([42.5, 1.5], false),
    ([48.5, -124.5], false),
    ([50.5, -114.5], false),
    ([51.5, -0.5], false),
    ([51.5, -114.6], false),
    ([52.5, 8.5], false),
    ([53.5, 9.5], false),
    ([55.5, -3.5], false),
    ([57.6, 11.6], true),
    ([-45.6, -65.4], true),
];

fn request(at: GeoPoint, radius_m: f64, frequency_mhz: f64) -> CoverageRequest {
    let station = |height_agl_m: f64| {
        let mut station = groundwave_model::sample::station();
        station.height_agl_m = height_agl_m;
        station.radio.frequency_mhz = frequency_mhz;
        station
    };
    CoverageRequest {
        position: at,
        transmitter: station(15.0),
        receiver: station(3.0),
        environment: Environment { time_percent: 90.0, ..Environment::default() },
        packet_octets: 1_000,
        sampling: Sampling::Posts,
        radius_m,
    }
}

fn point(lat_deg: f64, lon_deg: f64) -> GeoPoint {
    GeoPoint::new(lat_deg, lon_deg).expect("a point on Earth")
}

fn seconds<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let begin = Instant::now();
    let value = work();
    (begin.elapsed().as_secs_f64(), value)
}

/// Median of the rounds, s, after one that warms up.
fn median_s(mut work: impl FnMut()) -> f64 {
    work();
    let mut rounds: Vec<f64> = (0..ROUNDS).map(|_| seconds(&mut work).0).collect();
    rounds.sort_by(f64::total_cmp);
    rounds[ROUNDS / 2]
}

fn window(terrain: &dyn Terrain, request: &CoverageRequest) -> PostWindow {
    PostWindow::covering(terrain, [(request.position, request.radius_m)]).expect("a tile")
}

fn whole(grid: &Grid) -> Block {
    Block { row: 0, column: 0, rows: grid.rows(), columns: grid.columns() }
}

/// Cells of a site by the device and the evaluator, on all cores.
fn known(
    engine: &Engine,
    terrain: &dyn Terrain,
    site: &CoverageSite<'_>,
    window: PostWindow,
    grid: &Grid,
) -> (Array2<Cell>, KnownCounts) {
    let terms = site.terms().expect("plain numbers");
    let losses = engine.losses(terrain, window, &[&terms], grid, whole(grid)).expect("losses");
    let losses = &losses[0];
    let mut cells = Array2::from_elem(losses.dim(), Cell::default());
    let evaluation = Evaluation { site, terrain, grid };
    let bands: Vec<_> = cells.axis_chunks_iter_mut(Axis(0), 8).collect();
    let losses: Vec<ArrayView2<'_, KnownLoss>> = losses.axis_chunks_iter(Axis(0), 8).collect();
    let counts = bands.into_par_iter().zip(losses).enumerate().map_init(
        Scratch::default,
        |scratch, (number, (band, losses))| {
            let first = [8 * number as u32, 0];
            evaluate_known(&evaluation, first, band, &losses, &[0.0], scratch)
        },
    );
    let counts = counts.reduce(KnownCounts::default, |mut one, other| {
        one.add(other);
        one
    });
    (cells, counts)
}

fn one_site(
    engine: &Engine,
    terrain: &dyn Terrain,
    name: &str,
    at: GeoPoint,
    radius_m: f64,
    arcsec: f64,
) {
    let request = request(at, radius_m, 900.0);
    let grid = Grid::around(&[at], radius_m, arcsec).expect("a grid");
    let site = request.prepare(terrain).expect("a sound request");
    let terms = site.terms().expect("plain numbers");
    let window = window(terrain, &request);
    let upload_s =
        seconds(|| engine.losses(terrain, window, &[&terms], &grid, whole(&grid)).expect("losses"))
            .0;
    let kernel_s = median_s(|| {
        engine.dispatch(terrain, window, &[&terms], &grid, whole(&grid)).expect("losses")
    });
    let losses_s = median_s(|| {
        drop(engine.losses(terrain, window, &[&terms], &grid, whole(&grid)).expect("losses"))
    });
    let mut counts = KnownCounts::default();
    let gpu_s = median_s(|| counts = known(engine, terrain, &site, window, &grid).1);
    let cpu_s = median_s(|| drop(evaluate_grid(&Evaluation { site: &site, terrain, grid: &grid })));
    let rate = counts.cells as f64 / 1e6;
    println!(
        "{name}: {} cells; kernel {:.1} ms ({:.0} M cells/s), losses on the host {:.1} ms (first, with posts, {:.0} ms), \
         cells {:.1} ms; exact evaluation {:.1} ms; ratio {:.1}; {counts:?}",
        counts.cells,
        kernel_s * 1e3,
        rate / kernel_s,
        losses_s * 1e3,
        upload_s * 1e3,
        gpu_s * 1e3,
        cpu_s * 1e3,
        cpu_s / gpu_s,
    );
}

fn many_sites(engine: &Engine, terrain: &dyn Terrain, count: u32, radius_m: f64) {
    let side = f64::from(count).sqrt().ceil() as u32;
    let places: Vec<GeoPoint> = (0..count)
        .map(|number| {
            let [row, column] =
                [number / side, number % side].map(|n| f64::from(n) / f64::from(side));
            point(50.75 + 0.5 * row, -114.4 + 0.8 * column)
        })
        .collect();
    let requests: Vec<_> = places.iter().map(|at| request(*at, radius_m, 900.0)).collect();
    let grid = Grid::around(&places, radius_m, 3.0).expect("a grid");
    let margin_db = 10.0;
    let served = |_: usize, cell: &Cell| cell.covered(margin_db);
    let servers = || {
        let sites: Vec<_> =
            requests.iter().map(|request| request.prepare(terrain).expect("a site")).collect();
        let thresholds_db = vec![margin_db; sites.len()];
        let request = ServersRequest {
            sites: &sites,
            thresholds_db: &thresholds_db,
            grid: &grid,
            terrain,
            serves: &served,
        };
        engine.servers(&request).expect("servers")
    };
    let first_s = seconds(servers).0;
    let mut outcome = None;
    let gpu_s = median_s(|| outcome = Some(servers()));
    let outcome = outcome.expect("rounds");
    let exact = || {
        let mut best: Vec<(u16, f64)> = vec![(u16::MAX, f64::NEG_INFINITY); grid.len() as usize];
        let mut covered = vec![0_u64; requests.len()];
        for (number, request) in (0_u16..).zip(&requests) {
            let site = request.prepare(terrain).expect("a site");
            let cells = evaluate_grid(&Evaluation { site: &site, terrain, grid: &grid });
            for (best, cell) in best.iter_mut().zip(&cells) {
                if cell.has_data() && (best.0 == u16::MAX || cell.link_margin_db > best.1) {
                    *best = (number, cell.link_margin_db);
                }
                covered[usize::from(number)] += u64::from(cell.covered(margin_db));
            }
        }
        (best, covered)
    };
    let (cpu_s, (best, covered)) = seconds(exact);
    let wrong = best.iter().zip(&outcome.best).filter(|(one, other)| one.0 != **other).count();
    let apart =
        outcome.served.iter().zip(&covered).filter(|(cells, count)| cells.len() as u64 != **count);
    println!(
        "{count} sites of {radius_m} m with best server, {} cells: {:.0} ms (first, with posts, {:.0} ms), exact \
         evaluation {:.0} ms, ratio {:.1}; {wrong} best servers and {} numbers of served cells differ; {:?}",
        grid.len(),
        gpu_s * 1e3,
        first_s * 1e3,
        cpu_s * 1e3,
        cpu_s / gpu_s,
        apart.count(),
        outcome.counts,
    );
    let placement =
        PlacementRequest { grid: &grid, existing: &[], candidates: &requests, count: 5, margin_db };
    let steps = |choice: &PlacementChoice| -> Vec<u16> {
        choice.choice.steps.iter().map(|step| step.site).collect()
    };
    if count <= 64 {
        let mut chosen = Vec::new();
        let gpu_s = median_s(|| chosen = steps(&place(&placement, terrain, engine)));
        let (cpu_s, exact) = seconds(|| steps(&place(&placement, terrain, &Exact)));
        println!(
            "placement of 5 of {count}: {:.0} ms, exact evaluation {:.0} ms, ratio {:.1}; equal choice: {}",
            gpu_s * 1e3,
            cpu_s * 1e3,
            cpu_s / gpu_s,
            chosen == exact,
        );
    }
}

fn check(engine: &Engine, terrain: &dyn Terrain, side: u32) {
    let mut worst_db = 0.0_f64;
    let mut wrong = 0;
    let (mut land, mut sea) = (KnownCounts::default(), KnownCounts::default());
    let mut above = [0_u64; 3];
    // Ties, spans, counts, odd numbers, bends, voids, near ones, jumps, scatter, Fresnel zones.
    let mut reasons = [0; 10];
    for ([lat_deg, lon_deg], is_sea) in PLACES {
        for frequency_mhz in FREQUENCIES_MHZ {
            let at = point(lat_deg, lon_deg);
            let fine = terrain.resolution_arcsec(at).expect("a tile") < 2.0;
            let request = request(at, if fine { 15e3 } else { 30e3 }, frequency_mhz);
            let grid = Grid::square(at, request.radius_m, side).expect("a grid");
            let site = request.prepare(terrain).expect("a site");
            let exact = evaluate_grid(&Evaluation { site: &site, terrain, grid: &grid });
            let window = window(terrain, &request);
            let (cells, counts) = known(engine, terrain, &site, window, &grid);
            let terms = site.terms().expect("plain numbers");
            let losses = engine.losses(terrain, window, &[&terms], &grid, whole(&grid));
            let losses = losses.expect("losses");
            for (count, bit) in reasons.iter_mut().zip(8..) {
                let others = KnownFlags::VOID | KnownFlags::NEAR;
                let has = |loss: &&KnownLoss| loss.flags.has(1 << bit) && !loss.flags.has(others);
                *count += losses[0].iter().filter(has).count();
            }
            if is_sea {
                sea.add(counts)
            } else {
                land.add(counts)
            }
            for (one, other) in exact.iter().zip(&cells) {
                let same = one.flags == other.flags
                    && one.verdict == other.verdict
                    && one.modulation_id == other.modulation_id
                    && one.covered(0.0) == other.covered(0.0);
                wrong += u64::from(!same);
                if !one.flags.intersects(Flags::OUTSIDE) {
                    let apart_db = (one.path_loss_db - other.path_loss_db).abs();
                    worst_db = worst_db.max(apart_db);
                    for (above, limit_db) in above.iter_mut().zip([1e-4, 2e-4, 2e-3]) {
                        *above += u64::from(apart_db > limit_db);
                    }
                }
            }
        }
    }
    println!(
        "{} places, {} frequencies: largest difference {worst_db:.1e} dB, above 1e-4, 2e-4, 2e-3 dB: {above:?}; {wrong} \
         classes differ; land {land:?}, sea {sea:?}; reasons {reasons:?}",
        PLACES.len(),
        FREQUENCIES_MHZ.len(),
    );
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |word: &str| arguments.iter().any(|argument| argument == word);
    let Some(folder) = std::env::var_os("GROUNDWAVE_TILES").map(PathBuf::from) else {
        println!("no tiles: set GROUNDWAVE_TILES to a folder of .hgt files");
        return;
    };
    let terrain = TerrainStack::open(Some(&folder), None).expect("a folder of tiles");
    let adapters = if has("any") { Adapters::Any } else { Adapters::Gpu };
    let (open_s, engine) = seconds(|| Engine::open(adapters));
    let engine = match engine {
        Ok(engine) => engine,
        Err(reason) => return println!("nothing to measure: {reason}"),
    };
    let adapter = engine.adapter();
    println!(
        "{}, driver {}, opened in {:.0} ms; {} threads",
        adapter.name,
        adapter.driver,
        open_s * 1e3,
        rayon::current_num_threads()
    );
    if !has("time") {
        check(&engine, &terrain, if has("any") { 41 } else { 201 });
    }
    if !has("check") {
        let calgary = point(51.0, -114.0);
        one_site(&engine, &terrain, "20 km at 3\"", calgary, 20e3, 3.0);
        one_site(&engine, &terrain, "50 km at 3\"", calgary, 50e3, 3.0);
        one_site(&engine, &terrain, "35 km at 1\"", point(48.5, -124.5), 35e3, 1.0);
        one_site(&engine, &terrain, "20 km at 3\", coast", point(57.7, 11.5), 20e3, 3.0);
        many_sites(&engine, &terrain, 100, 20e3);
        many_sites(&engine, &terrain, 50, 20e3);
    }
}
