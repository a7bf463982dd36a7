//! Shares of time, locations and situations.

use super::super::path_loss::Share;
use super::super::{Environment, Model, Station, Surroundings, Warning};
use super::{link, ridge, station};

/// A mast of 30 m and a meter of 1.5 m in a suburb.
fn ends() -> [Station; 2] {
    let [mast, meter] = [30.0, 1.5].map(|height_m| station("lora_868_eu", "omni_2_15", height_m));
    [mast, Station { surroundings: Surroundings::Suburban, ..meter }]
}

fn with(model: Model, share: Share, percent: f64) -> Environment {
    let mut environment = Environment { model, ..Environment::default() };
    *match share {
        Share::Time => &mut environment.time_percent,
        Share::Location => &mut environment.location_percent,
        Share::Situation => &mut environment.situation_percent,
    } = percent;
    environment
}

#[test]
fn a_larger_share_has_no_smaller_loss_under_any_model() {
    for model in Model::ALL {
        let mut ends = ends();
        // Of the frequencies of the model that which is nearest to 868 MHz.
        let allowed_mhz = model.get().validity().frequency_mhz;
        for end in &mut ends {
            let radio = &mut end.radio;
            radio.frequency_mhz =
                radio.frequency_mhz.clamp(*allowed_mhz.start(), *allowed_mhz.end());
        }
        let [tx, rx] = ends;
        for share in Share::ALL {
            let mut last_db = 0.0;
            for percent in [0.1, 1.0, 10.0, 50.0, 51.0, 90.0, 99.0, 99.1, 99.9] {
                let environment = with(*model, share, percent);
                let result = link(&ridge(16_000.0, 40.0), &tx, &rx, &environment);
                assert_eq!(result.model, *model, "{share:?} {percent}");
                let loss_db = result.losses.total_path_loss_db;
                assert!(
                    loss_db > last_db - 1e-9,
                    "{model} {share:?} {percent}: {last_db} {loss_db}"
                );
                last_db = loss_db;
            }
        }
    }
}

#[test]
fn a_share_beyond_the_model_has_the_loss_of_its_bound_and_a_warning() {
    let [tx, rx] = ends();
    for (model, share, percent, bound_percent) in [
        (Model::P1812, Share::Time, 90.0, 50.0),
        (Model::P1812, Share::Location, 99.5, 99.0),
        (Model::P528, Share::Time, 99.5, 99.0),
        (Model::P528, Share::Location, 99.0, 50.0),
        (Model::ExtendedHata, Share::Time, 99.0, 50.0),
        (Model::DeltaBullington, Share::Location, 99.0, 50.0),
        (Model::FreeSpace, Share::Situation, 99.0, 50.0),
    ] {
        let [beyond, bound] = [percent, bound_percent]
            .map(|percent| link(&ridge(16_000.0, 40.0), &tx, &rx, &with(model, share, percent)));
        assert_eq!(beyond.losses, bound.losses, "{model} {share:?}");
        assert_eq!(beyond.availability, bound.availability, "{model} {share:?}");
        assert!(beyond.warnings.contains(Warning::ShareNotModelled));
        assert!(!bound.warnings.contains(Warning::ShareNotModelled));
        assert!(!beyond.warnings.contains(Warning::ModelOutOfRange));
    }
}

/// ITM bends its rays by `refractivity_n_units`.
#[test]
fn k_factor_that_the_model_does_not_read_gives_a_warning() {
    let [tx, rx] = ends();
    for model in
        [Model::Itm, Model::P528, Model::ExtendedHata, Model::DeltaBullington, Model::P1812]
    {
        let at = |k_factor| {
            let environment = Environment { model, k_factor, ..Environment::default() };
            link(&ridge(16_000.0, 40.0), &tx, &rx, &environment)
        };
        let [median, rounded, other] = [4.0 / 3.0, 1.333, 2.0].map(at);
        let warned = [&median, &rounded, &other]
            .map(|link| link.warnings.contains(Warning::KFactorNotModelled));
        let is_read = [Model::DeltaBullington, Model::P1812].contains(&model);
        assert_eq!(warned, [false, false, !is_read], "{model}");
        assert_eq!(other.losses == median.losses, !is_read, "{model}");
    }
}
