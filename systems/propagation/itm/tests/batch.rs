//! Many paths at once against one by one.

use super::*;
use crate::propagation::itm::{BATCH, Batch, Losses, Rooms, SIDE_BY_SIDE};

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
        for first in (0..BATCH).step_by(SIDE_BY_SIDE) {
            let ground: [_; SIDE_BY_SIDE] = std::array::from_fn(|_| {
                let points = draw.scaled(2.0, 600.0) as usize;
                let relief_m = draw.pick(&[0.0, 1.0, 50.0, 500.0]);
                (
                    draw.scaled(10.0, 3e3),
                    draw.terrain(points, 300.0, relief_m),
                )
            });
            let profiles = ground.each_ref().map(|(step_m, elevation)| PathProfile {
                step_m: *step_m,
                elevation_msl_m: elevation,
            });
            let measured = prepared.measure(
                profiles.map(Some),
                [false; SIDE_BY_SIDE],
                &mut Rooms::default(),
            );
            for (at, measured) in measured.iter().enumerate() {
                let reference = prepared.reference(&profiles[at]);
                assert_eq!(measured.is_some(), reference.is_ok());
                if let Some(measured) = measured {
                    batch.set(first + at, measured);
                    references[first + at] = reference.ok();
                }
            }
        }
        prepared.batch(&batch, quantiles, &mut losses);
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
