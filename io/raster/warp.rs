//! A raster in degrees redrawn in metres: its cells go to a file without order, and the cells of the metric
//! raster are looked up in it, tile by tile. Memory holds the source of a tile for each thread.

use std::fs::File;
use std::io;
use std::path::Path;

use groundwave_files::positioned::{read_exact_at, write_all_at};
use groundwave_model::terrain::Utm;
use rayon::prelude::*;

use super::atomic::PartFile;
use super::cog::{CogFacts, CogLayout, CogWriter, Place};
use super::error::RasterError;
use super::geometry::GridGeometry;
use super::grid::Resampling;
use super::metric::{Crs, MetricGeometry};
use super::pyramid::{Cells, Pyramid, TILE_SIDE, Tile, Window};

/// A GeoTIFF in degrees or in metres, which receives the tiles of a [`Pyramid`] in degrees.
pub enum RasterWriter {
    /// As the tiles come.
    Geographic(Box<CogWriter>),
    /// Redrawn.
    Metric(Box<Warp>),
}

impl RasterWriter {
    /// Begins the file that will be `path`; `zone_area` is the area whose middle has the zone, as a rule that
    /// of all files of a set.
    ///
    /// # Errors
    /// As [`CogWriter::create`], and when the area does not lie in the reference system.
    pub fn create(
        path: &Path,
        geometry: GridGeometry,
        layout: CogLayout,
        (crs, zone_area): (Crs, &GridGeometry),
    ) -> Result<Self, RasterError> {
        let Some(zone) = crs.zone(zone_area)? else {
            let writer = CogWriter::create(path, geometry, layout)?;
            return Ok(Self::Geographic(Box::new(writer)));
        };
        let target = MetricGeometry::around(&geometry, zone)?;
        let bands = layout.bands.iter().map(|band| band.resampling).collect();
        let writer = CogWriter::create(path, Place::Metric(target), layout)?;
        let cells = PartFile::working(path, "cells")?;
        let source = geometry;
        Ok(Self::Metric(Box::new(Warp { cells, source, target, bands, writer })))
    }

    /// Takes a tile, in any order and from any thread.
    ///
    /// # Errors
    /// As [`CogWriter::store`].
    pub fn store(&self, tile: &Tile) -> Result<(), RasterError> {
        match self {
            Self::Geographic(writer) => writer.store(tile),
            Self::Metric(warp) => warp.store(tile),
        }
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// As [`CogWriter::finish`].
    pub fn finish(self, remarks: &[(String, String)]) -> Result<CogFacts, RasterError> {
        match self {
            Self::Geographic(writer) => writer.finish(remarks),
            Self::Metric(warp) => warp.finish(remarks),
        }
    }
}

/// A raster on its way from degrees to metres.
pub struct Warp {
    /// Cells of the source, band after band, row by row; holes have no data.
    cells: PartFile,
    source: GridGeometry,
    target: MetricGeometry,
    bands: Vec<Resampling>,
    writer: CogWriter,
}

/// Octets of a cell in the file.
const CELL_BYTES: usize = 4;

/// A cell as the file has it: zero, which holes of a file read as, stands for "no data".
fn packed(value: f32) -> u32 {
    if value.is_nan() { 0 } else { value.to_bits() ^ f32::NAN.to_bits() }
}

fn unpacked(bits: u32) -> f32 {
    f32::from_bits(bits ^ f32::NAN.to_bits())
}

impl Warp {
    fn offset(&self, band: usize, row: usize, col: usize) -> u64 {
        let (rows, cols) = (self.source.rows as usize, self.source.cols as usize);
        (((band * rows + row) * cols + col) * CELL_BYTES) as u64
    }

    fn file(&self) -> Result<&File, RasterError> {
        self.cells.file().map_err(self.cells.failed())
    }

    fn store(&self, tile: &Tile) -> Result<(), RasterError> {
        let Some(cells) = tile.cells.as_ref().filter(|_| tile.level == 0) else { return Ok(()) };
        let file = self.file()?;
        let side = TILE_SIDE as usize;
        let (first_row, first_col) = (tile.row as usize * side, tile.col as usize * side);
        let rows = cells.chunks_exact(tile.cols).enumerate();
        for (index, values) in rows {
            let (band, row) = (index / tile.rows, index % tile.rows);
            let bytes: Vec<u8> =
                values.iter().flat_map(|&value| packed(value).to_le_bytes()).collect();
            let offset = self.offset(band, first_row + row, first_col);
            write_all_at(file, &bytes, offset).map_err(self.cells.failed())?;
        }
        Ok(())
    }

