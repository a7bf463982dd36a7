//! Masts, the point of least clearance and the radio horizons, with labels.

use groundwave_model::radio::LinkResult;
use groundwave_model::radio::fresnel::CLEAR_RATIO;
use groundwave_raster::scene::labels::{Placer, Rect};
use groundwave_raster::scene::svg::{Anchor, Canvas, Font, Point};

use super::scene::{BOTTOM, LEFT, RIGHT, Scene, TOP, Tightest};
use super::text;
use super::theme::Palette;

/// Baselines of the name of a mast and of the line below it, px.
const NAME_Y: f64 = 146.0;
const HEIGHTS_Y: f64 = 163.0;

/// Size of labels within the drawing and height of a line of them, px.
const LABEL_SIZE: f64 = 12.0;
const LINE_HEIGHT: f64 = 16.0;

/// Both masts, each with its name and heights above the drawing and a line down from there.
pub(super) fn masts(
    canvas: &mut Canvas,
    scene: &Scene,
    result: &LinkResult,
    names: [&str; 2],
    palette: &Palette,
) {
    let together = scene.distance_m <= 0.0;
    let ground_m = [result.geometry.tx_ground_msl_m, result.geometry.rx_ground_msl_m];
    let geometry = &result.geometry;
    let azimuth_deg = [geometry.azimuth_deg, geometry.back_azimuth_deg];
    let elevation_deg = [geometry.tx_elevation_angle_deg, geometry.rx_elevation_angle_deg];
    let ends = [scene.ground[0], scene.ground[scene.ground.len() - 1]];
    for (i, end) in ends.into_iter().enumerate() {
        let x = scene.x(end.along_m);
        let (base, top) = (scene.y(end.up_m), scene.y(scene.antenna_m[i]));
        let lead =
            format!("stroke=\"{}\" stroke-width=\"1\" stroke-dasharray=\"1 3\"", palette.ink_soft);
        canvas.line("leader", [x, HEIGHTS_Y + 6.0], [x, top], &lead);
        let pole =
            format!("stroke=\"{}\" stroke-width=\"3.5\" stroke-linecap=\"round\"", palette.ink);
        canvas.line("mast", [x, base], [x, top], &pole);
        let dot =
            format!("fill=\"{}\" stroke=\"{}\" stroke-width=\"2.5\"", palette.page, palette.ink);
        canvas.circle("antenna", [x, top], 5.0, &dot);
        // Labels of two masts at one position extend away from each other.
        let (anchor, nudge) = match (i == 0, together) {
            (true, false) => (Anchor::Start, -5.0),
            (false, false) => (Anchor::End, 5.0),
            (true, true) => (Anchor::End, -10.0),
            (false, true) => (Anchor::Start, 10.0),
        };
        let room = (RIGHT - LEFT) / 2.0 - 24.0;
        let name = Font::plain(15.0, palette.ink).bold().anchored(anchor);
        let small = Font::plain(LABEL_SIZE, palette.ink_soft).anchored(anchor);
        let aim = format!(
            "bearing {}°, tilt {}°",
            text::number(azimuth_deg[i], 1),
            text::signed(elevation_deg[i], 2)
        );
        let label = name.fit(names[i], room - small.width(&aim) - name.size);
        canvas.text_with_aside("name", [x + nudge, NAME_Y], (name, &label), (small, &aim));
        let heights = format!(
            "antenna {} MSL · ground {} · mast {}",
            text::metres(scene.antenna_m[i]),
            text::metres(ground_m[i]),
            text::metres(scene.antenna_m[i] - ground_m[i])
        );
        let heights = small.fit(&heights, room);
        canvas.text("heights", [x + nudge, HEIGHTS_Y], small, &heights);
    }
}

/// Draws the point of least clearance and the horizons, labelled where possible; coinciding horizons
/// share a label.
pub(super) fn spots(
    canvas: &mut Canvas,
    scene: &Scene,
    result: &LinkResult,
    names: [&str; 2],
    palette: &Palette,
) {
    let mut placer = placer(scene);
    let font = Font::plain(LABEL_SIZE, palette.ink);
    let distances =
        result.itm.as_ref().map_or([0.0; 2], |itm| itm.horizon_distance_m).map(text::distance);
    let mut horizons: Vec<(Point, (Font, String))> = Vec::new();
    for (i, [along_m, up_m]) in scene.horizons.into_iter().flatten().enumerate() {
        let at = scene.at(along_m, up_m);
        let label = format!("horizon of {}, {}", font.fit(names[i], 110.0), distances[i]);
        match horizons.last_mut().filter(|(other, _)| near(*other, at)) {
            Some((_, (_, both))) => {
                *both = format!("horizon of both, {} and {}", distances[0], distances[1]);
            }
            None => horizons.push((at, (font, label))),
        }
    }
    let style =
        format!("fill=\"{}\" stroke=\"{}\" stroke-width=\"1.6\"", palette.page, palette.ink);
    for (at, _) in &horizons {
        canvas.circle("horizon", *at, 3.6, &style);
    }
    if let Some(tightest) = scene.tightest {
        let at = tightest_mark(canvas, scene, &tightest, palette);
        let mut lines = tightest_lines(scene, &tightest, palette);
        if let Some(i) = horizons.iter().position(|(horizon, _)| near(*horizon, at)) {
            lines.push(horizons.remove(i).1);
        }
        let below = scene.ray_m(tightest.along_m) > scene.place(&tightest)[1];
        draw_label(canvas, &mut placer, at, &lines, !below, palette);
    }
    for (at, line) in &horizons {
        draw_label(canvas, &mut placer, *at, std::slice::from_ref(line), false, palette);
    }
}

