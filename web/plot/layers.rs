//! The drawing itself, back to front: sky and grid, ground, Fresnel zone, ray.

use groundwave_model::radio::fresnel::CLEAR_RATIO;
use groundwave_model::radio::{LinkResult, Verdict};
use groundwave_raster::scene::scale::{Ticks, ticks};
use groundwave_raster::scene::svg::{Anchor, Canvas, Font, Point};

use super::figures::verdict_colour;
use super::scene::{BOTTOM, LEFT, RIGHT, Scene, TOP};
use super::text;
use super::theme::Palette;

/// Requested number of ticks along each axis.
const TICKS_X_MAX: u32 = 10;
const TICKS_Y_MAX: u32 = 7;

/// Distance of the Earth curve below the lowest ground without a sea level in view, px.
const EARTH_BELOW: f64 = 18.0;

/// Size of tick labels, px.
const TICK_SIZE: f64 = 12.0;

/// Least height labelled in km, m.
const HEIGHT_KM_FROM_M: f64 = 9_999.0;

/// Round lengths, in the unit that suits them.
struct Axis {
    ticks: Ticks,
    unit: &'static str,
    unit_m: f64,
}

impl Axis {
    /// Axis from `low_m` to `high_m`, in km if `long`.
    fn of(low_m: f64, high_m: f64, count_max: u32, long: bool) -> Self {
        let (unit, unit_m) = if long { ("km", 1e3) } else { ("m", 1.0) };
        Self { ticks: ticks(low_m / unit_m, high_m / unit_m, count_max), unit, unit_m }
    }

    /// The lengths in metres, each with its label.
    fn marks(&self) -> impl Iterator<Item = (f64, String)> {
        let mark = |&v: &f64| (v * self.unit_m, text::trimmed(v, self.ticks.decimals));
        self.ticks.values.iter().map(mark)
    }
}

/// Round distances of the path.
fn distance_axis(scene: &Scene) -> Axis {
    Axis::of(0.0, scene.distance_m, TICKS_X_MAX, scene.distance_m >= 1_000.0)
}

/// Round heights in view, with margins for the labels at both ends.
fn height_axis(scene: &Scene) -> Axis {
    let [low_m, high_m] = scene.shown_m();
    let margin_m = (high_m - low_m) * 0.02;
    let long = low_m.abs().max(high_m.abs()) >= HEIGHT_KM_FROM_M;
    Axis::of(low_m + margin_m, high_m - margin_m, TICKS_Y_MAX, long)
}

/// True where sea level is in view.
pub(super) fn sea_in_view(scene: &Scene) -> bool {
    let [low_m, high_m] = scene.shown_m();
    low_m < 0.0 && high_m > 0.0
}

/// Stroke of the ray: colour of the verdict, dashed without line of sight.
pub(super) fn ray_stroke(result: &LinkResult, palette: &Palette) -> String {
    let dashes = match (result.clearance.line_of_sight, result.verdict) {
        (true, Verdict::NoLink) => " stroke-dasharray=\"2 5\" stroke-linecap=\"round\"",
        (true, _) => "",
        (false, Verdict::NoLink) => " stroke-dasharray=\"9 5 2 5\"",
        (false, _) => " stroke-dasharray=\"9 6\"",
    };
    format!("stroke=\"{}\" stroke-width=\"2.6\"{dashes}", verdict_colour(result, palette))
}

