//! Rate of point-to-point predictions of the Irregular Terrain Model on one core, 1/s, by the
//! number of points in the terrain profile.

use std::f64::consts::TAU;

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use groundwave_propagation::itm::{Climate, Mdvar, Medium, Quantile, point_to_point, reference};
use groundwave_propagation::polarization::Polarization;
use groundwave_propagation::profile::PathProfile;

/// Points in a profile.
const POINTS: [usize; 3] = [128, 512, 1024];

/// Profiles a measurement goes round, so that branches cannot be learnt by heart.
const PROFILES: usize = 64;

const PATH_M: f64 = 20e3;

fn main() {
    divan::main();
}

/// The loss at one quantile.
#[divan::bench(args = POINTS)]
fn median(bencher: Bencher, points: usize) {
    let (terrain, medium) = (terrain(points), medium());
    bencher.counter(ItemsCount::new(PROFILES)).bench_local(|| {
        for elevation in &terrain {
            let profile = profile(elevation);
            let _ = black_box(point_to_point(
                black_box(&profile),
                10.0,
                2.0,
                &medium,
                Quantile::MEDIAN,
            ));
        }
    });
}

/// The losses at three quantiles of one reference.
#[divan::bench(args = POINTS)]
fn tenth_fiftieth_ninetieth(bencher: Bencher, points: usize) {
    let (terrain, medium) = (terrain(points), medium());
    let quantiles = [10.0, 50.0, 90.0].map(|time| Quantile::new(time, 50.0, 50.0).unwrap());
    bencher.counter(ItemsCount::new(PROFILES)).bench_local(|| {
        for elevation in &terrain {
            let profile = profile(elevation);
            let of = reference(black_box(&profile), 10.0, 2.0, &medium).unwrap();
            black_box(quantiles.map(|quantile| of.attenuation_db(quantile)));
        }
    });
}

fn medium() -> Medium {
    Medium {
        n_0: 301.0,
        epsilon: 15.0,
        sigma_s_m: 0.005,
        climate: Climate::ContinentalTemperate,
        frequency_mhz: 915.0,
        polarization: Polarization::Vertical,
        mdvar: Mdvar::from_code(12).unwrap(),
    }
}

fn profile(elevation: &[f64]) -> PathProfile<'_> {
    PathProfile::bare(PATH_M / (elevation.len() - 1) as f64, elevation)
}

/// Rough terrain, the same at every run: hills of 20 to 320 m with smaller hills upon them.
fn terrain(points: usize) -> Vec<Vec<f64>> {
    let mut phase = 0.0;
    let mut profile = |number: usize| {
        let mut elevation = vec![500.0; points];
        let mut height_m = 20.0 * f64::from(1 << (number % 5));
        let mut period = points as f64;
        while period > 2.0 {
            // Multiples of the golden section fall everywhere and repeat nowhere.
            phase = (phase + 0.618_033_988_749_895_f64).fract();
            for (index, value) in elevation.iter_mut().enumerate() {
                *value += height_m * (TAU * (index as f64 / period + phase)).sin();
            }
            height_m *= 0.55;
            period *= 0.5;
        }
        elevation.iter().map(|value| value.round()).collect()
    };
    (0..PROFILES).map(&mut profile).collect()
}
