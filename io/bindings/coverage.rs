//! Coverage around a site as planes of numbers.

use groundwave_model::coverage::{Cell, CoverageRequest, CoverageSite, Evaluation, Flags, Grid};
use groundwave_model::coverage::{Sampling, Scratch, evaluate, evaluate_grid};
use groundwave_model::radio::Environment;
use groundwave_model::terrain::{Terrain, TerrainSource};
use ndarray::{Array2, ArrayView2};
use serde::{Deserialize, Serialize};

use crate::Invalid;
use crate::document::below;
use crate::link::usual_packet_bytes;
use crate::station::{End, StationDocument};

/// Maximum number of cells of a coverage.
pub const CELLS_MAX: u64 = 1 << 26;

/// Names of the planes, in their order.
///
/// `flags` is a sum of bits as small whole numbers: 1 beyond the radius, 2 ground of the cell or its path unknown,
/// 4 path partly unknown, 8 no terrain above the ray, 16 path partly off the terrain, 32 path partly in voids, 64
/// fallback model, 128 receiver of another waveform, 256 not evaluated.
pub const PLANES: [&str; 8] = [
    "link_margin_db",
    "rx_power_dbm",
    "path_loss_db",
    "field_strength_dbuv_m",
    "sinr_db",
    "data_rate_bps",
    "link_prob",
    "flags",
];

/// Request of a coverage.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoverageDocument {
    /// The transmitting station.
    pub site: End,
    /// Receiver of every cell: the radio of the site with `omni_2_15` at 1.5 m by default.
    #[serde(default)]
    pub receiver: Option<StationDocument>,
    /// Model, air, ground and weather.
    #[serde(default)]
    pub environment: Environment,
    /// Cells beyond are outside, km, above 0 to 1000.
    pub radius_km: f64,
    /// Size of a cell, arc-seconds, above 0 to 36000.
    pub cell_arcsec: f64,
    /// Packet length of rates, bytes, [1, 65535].
    #[serde(default = "usual_packet_bytes")]
    pub packet_bytes: u32,
    /// First row and the one after the last of those computed; absent, all. Any partition gives the same bits.
    #[serde(default)]
    pub rows: Option<[u32; 2]>,
}

/// Georeference and planes of a coverage.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CoverageAnswer {
    /// Rows of the planes.
    pub rows: u32,
    /// Columns of the planes.
    pub columns: u32,
    /// First row of the planes in the whole grid.
    pub first_row: u32,
    /// Rows of the whole grid.
    pub grid_rows: u32,
    /// Edges of the planes, deg: west, south, east, north.
    pub bounds_deg: [f64; 4],
    /// Affine transform from column and row to longitude and latitude in the order of rasterio and GDAL's
    /// `Affine`: width of a cell, 0, west, 0, minus height of a cell, north.
    pub transform: [f64; 6],
    /// Reference system of the transform.
    pub crs: &'static str,
    /// Names of the planes.
    pub planes: [&'static str; 8],
    /// Terrain that supplied the heights.
    pub terrain: TerrainSource,
    /// Planes one after the other, each row by row from the north; NaN where a cell has no answer.
    #[serde(skip)]
    pub values: Vec<f32>,
}

/// Height of receivers unless stated, m above ground.
const RECEIVER_AGL_M: f64 = 1.5;

/// Antenna of receivers unless stated.
const RECEIVER_ANTENNA: &str = groundwave_model::radio::presets::ANTENNA_DEFAULT;

impl CoverageDocument {
    fn receiver(&self) -> StationDocument {
        self.receiver.clone().unwrap_or_else(|| {
            let antenna = groundwave_model::radio::presets::antenna(RECEIVER_ANTENNA);
            StationDocument {
                height_agl_m: RECEIVER_AGL_M,
                radio: self.site.station.radio.clone(),
                antenna: antenna.expect("a preset").antenna.clone(),
                ..StationDocument::default()
            }
        })
    }

    fn request(&self) -> Result<CoverageRequest, Invalid> {
        self.environment.validate().map_err(|bad| below("environment", &bad))?;
        if !(1..=65_535).contains(&self.packet_bytes) {
            return Err(Invalid::new("packet_bytes", self.packet_bytes, "1 to 65535"));
        }
        if !(self.radius_km > 0.0 && self.radius_km <= 1_000.0) {
            return Err(Invalid::new("radius_km", self.radius_km, "above 0 to 1000"));
        }
        Ok(CoverageRequest {
            position: self.site.position("site")?,
            transmitter: self.site.station.station("site.station")?,
            receiver: self.receiver().station("receiver")?,
            environment: self.environment.clone(),
            packet_octets: self.packet_bytes,
            sampling: Sampling::Posts,
            radius_m: self.radius_km * 1_000.0,
        })
    }