/// Draws the content of the frame.
pub(super) fn draw(canvas: &mut Canvas, scene: &Scene, result: &LinkResult, palette: &Palette) {
    let sky = format!("profile-sky-{}", palette.name);
    let ground = format!("profile-ground-{}", palette.name);
    canvas.gradient(&sky, palette.sky, [TOP, BOTTOM]);
    let peak = scene.surface().iter().map(|p| p[1]).fold(BOTTOM, f64::min);
    canvas.gradient(&ground, palette.ground, [peak, BOTTOM]);
    canvas.open_clip([LEFT, TOP], [RIGHT - LEFT, BOTTOM - TOP]);
    let size = [RIGHT - LEFT, BOTTOM - TOP];
    canvas.rect("sky", [LEFT, TOP], size, &format!("fill=\"url(#{sky})\""));
    grid(canvas, scene, palette);
    canopy(canvas, scene, palette);
    earth(canvas, scene, &ground, palette);
    hatching(canvas, scene, palette);
    zone(canvas, scene, palette);
    let edge = format!(
        "stroke=\"{}\" stroke-width=\"1.4\" stroke-linejoin=\"round\"",
        palette.ground_edge
    );
    canvas.polyline("ground-edge", &scene.surface(), &edge);
    if sea_in_view(scene) {
        let style = format!("stroke=\"{}\" stroke-width=\"1.2\"", palette.sea);
        canvas.polyline("sea-level", &scene.level(0.0), &style);
    }
    horizon_lines(canvas, scene, palette);
    if scene.distance_m > 0.0 {
        let ends =
            [scene.at(0.0, scene.antenna_m[0]), scene.at(scene.distance_m, scene.antenna_m[1])];
        canvas.line("ray", ends[0], ends[1], &ray_stroke(result, palette));
    }
    canvas.close_clip();
}

/// Curves of equal height above the sea and lines of equal distance.
fn grid(canvas: &mut Canvas, scene: &Scene, palette: &Palette) {
    let style = format!("stroke=\"{}\" stroke-width=\"1\"", palette.grid);
    for (msl_m, _) in height_axis(scene).marks() {
        canvas.polyline("grid-height", &scene.level(msl_m), &style);
    }
    let style = format!("{style} stroke-opacity=\"0.6\"");
    for (along_m, _) in distance_axis(scene).marks() {
        let x = scene.x(along_m);
        canvas.line("grid-distance", [x, TOP], [x, BOTTOM], &style);
    }
}

/// Draws buildings and trees, whose feet the ground hides.
fn canopy(canvas: &mut Canvas, scene: &Scene, palette: &Palette) {
    let mut tops = scene.canopy();
    if tops.is_empty() {
        return;
    }
    tops.extend([[RIGHT, BOTTOM + 2.0], [LEFT, BOTTOM + 2.0]]);
    canvas.polygon("clutter", &tops, &clutter_fill(palette));
}

/// Fill of buildings and trees.
pub(super) fn clutter_fill(palette: &Palette) -> String {
    format!("fill=\"{}\" fill-opacity=\"0.75\"", palette.clutter)
}

/// Draws the ground and the curved Earth below it.
fn earth(canvas: &mut Canvas, scene: &Scene, gradient: &str, palette: &Palette) {
    let mut ground = scene.surface();
    ground.extend([[RIGHT, BOTTOM + 2.0], [LEFT, BOTTOM + 2.0]]);
    canvas.polygon("ground", &ground, &format!("fill=\"url(#{gradient})\""));
    let mut earth = bulge(scene);
    let edge = format!(
        "stroke=\"{}\" stroke-width=\"1\" stroke-opacity=\"0.55\" stroke-dasharray=\"1 4\"",
        palette.ground_edge
    );
    let line = earth.clone();
    earth.extend([[RIGHT, BOTTOM + 2.0], [LEFT, BOTTOM + 2.0]]);
    let fill = format!("fill=\"{}\" fill-opacity=\"0.75\"", palette.earth);
    canvas.polygon("earth", &earth, &fill);
    canvas.polyline("bulge", &line, &edge);
}

/// The Earth bulge: sea level if in view, else a level below the lowest ground.
fn bulge(scene: &Scene) -> Vec<Point> {
    let lowest_m = scene.ground.iter().map(|s| s.msl_m).fold(f64::INFINITY, f64::min);
    let [low_m, high_m] = scene.shown_m();
    let below_m = lowest_m - EARTH_BELOW * (high_m - low_m) / (BOTTOM - TOP);
    let level_m = if sea_in_view(scene) { lowest_m.min(0.0) } else { below_m };
    scene.level(level_m)
}