    fn finish(self, remarks: &[(String, String)]) -> Result<CogFacts, RasterError> {
        let Self { target, bands, writer, .. } = &self;
        let all: u64 = bands.len() as u64
            * u64::from(self.source.rows)
            * u64::from(self.source.cols)
            * CELL_BYTES as u64;
        self.file()?.set_len(all).map_err(self.cells.failed())?;
        let pyramid = Pyramid::new(target.cols, target.rows, bands.clone());
        let corners: Vec<[u32; 2]> = (0..target.rows)
            .step_by(TILE_SIDE as usize)
            .flat_map(|top| {
                (0..target.cols).step_by(TILE_SIDE as usize).map(move |left| [left, top])
            })
            .collect();
        corners.par_iter().with_max_len(1).try_for_each(|&[left, top]| {
            let window = Window {
                left,
                top,
                cols: TILE_SIDE.min(target.cols - left),
                rows: TILE_SIDE.min(target.rows - top),
            };
            let planes = self.tile(window)?;
            let slices: Vec<&[f32]> = planes.iter().map(Vec::as_slice).collect();
            let cells = Cells { bands: &slices, stride: window.cols as usize };
            pyramid.put(window, Some(cells), &|tile| writer.store(tile))
        })?;
        self.writer.finish(remarks)
    }

    /// The cells of a window of the target, a plane for each band.
    fn tile(&self, window: Window) -> Result<Vec<Vec<f32>>, RasterError> {
        let utm = Utm::zone(self.target.zone.number, self.target.zone.is_south);
        let (rows, cols) = (i64::from(self.source.rows), i64::from(self.source.cols));
        let mut positions = Vec::with_capacity(window.cols as usize * window.rows as usize);
        for row in window.top..window.top + window.rows {
            for col in window.left..window.left + window.cols {
                let [east_m, north_m] = self.target.middle_m(row, col);
                let [lat_deg, lon_deg] = utm.unproject(east_m, north_m);
                positions.push(self.source.at(lat_deg, lon_deg));
            }
        }
        let inside = positions.iter().filter(|[x, y]| {
            (-1.0..=cols as f64 + 1.0).contains(x) && (-1.0..=rows as f64 + 1.0).contains(y)
        });
        // The part of the source around all of them, with a cell more for means.
        let mut part = [cols, rows, -1, -1];
        for [x, y] in inside {
            let (x, y) = (x.floor() as i64, y.floor() as i64);
            part = [part[0].min(x - 1), part[1].min(y - 1), part[2].max(x + 1), part[3].max(y + 1)];
        }
        let [west, north] = [part[0].max(0), part[1].max(0)];
        let [east, south] = [part[2].min(cols - 1), part[3].min(rows - 1)];
        let mut planes = Vec::with_capacity(self.bands.len());
        for (band, resampling) in self.bands.iter().enumerate() {
            if west > east || north > south {
                planes.push(vec![f32::NAN; positions.len()]);
                continue;
            }
            let source = self.read(band, [west, north, east, south])?;
            let wide = (east - west + 1) as usize;
            let cell = |x: i64, y: i64| {
                let is_inside = (west..=east).contains(&x) && (north..=south).contains(&y);
                is_inside.then(|| source[(y - north) as usize * wide + (x - west) as usize])
            };
            let value = |&[x, y]: &[f64; 2]| match resampling {
                Resampling::Mode => nearest(&cell, x, y),
                Resampling::Mean => bilinear(&cell, x, y),
            };
            planes.push(positions.iter().map(value).collect());
        }
        Ok(planes)
    }

