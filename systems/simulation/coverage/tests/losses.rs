//! Coverages with losses of another processor that has none, or none that is valid, equal those without.

use std::sync::Arc;

use groundwave_model::coverage::{KnownLoss, LossSource, SiteTerms};
use ndarray::Array2;

use super::*;
use crate::coverage::live::LiveCoverage;
use crate::site::NodeId;

/// A processor that flags all cells, or fails.
#[derive(Debug)]
struct Idle {
    fails: bool,
}

impl LossSource for Idle {
    fn name(&self) -> String {
        "idle".to_owned()
    }

    fn losses(
        &self,
        _: &dyn Terrain,
        sites: &[&SiteTerms],
        _: &Grid,
        block: Block,
    ) -> Result<Vec<Array2<KnownLoss>>, String> {
        let shape = [block.rows as usize, block.columns as usize];
        let blank = Array2::from_elem(shape, KnownLoss::default());
        if self.fails { Err("it failed".to_owned()) } else { Ok(vec![blank; sites.len()]) }
    }
}

/// Two sites at one place, and one beside them.
fn setups() -> Vec<CoverageRequest> {
    let at = |lon_deg| setup(point(51.05, lon_deg), 8e3);
    let mut all = vec![at(-114.1), at(-114.1), at(-114.02)];
    all[2].transmitter.height_agl_m += 20.0;
    all
}

#[test]
fn cells_without_a_valid_loss_are_evaluated_exactly() {
    let grid = Grid::square(point(51.05, -114.06), 6e3, 30).unwrap();
    for fails in [false, true] {
        let job = || CoverageJob::of_sites(setups(), grid, Arc::new(Rough)).unwrap();
        let (mut exact, mut other) = (job(), job().with_losses(Arc::new(Idle { fails })));
        exact.step(u32::MAX);
        for cells in [30, u32::MAX] {
            other.step(cells);
        }
        for row in 0..30 {
            assert_eq!(exact.row(row), other.row(row), "{row}");
            assert_eq!(exact.servers(row), other.servers(row), "{row}");
        }
        let engine_use = other.engine_use().unwrap();
        assert_eq!(engine_use.fallback.as_deref(), fails.then_some("it failed"));
        assert_eq!(engine_use.counts.flagged > 0, !fails, "{engine_use:?}");
    }
}

#[test]
fn live_cells_without_a_valid_loss_are_evaluated_exactly() {
    let grid = Grid::square(point(51.05, -114.06), 9e3, 60).unwrap();
    let transmitters: Vec<_> = (1..).map(NodeId::from_u128).zip(setups()).collect();
    for fails in [false, true] {
        let live = || LiveCoverage::new(grid, Arc::new(Rough)).unwrap();
        let (mut exact, mut other) = (live(), live().with_losses(Arc::new(Idle { fails })));
        for live in [&mut exact, &mut other] {
            live.set(transmitters.clone()).unwrap();
            while live.progress().stale > 0 {
                live.step();
            }
        }
        assert!((0..60).all(|row| exact.row(row) == other.row(row)));
        assert_eq!(exact.engine_use(), None);
        let engine_use = other.engine_use().unwrap();
        assert_eq!(engine_use.fallback.as_deref(), fails.then_some("it failed"));
        // Sites at one place contest all their cells.
        assert_eq!(engine_use.counts.decisions > 100, !fails, "{engine_use:?}");
    }
}
