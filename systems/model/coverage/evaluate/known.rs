//! Cells whose losses are known.

use ndarray::{ArrayView2, ArrayViewMut2};

use super::super::cell::{Cell, Flags};
use super::super::known::{KNOWN_ERROR_DB, Known, KnownCounts, KnownFlags, KnownLoss, is_decided};
use super::super::site::CoverageSite;
use super::{BATCH, Evaluation, Scratch, evaluate_rows};
use crate::terrain::Terrain;
use crate::terrain::short::Parallel;

/// Evaluates a rectangle of cells as [`evaluate`](super::evaluate) does, with the attenuation of `losses` where it counts.
/// Link margins that decide something of a cell are in `thresholds_db`, besides those of verdicts and
/// modulations.
///
/// # Panics
/// If the rows of `cells` are not contiguous, or `losses` has another shape.
pub fn evaluate_known(
    evaluation: &Evaluation<'_>,
    first: [u32; 2],
    cells: ArrayViewMut2<'_, Cell>,
    losses: &ArrayView2<'_, KnownLoss>,
    thresholds_db: &[f64],
    scratch: &mut Scratch,
) -> KnownCounts {
    assert_eq!(cells.dim(), losses.dim(), "a loss for each cell");
    scratch.known_counts = KnownCounts::default();
    let inputs = Known { losses: *losses, thresholds_db };
    evaluate_rows(evaluation, first, cells, Some(&inputs), scratch);
    scratch.known_counts
}

/// Evaluates consecutive cells in row-major order as [`evaluate_known`] does, of which `first` is the index of the
/// first.
///
/// # Panics
/// If `losses` has another length.
pub fn evaluate_run_known(
    evaluation: &Evaluation<'_>,
    mut first: u32,
    mut cells: &mut [Cell],
    mut losses: &[KnownLoss],
    thresholds_db: &[f64],
    scratch: &mut Scratch,
) -> KnownCounts {
    assert_eq!(cells.len(), losses.len(), "a loss for each cell");
    let columns = evaluation.grid.columns();
    let mut counts = KnownCounts::default();
    while !cells.is_empty() {
        let column = first % columns;
        let count = cells.len().min((columns - column) as usize);
        let (row, below) = cells.split_at_mut(count);
        let (own, rest) = losses.split_at(count);
        let row = ArrayViewMut2::from_shape([1, count], row).expect("one row of its length");
        let own = ArrayView2::from_shape([1, count], own).expect("one row of its length");
        let place = [first / columns, column];
        counts.add(evaluate_known(evaluation, place, row, &own, thresholds_db, scratch));
        (first, cells, losses) = (first + count as u32, below, rest);
    }
    counts
}

impl Scratch {
    /// [`Scratch::run`] with losses that are known.
    pub(super) fn run_known(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        cells: &mut [Cell],
        losses: &[KnownLoss],
        thresholds_db: &[f64],
    ) {
        let count = cells.len();
        if self.is_beyond(site, parallel) {
            cells.fill(Cell::void(Flags::OUTSIDE));
            return;
        }
        self.begin(site, parallel);
        let lat_deg = [parallel.lat_deg; BATCH];
        terrain.sample(
            &lat_deg[..count],
            &self.centres_deg[..count],
            &mut self.centres_msl_m[..count],
        );
        let mut exact = [false; BATCH];
        let mut any = false;
        for (place, loss) in losses.iter().enumerate() {
            let is_known =
                loss.flags.is_usable() && self.take(site, terrain, parallel, place, loss);
            exact[place] = !is_known;
            any |= is_known;
        }
        // The places that are known are not measured, so that nothing here changes them.
        any |= self.losses(site, terrain, parallel, &exact);
        if any {
            self.budgets(&site.transmitter, count);
        }
        let mut doubtful = [false; BATCH];
        for (place, cell) in cells.iter_mut().enumerate() {
            *cell = self.cell(site, place);
            doubtful[place] = !exact[place] && !self.is_decided(site, place, cell, thresholds_db);
        }
        if doubtful.contains(&true) {
            self.paths.measured.0.fill(false);
            self.blends.clear();
            for place in (0..count).filter(|place| doubtful[*place]) {
                self.flags[place] = Flags::NONE;
            }
            self.losses(site, terrain, parallel, &doubtful);
            self.budgets(&site.transmitter, count);
            for place in (0..count).filter(|place| doubtful[*place]) {
                cells[place] = self.cell(site, place);
            }
        }
        for (place, cell) in cells.iter().enumerate() {
            let flags = losses[place].flags;
            let counts = &mut self.known_counts;
            if !cell.flags.intersects(Flags::OUTSIDE) {
                let is_other = flags.has(KnownFlags::NEAR | KnownFlags::VOID);
                counts.cells += 1;
                counts.other_model += u64::from(exact[place] && is_other);
                counts.flagged += u64::from(exact[place] && !is_other);
                counts.decisions += u64::from(doubtful[place]);
            }
        }
    }

    /// Takes the loss that is known of the cell in a place. False where the cell is none of those that have one.
    fn take(
        &mut self,
        site: &CoverageSite<'_>,
        terrain: &dyn Terrain,
        parallel: &Parallel,
        place: usize,
        loss: &KnownLoss,
    ) -> bool {
        let (distance_m, _, valid) = self.geodesics.head(place);
        let Some(ground_msl_m) = site.ground_msl_m else {
            return false;
        };
        if !valid || distance_m > site.radius_m || self.centres_msl_m[place].is_nan() {
            return false;
        }
        self.receivers.distance_m[place] = distance_m;
        for end in 0..2 {
            self.receivers.azimuth_deg[end][place] = self.geodesics.bearing_deg[end][place];
        }
        let ends_m = [ground_msl_m, self.centres_msl_m[place]];
        if !self.stand_at(site, terrain, parallel, place, ends_m) {
            return false;
        }
        for (lanes, db) in self.paths.attenuation_db.0.iter_mut().zip(loss.attenuation_db) {
            lanes[place] = f64::from(db);
        }
        self.paths.sigma_db.0[place] = f64::from(loss.sigma_db);
        self.flags[place].note(loss.flags.has(KnownFlags::CLEAR), Flags::CLEAR);
        self.clear[place] =
            site.transmitter.asks_for_clearance() && loss.flags.has(KnownFlags::FRESNEL_CLEAR);
        true
    }

    /// True if the error of a known loss changes nothing that is decided about a cell.
    fn is_decided(
        &self,
        site: &CoverageSite<'_>,
        place: usize,
        cell: &Cell,
        thresholds_db: &[f64],
    ) -> bool {
        let transmitter = &site.transmitter;
        let computed = (&self.receivers, &self.paths, &self.budgets);
        let losses = (&self.receivers, &self.paths);
        if self.clear[place] && transmitter.is_spread_by_loss(place, KNOWN_ERROR_DB, losses) {
            return false;
        }
        let alike = transmitter.alike(
            place,
            self.fine_surface[place],
            cell.flags.ground(),
            self.clear[place],
            computed,
        );
        let verdict = |error_db: f64| {
            let margin_db = cell.link_margin_db + error_db;
            // The median moves with the loss, or stays where surroundings are unknown.
            transmitter.verdict(&alike, cell.path_loss_db, margin_db)
        };
        is_decided(cell, transmitter, verdict, thresholds_db)
    }
}