    /// A part of a band, from column and row to column and row.
    fn read(
        &self,
        band: usize,
        [west, north, east, south]: [i64; 4],
    ) -> Result<Vec<f32>, RasterError> {
        let wide = (east - west + 1) as usize;
        let file = self.file()?;
        let mut bytes = vec![0; wide * CELL_BYTES];
        let mut cells = Vec::with_capacity(wide * (south - north + 1) as usize);
        for row in north..=south {
            let offset = self.offset(band, row as usize, west as usize);
            let read: io::Result<()> = read_exact_at(file, &mut bytes, offset);
            read.map_err(self.cells.failed())?;
            let (words, _) = bytes.as_chunks::<CELL_BYTES>();
            cells.extend(words.iter().map(|word| unpacked(u32::from_le_bytes(*word))));
        }
        Ok(cells)
    }
}

/// The cell that holds a position; NaN off the raster.
fn nearest(cell: &impl Fn(i64, i64) -> Option<f32>, x: f64, y: f64) -> f32 {
    cell(x.floor() as i64, y.floor() as i64).unwrap_or(f32::NAN)
}

/// The mean of the four cells around a position by their nearness, of those with data. Where the cell that
/// holds it has none there is none: an area without data keeps its extent.
fn bilinear(cell: &impl Fn(i64, i64) -> Option<f32>, x: f64, y: f64) -> f32 {
    if nearest(cell, x, y).is_nan() {
        return f32::NAN;
    }
    let (col, row) = ((x - 0.5).floor(), (y - 0.5).floor());
    let (to_right, to_bottom) = (x - 0.5 - col, y - 0.5 - row);
    let (mut sum, mut weights) = (0.0_f64, 0.0_f64);
    for (right, down, weight) in [
        (0, 0, (1.0 - to_right) * (1.0 - to_bottom)),
        (1, 0, to_right * (1.0 - to_bottom)),
        (0, 1, (1.0 - to_right) * to_bottom),
        (1, 1, to_right * to_bottom),
    ] {
        if let Some(value) = cell(col as i64 + right, row as i64 + down)
            && !value.is_nan()
        {
            sum += f64::from(value) * weight;
            weights += weight;
        }
    }
    (sum / weights) as f32
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::cog::Samples;
    use super::*;

    const AREA: GridGeometry = GridGeometry {
        west_deg: 11.6,
        north_deg: 57.8,
        cell_lon_deg: 0.002,
        cell_lat_deg: 0.002,
        cols: 300,
        rows: 280,
    };

    /// Writes a raster of values of latitude and longitude, and reads it back with its geometry.
    fn redrawn(
        samples: Samples,
        resampling: Resampling,
        value: impl Fn(f64, f64) -> f32,
    ) -> (MetricGeometry, Vec<f32>) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("layer.tif");
        let layout = CogLayout::single(samples, "layer", "dB", resampling);
        let writer = RasterWriter::create(&path, AREA, layout, (Crs::UtmOfMiddle, &AREA)).unwrap();
        let at = |i: u32| value(AREA.lat_deg(i / AREA.cols), AREA.lon_deg(i % AREA.cols));
        let cells: Vec<f32> = (0..AREA.cols * AREA.rows).map(at).collect();
        let pyramid = Pyramid::new(AREA.cols, AREA.rows, vec![resampling]);
        let window = Window { left: 0, top: 0, cols: AREA.cols, rows: AREA.rows };
        let whole = Cells { bands: &[&cells], stride: AREA.cols as usize };
        pyramid.put(window, Some(whole), &|tile| writer.store(tile)).unwrap();
        writer.finish(&[]).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no file of cells stays");
        let zone = Crs::UtmOfMiddle.zone(&AREA).unwrap().unwrap();
        let target = MetricGeometry::around(&AREA, zone).unwrap();
        let mut decoder =
            tiff::decoder::Decoder::new(io::Cursor::new(fs::read(&path).unwrap())).unwrap();
        assert_eq!(decoder.dimensions().unwrap(), (target.cols, target.rows));
        let cells = match decoder.read_image().unwrap() {
            tiff::decoder::DecodingResult::F32(cells) => cells,
            tiff::decoder::DecodingResult::U16(cells) => {
                let value = |&cell: &u16| if cell == u16::MAX { f32::NAN } else { f32::from(cell) };
                cells.iter().map(value).collect()
            }
            other => panic!("{other:?}"),
        };
        (target, cells)
    }

    #[test]
    fn levels_lie_where_they_were_and_areas_without_data_stay_empty() {
        let plane = |lat_deg: f64, lon_deg: f64| {
            if lat_deg < 57.4 {
                f32::NAN
            } else {
                (100.0 * (lat_deg - 57.0) + 30.0 * (lon_deg - 11.0)) as f32
            }
        };
        let (target, cells) = redrawn(Samples::F32, Resampling::Mean, plane);
        let utm = Utm::zone(target.zone.number, target.zone.is_south);
        let (mut compared, mut empty) = (0, 0);
        for (at, &cell) in cells.iter().enumerate() {
            let [x, y] = target.middle_m(at as u32 / target.cols, at as u32 % target.cols);
            let [lat_deg, lon_deg] = utm.unproject(x, y);
            // Away from edges, at which fewer than four cells are there.
            let inner = (11.603..12.197).contains(&lon_deg) && lat_deg < 57.797;
            if inner && lat_deg > 57.403 {
                assert!(
                    (cell - plane(lat_deg, lon_deg)).abs() < 2e-3,
                    "{lat_deg} {lon_deg}: {cell}"
                );
                compared += 1;
            } else if lat_deg < 57.399 {
                assert!(cell.is_nan(), "{lat_deg}: {cell}");
                empty += 1;
            }
        }
        assert!(compared > 30_000 && empty > 10_000, "{compared} and {empty}");
    }

    #[test]
    fn categories_are_those_of_the_cell_that_holds_the_position() {
        let site = |lat_deg: f64, lon_deg: f64| (((lat_deg + lon_deg) * 50.0) as u32 % 7) as f32;
        let (target, cells) = redrawn(Samples::U16, Resampling::Mode, site);
        let utm = Utm::zone(target.zone.number, target.zone.is_south);
        let mut compared = 0;
        for (at, &cell) in cells.iter().enumerate() {
            let [x, y] = target.middle_m(at as u32 / target.cols, at as u32 % target.cols);
            let [lat_deg, lon_deg] = utm.unproject(x, y);
            let [col, row] = AREA.at(lat_deg, lon_deg).map(f64::floor);
            if (0.0..300.0).contains(&col) && (0.0..280.0).contains(&row) {
                assert_eq!(cell, site(AREA.lat_deg(row as u32), AREA.lon_deg(col as u32)));
                compared += 1;
            } else {
                assert!(cell.is_nan());
            }
        }
        assert!(compared > 50_000, "{compared}");
    }
}
