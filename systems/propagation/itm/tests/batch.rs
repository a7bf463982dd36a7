//! Many paths at once against one by one.

use super::*;
use crate::itm::{BATCH, SIDE_BY_SIDE, Workspace};
use crate::profile::PathProfile;

#[test]
fn a_batch_gives_the_bits_of_single_paths() {
    let mut draw = Draw(9);
    let (mut compared, mut undefined) = (0, 0);
    for _ in 0..60 {
        let (medium, quantiles) = (draw.medium(), [0; QUANTILES].map(|_| draw.quantile()));
        let heights = [draw.scaled(0.5, 3000.0), draw.scaled(0.5, 3000.0)];
        let prepared = Prepared::new(&medium, heights).unwrap();
        let Workspace { paths: mut batch, mut losses, mut buffers } = Workspace::default();
        let mut references = vec![None; BATCH];
        for first in (0..BATCH).step_by(SIDE_BY_SIDE) {
            let rows: Vec<(f64, Vec<f64>)> = (0..SIDE_BY_SIDE)
                .map(|_| {
                    let points = draw.scaled(2.0, 600.0) as usize;
                    let relief_m = draw.pick(&[0.0, 1.0, 50.0, 500.0]);
                    let elevation = draw.terrain(points, 300.0, relief_m);
                    (draw.scaled(10.0, 3e3), elevation)
                })
                .collect();
            let left_out = draw.scaled(1.0, 60.0) as usize;
            let profiles = std::array::from_fn(|row| {
                let (step_m, elevation_msl_m) = &rows[row];
                let profile = PathProfile::bare(*step_m, elevation_msl_m);
                (row != left_out).then_some(profile)
            });
            let measured = prepared.measure(profiles, [false; SIDE_BY_SIDE], &mut buffers);
            for row in 0..SIDE_BY_SIDE {
                let Some(profile) = &profiles[row] else {
                    assert_eq!(measured[row], None);
                    continue;
                };
                assert_eq!(measured[row].is_some(), prepared.reference(profile).is_ok());
                if let Some(measured) = &measured[row] {
                    batch.set(first + row, measured);
                    references[first + row] = Some(prepared.reference(profile).unwrap());
                }
            }
        }
        let used = std::array::from_fn(|place| references[place].is_some());
        prepared.batch(&batch, quantiles, &used, &mut losses);
        for (place, reference) in references.iter().enumerate() {
            let Some(reference) = reference else { continue };
            if reference.warnings.contains(Warnings::ATTENUATION_UNDEFINED) {
                assert!(!losses.a_ref_db[place].is_finite());
                undefined += 1;
                continue;
            }
            assert_eq!(losses.a_ref_db[place].to_bits(), reference.a_ref_db.to_bits());
            for (at, quantile) in losses.attenuation_db.iter().zip(quantiles) {
                assert_eq!(at[place].to_bits(), reference.attenuation_db(quantile).to_bits());
            }
            compared += 1;
        }
    }
    assert!(compared > 2000, "{compared} compared, {undefined} undefined");
}

#[test]
fn outcomes_are_those_of_single_paths() {
    let mut draw = Draw(10);
    let mut workspace = Workspace::default();
    let (mut compared, mut undefined, mut invalid) = (0, 0, 0);
    for count in (0..130).step_by(3) {
        let (medium, quantile) = (draw.medium(), draw.quantile());
        let heights = [draw.scaled(0.5, 3000.0), draw.scaled(0.5, 3000.0)];
        let prepared = Prepared::new(&medium, heights).unwrap();
        let rows: Vec<(f64, Vec<f64>)> = (0..count)
            .map(|_| {
                let points = draw.scaled(2.0, 600.0) as usize;
                let base_m = draw.pick(&[0.0, 300.0, 3_000.0, 20_000.0]);
                let relief_m = draw.pick(&[0.0, 1.0, 50.0, 500.0]);
                let elevation = draw.terrain(points, base_m, relief_m);
                (draw.scaled(10.0, 3e3), elevation)
            })
            .collect();
        let profiles = rows
            .iter()
            .map(|(step_m, elevation_msl_m)| PathProfile::bare(*step_m, elevation_msl_m));
        let profiles: Vec<_> = profiles.collect();
        let outcomes = prepared.outcomes(&profiles, quantile, &mut workspace);
        assert_eq!(outcomes.len(), count);
        for (outcome, profile) in outcomes.iter().zip(&profiles) {
            let single =
                prepared.reference(profile).ok().map(|reference| reference.outcome(quantile));
            let is_undefined =
                single.is_some_and(|of| of.warnings.contains(Warnings::ATTENUATION_UNDEFINED));
            invalid += usize::from(single.is_none());
            if is_undefined {
                undefined += 1;
                assert_eq!(outcome.unwrap().warnings, single.unwrap().warnings);
                continue;
            }
            let bits = |of: &Option<Outcome>| {
                of.map(|of| [of.a_ref_db.to_bits(), of.attenuation_db.to_bits()])
            };
            assert_eq!(bits(outcome), bits(&single));
            assert_eq!(outcome, &single);
            compared += 1;
        }
    }
    assert!(
        compared > 1_500 && invalid > 100,
        "{compared} compared, {undefined} undefined, {invalid} invalid"
    );
}
