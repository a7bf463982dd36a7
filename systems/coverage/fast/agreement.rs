//! Agreement of two coverages of one grid.

use crate::coverage::Cell;

/// Differences in received power between an exact and a fast coverage, dB, over the cells that
/// have an answer in both.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Agreement {
    /// Cells compared.
    pub cells: usize,
    /// Median of the absolute differences.
    pub p50_db: f64,
    /// 95th percentile of the absolute differences.
    pub p95_db: f64,
    /// 99th percentile of the absolute differences.
    pub p99_db: f64,
    /// The largest.
    pub worst_db: f64,
    /// The mean of fast less exact.
    pub bias_db: f64,
    /// Cells whose verdict differs, percent.
    pub verdict_flips_percent: f64,
    /// Cells that have a link in one and none in the other, percent.
    pub link_flips_percent: f64,
}

/// Compares a fast coverage with the exact one of the same grid, cell by cell.
#[must_use]
pub fn compare(exact: &[Cell], fast: &[Cell]) -> Agreement {
    let pairs = exact
        .iter()
        .zip(fast)
        .filter(|(a, b)| a.has_data() && b.has_data());
    let (mut apart_db, mut bias_db, mut flips, mut links) = (Vec::new(), 0.0, 0_usize, 0_usize);
    for (exact, fast) in pairs {
        let difference_db = fast.rx_power_dbm - exact.rx_power_dbm;
        apart_db.push(difference_db.abs());
        bias_db += difference_db;
        flips += usize::from(exact.verdict != fast.verdict);
        links += usize::from(exact.covered(0.0) != fast.covered(0.0));
    }
    apart_db.sort_by(f64::total_cmp);
    let cells = apart_db.len();
    let Some(&worst_db) = apart_db.last() else {
        return Agreement::default();
    };
    let within = |percent: usize| apart_db[(cells * percent).div_ceil(100).max(1) - 1];
    Agreement {
        cells,
        p50_db: within(50),
        p95_db: within(95),
        p99_db: within(99),
        worst_db,
        bias_db: bias_db / cells as f64,
        verdict_flips_percent: 100.0 * flips as f64 / cells as f64,
        link_flips_percent: 100.0 * links as f64 / cells as f64,
    }
}
