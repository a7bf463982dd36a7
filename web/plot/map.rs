//! Map of a mesh: nodes, and links by margin.

use groundwave_raster::scene::svg::{Anchor, Canvas, Font, Point};
use groundwave_simulation::WorldView;
use groundwave_simulation::link::LinkView;

use super::theme::Theme;

/// Content of the picture.
#[derive(Debug, Clone, Copy)]
pub struct MapPicture<'a> {
    /// The mesh.
    pub now: &'a WorldView,
}

const SIZE: Point = [900.0, 560.0];
const MARGIN: f64 = 50.0;
/// Most nodes with names.
const NAMES_MAX: usize = 60;

/// Draws the map as SVG, north up, equirectangular.
#[must_use]
pub fn map_svg(picture: &MapPicture<'_>) -> String {
    let now = picture.now;
    let mut canvas = Canvas::new(SIZE, "Map of the mesh", "Nodes and the links between them");
    let palette = Theme::Light.palette();
    let page = format!("fill=\"{}\"", palette.panel);
    canvas.rect("page", [0.0, 0.0], SIZE, &page);
    let at = projection(now);
    for link in now.links.iter() {
        let (Some(a), Some(b)) = (now.node(link.a), now.node(link.b)) else {
            continue;
        };
        let Some(style) = style(link, a.operating && b.operating) else {
            continue;
        };
        let ends = [a, b].map(|node| at(node.position.lat_deg(), node.position.lon_deg()));
        canvas.line("link", ends[0], ends[1], &style);
    }
    for node in now.nodes.iter() {
        let place = at(node.position.lat_deg(), node.position.lon_deg());
        let fill = if node.operating { "#0072b2" } else { "#d55e00" };
        let style = format!("fill=\"{fill}\" stroke=\"#ffffff\"");
        canvas.circle("node", place, 5.0, &style);
        if now.nodes.len() <= NAMES_MAX {
            let font = Font::plain(11.0, palette.ink).over(palette.panel).anchored(Anchor::Middle);
            canvas.text("name", [place[0], place[1] - 9.0], font, &node.name);
        }
    }
    let soft = Font::plain(11.0, palette.ink_soft);
    let key = "lines: links usable both ways, thicker with more margin; dashed: admin down; orange: node down";
    canvas.text("key", [10.0, SIZE[1] - 10.0], soft, key);
    canvas.finish()
}

fn style(link: &LinkView, up: bool) -> Option<String> {
    let budget = &link.budget;
    let margin = budget.forward.link_margin_db.min(budget.backward.link_margin_db);
    budget.etx()?;
    if link.severed {
        return Some("stroke=\"#d55e00\" stroke-dasharray=\"4 4\"".to_owned());
    }
    let colour = if up { "#5a6675" } else { "#d5dce3" };
    let width = (0.5 + margin.clamp(0.0, 30.0) / 12.0).min(3.0);
    Some(format!("stroke=\"{colour}\" stroke-width=\"{width:.1}\""))
}

/// Projection from degrees to px.
fn projection(now: &WorldView) -> impl Fn(f64, f64) -> Point {
    let first = now
        .nodes
        .first()
        .map_or([0.0; 2], |node| [node.position.lat_deg(), node.position.lon_deg()]);
    // East of the first node, so that a mesh across the antimeridian stays in one piece.
    let east = move |lon: f64| (lon - first[1] + 540.0).rem_euclid(360.0) - 180.0;
    let narrow = first[0].to_radians().cos().max(0.01);
    let mut low = [f64::INFINITY; 2];
    let mut high = [f64::NEG_INFINITY; 2];
    for node in now.nodes.iter() {
        let plain = [east(node.position.lon_deg()) * narrow, node.position.lat_deg()];
        for axis in 0..2 {
            low[axis] = low[axis].min(plain[axis]);
            high[axis] = high[axis].max(plain[axis]);
        }
    }
    let space = [SIZE[0] - 2.0 * MARGIN, SIZE[1] - 2.0 * MARGIN];
    let scale = (0..2)
        .map(|axis| space[axis] / (high[axis] - low[axis]).max(1e-4))
        .fold(f64::INFINITY, f64::min);
    let middle = [(low[0] + high[0]) / 2.0, (low[1] + high[1]) / 2.0];
    move |lat, lon| {
        [
            SIZE[0] / 2.0 + (east(lon) * narrow - middle[0]) * scale,
            SIZE[1] / 2.0 - (lat - middle[1]) * scale,
        ]
    }
}
