//! Many paths at once against one by one.

use super::*;
use crate::propagation::itm::{BATCH, Batch, Losses, SIDE_BY_SIDE, SampleBuffers};

#[test]
fn a_batch_gives_the_bits_of_single_paths() {
    let mut draw = Draw(9);
    let (mut compared, mut undefined) = (0, 0);
    for _ in 0..60 {
        let (medium, quantiles) = (draw.medium(), [0; 4].map(|_| draw.quantile()));
        let heights = [draw.scaled(0.5, 3000.0), draw.scaled(0.5, 3000.0)];
        let prepared = Prepared::new(&medium, heights).unwrap();
        let (mut batch, mut losses) = (Batch::default(), Losses::default());
        let mut references = vec![None; BATCH];
        let mut buffers = SampleBuffers::default();
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
                let profile = PathProfile {
                    step_m: *step_m,
                    elevation_msl_m,
                };
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
            assert_eq!(
                losses.a_ref_db[place].to_bits(),
                reference.a_ref_db.to_bits()
            );
            for (at, quantile) in losses.attenuation_db.iter().zip(quantiles) {
                assert_eq!(
                    at[place].to_bits(),
                    reference.attenuation_db(quantile).to_bits()
                );
            }
            compared += 1;
        }
    }
    assert!(
        compared > 2000,
        "{compared} compared, {undefined} undefined"
    );
}