/// True for overlapping marks.
fn near(a: Point, b: Point) -> bool {
    (a[0] - b[0]).hypot(a[1] - b[1]) < 5.0
}

/// Knows the frame and the lines in it.
fn placer(scene: &Scene) -> Placer {
    let margin = 8.0;
    let corner = [LEFT + margin, TOP + 4.0];
    let size = [RIGHT - LEFT - 2.0 * margin, BOTTOM - TOP - 8.0];
    let mut placer = Placer::new(Rect { corner, size });
    let ray = [0.0, scene.distance_m].map(|along_m| scene.at(along_m, scene.ray_m(along_m)));
    placer.avoid(3, ray.to_vec());
    placer.avoid(2, scene.surface());
    for share in [1.0, CLEAR_RATIO, -CLEAR_RATIO, -1.0] {
        placer.avoid(1, scene.zone_edge(share));
    }
    if let Some(crossing) = scene.horizon_crossing() {
        let [tx, rx] = scene.antenna_m;
        let over = scene.at(crossing[0], crossing[1]);
        placer.avoid(1, vec![scene.at(0.0, tx), over, scene.at(scene.distance_m, rx)]);
    }
    for (along_m, antenna_m) in [0.0, scene.distance_m].into_iter().zip(scene.antenna_m) {
        let [x, y] = scene.at(along_m, antenna_m);
        placer.take(Rect { corner: [x - 10.0, y - 10.0], size: [20.0, 20.0] });
    }
    if let Some(tightest) = scene.tightest {
        let [along_m, up_m] = scene.place(&tightest);
        let [x, y] = scene.at(along_m, up_m);
        placer.avoid(1, vec![[x, y], scene.at(along_m, scene.ray_m(along_m))]);
        placer.take(Rect { corner: [x - 8.0, y - 8.0], size: [16.0, 16.0] });
    }
    for [along_m, up_m] in scene.horizons.into_iter().flatten() {
        let [x, y] = scene.at(along_m, up_m);
        placer.take(Rect { corner: [x - 5.0, y - 5.0], size: [10.0, 10.0] });
    }
    placer
}

/// Draws a diamond on the ground and a line from it to the ray; returns its position.
fn tightest_mark(
    canvas: &mut Canvas,
    scene: &Scene,
    tightest: &Tightest,
    palette: &Palette,
) -> Point {
    let [along_m, up_m] = scene.place(tightest);
    let at = scene.at(along_m, up_m);
    let (class, colour) = if tightest.obstructs {
        ("obstruction", palette.intrusion)
    } else {
        ("tightest", palette.ink_soft)
    };
    let drop = format!("stroke=\"{}\" stroke-width=\"1.4\"", palette.ink);
    canvas.line("clearance", at, scene.at(along_m, scene.ray_m(along_m)), &drop);
    let [x, y] = at;
    let diamond = [[x, y - 6.5], [x + 6.5, y], [x, y + 6.5], [x - 6.5, y]];
    let style = format!("fill=\"{colour}\" stroke=\"{}\" stroke-width=\"1.5\"", palette.page);
    canvas.polygon(class, &diamond, &style);
    at
}

/// Label of the point of least clearance.
fn tightest_lines(scene: &Scene, tightest: &Tightest, palette: &Palette) -> Vec<(Font, String)> {
    let clearance_m = scene.ray_m(tightest.along_m) - scene.place(tightest)[1];
    let word = if tightest.obstructs { "obstruction" } else { "tightest point" };
    let side = if clearance_m < 0.0 { "above" } else { "below" };
    let ratio = text::number(tightest.ratio, 2);
    let height = text::metres(tightest.msl_m);
    let depth = text::metres(clearance_m.abs());
    vec![
        (
            Font::plain(13.0, palette.ink).bold(),
            format!("{word} {ratio} F1 at {}", text::distance(tightest.along_m)),
        ),
        (
            Font::plain(LABEL_SIZE, palette.ink),
            format!("ground {height} MSL, {depth} {side} the ray"),
        ),
    ]
}

/// Draws lines of text near `mark`, with a leader line if apart; nothing without a free position.
fn draw_label(
    canvas: &mut Canvas,
    placer: &mut Placer,
    mark: Point,
    lines: &[(Font, String)],
    above_first: bool,
    palette: &Palette,
) {
    let width = lines.iter().map(|(font, line)| font.width(line)).fold(0.0, f64::max);
    let size = [width + 6.0, LINE_HEIGHT * lines.len() as f64 + 4.0];
    let Some(rect) = placer.place(mark, size, above_first) else {
        return;
    };
    let [left, top] = rect.corner;
    let bottom = top + size[1];
    let edge = if bottom < mark[1] { bottom } else { top };
    let x = mark[0].clamp(left + 4.0, left + size[0] - 4.0);
    if (edge - mark[1]).hypot(x - mark[0]) > 20.0 {
        let style = format!("stroke=\"{}\" stroke-width=\"0.8\"", palette.ink_soft);
        canvas.line("leader", mark, [x, edge], &style);
    }
    // Aligned to the mark: narrower fonts leave a gap on the far side.
    let (anchor, x) = match mark[0] {
        x if x < left + size[0] * 0.3 => (Anchor::Start, left + 3.0),
        x if x > left + size[0] * 0.7 => (Anchor::End, left + size[0] - 3.0),
        _ => (Anchor::Middle, left + size[0] / 2.0),
    };
    for (i, (font, line)) in lines.iter().enumerate() {
        let y = top + LINE_HEIGHT * (i as f64 + 1.0) - 2.0;
        canvas.text("label", [x, y], font.anchored(anchor).over(palette.page), line);
    }
}
