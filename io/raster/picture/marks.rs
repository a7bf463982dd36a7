//! Sites on a map, with their names where there is room.

use super::super::geometry::GridGeometry;
use super::super::site::Site;
use super::canvas::{Canvas, Rgba};
use super::font::{Anchor, Font};
use super::paper;
use super::style::Style;

/// Size of names (px).
const SIZE: f64 = 14.0;

/// Marks every site within the frame, whose corner lies at `origin` on the canvas. A site takes
/// the colour of the category of its name. Names, when wanted, are placed in the order of the
/// sites and keep clear of the given areas, low and high corner on the canvas; one that finds no
/// room is left out, its mark stays.
pub(super) fn draw(
    canvas: &mut Canvas,
    origin: [i64; 2],
    frame: GridGeometry,
    sites: &[Site],
    style: &Style,
    names: Option<&[[[f64; 2]; 2]]>,
) {
    let size = [f64::from(frame.cols), f64::from(frame.rows)];
    let place = |site: &Site| {
        let [x, y] = frame.at(site.lat_deg, site.lon_deg);
        let inside = (0.0..=size[0]).contains(&x) && (0.0..=size[1]).contains(&y);
        inside.then_some([x + origin[0] as f64, y + origin[1] as f64])
    };
    let placed: Vec<_> = sites
        .iter()
        .filter_map(|s| place(s).map(|at| (s, at)))
        .collect();
    let radius = if names.is_some() { 6.0 } else { 3.6 };
    for (site, at) in &placed {
        mark(canvas, *at, radius, style.colour_of(&site.name));
    }
    let Some(keep_clear) = names else { return };
    let left = [origin[0] as f64, origin[1] as f64];
    let bounds = Area {
        low: left,
        high: [left[0] + size[0], left[1] + size[1]],
    };
    let mut taken: Vec<Area> = placed
        .iter()
        .map(|(_, at)| Area::around(*at, radius + 2.0))
        .collect();
    taken.extend(keep_clear.iter().map(|&[low, high]| Area { low, high }));
    for (site, at) in &placed {
        let font = Font::plain(SIZE, paper::INK).bold().with_halo(paper::HALO);
        let name = font.fit(&site.name, 220.0);
        let spots = spots(*at, radius, font.width(&name));
        let free = |spot: &&Spot| {
            spot.area.within(&bounds) && !taken.iter().any(|other| other.overlaps(&spot.area))
        };
        if let Some(spot) = spots.iter().find(free) {
            font.draw(canvas, spot.baseline, spot.anchor, &name);
            taken.push(spot.area);
        }
    }
}

/// One site: a dark dot in a disc of its colour, within a light, a dark and a light ring, so that
/// it is seen on any ground, also on its own colour.
pub(super) fn mark(canvas: &mut Canvas, at: [f64; 2], radius: f64, colour: Option<Rgba>) {
    canvas.disc(at, radius + 2.4, paper::PAGE);
    canvas.disc(at, radius + 1.2, paper::INK);
    canvas.disc(at, radius, paper::PAGE);
    let [r, g, b, _] = colour.unwrap_or(paper::INK);
    canvas.disc(at, radius * 0.75, [r, g, b, 255]);
    canvas.disc(at, radius * 0.35, paper::INK);
}

/// A rectangle on the canvas.
#[derive(Debug, Clone, Copy)]
struct Area {
    low: [f64; 2],
    high: [f64; 2],
}

impl Area {
    fn around([x, y]: [f64; 2], reach: f64) -> Self {
        Self {
            low: [x - reach, y - reach],
            high: [x + reach, y + reach],
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        (0..2).all(|i| self.low[i] < other.high[i] && other.low[i] < self.high[i])
    }

    fn within(&self, bounds: &Self) -> bool {
        (0..2).all(|i| self.low[i] >= bounds.low[i] && self.high[i] <= bounds.high[i])
    }
}

/// A place for a name.
struct Spot {
    area: Area,
    baseline: [f64; 2],
    anchor: Anchor,
}

/// Places around a mark, the best first: right, left, above, below, then the corners.
fn spots([x, y]: [f64; 2], radius: f64, width: f64) -> Vec<Spot> {
    let gap = radius + 6.0;
    let rows = [y + 5.0, y - gap, y + gap + 11.0];
    let order = [
        (1, 0),
        (-1, 0),
        (0, 1),
        (0, 2),
        (1, 1),
        (1, 2),
        (-1, 1),
        (-1, 2),
    ];
    let spot = |(side, row): (i32, usize)| {
        let (anchor, left) = match side {
            1 => (Anchor::Start, x + gap),
            -1 => (Anchor::End, x - gap - width),
            _ => (Anchor::Middle, x - width / 2.0),
        };
        let baseline = match anchor {
            Anchor::Start => left,
            Anchor::Middle => x,
            Anchor::End => left + width,
        };
        let area = Area {
            low: [left - 2.0, rows[row] - 12.0],
            high: [left + width + 2.0, rows[row] + 4.0],
        };
        Spot {
            area,
            baseline: [baseline, rows[row]],
            anchor,
        }
    };
    order.into_iter().map(spot).collect()
}
