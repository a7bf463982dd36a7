//! The registry, and a model that one line adds to it.

use groundwave_propagation::itm::{self, Quantile};
use groundwave_propagation::profile::{GroundCover, PathClutter, PathProfile};
use schemars::schema_for;

use super::{
    Attenuation, Direction, Model, PathBatch, PathLossModel, PreparedModel, ProfileRows, Validity,
};
use crate::coverage::{CoverageRequest, Flags, Grid, Sampling, coverage};
use crate::radio::budget::evaluate;
use crate::radio::{Environment, Warning};
use crate::terrain::{Flat, GeoPoint, sample_profile};

/// Attenuation of 1 dB a kilometre from 2 km on. Only for tests.
#[derive(Debug)]
pub(crate) struct LinearSlope;

impl PathLossModel for LinearSlope {
    fn name(&self) -> &'static str {
        "linear_slope"
    }

    fn label(&self) -> &'static str {
        "linear slope"
    }

    fn description(&self) -> &'static str {
        "1 dB a kilometre, from 2 km on."
    }

    fn version(&self) -> &'static str {
        "linear slope 1"
    }

    fn source(&self) -> &'static str {
        "this test"
    }

    fn settings(&self) -> &'static [&'static str] {
        &["k_factor"]
    }

    fn validity(&self) -> Validity {
        Validity { distance_m: 2e3..=f64::INFINITY, ..Validity::UNLIMITED }
    }

    fn uses_terrain(&self) -> bool {
        true
    }

    fn prepare(&self, _: &Direction<'_>) -> Result<Box<dyn PreparedModel>, Warning> {
        Ok(Box::new(Self))
    }
}

fn loss_db(path: &PathProfile<'_>) -> f64 {
    path.distance_m() * 1e-3
}

impl PreparedModel for LinearSlope {
    fn attenuation(&self, path: &PathProfile<'_>, _: Quantile) -> Result<Attenuation, Warning> {
        Ok(Attenuation { reference_attenuation_db: Some(loss_db(path)), ..Attenuation::default() })
    }
}

/// 1 dB for each metre by which clutter stands above the ground, at the quantile of time, with a median of
/// half of it. Only for tests: it shows that clutter along a path reaches a model.
#[derive(Debug)]
struct ClutterSum;

impl PreparedModel for ClutterSum {
    fn attenuation(&self, path: &PathProfile<'_>, _: Quantile) -> Result<Attenuation, Warning> {
        let clutter = path.clutter().map_err(|_| Warning::ModelOutOfRange)?;
        let heights_m = clutter.and_then(|clutter| clutter.height_agl_m).unwrap_or_default();
        let sum_db: f64 = heights_m.iter().sum();
        Ok(Attenuation {
            reference_attenuation_db: Some(sum_db),
            median_db: Some(sum_db / 2.0),
            sigma_db: 3.0,
            ..Attenuation::default()
        })
    }
}

#[test]
fn clutter_along_a_path_reaches_a_model_alone_and_in_a_batch() {
    let elevation_msl_m = [0.0; 3];
    let cover = [GroundCover::Open, GroundCover::DenseUrban, GroundCover::Suburban];
    let height_agl_m = cover.map(GroundCover::height_agl_m);
    let clutter = PathClutter { height_agl_m: Some(&height_agl_m), cover: Some(&cover) };
    let bare = PathProfile::bare(50.0, &elevation_msl_m);
    let covered = PathProfile { clutter: Some(&clutter), ..bare };
    let odd = PathClutter { cover: Some(&cover[1..]), ..clutter };
    let odd = PathProfile { clutter: Some(&odd), ..bare };
    assert_eq!(ClutterSum.attenuation(&covered, Quantile::MEDIAN).unwrap().total_db(), 30.0);
    let mut profiles = [None; itm::SIDE_BY_SIDE];
    profiles[..3].copy_from_slice(&[Some(bare), Some(covered), Some(odd)]);
    let rows = ProfileRows { first: 4, profiles, credible: [false; itm::SIDE_BY_SIDE] };
    let mut batch = PathBatch::default();
    ClutterSum.measure(&rows, Quantile::MEDIAN, &mut batch);
    ClutterSum.attenuate([Quantile::MEDIAN; 2], &mut batch);
    assert_eq!(batch.measured.0[3..8], [false, true, true, false, false]);
    assert_eq!(
        [4, 5].map(|lane| batch.attenuation_db.0.map(|db| db[lane])),
        [[0.0; 2], [30.0, 15.0]]
    );
    assert_eq!(batch.sigma_db.0[5], 3.0);
}

