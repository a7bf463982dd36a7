//! Sites on a map, with their names where they fit.

use super::super::geometry::GridGeometry;
use super::super::site::Site;
use super::paper;
use super::style::Style;
use crate::scene::Rgba;
use crate::scene::labels::Rect;
use crate::scene::svg::{Anchor, Canvas, Font, Point};

/// Style of names.
const NAME: Font = Font::plain(13.0, paper::INK_SVG).bold().over(paper::PAGE_SVG);

/// Widest name, px.
const NAME_WIDTH_MAX: f64 = 220.0;

/// Marks each site within the frame, whose corner lies at `origin`. A site has the colour of the
/// category of its name. Names, if wanted, are placed in the order of the sites and outside the
/// areas of `obstacles`; a name without a free position is left out.
pub(super) fn draw(
    canvas: &mut Canvas,
    origin: Point,
    frame: GridGeometry,
    sites: &[Site],
    style: &Style,
    obstacles: Option<Vec<Rect>>,
) {
    let bounds = Rect { corner: origin, size: [f64::from(frame.cols), f64::from(frame.rows)] };
    let position = |site: &Site| {
        let [x, y] = frame.at(site.lat_deg, site.lon_deg);
        let inside = (0.0..=bounds.size[0]).contains(&x) && (0.0..=bounds.size[1]).contains(&y);
        inside.then_some([x + origin[0], y + origin[1]])
    };
    let placed: Vec<_> =
        sites.iter().filter_map(|site| position(site).map(|at| (site, at))).collect();
    let radius = if obstacles.is_some() { 6.0 } else { 3.6 };
    for (site, at) in &placed {
        mark(canvas, *at, radius, style.colour_of(&site.name));
    }
    let Some(mut obstacles) = obstacles else { return };
    obstacles.extend(placed.iter().map(|(_, at)| Rect::around(*at, radius + 2.0)));
    for (site, at) in &placed {
        let name = NAME.fit(&site.name, NAME_WIDTH_MAX);
        let candidates = candidates(*at, radius, NAME.width(&name));
        let is_free = |(area, ..): &&(Rect, Point, Anchor)| {
            area.is_within(&bounds) && !obstacles.iter().any(|other| other.overlaps(area))
        };
        if let Some(&(area, baseline, anchor)) = candidates.iter().find(is_free) {
            canvas.text("name", baseline, NAME.anchored(anchor), &name);
            obstacles.push(area);
        }
    }
}

/// Draws a site: a dark dot in a disc of its colour within light and dark rings, visible on any
/// background.
pub(super) fn mark(canvas: &mut Canvas, at: Point, radius: f64, colour: Option<Rgba>) {
    let [r, g, b, _] = colour.unwrap_or(paper::INK);
    for (radius, colour) in [
        (radius + 2.4, paper::PAGE),
        (radius + 1.2, paper::INK),
        (radius, paper::PAGE),
        (radius * 0.75, [r, g, b, 255]),
        (radius * 0.35, paper::INK),
    ] {
        canvas.circle("site", at, radius, &paper::fill(colour));
    }
}

/// Areas, baselines and alignments of a name around its mark, the best first: right, left, above,
/// below, then the corners.
fn candidates([x, y]: Point, radius: f64, width: f64) -> Vec<(Rect, Point, Anchor)> {
    let gap = radius + 6.0;
    let rows = [y + 5.0, y - gap, y + gap + 11.0];
    let order = [
        (Anchor::Start, 0),
        (Anchor::End, 0),
        (Anchor::Middle, 1),
        (Anchor::Middle, 2),
        (Anchor::Start, 1),
        (Anchor::Start, 2),
        (Anchor::End, 1),
        (Anchor::End, 2),
    ];
    let candidate = |(anchor, row): (Anchor, usize)| {
        let (baseline, left) = match anchor {
            Anchor::Start => (x + gap, x + gap),
            Anchor::Middle => (x, x - width / 2.0),
            Anchor::End => (x - gap, x - gap - width),
        };
        let area = Rect { corner: [left - 2.0, rows[row] - 12.0], size: [width + 4.0, 16.0] };
        (area, [baseline, rows[row]], anchor)
    };
    order.into_iter().map(candidate).collect()
}
