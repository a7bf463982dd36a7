//! One coverage job: what was asked, and what is known so far.

use std::sync::{Arc, PoisonError, RwLock};

use groundwave_http::Problem;
use groundwave_model::radio::{
    Assumptions, Environment, Indoor, Station, Surroundings, Verdict, presets,
};
use groundwave_model::terrain::geodesic::curvature_radii_m;
use groundwave_simulation::coverage::{
    Cell, CoverageRequest, EngineUse, Flags, Grid, NO_DATA, NO_POWER, Sampling, Server, hundredths,
};
use groundwave_simulation::deployment::PlannedNode;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::super::wire::PACKET_BYTES;
use super::super::wire::coverage::CoverageEngine;
use super::super::wire::coverage::{
    Bounds, CellTile, CellVerdict, CoverageQuestion, CoverageSnapshot, CoverageStarted,
    CoverageStatistics, JobStatus, RESOLUTION, RateStep, Tile,
};
use super::super::wire::link::SAMPLES_MIN;
use super::super::wire::radio::RadioConfig;
use super::super::wire::terrain::SAMPLES_MAX;
use super::encode::{EncodedCell, Layers, TILE_SIDE, encode};

/// Inputs of a job.
#[derive(Debug, Clone)]
pub struct JobRequest {
    /// Transmitting node.
    pub source: Uuid,
    /// Half the side of the square, km.
    pub radius_km: f64,
    /// Samples of the ground to each cell.
    pub samples: i64,
    /// Transmitting nodes, that one first.
    pub sources: Vec<Uuid>,
    /// Everything a coverage is made from but the ground, by transmitting node.
    pub setups: Vec<CoverageRequest>,
    /// The cells.
    pub grid: Grid,
}

impl JobRequest {
    /// Inputs of a job for a request and its source nodes, at least one.
    ///
    /// # Errors
    /// When a value is not allowed.
    pub fn new(
        asked: &CoverageQuestion,
        sources: &[Arc<PlannedNode>],
        environment: &Environment,
    ) -> Result<Self, Problem> {
        let source = &sources[0];
        let radius_km = asked.radius_km;
        if !(radius_km > 0.0 && radius_km <= 500.0) {
            let what = format!("`radius_km` is {radius_km}, allowed is (0, 500]");
            return Err(Problem::bad_request(what));
        }
        let place = ReceiverPlace {
            height_agl_m: asked.rx_height_agl_m,
            surroundings: asked.rx_surroundings,
            indoor: asked.rx_indoor,
        };
        let receiver = receiver(asked.receiver.clone(), place, &source.station)?;
        let samples = asked.samples.clamp(SAMPLES_MIN, SAMPLES_MAX);
        let resolution = asked.resolution.clamp(RESOLUTION[0], RESOLUTION[1]) as u32;
        let setup = |source: &Arc<PlannedNode>| CoverageRequest {
            position: source.position,
            transmitter: source.station.clone(),
            receiver: receiver.clone(),
            environment: environment.clone(),
            packet_octets: PACKET_BYTES,
            sampling: Sampling::Count(samples as u32),
            // A square: its corners are farther than its radius.
            radius_m: f64::INFINITY,
        };
        let grid = Grid::square(source.position, radius_km * 1e3, resolution)
            .map_err(|bad| Problem::bad_request(bad.to_string()))?;
        Ok(Self {
            source: source.id.uuid(),
            radius_km,
            samples,
            sources: sources.iter().map(|source| source.id.uuid()).collect(),
            setups: sources.iter().map(setup).collect(),
            grid,
        })
    }
}

/// Height and surroundings of the receivers of a coverage.
#[derive(Debug, Clone, Copy)]
pub struct ReceiverPlace {
    /// Antenna height above ground, m, [0, 20000].
    pub height_agl_m: f64,
    /// Buildings and trees around the antenna.
    pub surroundings: Surroundings,
    /// Building around the antenna.
    pub indoor: Indoor,
}

/// Receiver of every cell: by default the radio of a transmitter with a half-wave dipole.
///
/// # Errors
/// 400 for a value out of range or an unknown preset.
pub fn receiver(
    config: Option<RadioConfig>,
    place: ReceiverPlace,
    source: &Station,
) -> Result<Station, Problem> {
    let dipole = presets::antenna(presets::ANTENNA_DEFAULT).expect("the catalogue has it");
    let mut base = source.clone();
    base.pointing = None;
    base.height_agl_m = place.height_agl_m;
    (base.surroundings, base.indoor) = (place.surroundings, place.indoor);
    let polarization = base.antenna.polarization;
    base.antenna = dipole.antenna.clone();
    base.antenna.polarization = polarization;
    let config = config.unwrap_or_default();
    (base.radio, base.antenna) = config.resolve(&base)?;
    base.validate()?;
    Ok(base)
}

