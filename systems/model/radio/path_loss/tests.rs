//! The registry, and models that one line each adds to it.

use groundwave_propagation::itm;
use groundwave_propagation::polarization::Polarization;
use groundwave_propagation::profile::{GroundCover, PathClutter, PathProfile};
use schemars::schema_for;

use super::direction::settings;
use super::{
    Attenuation, Direction, HeightRanges, ItmSettings, Model, PathBatch, PathLossModel,
    PreparedModel, ProfileRows, Settings, Share, ShareRanges, Validity,
};
use crate::coverage::{CoverageRequest, Flags, Grid, Sampling, coverage};
use crate::radio::budget::evaluate;
use crate::radio::{Environment, Warning};
use crate::terrain::{Flat, GeoPoint, sample_profile};

/// Attenuation of 1 dB a kilometre from 2 km on. Only for tests: it has one path at a time.
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

    fn shares(&self) -> ShareRanges {
        ShareRanges::NONE
    }

    fn validity(&self) -> Validity {
        Validity { distance_m: 2e3..=f64::INFINITY, ..Validity::UNLIMITED }
    }

    fn heights(&self) -> HeightRanges {
        HeightRanges::UNLIMITED
    }

    fn uses_terrain(&self) -> bool {
        true
    }

    fn uses_clutter(&self) -> bool {
        false
    }

    fn includes_surroundings(&self) -> bool {
        false
    }

    fn includes_gases(&self) -> bool {
        false
    }

    fn prepare(&self, _: &Direction) -> Result<Box<dyn PreparedModel>, Warning> {
        Ok(Box::new(Self))
    }
}

fn loss_db(path: &PathProfile<'_>) -> f64 {
    path.distance_m() * 1e-3
}

impl PreparedModel for LinearSlope {
    fn attenuation(&self, path: &PathProfile<'_>) -> Result<Attenuation, Warning> {
        Ok(Attenuation { reference_attenuation_db: Some(loss_db(path)), ..Attenuation::default() })
    }
}

settings! {
    /// Settings of [`ClutterSum`].
    struct ClutterSumSettings {
        /// Share of locations, percent: 50 % is 1 dB for each metre of clutter.
        location_percent: f64,
    }
}

/// 1 dB for each metre of clutter along the path and for each point over water, with a median of half of
/// it. Only for tests: it reads clutter and a setting of its own.
#[derive(Debug)]
pub(crate) struct ClutterSum;

impl PathLossModel for ClutterSum {
    fn name(&self) -> &'static str {
        "clutter_sum"
    }

    fn label(&self) -> &'static str {
        "clutter sum"
    }

    fn description(&self) -> &'static str {
        "1 dB a metre of clutter."
    }

    fn version(&self) -> &'static str {
        "clutter sum 1"
    }

    fn source(&self) -> &'static str {
        "this test"
    }

    fn settings(&self) -> &'static [&'static str] {
        ClutterSumSettings::NAMES
    }

    fn shares(&self) -> ShareRanges {
        ShareRanges { location_percent: Some([0.1, 99.9]), ..ShareRanges::NONE }
    }

    fn validity(&self) -> Validity {
        Validity::UNLIMITED
    }

    fn heights(&self) -> HeightRanges {
        HeightRanges::UNLIMITED
    }

    fn uses_terrain(&self) -> bool {
        true
    }

    fn uses_clutter(&self) -> bool {
        true
    }

    fn includes_surroundings(&self) -> bool {
        false
    }

    fn includes_gases(&self) -> bool {
        false
    }

    fn prepare(&self, direction: &Direction) -> Result<Box<dyn PreparedModel>, Warning> {
        let settings: ClutterSumSettings = direction.settings();
        Ok(Box::new(PreparedClutterSum { db_m: settings.location_percent / 50.0 }))
    }
}

#[derive(Debug)]
struct PreparedClutterSum {
    db_m: f64,
}

impl PreparedModel for PreparedClutterSum {
    fn attenuation(&self, path: &PathProfile<'_>) -> Result<Attenuation, Warning> {
        let clutter = path.clutter().map_err(|_| Warning::ModelOutOfRange)?;
        let clutter = clutter.copied().unwrap_or_default();
        let cover = clutter.cover.unwrap_or_default();
        let height_sum_m: f64 = match clutter.height_agl_m {
            Some(heights_m) => heights_m.iter().sum(),
            None => cover.iter().map(|cover| cover.height_agl_m()).sum(),
        };
        let water = cover.iter().filter(|cover| **cover == GroundCover::Water).count();
        let sum_db = height_sum_m * self.db_m + water as f64;
        Ok(Attenuation {
            reference_attenuation_db: Some(sum_db),
            median_db: Some(sum_db / 2.0),
            sigma_db: 3.0,
            ..Attenuation::default()
        })
    }
}

