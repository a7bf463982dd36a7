//! Cells of a coverage have the losses and predictions of links to their centres.

use super::super::{Environment, Indoor, Model, Station, Surroundings, evaluate};
use super::{at_1800_mhz, near};
use crate::coverage::{CoverageRequest, Flags, Grid, Sampling, coverage};
use crate::terrain::test_ground::Rough;
use crate::terrain::{Flat, GeoPoint, Terrain, sample_profile};

const SAMPLES: u32 = 96;

/// Compares the cells around a mast with links; returns the number of cells by the fallback model and others.
fn compare(
    [mast, meter]: [&Station; 2],
    environment: &Environment,
    terrain: &dyn Terrain,
    radius_m: f64,
) -> [usize; 2] {
    let position = GeoPoint::new(51.0, 7.0).unwrap();
    let request = CoverageRequest {
        position,
        transmitter: mast.clone(),
        receiver: meter.clone(),
        environment: environment.clone(),
        packet_octets: 1_000,
        sampling: Sampling::Count(SAMPLES),
        radius_m,
    };
    let grid = Grid::square(position, radius_m, 24).unwrap();
    let site = request.prepare(terrain).unwrap();
    let mut counts = [0; 2];
    for (index, cell) in (0_u32..).zip(&coverage(&site, terrain, &grid)) {
        if cell.flags.intersects(Flags::OUTSIDE) {
            continue;
        }
        let centre = grid.centre(index / 24, index % 24);
        let profile = sample_profile(terrain, position, centre, SAMPLES as usize);
        let undulation_m = [position, centre].map(|at| terrain.undulation_m(at));
        let link = evaluate(&profile, undulation_m, mast, meter, environment, 1_000).unwrap();
        let is_fallback = cell.flags.intersects(Flags::FALLBACK_MODEL);
        assert_eq!(is_fallback, link.model != environment.model, "{} m", profile.distance_m);
        near(cell.path_loss_db, link.losses.total_path_loss_db, 1e-6);
        near(cell.rx_power_dbm, link.receiver.rx_power_dbm, 1e-6);
        assert_eq!(cell.verdict, link.verdict);
        for (quantile_dbm, apart_db) in
            cell.rx_power_quantiles_dbm.into_iter().zip(link.prediction.deciles_db())
        {
            near(f64::from(quantile_dbm), link.prediction.rx_power_dbm + apart_db, 1e-4);
        }
        counts[usize::from(is_fallback)] += 1;
    }
    counts
}

#[test]
fn cells_beyond_the_longest_distance_have_the_loss_of_links() {
    let (mast, meter) =
        (at_1800_mhz(50.0, Surroundings::Open), at_1800_mhz(1.5, Surroundings::Urban));
    for (model, radius_m) in [(Model::Cost231Hata, 24e3), (Model::ExtendedHata, 115e3)] {
        let environment = Environment { model, location_percent: 80.0, ..Environment::default() };
        let terrain: [&dyn Terrain; 2] = [&Flat::default(), &Rough];
        for terrain in terrain {
            let [own, fallback] = compare([&mast, &meter], &environment, terrain, radius_m);
            assert!(own > 100 && fallback > 50, "{model}: {own} {fallback}");
        }
    }
}

#[test]
fn cells_indoors_have_the_walls_of_links_by_the_elevation_of_the_ray() {
    let tower = Station { height_agl_m: 700.0, ..at_1800_mhz(30.0, Surroundings::Open) };
    let room = Station { indoor: Indoor::Traditional, ..at_1800_mhz(1.5, Surroundings::Open) };
    for model in [Model::Itm, Model::FreeSpace, Model::P1812, Model::P528] {
        let environment = Environment { model, location_percent: 80.0, ..Environment::default() };
        compare([&tower, &room], &environment, &Rough, 3e3);
    }
}

#[test]
fn cells_have_the_intervals_of_links_where_the_model_has_more_than_free_space() {
    let mast = at_1800_mhz(30.0, Surroundings::Open);
    for model in Model::ALL.iter().copied() {
        let environment = Environment { model, ..Environment::default() };
        for height_m in [9.0, 12.0] {
            let receiver = at_1800_mhz(height_m, Surroundings::Urban);
            compare([&mast, &receiver], &environment, &Rough, 20e3);
            compare([&mast, &receiver], &environment, &Flat::default(), 20e3);
        }
    }
}
