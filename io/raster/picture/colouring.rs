//! Colours of areas that touch: each differs from those of its neighbours.
//!
//! The order is that of D. Brélaz, "New methods to color the vertices of a graph", Communications of the
//! ACM 22(4), 1979: the area whose neighbours have the most colours comes next. Ties are broken by the
//! number of neighbours, then by the number of the area.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::super::grid::Grid;
use super::palette::CATEGORY_COUNT;

/// Colours that are tried first: they differ most (M. Okabe and K. Ito).
const BEST_COLOURS: usize = 7;

/// Cells across which two areas still count as neighbours: a narrow gap or a third area between them
/// does not keep them apart for the eye.
const REACH: usize = 2;

/// Colours of `count` areas by number, each in [0, [`CATEGORY_COUNT`]). The cells of `grid` are the
/// numbers of the areas. Where there is a colour for each area, each has its own. Otherwise neighbours
/// differ: as few colours as suffice, but [`BEST_COLOURS`], are used about equally often. Only where
/// [`CATEGORY_COUNT`] do not suffice, an area takes the colour with which it has the shortest border.
#[must_use]
pub fn colours_apart(count: usize, grid: &Grid) -> Vec<usize> {
    if count <= CATEGORY_COUNT {
        return (0..count).collect();
    }
    let neighbours = neighbours(count, grid);
    let mut attempts = (BEST_COLOURS..=CATEGORY_COUNT).filter_map(|colours| {
        let is_last = colours == CATEGORY_COUNT;
        assign(&neighbours, colours, is_last)
    });
    attempts.next().unwrap_or_default()
}

/// Neighbours of each area, with the length of the common border, cells.
type Neighbours = Vec<Vec<(usize, u32)>>;

fn neighbours(count: usize, grid: &Grid) -> Neighbours {
    let cols = grid.geometry.cols as usize;
    let number = |value: f32| {
        let is_area = value >= 0.0 && (value as usize) < count;
        is_area.then_some(value as usize)
    };
    let mut borders: BTreeMap<[usize; 2], u32> = BTreeMap::new();
    for (at, &value) in grid.cells.iter().enumerate() {
        let Some(area) = number(value) else { continue };
        let col = at % cols;
        let offsets = (1..=REACH).flat_map(|away| {
            let (has_east, has_west) = (col + away < cols, col >= away);
            let south = away * cols;
            [
                has_east.then_some(away),
                Some(south),
                has_east.then_some(south + away),
                has_west.then(|| south - away),
            ]
        });
        for offset in offsets.flatten() {
            let Some(&value) = grid.cells.get(at + offset) else { continue };
            if let Some(other) = number(value).filter(|other| *other != area) {
                *borders.entry([area.min(other), area.max(other)]).or_default() += 1;
            }
        }
    }
    let mut neighbours = vec![Vec::new(); count];
    for ([one, other], length) in borders {
        neighbours[one].push((other, length));
        neighbours[other].push((one, length));
    }
    neighbours
}

