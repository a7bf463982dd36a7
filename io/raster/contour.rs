//! Outlines of where a layer reaches a level: marching squares (W. Lorensen, H. Cline,
//! "Marching cubes", SIGGRAPH 1987, in two dimensions), saddles settled by the mean of their
//! four corners.

use rayon::prelude::*;

use super::grid::Grid;

/// A ring of longitudes and latitudes (degrees), the first point repeated at the end.
pub type Ring = Vec<[f64; 2]>;

/// A line of longitudes and latitudes (degrees), at least two points.
pub type Line = Vec<[f64; 2]>;

/// An area: its outer ring counter-clockwise, then its holes clockwise (RFC 7946, 3.1.6).
pub type Polygon = Vec<Ring>;

/// The areas where `grid` is at least each of `levels`. Values are taken to stand at the middle of cells
/// and to change evenly between them; an area ends half-way to a cell without data and at the
/// edge of the raster. Cut at the antimeridian, so that all longitudes are in [-180, 180].
#[must_use]
pub fn contours(grid: &Grid, levels: &[f64]) -> Vec<Vec<Polygon>> {
    let parts = lattices(grid);
    // Steps along outlines are none before and after: levels share the room for them.
    let areas = |next: &mut Vec<u32>, &level: &f64| {
        let areas = parts.iter().flat_map(|part| part.areas(level, next));
        areas.collect()
    };
    levels.par_iter().map_init(Vec::new, areas).collect()
}

/// The lines along which `grid` passes each of `levels`, as longitudes and latitudes (degrees); a closed
/// line repeats its first point. Other than the rings of [`contours`], they have no parts along cells
/// without data or along the edge of the raster, where no level is passed.
#[must_use]
pub fn contour_lines(grid: &Grid, levels: &[f64]) -> Vec<Vec<Line>> {
    let parts = lattices(grid);
    let lines = |next: &mut Vec<u32>, &level: &f64| {
        let lines = parts.iter().flat_map(|part| part.lines(level, next));
        lines.collect()
    };
    levels.par_iter().map_init(Vec::new, lines).collect()
}

/// The raster, cut at the antimeridian.
fn lattices(grid: &Grid) -> Vec<Lattice<'_>> {
    let geometry = grid.geometry;
    let columns = f64::from(geometry.cols);
    let cut = (180.0 - geometry.west_deg) / geometry.cell_lon_deg;
    // An edge on the antimeridian needs no cut; computed edges may miss it by a hair.
    if cut > columns - 1e-6 {
        vec![Lattice::new(grid, [0.0, columns], 0.0)]
    } else {
        vec![Lattice::new(grid, [0.0, cut], 0.0), Lattice::new(grid, [cut, columns], -360.0)]
    }
}

/// The middles of cells, with a border of nothing around them.
struct Lattice<'a> {
    grid: &'a Grid,
    /// Added to longitudes (degrees).
    turn_deg: f64,
    columns: Vec<Column>,
    /// The values of all places, row by row; NaN on the border and without data.
    values: Vec<f64>,
}

/// A column of places: how far east (cells), and the two columns it lies between; `None` for
/// the border.
struct Column {
    x: f64,
    between: Option<(usize, usize, f64)>,
}

/// Stands for "no crossing here".
const NONE: u32 = u32::MAX;

/// Added to the number of the outline that passed a crossing; edges have smaller numbers.
const PASSED: u32 = 1 << 31;

/// A square of four places that all are high: a bit each.
const ALL_HIGH: u8 = 0b1111;

/// Least distance of a crossing from the middle of a cell (cells): outlines that meet in a point
/// are kept apart, so that rings stay simple.
const APART: f64 = 1e-3;

