//! Map of a testbed: nodes, links, and predicted and measured values of each link.

use groundwave_raster::scene::svg::{Anchor, Canvas, Font, Point};

use super::Theme;
use super::text::prefixed;

/// Size of the picture, px.
const SIZE: Point = [1200.0, 860.0];
/// Margin around the map for names and values, px.
const MARGIN: f64 = 120.0;
/// Height of the title, px.
const HEAD: f64 = 70.0;
/// Relative deviation of a measurement that is highlighted.
const DEVIATION_MAX: f64 = 0.2;

/// A node.
#[derive(Debug, Clone, PartialEq)]
pub struct Mark {
    /// Name.
    pub name: String,
    /// Degrees north.
    pub lat_deg: f64,
    /// Degrees east.
    pub lon_deg: f64,
    /// True while operating.
    pub runs: bool,
}

/// A direction of a link.
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Transmitter.
    pub from: String,
    /// Receiver.
    pub to: String,
    /// True while the link is up.
    pub up: bool,
    /// True if there is terrain data along the whole link.
    pub has_terrain: bool,
    /// Predicted rate, bit/s.
    pub rate_bps: f64,
    /// Measured rate, bit/s.
    pub measured_bps: Option<f64>,
    /// Predicted round-trip time, ms.
    pub round_trip_ms: Option<f64>,
    /// Measured round-trip time, ms.
    pub measured_ms: Option<f64>,
    /// Predicted round-trip loss, [0, 1].
    pub loss_prob: Option<f64>,
    /// Measured round-trip loss, [0, 1].
    pub measured_loss_prob: Option<f64>,
}

/// Content of the picture.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// Title, one line.
    pub title: String,
    /// Nodes.
    pub marks: Vec<Mark>,
    /// Directions of links; the first of the two of a link is labelled.
    pub sides: Vec<Side>,
}

/// The picture as SVG text.
#[must_use]
pub fn testbed_svg(picture: &Picture) -> String {
    let palette = Theme::Light.palette();
    let desc = "Nodes at their positions; predicted / measured values at each link.";
    let mut canvas = Canvas::new(SIZE, &picture.title, desc);
    canvas.rect("page", [0.0, 0.0], SIZE, &format!("fill=\"{}\"", palette.page));
    let title = Font::plain(20.0, palette.ink).bold();
    canvas.text("title", [24.0, 36.0], title, &title.fit(&picture.title, SIZE[0] - 48.0));
    let soft = Font::plain(13.0, palette.ink_soft);
    canvas.text("subtitle", [24.0, 58.0], soft, desc);
    let place = projection(&picture.marks);
    let at = |name: &str| picture.marks.iter().find(|mark| mark.name == name).map(&place);
    let mut drawn: Vec<(&str, &str)> = Vec::new();
    for side in &picture.sides {
        let (Some(from), Some(to)) = (at(&side.from), at(&side.to)) else {
            continue;
        };
        if drawn.contains(&(side.to.as_str(), side.from.as_str())) {
            continue;
        }
        drawn.push((&side.from, &side.to));
        let (colour, dashes) = match (side.up, side.has_terrain) {
            (true, true) => (palette.ink_soft, ""),
            (true, false) => (palette.intrusion, " stroke-dasharray=\"9 4 2 4\""),
            (false, _) => (palette.grid, " stroke-dasharray=\"4 6\""),
        };
        let style = format!("stroke=\"{colour}\" stroke-width=\"1.5\"{dashes}");
        canvas.line("link", from, to, &style);
        if side.up {
            figures(&mut canvas, beside(from, to), side);
        }
    }
    for mark in &picture.marks {
        let centre = place(mark);
        let fill = if mark.runs { palette.ink } else { palette.page };
        let style = format!("fill=\"{fill}\" stroke=\"{}\" stroke-width=\"2\"", palette.ink);
        canvas.circle("node", centre, 7.0, &style);
        let font = Font::plain(14.0, palette.ink).bold().over(palette.page);
        let name = if mark.runs { mark.name.clone() } else { format!("{} (failed)", mark.name) };
        canvas.text("name", [centre[0], centre[1] - 13.0], font.anchored(Anchor::Middle), &name);
    }
    canvas.finish()
}

/// Position of the values of a link: its middle, or outside a link too short for them.
fn beside(from: Point, to: Point) -> Point {
    const SHORT: f64 = 160.0;
    const OUT: f64 = 70.0;
    let middle = [(from[0] + to[0]) / 2.0, (from[1] + to[1]) / 2.0];
    if (from[0] - to[0]).hypot(from[1] - to[1]) >= SHORT {
        return middle;
    }
    let outward = [middle[0] - SIZE[0] / 2.0, middle[1] - (HEAD + SIZE[1]) / 2.0];
    let length = outward[0].hypot(outward[1]).max(1.0);
    [middle[0] + outward[0] / length * OUT, middle[1] + outward[1] / length * OUT]
}

