//! No step in the loss where one model takes over from the other.

use std::sync::Arc;

use groundwave_model::link::{Inputs, judge, trace};
use groundwave_model::radio::budget::Workspace;
use groundwave_model::radio::{Environment, Model, Station, Warning};
use groundwave_model::terrain::{GeoPoint, Terrain, geodesic};
use groundwave_setup::terrain::TerrainOptions;

/// Sites with the largest steps that were measured, on tile N57E011, deg.
const SITES: [[f64; 2]; 3] = [[57.71, 11.75], [57.77, 11.80], [57.85, 11.85]];
const BEARINGS: u32 = 24;

fn terrain() -> Arc<dyn Terrain> {
    let root = crate::support::root();
    let options = TerrainOptions { srtm_dir: Some(root.join(".data/srtm")), ..Default::default() };
    options.open().unwrap().terrain
}

fn station(frequency_mhz: f64, height_agl_m: f64) -> Station {
    let mut station = groundwave_model::sample::station();
    station.radio.frequency_mhz = frequency_mhz;
    station.height_agl_m = height_agl_m;
    station
}

/// Mean absolute step of the loss over 20 m that end at `distance_m`, over all bearings, dB.
fn mean_step_db(terrain: &dyn Terrain, site: [f64; 2], frequency_mhz: f64, distance_m: f64) -> f64 {
    let environment = Environment { model: Model::Itm, ..Environment::default() };
    let inputs =
        Inputs { terrain, environment: &environment, packet_bytes: 1_000, spacing_m: None };
    let site = GeoPoint::new(site[0], site[1]).unwrap();
    let (mast, handset) = (station(frequency_mhz, 10.0), station(frequency_mhz, 1.5));
    let loss_db = |bearing_deg: f64, distance_m: f64| {
        let place = geodesic::direct(site, bearing_deg, distance_m).unwrap();
        let profile = trace(&inputs, site, place, None);
        let mut workspace = Workspace::default();
        let results = judge(&inputs, &profile, (site, &mast), (place, &handset), &mut workspace);
        results.unwrap().0.losses.total_path_loss_db
    };
    let steps = (0..BEARINGS).map(|number| {
        let bearing_deg = f64::from(number) * 360.0 / f64::from(BEARINGS);
        (loss_db(bearing_deg, distance_m) - loss_db(bearing_deg, distance_m - 20.0)).abs()
    });
    steps.sum::<f64>() / f64::from(BEARINGS)
}

#[test]
fn steps_across_a_kilometre_are_no_larger_than_those_beside_it() {
    let terrain = terrain();
    for site in SITES {
        for frequency_mhz in [868.0, 5_600.0] {
            let step_db = |distance_m| mean_step_db(&*terrain, site, frequency_mhz, distance_m);
            // At 2 km the slope of the loss changes, and the ground has steps of its own.
            for (seam_m, beside_m) in
                [(1_010.0, &[-25.0, 25.0][..]), (2_010.0, &[-75.0, -50.0, -25.0, 25.0, 50.0, 75.0])]
            {
                let across_db = step_db(seam_m);
                let steps_db = beside_m.iter().map(|aside_m| step_db(seam_m + aside_m));
                let beside_db = steps_db.fold(0.0, f64::max);
                assert!(
                    across_db <= 1.5 * beside_db + 0.1,
                    "{site:?} {frequency_mhz} MHz at {seam_m} m: {across_db} beside {beside_db}"
                );
            }
        }
    }
}

#[test]
fn models_are_blended_only_where_both_are_valid() {
    let terrain = terrain();
    let environment = Environment { model: Model::Itm, ..Environment::default() };
    let inputs = Inputs {
        terrain: &*terrain,
        environment: &environment,
        packet_bytes: 1_000,
        spacing_m: None,
    };
    let site = GeoPoint::new(57.71, 11.75).unwrap();
    let station = station(868.0, 10.0);
    for (distance_m, model, is_blended) in [
        (900.0, Model::DeltaBullington, false),
        (1_100.0, Model::Itm, true),
        (1_900.0, Model::Itm, true),
        (2_100.0, Model::Itm, false),
    ] {
        let place = geodesic::direct(site, 90.0, distance_m).unwrap();
        let profile = trace(&inputs, site, place, None);
        let mut workspace = Workspace::default();
        let ends = [(site, &station), (place, &station)];
        let (result, _) = judge(&inputs, &profile, ends[0], ends[1], &mut workspace).unwrap();
        assert_eq!(result.model, model, "{distance_m} m");
        assert_eq!(result.warnings.contains(Warning::ModelsBlended), is_blended, "{distance_m} m");
    }
}