impl<'a> Lattice<'a> {
    /// The part of the raster between two meridians, in cells from its western edge.
    fn new(grid: &'a Grid, [from, to]: [f64; 2], turn_deg: f64) -> Self {
        let cols = grid.geometry.cols as usize;
        let mut columns = vec![Column { x: from, between: None }];
        if from > 0.0 {
            columns.push(Self::split(from, cols));
        }
        let own =
            (0..cols).map(|col| (col, col as f64 + 0.5)).filter(|(_, x)| (from..to).contains(x));
        columns.extend(own.map(|(col, x)| Column { x, between: Some((col, col, 0.0)) }));
        if to < cols as f64 {
            columns.push(Self::split(to, cols));
        }
        columns.push(Column { x: to, between: None });
        let mut values = vec![f64::NAN; columns.len() * (grid.geometry.rows as usize + 2)];
        let rows = values.chunks_exact_mut(columns.len()).skip(1);
        for (out, row) in rows.zip(grid.cells.chunks_exact(cols)) {
            for (out, column) in out.iter_mut().zip(&columns) {
                let Some((west, east, weight)) = column.between else {
                    continue;
                };
                let [west, east] = [west, east].map(|col| f64::from(row[col]));
                *out = if weight == 0.0 { west } else { west + (east - west) * weight };
            }
        }
        Self { grid, turn_deg, columns, values }
    }

    /// A column on the cut, between the two on its sides.
    fn split(x: f64, cols: usize) -> Column {
        let west = (x - 0.5).floor();
        let clamp = |col: f64| (col.max(0.0) as usize).min(cols - 1);
        let between = (clamp(west), clamp(west + 1.0), x - 0.5 - west);
        Column { x, between: Some(between) }
    }

    fn width(&self) -> usize {
        self.columns.len()
    }

    /// Rows of places, border included.
    fn height(&self) -> usize {
        self.grid.geometry.rows as usize + 2
    }

    fn value(&self, i: usize, j: usize) -> f64 {
        self.values[j * self.width() + i]
    }

    fn is_border(&self, i: usize, j: usize) -> bool {
        self.columns[i].between.is_none() || j == 0 || j + 1 == self.height()
    }

    /// A place in cells from the north-western corner.
    fn place(&self, i: usize, j: usize) -> [f64; 2] {
        let rows = f64::from(self.grid.geometry.rows);
        [self.columns[i].x, (j as f64 - 0.5).clamp(0.0, rows)]
    }

    /// The two places that an edge joins: even numbers run east, odd ones south.
    fn ends(&self, edge: usize) -> [(usize, usize); 2] {
        let (i, j) = (edge / 2 % self.width(), edge / 2 / self.width());
        if edge.is_multiple_of(2) { [(i, j), (i + 1, j)] } else { [(i, j), (i, j + 1)] }
    }

    /// True where an edge joins two values, so that the level is passed on it.
    fn is_passed(&self, edge: usize) -> bool {
        let is_known = |(i, j): (usize, usize)| !self.value(i, j).is_nan();
        self.ends(edge).into_iter().all(is_known)
    }

    /// Lines along which the level is passed.
    fn lines(&self, level: f64, next: &mut Vec<u32>) -> Vec<Line> {
        let crossed = self.steps(level, next);
        let mut lines = Vec::new();
        for &start in &crossed {
            let mut edges = Vec::new();
            let mut edge = start;
            while next[edge as usize] < PASSED {
                edges.push(edge as usize);
                edge = std::mem::replace(&mut next[edge as usize], PASSED);
            }
            // From an edge on which no level is passed, if there is one: lines begin after it.
            let gap = edges.iter().position(|&edge| !self.is_passed(edge));
            edges.rotate_left(gap.unwrap_or(0));
            if gap.is_none() {
                edges.extend(edges.first().copied());
            }
            let runs = edges.split(|&edge| !self.is_passed(edge)).filter(|run| run.len() > 1);
            let points = |run: &[usize]| -> Line {
                run.iter().map(|&edge| self.position_deg(self.crossing(edge, level))).collect()
            };
            lines.extend(runs.map(points));
        }
        crossed.iter().for_each(|&edge| next[edge as usize] = NONE);
        lines
    }