/// Progress of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Progress {
    /// Status.
    pub status: JobStatus,
    /// Rows whose cells are final.
    pub rows_done: u32,
}

/// A job. Cells are kept once, whoever watches: a watcher walks along them at its own pace, so a
/// slow one costs nothing and a late one misses nothing.
#[derive(Debug)]
pub struct Job {
    /// Id.
    pub id: Uuid,
    /// Inputs.
    pub asked: JobRequest,
    /// `true` over terrain with land cover.
    has_cover: bool,
    cells: RwLock<Vec<StoredCell>>,
    failure: RwLock<Option<String>>,
    engine: RwLock<Option<CoverageEngine>>,
    progress: watch::Sender<Progress>,
    cancelled: CancellationToken,
}

/// The part of a cell that is kept: jobs keep half a gigabyte at most.
#[derive(Debug, Clone, Copy)]
struct StoredCell {
    rx_power_dbm: f64,
    verdict: CellVerdict,
    /// `true` if the link margin is not negative.
    covered: bool,
    flags: Flags,
    /// Probability that the link works, whole percent.
    link_percent: u8,
    /// Place of its server among the transmitting nodes.
    server: u8,
}

impl StoredCell {
    fn of((cell, server): (&Cell, &Server)) -> Self {
        let verdict = if cell.has_data() {
            match cell.verdict {
                Verdict::Excellent => CellVerdict::Excellent,
                Verdict::Good => CellVerdict::Good,
                Verdict::Marginal => CellVerdict::Marginal,
                Verdict::Poor => CellVerdict::Poor,
                Verdict::NoLink => CellVerdict::NoLink,
            }
        } else {
            CellVerdict::NoData
        };
        Self {
            rx_power_dbm: cell.rx_power_dbm,
            verdict,
            covered: cell.covered(0.0),
            flags: cell.flags,
            link_percent: if cell.has_data() { cell.link_percent() } else { 0 },
            server: server.0,
        }
    }
}

impl StoredCell {
    /// Received power, dBm, `None` without data; and the server.
    fn power(&self) -> (Option<f64>, u8) {
        let known = self.verdict != CellVerdict::NoData;
        (known.then_some(self.rx_power_dbm), self.server)
    }

    fn encoded(&self) -> EncodedCell {
        let (power_dbm, server) = self.power();
        let power_cdbm = power_dbm.map_or(NO_DATA, hundredths);
        let link_percent = self.link_percent;
        EncodedCell { power_cdbm, link_percent, server, sinr_cdb: NO_POWER }
    }
}

impl Job {
    /// A job that waits for its turn.
    #[must_use]
    pub fn new(id: Uuid, asked: JobRequest, has_cover: bool) -> Self {
        let begun = Progress { status: JobStatus::Queued, rows_done: 0 };
        Self {
            id,
            asked,
            has_cover,
            cells: RwLock::default(),
            failure: RwLock::default(),
            engine: RwLock::default(),
            progress: watch::Sender::new(begun),
            cancelled: CancellationToken::new(),
        }
    }

    /// Token that is cancelled when the job is deleted or evicted.
    #[must_use]
    pub fn cancelled(&self) -> CancellationToken {
        self.cancelled.clone()
    }

    /// Ends the computation at its next step, if it has not ended.
    pub(super) fn cancel(&self) {
        self.cancelled.cancel();
    }

    /// Word of progress, from now on.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Status.
    #[must_use]
    pub fn progress(&self) -> Progress {
        *self.progress.borrow()
    }

    /// Cause of failure, if it failed.
    #[must_use]
    pub fn failure(&self) -> Option<String> {
        let failure = self.failure.read().unwrap_or_else(PoisonError::into_inner);
        failure.clone()
    }

    /// The job's turn has come.
    pub(super) fn begin(&self) {
        self.progress.send_modify(|progress| progress.status = JobStatus::Running);
    }

