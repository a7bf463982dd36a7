//! Duration of a coverage: 256 by 256 cells around a mast on real terrain, on all cores, by the
//! number of samples on a path.
//!
//! Divan reports wall time. Where other programs share the cores that is of little use, so seconds
//! of CPU come first: the least of several rounds, over all threads, and that divided by the cores. Then the cost of
//! intervals: cells with them and without, in turn, as a ratio.

#![expect(clippy::print_stdout, reason = "its report is what it is run for")]

use std::path::Path;
use std::sync::{Arc, LazyLock};

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use groundwave_model::radio::{Environment, Station, Surroundings};
use groundwave_model::sample;
use groundwave_model::terrain::{Flat, GeoPoint, Terrain};
use groundwave_simulation::coverage::{
    CoverageRequest, Evaluation, Grid, Sampling, coverage, evaluate_grid,
    evaluate_without_intervals,
};
use groundwave_terrain::TerrainStack;

/// Cells along a side.
const SIDE: u32 = 256;

/// Half the side of the square, m.
const RADIUS_M: f64 = 20e3;

/// Samples on every path; 0 takes one for each post, as sweeps do by default.
const SAMPLES: [u32; 6] = [0, 64, 128, 256, 512, 1024];

/// Rounds of each side of the ratio of intervals.
const ROUNDS_OF_RATIO: usize = 15;

/// Rounds of the report of CPU time.
const ROUNDS: usize = 7;

/// The fetched tile N57E011, or flat ground, which is printed.
static TERRAIN: LazyLock<Arc<dyn Terrain>> = LazyLock::new(|| {
    let tiles = Path::new(env!("CARGO_MANIFEST_DIR")).join(".data/srtm");
    match TerrainStack::open(Some(&tiles), None) {
        Ok(stack) => Arc::new(stack),
        Err(_) => {
            println!("no terrain in {}: over flat ground instead (`make data`)", tiles.display());
            Arc::new(Flat::default())
        }
    }
});

fn main() {
    // With a filter, only what it names is run.
    if std::env::args().skip(1).all(|argument| argument.starts_with('-')) {
        report();
        intervals();
    }
    divan::main();
}

/// Seconds of CPU of each case.
fn report() {
    let threads = rayon::current_num_threads();
    println!("{SIDE} x {SIDE} cells, {threads} threads, least CPU of {ROUNDS} rounds");
    for samples in SAMPLES {
        let (grid, setup) = square(samples);
        let site = setup.prepare(&**TERRAIN).expect("a sound setup");
        let spent = (0..ROUNDS).filter_map(|_| {
            let before_ns = cpu_ns()?;
            black_box(coverage(&site, &**TERRAIN, &grid));
            Some(cpu_ns()? - before_ns)
        });
        let Some(least_ns) = spent.min() else {
            println!("CPU time is not known on this system");
            return;
        };
        let (cpu_ms, cells) = (least_ns as f64 / 1e6, f64::from(SIDE * SIDE));
        let each_ms = cpu_ms / threads as f64;
        let rate = cells / cpu_ms;
        println!(
            "{samples:5} samples: {cpu_ms:7.1} ms CPU, {each_ms:6.1} ms on every core, \
             {rate:6.0} k cells/s and core"
        );
    }
}

/// CPU of a coverage with intervals and probabilities, over that of one with the power and the margin of the model
/// alone. Rounds alternate, so that both have the same machine.
fn intervals() {
    println!("cells with intervals and without, minimum CPU of {ROUNDS_OF_RATIO} rounds each");
    for (samples, surroundings, receiver_agl_m) in [
        (0, Surroundings::Unknown, 1.5),
        (512, Surroundings::Unknown, 1.5),
        (0, Surroundings::Open, 1.5),
        (512, Surroundings::Open, 1.5),
        (0, Surroundings::Open, 10.0),
        (512, Surroundings::Open, 10.0),
    ] {
        let (grid, mut setup) = square(samples);
        setup.transmitter.surroundings = surroundings;
        setup.receiver.surroundings = surroundings;
        setup.receiver.height_agl_m = receiver_agl_m;
        let site = setup.prepare(&**TERRAIN).expect("a sound setup");
        let evaluation = Evaluation { site: &site, terrain: &**TERRAIN, grid: &grid };
        let mut minimum_ns = [u64::MAX; 2];
        for _ in 0..ROUNDS_OF_RATIO {
            let evaluate = [evaluate_grid, evaluate_without_intervals];
            for (evaluate, minimum_ns) in evaluate.into_iter().zip(&mut minimum_ns) {
                let Some(before_ns) = cpu_ns() else {
                    return;
                };
                black_box(evaluate(&evaluation));
                let spent_ns = cpu_ns().map_or(u64::MAX, |after_ns| after_ns - before_ns);
                *minimum_ns = spent_ns.min(*minimum_ns);
            }
        }
        let [with_ms, without_ms] = minimum_ns.map(|ns| ns as f64 / 1e6);
        let ratio = with_ms / without_ms;
        println!(
            "{samples:5} samples, surroundings {surroundings:?}, receiver at {receiver_agl_m} m: \
             {with_ms:7.1} and {without_ms:7.1} ms CPU, ratio {ratio:.3}"
        );
    }
}

/// Every cell evaluated.
#[divan::bench(args = SAMPLES, sample_count = 20)]
fn exact(bencher: Bencher, samples: u32) {
    let (grid, setup) = square(samples);
    let site = setup.prepare(&**TERRAIN).expect("a sound setup");
    let cells = bencher.counter(ItemsCount::new(grid.len() as usize));
    cells.bench_local(|| coverage(&site, &**TERRAIN, &grid));
}

/// A square around a 30 m mast on Öckerö, within the tile; receivers at 1.5 m, 868 MHz.
fn square(samples: u32) -> (Grid, CoverageRequest) {
    let position = GeoPoint::new(57.71, 11.65).expect("a place");
    let station = |height_agl_m| {
        let mut station: Station = sample::station();
        station.height_agl_m = height_agl_m;
        station.radio.frequency_mhz = 868.0;
        station
    };
    let setup = CoverageRequest {
        position,
        transmitter: station(30.0),
        receiver: station(1.5),
        environment: Environment::default(),
        packet_octets: 1500,
        sampling: match samples {
            0 => Sampling::Posts,
            count => Sampling::Count(count),
        },
        radius_m: f64::INFINITY,
    };
    let grid = Grid::square(position, RADIUS_M, SIDE).expect("a raster");
    (grid, setup)
}

/// Time that all threads of this process have been on a core, ns (Linux).
fn cpu_ns() -> Option<u64> {
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    let spent = tasks.filter_map(|task| {
        let text = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        text.split(' ').next()?.parse::<u64>().ok()
    });
    Some(spent.sum())
}