    /// Longitude and latitude of a place in cells.
    fn position_deg(&self, [x, y]: [f64; 2]) -> [f64; 2] {
        let geometry = self.grid.geometry;
        [
            geometry.west_deg + x * geometry.cell_lon_deg + self.turn_deg,
            geometry.north_deg - y * geometry.cell_lat_deg,
        ]
    }

    /// Intersection of the outline with an edge, in cells.
    fn crossing(&self, edge: usize, level: f64) -> [f64; 2] {
        let [a, b] = self.ends(edge);
        let reaches = |(i, j)| self.value(i, j) >= level;
        let (inner, outer) = if reaches(a) { (a, b) } else { (b, a) };
        let (high, low) = (self.value(inner.0, inner.1), self.value(outer.0, outer.1));
        let t = if self.is_border(outer.0, outer.1) {
            1.0
        } else if low.is_nan() {
            0.5
        } else {
            ((high - level) / (high - low)).clamp(APART, 1.0 - APART)
        };
        let (p, q) = (self.place(inner.0, inner.1), self.place(outer.0, outer.1));
        [p[0] + (q[0] - p[0]) * t, p[1] + (q[1] - p[1]) * t]
    }

    /// Fills in for each crossed edge the next one along the outline, high ground to the left. Returns
    /// the edges filled in, in their order.
    fn steps(&self, level: f64, next: &mut Vec<u32>) -> Vec<u32> {
        let (width, height) = (self.width(), self.height());
        next.resize(2 * width * height, NONE);
        let mut crossed = Vec::new();
        let (mut squares, mut is_crossed) = (vec![0_u8; width - 1], vec![0_u8; width - 1]);
        for j in 0..height - 1 {
            let rows = &self.values[j * width..][..2 * width];
            let (north, south) = rows.split_at(width);
            let pairs = north.array_windows::<2>().zip(south.array_windows::<2>());
            // Without a branch: vector code.
            let squares_here = squares.iter_mut().zip(&mut is_crossed);
            for ((square, is_crossed), (&[nw, ne], &[sw, se])) in squares_here.zip(pairs) {
                // Counter-clockwise from the south-west; edge k runs from corner k to k + 1.
                let high = [sw, se, ne, nw].map(|value| u8::from(value >= level));
                *square = high[0] | high[1] << 1 | high[2] << 2 | high[3] << 3;
                *is_crossed = u8::from((*square != 0) & (*square != ALL_HIGH));
            }
            for i in memchr::memchr_iter(1, &is_crossed) {
                let square = squares[i];
                let values = [south[i], south[i + 1], north[i + 1], north[i]];
                let high = [0, 1, 2, 3].map(|corner| square >> corner & 1 == 1);
                let here = j * width + i;
                let edges = [2 * (here + width), 2 * (here + 1) + 1, 2 * here, 2 * here + 1];
                let is_saddle = high[0] == high[2] && high[1] == high[3];
                let is_joined = values.iter().sum::<f64>() / 4.0 >= level;
                for k in (0..4).filter(|&k| high[k] && !high[(k + 1) % 4]) {
                    let mut entries =
                        (1..4).map(|s| (k + s) % 4).filter(|&e| !high[e] && high[(e + 1) % 4]);
                    // Where high ground is joined, the outline turns around the nearest low
                    // corner, else around the high one.
                    let to =
                        if is_saddle && !is_joined { entries.next_back() } else { entries.next() };
                    if let Some(to) = to {
                        next[edges[k]] = edges[to] as u32;
                        crossed.push(edges[k] as u32);
                    }
                }
            }
        }
        crossed.sort_unstable();
        crossed
    }