    fn grid(&self, request: &CoverageRequest) -> Result<Grid, Invalid> {
        let grid = Grid::around(&[request.position], request.radius_m, self.cell_arcsec)
            .map_err(|error| Invalid(format!("invalid cell_arcsec: {error}")))?;
        if grid.len() > CELLS_MAX {
            let value = format!("{} x {} cells", grid.rows(), grid.columns());
            let allowed = format!("up to {CELLS_MAX} cells");
            return Err(Invalid::new("cell_arcsec", value, allowed));
        }
        Ok(grid)
    }

    fn rows(&self, grid: &Grid) -> Result<[u32; 2], Invalid> {
        let [first, end] = self.rows.unwrap_or([0, grid.rows()]);
        match first < end && end <= grid.rows() {
            true => Ok([first, end]),
            false => {
                let allowed = format!("[first, end) within [0, {})", grid.rows());
                Err(Invalid::new("rows", format!("[{first}, {end})"), allowed))
            }
        }
    }
}

/// Number of rows and columns of the grid of a request.
///
/// # Errors
/// The first value out of its range.
pub fn size(document: &CoverageDocument) -> Result<[u32; 2], Invalid> {
    let grid = document.grid(&document.request()?)?;
    Ok([grid.rows(), grid.columns()])
}

/// Coverage of a request over `terrain`, on all threads where all rows are computed and there are threads.
///
/// # Errors
/// The first value out of its range.
pub fn coverage(
    document: &CoverageDocument,
    terrain: &dyn Terrain,
) -> Result<CoverageAnswer, Invalid> {
    let request = document.request()?;
    let grid = document.grid(&request)?;
    let [first, end] = document.rows(&grid)?;
    let site = request.prepare(terrain).map_err(|bad| below("", &bad))?;
    let cells = cells(&site, terrain, &grid, [first, end], document.rows.is_none());
    let [height_deg, width_deg] = grid.cell_size_deg();
    let edge = |row: u32| grid.north_deg() - f64::from(row) * height_deg;
    let east_deg = grid.west_deg() + f64::from(grid.columns()) * width_deg;
    Ok(CoverageAnswer {
        rows: end - first,
        columns: grid.columns(),
        first_row: first,
        grid_rows: grid.rows(),
        bounds_deg: [grid.west_deg(), edge(end), east_deg, edge(first)],
        transform: [width_deg, 0.0, grid.west_deg(), 0.0, -height_deg, edge(first)],
        crs: "EPSG:4326",
        planes: PLANES,
        terrain: terrain.describe(),
        values: planes(cells.view()),
    })
}

fn cells(
    site: &CoverageSite<'_>,
    terrain: &dyn Terrain,
    grid: &Grid,
    [first, end]: [u32; 2],
    is_whole: bool,
) -> Array2<Cell> {
    let evaluation = Evaluation { site, terrain, grid };
    if is_whole && !cfg!(target_family = "wasm") {
        return evaluate_grid(&evaluation);
    }
    let shape = [(end - first) as usize, grid.columns() as usize];
    let mut cells = Array2::from_elem(shape, Cell::default());
    evaluate(&evaluation, [first, 0], cells.view_mut(), &mut Scratch::default());
    cells
}

/// Planes of cells, as rasters of a sweep have them.
#[expect(clippy::cast_possible_truncation, reason = "planes have 32 bits")]
fn planes(cells: ArrayView2<'_, Cell>) -> Vec<f32> {
    let of = |value: fn(&Cell) -> f64| {
        cells.iter().map(move |cell| match cell.has_data() {
            true => value(cell) as f32,
            false => f32::NAN,
        })
    };
    let mut values = Vec::with_capacity(PLANES.len() * cells.len());
    values.extend(of(|cell| cell.link_margin_db));
    values.extend(of(|cell| cell.rx_power_dbm));
    values.extend(of(|cell| cell.path_loss_db));
    values.extend(of(|cell| cell.field_strength_dbuv_m));
    values.extend(of(|cell| cell.sinr_db));
    values.extend(of(|cell| cell.data_rate_bps));
    values.extend(of(|cell| cell.link_prob()));
    values.extend(cells.iter().map(|cell| f32::from(bits(cell.flags))));
    values
}

/// Flags as a sum of bits, see [`PLANES`].
fn bits(flags: Flags) -> u16 {
    const BITS: [(Flags, u16); 8] = [
        (Flags::OUTSIDE, 1),
        (Flags::NO_DATA, 2),
        (Flags::PATH_UNKNOWN, 4),
        (Flags::CLEAR, 8),
        (Flags::PATH_MISSING, 16),
        (Flags::PATH_VOID, 32),
        (Flags::FALLBACK_MODEL, 64),
        (Flags::UNDECODABLE, 128),
    ];
    let sum: u16 =
        BITS.iter().filter(|(flag, _)| flags.intersects(*flag)).map(|(_, bit)| bit).sum();
    sum + if flags.contains(Flags::FAILED) { 256 } else { 0 }
}