fn environment() -> Environment {
    Environment { model: Model::LinearSlope, ..Environment::default() }
}

fn site() -> GeoPoint {
    GeoPoint::new(51.0, 7.0).unwrap()
}

#[test]
fn every_model_is_found_by_its_name() {
    for model in Model::ALL {
        let name = model.get().name();
        assert_eq!(name.parse(), Ok(*model));
        assert_eq!(model.option_value().parse(), Ok(*model));
        assert_eq!(serde_json::to_value(model).unwrap(), name);
        assert_eq!(serde_json::from_value::<Model>(name.into()).unwrap(), *model);
        assert!(!model.get().source().is_empty() && !model.get().version().is_empty());
    }
    let unknown = "okumura".parse::<Model>().unwrap_err().to_string();
    assert!(unknown.contains("allowed itm, delta_bullington"), "{unknown}");
}

#[test]
fn settings_are_fields_of_the_environment() {
    for model in Model::ALL {
        let schema = Environment::settings_schema(*model);
        let properties = schema.pointer("/properties").unwrap().as_object().unwrap();
        for setting in model.get().settings() {
            assert!(properties.contains_key(*setting), "{model}: {setting}");
        }
    }
}

#[test]
fn an_added_model_is_a_value_of_schema_and_command_line() {
    let schema = serde_json::to_string(&schema_for!(Environment)).unwrap();
    assert!(schema.contains(r#""const":"linear_slope""#), "{schema}");
    let values: Vec<_> = Model::ALL.iter().map(|model| model.option_value()).collect();
    assert!(values.contains(&"linear-slope"), "{values:?}");
    let scenario = serde_json::json!({ "model": "linear_slope" });
    let environment: Environment = serde_json::from_value(scenario).unwrap();
    assert_eq!(environment.model, Model::LinearSlope);
}

#[test]
fn an_added_model_computes_links_and_coverage() {
    let environment = environment();
    let setup = CoverageRequest {
        position: site(),
        transmitter: crate::sample::station(),
        receiver: crate::sample::station(),
        environment: environment.clone(),
        packet_octets: 1_000,
        sampling: Sampling::Count(64),
        radius_m: 20e3,
    };
    let grid = Grid::square(site(), 20e3, 16).unwrap();
    let flat = Flat::default();
    let prepared = setup.prepare(&flat).unwrap();
    let cells = coverage(&prepared, &flat, &grid);
    let mut compared = [0; 2];
    for (index, cell) in (0_u32..).zip(&cells) {
        let [row, column] = [index / 16, index % 16];
        if cell.flags.intersects(Flags::OUTSIDE) {
            continue;
        }
        let profile = sample_profile(&flat, site(), grid.centre(row, column), 64);
        let station = &setup.transmitter;
        let link = evaluate(&profile, [0.0; 2], station, station, &environment, 1_000).unwrap();
        let near = profile.distance_m < 2e3;
        assert_eq!(link.model == Model::LinearSlope, !near);
        assert_eq!(link.warnings.contains(Warning::ModelOutOfRange), near);
        assert_eq!(cell.flags.intersects(Flags::FALLBACK_MODEL), near);
        assert!((cell.path_loss_db - link.losses.total_path_loss_db).abs() < 1e-9);
        compared[usize::from(near)] += 1;
    }
    assert!(compared[0] > 100 && compared[1] > 0, "{compared:?}");
}
