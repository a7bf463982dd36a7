//! Rasters for a GIS.

use std::io;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use groundwave_raster::cog::{Band, CogLayout, Samples};
use groundwave_raster::{
    Cells, Grid, GridGeometry, Pyramid, RasterWriter, Resampling, Tile, Window,
};

use super::fold_tile::Layer;
use super::interference::Air;
use super::overview::{map_level, paste};
use super::plan::{Plan, TILE_CELLS, Unit};
use super::product::{Product, Wanted, product};
use super::unit::{Column, Level, SiteTile, is_answered};
use super::unit_file::PackedSite;
use super::work::{Sweep, SweepError, across};

/// File stem of a layer's raster, and how cells are joined.
pub(super) const fn raster_of(layer: Layer) -> (&'static str, Resampling) {
    match layer {
        Layer::Best => ("best_server", Resampling::Mode),
        Layer::Second => ("second_server", Resampling::Mode),
        Layer::Margin => ("margin_db", Resampling::Mean),
        Layer::Servers => ("servers", Resampling::Mode),
        Layer::Level(Level::Power) => ("rx_power_dbm", Resampling::Mean),
        Layer::Level(Level::Column(Column::PathLoss)) => ("path_loss_db", Resampling::Mean),
        Layer::Level(Level::Column(Column::FieldStrength)) => {
            ("field_strength_dbuv_m", Resampling::Mean)
        }
        // Rates of a table: a mean is none of them.
        Layer::Level(Level::Column(Column::Rate)) => ("rate_bps", Resampling::Mode),
        Layer::Level(Level::Column(Column::Probability)) => {
            ("link_probability_percent", Resampling::Mean)
        }
        Layer::Air(Air::Sinr) => ("sinr_db", Resampling::Mean),
        Layer::Air(Air::CarrierToInterference) => ("carrier_to_interference_db", Resampling::Mean),
        Layer::Air(Air::Server) => ("sinr_server", Resampling::Mode),
        Layer::Air(Air::Probability) => ("sinr_probability_percent", Resampling::Mean),
    }
}

/// Begins the raster of a layer of the network.
///
/// # Errors
/// When the disk does not take it.
pub(super) fn layer_writer(
    plan: &Plan,
    folder: &Path,
    layer: Layer,
    wanted: &Wanted,
) -> Result<RasterWriter, SweepError> {
    let (name, resampling) = raster_of(layer);
    let (samples, unit) = match layer {
        Layer::Margin | Layer::Air(Air::Sinr | Air::CarrierToInterference) => (Samples::F32, "dB"),
        Layer::Air(Air::Probability) => (Samples::F32, "%"),
        Layer::Level(Level::Power) => (Samples::F32, "dBm"),
        Layer::Level(Level::Column(Column::PathLoss)) => (Samples::F32, "dB"),
        Layer::Level(Level::Column(Column::FieldStrength)) => (Samples::F32, "dBµV/m"),
        Layer::Level(Level::Column(Column::Rate)) => (Samples::F32, "bit/s"),
        Layer::Level(Level::Column(Column::Probability)) => (Samples::F32, "%"),
        Layer::Best | Layer::Second | Layer::Servers | Layer::Air(Air::Server) => {
            (Samples::U16, "")
        }
    };
    let sites =
        plan.sites.iter().enumerate().map(|(i, site)| (format!("SITE_{i}"), site.name.clone()));
    let mut layout = CogLayout::single(samples, name, unit, resampling);
    layout.remarks = sites.collect();
    layout.compression = wanted.compression;
    layout.is_rounded = samples == Samples::F32 && !wanted.is_exact;
    let file = format!("{name}.tif");
    let whole = plan.grid.geometry();
    product(&file, RasterWriter::create(&folder.join(&file), whole, layout, (wanted.crs, &whole)))
}

/// Bands of a site's raster, with their units.
const SITE_BANDS: [(&str, &str); 4] =
    [("rx_power", "dBm"), ("rx_power_p10", "dBm"), ("rx_power_p90", "dBm"), ("link_margin", "dB")];

/// Meaning of the deciles of received power in the rasters of sites; the second is the lower one.
const DECILES: [(&str, &str); 2] = [
    ("RX_POWER_P10", "exceeded in 10 % of links alike, of surroundings and places like these"),
    ("RX_POWER_P90", "exceeded in 90 % of links alike, of surroundings and places like these"),
];

/// Number of the band with the margin.
const MARGIN_BAND: usize = 3;