/// A direction at 868 MHz.
fn direction(environment: &Environment) -> Direction {
    Direction::new(868.0, Polarization::Vertical, [10.0; 2], environment.setting_values())
}

/// [`ClutterSum`] at a share of locations, percent.
fn clutter_sum(location_percent: f64) -> Box<dyn PreparedModel> {
    let environment = Environment { location_percent, ..Environment::default() };
    Model::ClutterSum.get().prepare(&direction(&environment)).unwrap()
}

#[test]
fn clutter_along_a_path_gives_attenuation_alone_and_in_a_batch() {
    let elevation_msl_m = [0.0; 3];
    let cover = [GroundCover::Water, GroundCover::DenseUrban, GroundCover::Suburban];
    let bare = PathProfile::bare(50.0, &elevation_msl_m);
    let categories = PathClutter { cover: Some(&cover), ..PathClutter::default() };
    let heights = PathClutter { height_agl_m: Some(&[1.0, 2.0, 3.0]), ..categories };
    let short = PathClutter { cover: Some(&cover[2..]), ..categories };
    let [categories, heights, short] = [&categories, &heights, &short]
        .map(|clutter| PathProfile { clutter: Some(clutter), ..bare });
    let model = clutter_sum(50.0);
    let total_db = |profile| model.attenuation(profile).map(|attenuation| attenuation.total_db());
    assert_eq!(total_db(&bare), Ok(0.0));
    assert_eq!(total_db(&categories), Ok(31.0));
    assert_eq!(total_db(&heights), Ok(7.0));
    assert_eq!(total_db(&short), Err(Warning::ModelOutOfRange));
    assert_eq!(clutter_sum(25.0).attenuation(&heights).unwrap().total_db(), 4.0);

    let mut batch = PathBatch::default();
    let profiles = [bare, categories, short];
    let alone = profiles.each_ref().map(|profile| model.attenuation(profile));
    assert_eq!(model.attenuations(&profiles, &mut batch), alone);
    let mut rows = [None; itm::SIDE_BY_SIDE];
    rows[..3].copy_from_slice(&profiles.map(Some));
    let rows = ProfileRows { first: 4, profiles: rows, credible: [false; itm::SIDE_BY_SIDE] };
    model.measure(&rows, &mut batch);
    model.attenuate(&mut batch);
    assert_eq!(batch.measured.0[3..8], [false, true, true, false, false]);
    let lanes_db = [4, 5].map(|lane| batch.attenuation_db.0.map(|db| db[lane]));
    assert_eq!(lanes_db, [[0.0; 2], [31.0, 15.5]]);
    assert_eq!(batch.sigma_db.0[5], 3.0);
}

#[test]
fn models_without_use_of_clutter_ignore_it() {
    let direction = direction(&Environment::default());
    let elevation_msl_m: Vec<f64> = (0..40).map(|i| 90.0 * (f64::from(i) * 0.4).sin()).collect();
    let bare = PathProfile::bare(100.0, &elevation_msl_m);
    let clutter = PathClutter { cover: Some(&[GroundCover::DenseUrban; 40]), height_agl_m: None };
    let covered = PathProfile { clutter: Some(&clutter), ..bare };
    for model in Model::ALL.iter().filter(|model| !model.get().uses_clutter()) {
        // Of the frequencies of the model that which is nearest to the direction's.
        let allowed_mhz = model.get().validity().frequency_mhz;
        let at_mhz = direction.frequency_mhz.clamp(*allowed_mhz.start(), *allowed_mhz.end());
        let mut direction = direction;
        direction.frequency_mhz = at_mhz;
        let prepared = model.get().prepare(&direction).unwrap();
        assert_eq!(prepared.attenuation(&bare), prepared.attenuation(&covered), "{model}");
    }
}

#[test]
fn settings_of_itm_have_the_values_of_the_environment() {
    let environment =
        Environment { refractivity_n_units: 320.0, time_percent: 90.0, ..Environment::default() };
    let settings: ItmSettings = direction(&environment).settings();
    assert_eq!((settings.refractivity_n_units, settings.time_percent), (320.0, 90.0));
    assert_eq!(ItmSettings::NAMES, Model::Itm.get().settings());
}

fn environment() -> Environment {
    Environment { model: Model::LinearSlope, ..Environment::default() }
}

fn site() -> GeoPoint {
    GeoPoint::new(51.0, 7.0).unwrap()
}

#[test]
fn name_gives_its_model() {
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

#[test]
fn shares_that_a_model_reads_have_ranges_and_no_others() {
    for model in Model::ALL {
        let model = model.get();
        for share in Share::ALL {
            let is_setting = model.settings().contains(&share.setting());
            assert_eq!(
                model.shares().range(share).is_some(),
                is_setting,
                "{} {share:?}",
                model.name()
            );
        }
    }
}