/// Draws predicted and measured values in lines around a point.
fn figures(canvas: &mut Canvas, at: Point, side: &Side) {
    let palette = Theme::Light.palette();
    let pairs = [
        (Some(side.rate_bps), side.measured_bps, 0.0, "bit/s"),
        (side.round_trip_ms, side.measured_ms, 1.0, "ms"),
        (
            side.loss_prob.map(|loss| loss * 100.0),
            side.measured_loss_prob.map(|loss| loss * 100.0),
            5.0,
            "% lost",
        ),
    ];
    let mut row = at[1] - 8.0;
    if !side.has_terrain {
        let fill = palette.intrusion;
        let font = Font::plain(11.0, fill).bold().over(palette.page);
        let place = [at[0], row - 13.0];
        canvas.text("no-terrain", place, font.anchored(Anchor::Middle), "no terrain data");
    }
    for (predicted, measured, floor, unit) in pairs {
        let Some(predicted) = predicted else { continue };
        let written = |value: f64| match unit {
            "% lost" => format!("{value:.1} % lost"),
            "ms" => format!("{value:.2} ms"),
            unit => prefixed(value, unit),
        };
        let font = Font::plain(11.0, palette.ink).over(palette.page);
        let far =
            |measured: f64| (measured - predicted).abs() > (DEVIATION_MAX * predicted).max(floor);
        let text = match measured {
            Some(measured) => format!("{} / {}", written(predicted), written(measured)),
            None => written(predicted),
        };
        let font = match measured {
            Some(measured) if far(measured) => Font { fill: palette.intrusion, ..font }.bold(),
            _ => font,
        };
        canvas.text("figure", [at[0], row], font.anchored(Anchor::Middle), &text);
        row += 13.0;
    }
}

/// Projection to the canvas, north up, equirectangular.
fn projection(marks: &[Mark]) -> impl Fn(&Mark) -> Point + use<> {
    let bounds = |of: fn(&Mark) -> f64| {
        let low = marks.iter().map(of).fold(f64::INFINITY, f64::min);
        let high = marks.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        if low <= high { [low, high] } else { [0.0, 0.0] }
    };
    let [south, north] = bounds(|mark| mark.lat_deg);
    let [west, east] = bounds(|mark| mark.lon_deg);
    let shrink = ((south + north) / 2.0).to_radians().cos();
    let space = [SIZE[0] - 2.0 * MARGIN, SIZE[1] - HEAD - 2.0 * MARGIN];
    let span = [(east - west) * shrink, north - south];
    // A single node, or a row of them, has no span.
    let scale = (space[0] / span[0].max(1e-9)).min(space[1] / span[1].max(1e-9)).min(1e7);
    let centre = [(west + east) / 2.0, (south + north) / 2.0];
    move |mark| {
        [
            SIZE[0] / 2.0 + (mark.lon_deg - centre[0]) * shrink * scale,
            HEAD + (SIZE[1] - HEAD) / 2.0 - (mark.lat_deg - centre[1]) * scale,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture() -> Picture {
        let mark = |name: &str, lat_deg, lon_deg, runs| Mark {
            name: name.to_owned(),
            lat_deg,
            lon_deg,
            runs,
        };
        let side = |from: &str, to: &str, up| Side {
            from: from.to_owned(),
            to: to.to_owned(),
            up,
            has_terrain: true,
            rate_bps: 7.8e6,
            measured_bps: Some(4e6),
            round_trip_ms: Some(0.4),
            measured_ms: Some(0.5),
            loss_prob: Some(0.0),
            measured_loss_prob: None,
        };
        Picture {
            title: "testbed <ridge>".to_owned(),
            marks: vec![mark("a", 57.0, 11.0, true), mark("b", 57.1, 11.0, false)],
            sides: vec![side("a", "b", true), side("b", "a", true)],
        }
    }

    #[test]
    fn each_link_is_drawn_once_with_its_figures() {
        let svg = testbed_svg(&picture());
        assert_eq!(svg.matches("class=\"link\"").count(), 1);
        assert!(svg.contains("7.8 Mbit/s / 4 Mbit/s"), "{svg}");
        assert!(svg.contains("b (failed)") && svg.contains("&lt;ridge&gt;"));
        // North is up.
        let at = |name: &str| {
            let end = svg.find(&format!(">{name}<")).unwrap();
            let y = svg[..end].rfind("y=\"").unwrap() + 3;
            svg[y..].split('"').next().unwrap().parse::<f64>().unwrap()
        };
        assert!(at("a") > at("b (failed)"));
    }

    #[test]
    fn links_without_terrain_data_say_so() {
        assert!(!testbed_svg(&picture()).contains("no terrain data"));
        let mut blind = picture();
        for side in &mut blind.sides {
            side.has_terrain = false;
        }
        assert_eq!(testbed_svg(&blind).matches("no terrain data").count(), 1);
    }

    #[test]
    fn empty_testbeds_can_be_drawn() {
        let mut alone = picture();
        alone.marks.truncate(1);
        assert!(!testbed_svg(&alone).contains("class=\"link\""));
        alone.marks.clear();
        assert!(!testbed_svg(&alone).contains("NaN"));
    }
}