/// A colour for each area; `None` where so many do not suffice, unless `is_last` allows equal neighbours.
fn assign(neighbours: &Neighbours, colours: usize, is_last: bool) -> Option<Vec<usize>> {
    let count = neighbours.len();
    let mut assigned: Vec<Option<usize>> = vec![None; count];
    // Common border with areas of each colour.
    let mut borders = vec![vec![0_u32; colours]; count];
    // Colours of the neighbours of each area.
    let mut saturations = vec![0_usize; count];
    let mut uses = vec![0_usize; colours];
    for _ in 0..count {
        let rank = |area: &usize| (saturations[*area], neighbours[*area].len(), Reverse(*area));
        let area = (0..count).filter(|area| assigned[*area].is_none()).max_by_key(rank)?;
        let free = (0..colours).filter(|colour| borders[area][*colour] == 0);
        let colour = match free.min_by_key(|colour| (uses[*colour], *colour)) {
            Some(colour) => colour,
            None if is_last => {
                (0..colours).min_by_key(|colour| (borders[area][*colour], *colour))?
            }
            None => return None,
        };
        assigned[area] = Some(colour);
        uses[colour] += 1;
        for &(other, length) in &neighbours[area] {
            let border = &mut borders[other][colour];
            saturations[other] += usize::from(*border == 0);
            *border = border.saturating_add(length);
        }
    }
    assigned.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::super::geometry::GridGeometry;
    use super::*;

    fn grid(cols: u32, rows: u32, area: impl Fn(u32, u32) -> f32) -> Grid {
        let geometry = GridGeometry {
            west_deg: 0.0,
            north_deg: 1.0,
            cell_lon_deg: 0.001,
            cell_lat_deg: 0.001,
            cols,
            rows,
        };
        let cells = (0..cols * rows).map(|at| area(at / cols, at % cols)).collect();
        Grid::new(geometry, cells).unwrap()
    }

    /// Pairs of areas that touch, diagonally included.
    fn touching(grid: &Grid) -> Vec<[usize; 2]> {
        let (cols, rows) = (i64::from(grid.geometry.cols), i64::from(grid.geometry.rows));
        let mut pairs = Vec::new();
        for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
            for (down, right) in [(0, 1), (1, 0), (1, 1), (1, -1)] {
                let pair = [grid.get(row, col), grid.get(row + down, col + right)];
                if pair.iter().all(|value| !value.is_nan()) && pair[0] != pair[1] {
                    pairs.push(pair.map(|value| value as usize));
                }
            }
        }
        pairs
    }

    #[test]
    fn touching_areas_of_forty_sites_differ_in_colour() {
        // Blocks of 10 by 10 cells, with a frayed edge and a strip that none covers.
        let area = |row: u32, col: u32| {
            if row == 25 {
                return f32::NAN;
            }
            let shift = (row * 7 + col * 3) % 4;
            ((row + shift) / 10 % 5 * 8 + (col + shift) / 10 % 8) as f32
        };
        let grid = grid(80, 50, area);
        let colours = colours_apart(40, &grid);
        let pairs = touching(&grid);
        assert!(pairs.len() > 500);
        for [one, other] in pairs {
            assert_ne!(colours[one], colours[other], "{one} and {other}");
        }
        assert!(colours.iter().all(|colour| *colour < CATEGORY_COUNT));
        assert_eq!(colours, colours_apart(40, &grid), "the same again");
    }

    #[test]
    fn few_areas_keep_the_colour_of_their_number() {
        let grid = grid(4, 4, |row, col| (row * 4 + col) as f32 % 15.0);
        assert_eq!(colours_apart(15, &grid), (0..15).collect::<Vec<_>>());
    }

    #[test]
    fn areas_beside_each_other_and_unused_ones_use_few_colours_evenly() {
        let grid = grid(60, 3, |_, col| (col / 3) as f32);
        let colours = colours_apart(28, &grid);
        let uses = |colour: usize| colours.iter().filter(|other| **other == colour).count();
        assert!((0..BEST_COLOURS).all(|colour| uses(colour) == 4), "{colours:?}");
    }

    #[test]
    fn too_many_mutual_neighbours_share_the_colour_of_the_shortest_border() {
        let length = |one: usize, other: usize| if [one, other].contains(&3) { 1 } else { 9 };
        let mut borders: Neighbours = vec![Vec::new(); 16];
        for (one, list) in borders.iter_mut().enumerate() {
            let others = (0..16).filter(|other| *other != one);
            *list = others.map(|other| (other, length(one, other))).collect();
        }
        assert_eq!(assign(&borders, CATEGORY_COUNT, false), None);
        let colours = assign(&borders, CATEGORY_COUNT, true).unwrap();
        assert_eq!(colours[15], colours[3], "{colours:?}");
        assert_eq!(colours[..15], (0..15).collect::<Vec<_>>());
    }
}