/// The raster of one site being made, and the grid of its map: the part of the whole that its circle
/// touches.
pub(super) struct SiteRaster<'a> {
    plan: &'a Plan,
    site: u16,
    stem: String,
    window: Window,
    pyramid: Pyramid,
    writer: Option<RasterWriter>,
    /// The overview that the map is drawn from, with its level.
    margin: Option<(usize, Mutex<Grid>)>,
}

/// The margin of a site, for its map.
pub(super) struct SiteMargin {
    /// Number of the site.
    pub site: usize,
    /// File name without its ending.
    pub stem: String,
    /// Link margin, dB.
    pub grid: Grid,
}

impl<'a> SiteRaster<'a> {
    /// Begins the raster of the site with this index in the folder of its variant.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn create(
        plan: &'a Plan,
        site: usize,
        folder: &Path,
        wanted: &Wanted,
    ) -> Result<Self, SweepError> {
        let name = &plan.sites[site].name;
        let (window, geometry) = window(plan, site)?;
        let mut layout = CogLayout::single(Samples::F32, "", "", Resampling::Mean);
        let band = |(name, unit): (&str, &str)| Band {
            name: name.to_owned(),
            unit: unit.to_owned(),
            resampling: Resampling::Mean,
        };
        layout.bands = SITE_BANDS.into_iter().map(band).collect();
        layout.remarks = vec![("SITE".to_owned(), name.clone())];
        let deciles = DECILES.map(|(key, text)| (key.to_owned(), text.to_owned()));
        layout.remarks.extend(deciles);
        layout.compression = wanted.compression;
        layout.is_rounded = !wanted.is_exact;
        let bands = vec![Resampling::Mean; SITE_BANDS.len()];
        let stem = format!("{site:03}_{}", file_name(name));
        let path = folder.join("sites").join(format!("{stem}.tif"));
        let writer = wanted.has(Product::Sites).then(|| {
            // All rasters of a sweep in one zone.
            let crs = (wanted.crs, &plan.grid.geometry());
            product(&stem, RasterWriter::create(&path, geometry, layout, crs))
        });
        let margin = wanted.has(Product::SiteMaps).then(|| {
            let level = map_level(&geometry);
            let geometry = geometry.reduced(1 << level);
            let cells = vec![f32::NAN; geometry.cols as usize * geometry.rows as usize];
            (level, Mutex::new(Grid { geometry, cells }))
        });
        Ok(Self {
            plan,
            site: site as u16,
            stem,
            window,
            pyramid: Pyramid::new(window.cols, window.rows, bands),
            writer: writer.transpose()?,
            margin,
        })
    }

    /// Marks the units of the window that the site does not reach.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn fill_blanks(&self, plan: &Plan) -> Result<(), SweepError> {
        self.tiles().try_for_each(|(row, col)| {
            let blank = !plan.reaches(self.site, row, col);
            if blank { self.add(plan.grid.window(row, col), None) } else { Ok(()) }
        })
    }

    /// Rows and columns of the units that the window touches.
    fn tiles(&self) -> impl Iterator<Item = (u32, u32)> {
        let span = |first: u32, count: u32| first / TILE_CELLS..=(first + count - 1) / TILE_CELLS;
        let Window { left, top, cols, rows } = self.window;
        span(top, rows).flat_map(move |row| span(left, cols).map(move |col| (row, col)))
    }

    /// Adds what the site has in a unit, whose cells are those of `unit` in the whole raster.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn put(&self, unit: Window, tile: &SiteTile) -> Result<(), SweepError> {
        let answers = &tile.answers;
        let bands = [&tile.rx_power_dbm, &tile.p10_dbm, &tile.p90_dbm, &answers.margin_db];
        let known = |values: &Vec<f32>| -> Vec<f32> {
            let cells = values.iter().zip(&answers.flags);
            // A receiver that cannot decode the site has no margin.
            let value = |(&value, &flags): (&f32, &u8)| {
                if is_answered(flags) && value.is_finite() { value } else { f32::NAN }
            };
            cells.map(value).collect()
        };
        let bands = bands.map(known);
        self.add(unit, Some(bands.each_ref().map(Vec::as_slice)))
    }

    /// Adds the part of a unit that lies in the window.
    fn add(&self, unit: Window, bands: Option<[&[f32]; 4]>) -> Result<(), SweepError> {
        let own = self.window;
        let (left, top) = (unit.left.max(own.left), unit.top.max(own.top));
        let right = (unit.left + unit.cols).min(own.left + own.cols);
        let bottom = (unit.top + unit.rows).min(own.top + own.rows);
        if left >= right || top >= bottom {
            return Ok(());
        }
        let stride = unit.cols as usize;
        let first = (top - unit.top) as usize * stride + (left - unit.left) as usize;
        let window = Window {
            left: left - own.left,
            top: top - own.top,
            cols: right - left,
            rows: bottom - top,
        };
        let bands = bands.map(|bands| bands.map(|band| &band[first..]));
        let cells = bands.as_ref().map(|bands| Cells { bands, stride });
        let done = |tile: &Tile| {
            if let Some((level, grid)) = &self.margin
                && tile.level == *level
            {
                let mut grid = grid.lock().unwrap_or_else(PoisonError::into_inner);
                paste(tile, MARGIN_BAND, &mut grid);
            }
            let writer = self.writer.as_ref();
            writer.map_or(Ok(()), |writer| writer.store(tile))
        };
        product(&self.stem, self.pyramid.put(window, cells, &done))
    }

    /// Reads all units of the site from their files.
    ///
    /// # Errors
    /// When one is missing or the disk fails.
    pub fn read(&self, sweep: &Sweep, variant: u32) -> Result<(), SweepError> {
        self.fill_blanks(self.plan)?;
        let reached = self.tiles().filter(|&(row, col)| self.plan.reaches(self.site, row, col));
        let units: Vec<Unit> = reached.map(|(row, col)| Unit { variant, row, col }).collect();
        across(self.plan, units, |unit| {
            let mut packed = sweep.read(unit)?;
            let failed = |err| sweep.unreadable(unit, err);
            let is_own = |site: &io::Result<PackedSite>| {
                (site.as_ref()).map_or(true, |site| site.site == self.site)
            };
            let site = packed.sites().find(is_own).transpose().map_err(failed)?;
            let tile =
                site.map(|site| site.tile(&self.plan.columns)).transpose().map_err(failed)?;
            let window = self.plan.grid.window(unit.row, unit.col);
            tile.map_or_else(|| self.add(window, None), |tile| self.put(window, &tile))
        })
    }

    /// Puts the file in its place, with the attributions of the terrain; leaves what its map is drawn
    /// from, where one is wanted.
    ///
    /// # Errors
    /// When the disk fails.
    pub fn finish(self, credits: &[(String, String)]) -> Result<Option<SiteMargin>, SweepError> {
        if let Some(writer) = self.writer {
            product(&self.stem, writer.finish(credits))?;
        }
        let (site, stem) = (usize::from(self.site), self.stem);
        Ok(self.margin.map(|(_, grid)| {
            let grid = grid.into_inner().unwrap_or_else(PoisonError::into_inner);
            SiteMargin { site, stem, grid }
        }))
    }
}