/// Hatches the ground without terrain data.
fn hatching(canvas: &mut Canvas, scene: &Scene, palette: &Palette) {
    let style = format!("stroke=\"{}\" stroke-width=\"1.6\"", palette.intrusion);
    for [top, bottom] in scene.hatching(BOTTOM) {
        canvas.line("no-terrain", top, bottom, &style);
    }
}

/// Draws the first Fresnel zone, 0.6 of it, and the ground within that.
fn zone(canvas: &mut Canvas, scene: &Scene, palette: &Palette) {
    if scene.distance_m <= 0.0 {
        return;
    }
    let mut whole = scene.zone_edge(1.0);
    whole.extend(scene.zone_edge(-1.0).into_iter().rev());
    let fill = format!(
        "fill=\"{0}\" fill-opacity=\"0.16\" stroke=\"{0}\" stroke-opacity=\"0.45\" \
         stroke-width=\"0.8\"",
        palette.zone
    );
    canvas.polygon("fresnel", &whole, &fill);
    for run in scene.intrusions() {
        let mut area: Vec<Point> = run.iter().map(|pair| pair[1]).collect();
        area.extend(run.iter().rev().map(|pair| pair[0]));
        let fill = format!("fill=\"{}\" fill-opacity=\"0.55\"", palette.intrusion);
        canvas.polygon("intrusion", &area, &fill);
    }
    let stroke = format!("stroke=\"{}\" stroke-width=\"1.3\"", palette.zone);
    for share in [CLEAR_RATIO, -CLEAR_RATIO] {
        canvas.polyline("fresnel-06", &scene.zone_edge(share), &stroke);
    }
}

/// Draws the lines from each antenna over its radio horizon to their crossing.
fn horizon_lines(canvas: &mut Canvas, scene: &Scene, palette: &Palette) {
    let Some(horizons) = scene.horizons else {
        return;
    };
    let style = format!("stroke=\"{}\" stroke-width=\"1.2\" stroke-dasharray=\"2 4\"", palette.ink);
    let ends = [[0.0, scene.antenna_m[0]], [scene.distance_m, scene.antenna_m[1]]];
    for (end, horizon) in ends.into_iter().zip(horizons) {
        let to = scene.horizon_crossing().unwrap_or(horizon);
        canvas.line("horizon-ray", scene.at(end[0], end[1]), scene.at(to[0], to[1]), &style);
    }
}

/// Draws the labels of both axes.
pub(super) fn axes(canvas: &mut Canvas, scene: &Scene, from: &str, palette: &Palette) {
    let font = Font::plain(TICK_SIZE, palette.ink_soft);
    let heights = height_axis(scene);
    for (msl_m, label) in heights.marks() {
        let at = [LEFT - 10.0, scene.y(msl_m) + 4.0];
        canvas.text("tick-height", at, font.anchored(Anchor::End), &label);
    }
    let style = format!("stroke=\"{}\" stroke-width=\"1\"", palette.ink_soft);
    let distances = distance_axis(scene);
    for (along_m, label) in distances.marks() {
        let x = scene.x(along_m);
        canvas.line("tick", [x, BOTTOM], [x, BOTTOM + 5.0], &style);
        canvas.text("tick-distance", [x, BOTTOM + 18.0], font.anchored(Anchor::Middle), &label);
    }
    let middle = [16.0, f64::midpoint(TOP, BOTTOM)];
    let title = font.anchored(Anchor::Middle);
    let about = format!("height above mean sea level, {}", heights.unit);
    canvas.turned_text("axis", middle, -90, title, &about);
    let about = format!("distance from {}, {}", font.fit(from, 420.0), distances.unit);
    canvas.text("axis", [LEFT, BOTTOM + 38.0], font, &about);
    if let Some(times) = scene.exaggeration() {
        let decimals = if times < 0.995 { 3 } else { usize::from(times < 9.95) };
        let about = format!("heights drawn {} times their scale", text::trimmed(times, decimals));
        canvas.text("axis", [RIGHT, BOTTOM + 38.0], font.anchored(Anchor::End), &about);
    }
}