    fn areas(&self, level: f64, next: &mut Vec<u32>) -> Vec<Polygon> {
        let crossed = self.steps(level, next);
        let (mut areas, mut holes) = (Vec::new(), Vec::new());
        // For each outline the area it bounds from without; holes come later.
        let mut bounded: Vec<Option<usize>> = Vec::new();
        for &start in &crossed {
            if next[start as usize] >= PASSED {
                continue;
            }
            let (mut ring, mut first) = (Vec::new(), u32::MAX);
            let mut edge = start;
            while next[edge as usize] < PASSED {
                ring.push(self.crossing(edge as usize, level));
                if edge.is_multiple_of(2) {
                    first = first.min(edge);
                }
                let passed = PASSED + bounded.len() as u32;
                edge = std::mem::replace(&mut next[edge as usize], passed);
            }
            let ring = straightened(&ring);
            let area = area(&ring);
            bounded.push((area > 0.0).then_some(areas.len()));
            if area > 0.0 {
                areas.push(vec![ring]);
            } else if area < 0.0 {
                let number = bounded.len() - 1;
                holes.push(Hole { first, number, ring });
            }
        }
        // From the north-west: the outline that bounds a hole's area is known by then, see `around`.
        let mut order: Vec<&Hole> = holes.iter().collect();
        order.sort_unstable_by_key(|hole| hole.first);
        for hole in order {
            bounded[hole.number] = self.around(hole.first, &crossed, next, &bounded);
        }
        for Hole { number, ring, .. } in holes {
            if let Some(area) = bounded[number] {
                areas[area].push(ring);
            }
        }
        crossed.iter().for_each(|&edge| next[edge as usize] = NONE);
        areas.into_iter().map(|rings| self.degrees(rings)).collect()
    }

    /// The area around a hole whose first crossing of a row is at `edge`. West of it lies high ground, up
    /// to the next crossing: of the outline of the area, or of another hole in it, whose first crossing
    /// comes before this one.
    fn around(
        &self,
        edge: u32,
        crossed: &[u32],
        next: &[u32],
        bounded: &[Option<usize>],
    ) -> Option<usize> {
        let before = crossed.partition_point(|&other| other < edge);
        let row = |edge: u32| edge as usize / 2 / self.width();
        let west = crossed[..before].iter().rev();
        west.take_while(|&&other| row(other) == row(edge))
            .filter(|other| other.is_multiple_of(2))
            .find_map(|&other| bounded[(next[other as usize] - PASSED) as usize])
    }

    fn degrees(&self, rings: Vec<Vec<[f64; 2]>>) -> Polygon {
        let closed = |ring: Vec<[f64; 2]>| {
            ring.iter().chain(ring.first()).map(|&place| self.position_deg(place)).collect()
        };
        rings.into_iter().map(closed).collect()
    }
}

/// An outline with low ground in it.
struct Hole {
    /// The first edge along a row that it crosses.
    first: u32,
    /// Number of the outline.
    number: usize,
    /// The outline, in cells.
    ring: Vec<[f64; 2]>,
}

/// Twice the area would do; positive counter-clockwise with y southwards turned north.
fn area(ring: &[[f64; 2]]) -> f64 {
    let pairs = ring.iter().zip(ring.iter().skip(1).chain(ring.first()));
    pairs.map(|(a, b)| a[1] * b[0] - a[0] * b[1]).sum::<f64>() / 2.0
}

/// The ring without points that lie straight between their neighbours.
fn straightened(ring: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut corners: Vec<[f64; 2]> = Vec::with_capacity(ring.len());
    for (at, &point) in ring.iter().enumerate() {
        let after = ring[(at + 1) % ring.len()];
        let before = corners.last().copied().unwrap_or(ring[ring.len() - 1]);
        let turn = (point[0] - before[0]) * (after[1] - point[1])
            - (point[1] - before[1]) * (after[0] - point[0]);
        if turn.abs() > 1e-9 {
            corners.push(point);
        }
    }
    if corners.len() < 3 { Vec::new() } else { corners }
}

#[cfg(test)]
mod tests;
