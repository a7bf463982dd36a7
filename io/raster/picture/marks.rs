//! Sites on a map, with their names where they fit.

use super::super::geometry::GridGeometry;
use super::super::site::{Sector, Site};
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
    let (radius, reach) = if obstacles.is_some() { (6.0, 30.0) } else { (3.6, 15.0) };
    for (site, at) in &placed {
        if let Some(sector) = site.sector {
            wedge(canvas, *at, reach, sector, style.colour_of(site.label()));
        }
    }
    // Over all wedges, so that masts with several antennas keep their mark.
    for (site, at) in &placed {
        match site.sector {
            Some(_) => mast(canvas, *at, radius * 0.5),
            None => mark(canvas, *at, radius, style.colour_of(site.label())),
        }
    }
    let Some(mut obstacles) = obstacles else { return };
    for (site, at) in &placed {
        obstacles.push(Rect::around(*at, radius + 2.0));
        if let Some(sector) = site.sector {
            let [right, down] = heading(sector.azimuth_deg);
            let middle = [at[0] + right * reach * 0.55, at[1] + down * reach * 0.55];
            obstacles.push(Rect::around(middle, reach * 0.36));
        }
    }
    for (site, at) in &placed {
        let name = NAME.fit(site.label(), NAME_WIDTH_MAX);
        let width = NAME.width(&name);
        let at_tip = site.sector.map(|sector| beyond(*at, reach + 12.0, sector, width));
        let candidates = at_tip.into_iter().chain(candidates(*at, radius, width));
        let is_free = |(area, ..): &(Rect, Point, Anchor)| {
            area.is_within(&bounds) && !obstacles.iter().any(|other| other.overlaps(area))
        };
        if let Some((area, baseline, anchor)) = { candidates }.find(is_free) {
            canvas.text("name", baseline, NAME.anchored(anchor), &name);
            obstacles.push(area);
        }
    }
}

/// Right and down along an azimuth, of length 1.
fn heading(azimuth_deg: f64) -> Point {
    let (sin, cos) = azimuth_deg.to_radians().sin_cos();
    [sin, -cos]
}

/// Area, baseline and alignment of a name beyond the tip of a wedge.
fn beyond([x, y]: Point, reach: f64, sector: Sector, width: f64) -> (Rect, Point, Anchor) {
    let [right, down] = heading(sector.azimuth_deg);
    let tip = [x + right * reach, y + down * reach + 5.0];
    let (anchor, start) = if right > 0.4 {
        (Anchor::Start, tip[0])
    } else if right < -0.4 {
        (Anchor::End, tip[0] - width)
    } else {
        (Anchor::Middle, tip[0] - width / 2.0)
    };
    let area = Rect { corner: [start - 2.0, tip[1] - 12.0], size: [width + 4.0, 16.0] };
    (area, tip, anchor)
}

/// Draws the line of a threshold, light along a dark core, visible on any background; `width` is relative.
pub(super) fn threshold(canvas: &mut Canvas, points: &[Point], width: f64) {
    for (colour, stroke) in [(paper::PAGE_SVG, 3.2), (paper::INK_SVG, 1.4)] {
        let stroke = stroke * width;
        let style =
            format!("stroke=\"{colour}\" stroke-width=\"{stroke:.1}\" stroke-linejoin=\"round\"");
        canvas.polyline("threshold", points, &style);
    }
}

/// Narrowest wedge, degrees: narrower lobes are drawn as wide as this.
const WEDGE_MIN_DEG: f64 = 14.0;

/// Fill of a wedge on maps where sites have no colours: what lies below stays visible.
const FAINT_INK: Rgba = [27, 36, 48, 110];

/// Draws the main lobe of an antenna as a wedge from its mast, `reach` px long, in the colour of its site.
pub(super) fn wedge(
    canvas: &mut Canvas,
    [x, y]: Point,
    reach: f64,
    sector: Sector,
    colour: Option<Rgba>,
) {
    let width_deg = sector.beamwidth_deg.clamp(WEDGE_MIN_DEG, 350.0);
    let steps = (width_deg / 5.0).ceil();
    let rim = (0..=steps as u32).map(|step| {
        let share = f64::from(step) / steps - 0.5;
        let [right, down] = heading(sector.azimuth_deg + share * width_deg);
        [x + right * reach, y + down * reach]
    });
    let mut outline: Vec<Point> = std::iter::once([x, y]).chain(rim).collect();
    outline.push([x, y]);
    let (page, ink) = (paper::PAGE_SVG, paper::INK_SVG);
    let halo = format!("stroke=\"{page}\" stroke-width=\"4\" stroke-linejoin=\"round\"");
    canvas.polyline("sector", &outline, &halo);
    let fill = paper::fill(colour.map_or(FAINT_INK, paper::on_land));
    let style = format!("{fill} stroke=\"{ink}\" stroke-width=\"1.4\" stroke-linejoin=\"round\"");
    canvas.polygon("sector", &outline, &style);
}

/// Draws the mast of a directive antenna: a dark dot with a light rim.
fn mast(canvas: &mut Canvas, at: Point, radius: f64) {
    canvas.circle("site", at, radius + 1.2, &paper::fill(paper::PAGE));
    canvas.circle("site", at, radius, &paper::fill(paper::INK));
}

/// Draws a site: a dark dot in a disc of its colour within light and dark rings, visible on any
/// background.
pub(super) fn mark(canvas: &mut Canvas, at: Point, radius: f64, colour: Option<Rgba>) {
    let [r, g, b, _] = colour.map_or(paper::INK, paper::on_land);
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