    /// Adds the cells of finished rows.
    pub(super) fn add<'a>(
        &self,
        rows_done: u32,
        found: impl Iterator<Item = (&'a Cell, &'a Server)>,
    ) {
        self.cells
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .extend(found.map(StoredCell::of));
        self.progress.send_modify(|progress| progress.rows_done = rows_done);
    }

    /// Notes the work of another processor so far.
    pub(super) fn note(&self, engine: Option<&EngineUse>) {
        if let Some(engine) = engine {
            let engine = Some(CoverageEngine::from(engine));
            *self.engine.write().unwrap_or_else(PoisonError::into_inner) = engine;
        }
    }

    /// The job has ended, well or not; the first end counts.
    pub(super) fn end(&self, outcome: Result<(), String>) {
        let has_ended = matches!(self.progress().status, JobStatus::Done | JobStatus::Failed);
        if has_ended {
            return;
        }
        let status = match outcome {
            Ok(()) => JobStatus::Done,
            Err(why) => {
                *self.failure.write().unwrap_or_else(PoisonError::into_inner) = Some(why);
                JobStatus::Failed
            }
        };
        self.progress.send_modify(|progress| progress.status = status);
    }

    /// The cells of a row that is done.
    #[must_use]
    pub fn row(&self, row: u32) -> Vec<Tile> {
        let grid = &self.asked.grid;
        let cells = self.cells.read().unwrap_or_else(PoisonError::into_inner);
        let start = row as usize * grid.columns() as usize;
        let known = cells.get(start..start + grid.columns() as usize);
        let lat = grid.row_lat_deg(row);
        let tile = |(col, known): (u32, &StoredCell)| Tile {
            row,
            col,
            lat,
            lon: grid.column_lon_deg(col),
            rx_power_dbm: Some(known.rx_power_dbm).filter(|power| power.is_finite()),
            verdict: known.verdict,
            path_missing: known.flags.contains(Flags::PATH_MISSING),
        };
        (0..).zip(known.unwrap_or_default()).map(tile).collect()
    }

    /// Everything known now.
    #[must_use]
    pub fn snapshot(&self) -> CoverageSnapshot {
        let progress = self.progress();
        let grid = &self.asked.grid;
        CoverageSnapshot {
            job_id: self.id,
            status: progress.status,
            failure: self.failure(),
            engine: self.engine.read().unwrap_or_else(PoisonError::into_inner).clone(),
            source_node_id: self.asked.source,
            radius_km: self.asked.radius_km,
            rx_height_agl_m: self.receiver().height_agl_m,
            rx_surroundings: self.receiver().surroundings,
            rx_indoor: self.receiver().indoor,
            receiver: RadioConfig::of(self.receiver()),
            samples: self.asked.samples,
            rows: grid.rows(),
            cols: grid.columns(),
            rows_done: progress.rows_done,
            bounds: self.bounds(),
            statistics: self.statistics(),
            cells: (0..progress.rows_done).flat_map(|row| self.row(row)).collect(),
        }
    }

    /// The receiver of every cell.
    fn receiver(&self) -> &Station {
        &self.asked.setups[0].receiver
    }

    /// Edges of the grid.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        let grid = &self.asked.grid;
        let [height_deg, width_deg] = grid.cell_size_deg();
        let east = grid.west_deg() + width_deg * f64::from(grid.columns());
        Bounds {
            south: grid.north_deg() - height_deg * f64::from(grid.rows()),
            west: grid.west_deg(),
            north: grid.north_deg(),
            east: if east > 180.0 { east - 360.0 } else { east },
        }
    }

    /// Received power at which the link margin is 0 dB, by transmitting node, dBm; `None` where the
    /// receiver cannot decode it.
    #[must_use]
    pub fn sensitivity_dbm(&self) -> Vec<Option<f64>> {
        let setups = self.asked.setups.iter();
        let found = setups.map(|setup| setup.sensitivity_dbm().ok());
        found.map(|dbm| dbm.filter(|dbm| dbm.is_finite())).collect()
    }

    /// The beginning of a stream of squares.
    #[must_use]
    pub fn started(&self) -> CoverageStarted {
        CoverageStarted {
            rows: self.asked.grid.rows(),
            columns: self.asked.grid.columns(),
            bounds: self.bounds(),
            source_node_ids: self.asked.sources.clone(),
            sensitivity_dbm: self.sensitivity_dbm(),
            rates: self.asked.setups.iter().map(rates).collect(),
            assumptions: self.assumptions(),
        }
    }

    /// Shares of time, locations and situations, effects left out.
    #[must_use]
    pub fn assumptions(&self) -> Assumptions {
        let setups = &self.asked.setups;
        let frequencies_mhz: Vec<f64> =
            setups.iter().map(|setup| setup.transmitter.radio.frequency_mhz).collect();
        let assumptions = setups[0].environment.assumptions_at(&frequencies_mhz);
        let stations = setups.iter().flat_map(|setup| [&setup.transmitter, &setup.receiver]);
        assumptions.between(stations).with_clutter(self.has_cover)
    }

    /// Received power of each cell that is known so far, dBm, `None` without data; probability that its link
    /// works, percent; and its server.
    #[must_use]
    pub fn levels(&self) -> Vec<(Option<f64>, u8, u8)> {
        let cells = self.cells.read().unwrap_or_else(PoisonError::into_inner);
        let level = |cell: &StoredCell| {
            let (power_dbm, server) = cell.power();
            (power_dbm, cell.link_percent, server)
        };
        cells.iter().map(level).collect()
    }

    /// A square of `TILE_SIDE` by `TILE_SIDE` cells, or what is left of one at the edge, whose rows
    /// are done; squares count row by row from the north-west.
    #[must_use]
    pub fn tile(&self, number: u32) -> CellTile {
        let grid = &self.asked.grid;
        let across = grid.columns().div_ceil(TILE_SIDE);
        let [row, column] = [number / across, number % across].map(|place| place * TILE_SIDE);
        let rows = TILE_SIDE.min(grid.rows() - row);
        let columns = TILE_SIDE.min(grid.columns() - column);
        let cells = self.cells.read().unwrap_or_else(PoisonError::into_inner);
        let start = |row: u32| row as usize * grid.columns() as usize + column as usize;
        let known = |row| cells[start(row)..start(row) + columns as usize].iter();
        let found = (row..row + rows).flat_map(known).map(StoredCell::encoded);
        let layers = Layers { servers: self.asked.sources.len() > 1, sinr: false };
        encode([row, column], [rows, columns], found, layers)
    }

    /// Figures over the cells evaluated so far.
    #[must_use]
    pub fn statistics(&self) -> CoverageStatistics {
        let grid = &self.asked.grid;
        let cells = self.cells.read().unwrap_or_else(PoisonError::into_inner);
        let mut found =
            CoverageStatistics { cells: cells.len() as u32, ..CoverageStatistics::default() };
        let mut powers_dbm = Vec::with_capacity(cells.len());
        let [height_deg, width_deg] = grid.cell_size_deg();
        for (row, cells) in (0..).zip(cells.chunks(grid.columns() as usize)) {
            // M(φ) Δφ · N(φ) cos φ Δλ: exact to second order in the size of a cell.
            let lat_deg = grid.row_lat_deg(row);
            let (meridian_m, normal_m) = curvature_radii_m(lat_deg);
            let area_m2 = meridian_m
                * height_deg.to_radians()
                * normal_m
                * lat_deg.to_radians().cos()
                * width_deg.to_radians();
            for cell in cells {
                found.cells_by_verdict[cell.verdict as usize] += 1;
                found.path_missing_cells += u32::from(cell.flags.contains(Flags::PATH_MISSING));
                found.path_void_cells += u32::from(cell.flags.contains(Flags::PATH_VOID));
                if cell.verdict == CellVerdict::NoData {
                    continue;
                }
                if cell.rx_power_dbm.is_finite() {
                    powers_dbm.push(cell.rx_power_dbm);
                }
                if cell.covered {
                    found.covered_cells += 1;
                    found.covered_area_km2 += area_m2 * 1e-6;
                }
            }
        }
        let known = found.cells - found.cells_by_verdict[CellVerdict::NoData as usize];
        if known > 0 {
            let percent = |cells: u32| 100.0 * f64::from(cells) / f64::from(known);
            found.covered_percent = percent(found.covered_cells);
            let likely = &found.cells_by_verdict[..=CellVerdict::Marginal as usize];
            found.likely_percent = percent(likely.iter().sum());
        }
        powers_dbm.sort_by(f64::total_cmp);
        found.rx_power_dbm_min = powers_dbm.first().copied();
        found.rx_power_dbm_median = powers_dbm.get(powers_dbm.len() / 2).copied();
        found.rx_power_dbm_max = powers_dbm.last().copied();
        found
    }
}
/// Data rates of a transmitter by received power.
fn rates(setup: &CoverageRequest) -> Vec<RateStep> {
    let steps = setup.rate_steps().unwrap_or_default().into_iter();
    let step = |(from_dbm, data_rate_bps)| RateStep { from_dbm, data_rate_bps };
    steps.map(step).collect()
}
