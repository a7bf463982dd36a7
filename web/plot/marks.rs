//! Masts, the tightest place and the radio horizons, with their labels.

use groundwave_systems::radio::LinkResult;

use super::labels::{Placer, Rect};
use super::scene::{BOTTOM, LEFT, RIGHT, Scene, TOP, Tightest};
use super::svg::{Anchor, Canvas, Font, Point};
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
    let ends = [scene.ground[0], scene.ground[scene.ground.len() - 1]];
    for (i, end) in ends.into_iter().enumerate() {
        let x = scene.x(end.along_m);
        let (base, top) = (scene.y(end.up_m), scene.y(scene.antenna_m[i]));
        let lead = format!(
            "stroke=\"{}\" stroke-width=\"1\" stroke-dasharray=\"1 3\"",
            palette.ink_soft
        );
        canvas.line("leader", [x, HEIGHTS_Y + 6.0], [x, top], &lead);
        let pole = format!(
            "stroke=\"{}\" stroke-width=\"3.5\" stroke-linecap=\"round\"",
            palette.ink
        );
        canvas.line("mast", [x, base], [x, top], &pole);
        let dot = format!(
            "fill=\"{}\" stroke=\"{}\" stroke-width=\"2.5\"",
            palette.page, palette.ink
        );
        canvas.circle("antenna", [x, top], 5.0, &dot);
        // Texts of two masts in one place turn their backs to each other.
        let (anchor, nudge) = match (i == 0, together) {
            (true, false) => (Anchor::Start, -5.0),
            (false, false) => (Anchor::End, 5.0),
            (true, true) => (Anchor::End, -10.0),
            (false, true) => (Anchor::Start, 10.0),
        };
        let room = (RIGHT - LEFT) / 2.0 - 24.0;
        let name = Font::plain(15.0, palette.ink).bold().anchored(anchor);
        canvas.text("name", [x + nudge, NAME_Y], name, &name.fit(names[i], room));
        let small = Font::plain(LABEL_SIZE, palette.ink_soft).anchored(anchor);
        let heights = format!(
            "antenna {} MSL · ground {} · mast {}",
            text::metres(scene.antenna_m[i]),
            text::metres(ground_m[i]),
            text::metres(scene.antenna_m[i] - ground_m[i])
        );
        canvas.text("heights", [x + nudge, HEIGHTS_Y], small, &small.fit(&heights, room));
    }
}

/// The tightest place and the horizons, labelled where there is room.
pub(super) fn spots(canvas: &mut Canvas, scene: &Scene, result: &LinkResult, palette: &Palette) {
    let mut placer = placer(scene);
    if let Some(tightest) = scene.tightest {
        tightest_mark(canvas, &mut placer, scene, &tightest, palette);
    }
    let Some(horizons) = scene.horizons else {
        return;
    };
    let distances_m = result.itm.as_ref().map_or([0.0; 2], |itm| itm.horizon_distance_m);
    let style = format!(
        "fill=\"{}\" stroke=\"{}\" stroke-width=\"1.6\"",
        palette.page, palette.ink
    );
    for (i, [along_m, up_m]) in horizons.into_iter().enumerate() {
        let at = scene.at(along_m, up_m);
        canvas.circle("horizon", at, 3.6, &style);
        let end = ["left", "right"][i];
        let label = format!("horizon {} from {end}", text::distance(distances_m[i]));
        let font = Font::plain(LABEL_SIZE, palette.ink);
        draw_label(canvas, &mut placer, at, &[(font, label)], false, palette);
    }
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
        let [x, y] = spot(scene, &tightest);
        placer.take(Rect { corner: [x - 8.0, y - 8.0], size: [16.0, 16.0] });
    }
    for [along_m, up_m] in scene.horizons.into_iter().flatten() {
        let [x, y] = scene.at(along_m, up_m);
        placer.take(Rect { corner: [x - 5.0, y - 5.0], size: [10.0, 10.0] });
    }
    placer
}

fn spot(scene: &Scene, tightest: &Tightest) -> Point {
    scene.at(tightest.along_m, tightest.msl_m + scene.bulge_m(tightest.along_m))
}

/// A diamond on the ground, a line from there to the ray, and by how much it is clear.
fn tightest_mark(
    canvas: &mut Canvas,
    placer: &mut Placer,
    scene: &Scene,
    tightest: &Tightest,
    palette: &Palette,
) {
    let at = spot(scene, tightest);
    let ray_m = scene.ray_m(tightest.along_m);
    let clearance_m = ray_m - tightest.msl_m - scene.bulge_m(tightest.along_m);
    let (class, colour, word) = if tightest.obstructs {
        ("obstruction", palette.intrusion, "obstruction")
    } else {
        ("tightest", palette.ink_soft, "tightest point")
    };
    let drop = format!("stroke=\"{}\" stroke-width=\"1.4\"", palette.ink);
    canvas.line("clearance", at, [at[0], scene.y(ray_m)], &drop);
    let [x, y] = at;
    let diamond = [[x, y - 6.5], [x + 6.5, y], [x, y + 6.5], [x - 6.5, y]];
    let style = format!("fill=\"{colour}\" stroke=\"{}\" stroke-width=\"1.5\"", palette.page);
    canvas.polygon(class, &diamond, &style);
    let side = if clearance_m < 0.0 { "above" } else { "below" };
    let bold = Font::plain(13.0, palette.ink).bold();
    let plain = Font::plain(LABEL_SIZE, palette.ink);
    let lines = [
        (
            bold,
            format!(
                "{word} {} F1 at {}",
                text::number(tightest.ratio, 2),
                text::distance(tightest.along_m)
            ),
        ),
        (
            plain,
            format!(
                "ground {} MSL, {} {side} the ray",
                text::metres(tightest.msl_m),
                text::metres(clearance_m.abs())
            ),
        ),
    ];
    draw_label(canvas, placer, at, &lines, clearance_m < 0.0, palette);
}

/// Lines of text near `mark`, with a line to it where they stand apart; nothing without room.
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
    if (edge - mark[1]).abs() > 20.0 {
        let x = mark[0].clamp(left + 4.0, left + size[0] - 4.0);
        let style = format!("stroke=\"{}\" stroke-width=\"0.8\"", palette.ink_soft);
        canvas.line("leader", mark, [x, edge], &style);
    }
    // Set where the mark is, so that narrower fonts leave their gap on the far side.
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