/// A name as a part of a file name.
fn file_name(name: &str) -> String {
    let safe = |c: char| {
        if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' }
    };
    name.chars().map(safe).collect()
}

/// The part of the raster that a site's circle touches.
fn window(plan: &Plan, site: usize) -> Result<(Window, GridGeometry), SweepError> {
    let place = plan.sites[site].position;
    let arcsec = plan.grid.cell_deg * 3600.0;
    let own = super::plan::PlanGrid::around(&[place], plan.radius_m, arcsec).map_err(|err| {
        SweepError::Product { what: plan.sites[site].name.clone(), cause: err.to_string() }
    })?;
    let whole = plan.grid.geometry();
    let middle = |deg: f64, from: f64| ((deg - from) / plan.grid.cell_deg).round().max(0.0) as u32;
    let turn = |lon_deg: f64| {
        if lon_deg < whole.west_deg - 1e-9 { lon_deg + 360.0 } else { lon_deg }
    };
    let first_col = middle(turn(own.west_deg), whole.west_deg).min(whole.cols - 1);
    let first_row = middle(whole.north_deg, own.north_deg).min(whole.rows - 1);
    let cols = own.cols.min(whole.cols - first_col);
    let rows = own.rows.min(whole.rows - first_row);
    let west_deg = whole.west_deg + f64::from(first_col) * plan.grid.cell_deg;
    let geometry = GridGeometry {
        west_deg: if west_deg >= 180.0 { west_deg - 360.0 } else { west_deg },
        north_deg: whole.north_deg - f64::from(first_row) * plan.grid.cell_deg,
        cols,
        rows,
        ..whole
    };
    let window = Window { left: first_col, top: first_row, cols, rows };
    Ok((window, geometry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deciles_state_the_share_of_links_in_which_they_are_exceeded() {
        for ((key, text), (band, _)) in DECILES.into_iter().zip(&SITE_BANDS[1..3]) {
            assert_eq!(key.to_lowercase(), *band);
            let share = key.strip_prefix("RX_POWER_P").unwrap();
            assert!(text.starts_with(&format!("exceeded in {share} %")), "{key}: {text}");
        }
    }
}
