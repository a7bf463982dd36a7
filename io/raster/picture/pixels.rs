//! Pixels of a picture by rows: the nearest cells of a raster, and edges of areas.

use rayon::prelude::*;

use super::super::geometry::GridGeometry;

/// Rows of pixels drawn in one go: neighbours often have the same cells.
pub(super) const STRIP: usize = 32;

/// The nearest cells at the pixels of a frame.
pub(super) struct Nearest {
    cells: Vec<u16>,
    /// For off the raster.
    beyond: u16,
    cols: usize,
    /// Columns of the cells under each column of pixels; what lies west of the raster is one that it
    /// does not have. They do not depend on the row of pixels, nor the other way.
    from_cols: Vec<usize>,
    from_rows: Vec<i64>,
}

impl Nearest {
    /// `cells` of a raster under the pixels of `frame`; `beyond` off the raster.
    pub fn new(cells: Vec<u16>, cell: GridGeometry, frame: GridGeometry, beyond: u16) -> Self {
        let from_col = |col: u32| cell.at(cell.north_deg, frame.lon_deg(col))[0].floor();
        let from_row = |row: u32| cell.at(frame.lat_deg(row), cell.west_deg)[1].floor();
        Self {
            cells,
            beyond,
            cols: cell.cols as usize,
            from_cols: (0..frame.cols).map(|col| from_col(col) as i64 as usize).collect(),
            from_rows: (0..frame.rows).map(|row| from_row(row) as i64).collect(),
        }
    }
}

/// The row of pixels that was drawn last.
#[derive(Default)]
pub(super) struct Line {
    from: Option<i64>,
    pixels: Vec<u16>,
}

impl Line {
    /// Draws a row of the frame, unless it is made of the same cells.
    pub fn draw(&mut self, nearest: &Nearest, row: usize) -> &[u16] {
        let from = nearest.from_rows[row];
        if self.from.replace(from) != Some(from) {
            let cells = usize::try_from(from)
                .ok()
                .and_then(|from| nearest.cells.get(from * nearest.cols..));
            let cells = cells.and_then(|cells| cells.get(..nearest.cols)).unwrap_or_default();
            let pixel = |&col: &usize| cells.get(col).copied().unwrap_or(nearest.beyond);
            self.pixels.clear();
            self.pixels.extend(nearest.from_cols.iter().map(pixel));
        }
        &self.pixels
    }
}

/// Kind of pixels that have none.
pub(super) const NO_KIND: u16 = u16::MAX;

/// Pixels at which the kind changes to the east or south, row by row.
pub(super) struct Edges {
    /// Kinds of the last two rows.
    rows: [Vec<u16>; 2],
    changes: Vec<u8>,
}

impl Edges {
    /// After the first row, whose kinds `fill` fills in.
    pub fn new(cols: usize, fill: impl FnOnce(&mut [u16])) -> Self {
        let mut rows = [(); 2].map(|()| vec![NO_KIND; cols]);
        fill(&mut rows[1]);
        Self { rows, changes: vec![0; cols.saturating_sub(1)] }
    }

    /// Takes the next row, whose kinds `fill` fills in, and returns the columns of such pixels in the
    /// row before it.
    pub fn next(&mut self, fill: impl FnOnce(&mut [u16])) -> impl Iterator<Item = usize> {
        self.rows.swap(0, 1);
        let [here, south] = &mut self.rows;
        fill(south);
        // Without a branch: vector code.
        let around = here.array_windows::<2>().zip(&*south);
        for (change, (&[kind, east], &south)) in self.changes.iter_mut().zip(around) {
            let differs = |other: u16| (other != NO_KIND) & (other != kind);
            *change = u8::from((kind != NO_KIND) & (differs(east) | differs(south)));
        }
        memchr::memchr_iter(1, &self.changes)
    }
}

/// All of them in a frame; `kinds` fills in the kinds of a row.
pub(super) fn borders(frame: GridGeometry, kinds: impl Fn(usize, &mut [u16]) + Sync) -> Vec<u32> {
    let (cols, last) = (frame.cols as usize, frame.rows as usize - 1);
    let strips: Vec<usize> = (0..last).step_by(STRIP).collect();
    let of_strip = |&first: &usize| {
        let mut edges = Edges::new(cols, |row| kinds(first, row));
        let mut indices = Vec::new();
        for row in first..last.min(first + STRIP) {
            let places = edges.next(|south| kinds(row + 1, south));
            indices.extend(places.map(|col| (row * cols + col) as u32));
        }
        indices
    };
    let indices: Vec<Vec<u32>> = strips.par_iter().map(of_strip).collect();
    indices.concat()
}
