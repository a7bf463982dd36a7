//! Picture of an antenna pattern: both cuts around the antenna.

use groundwave_model::radio::Pattern;
use groundwave_propagation::numeric::sin_cos;
use groundwave_raster::scene::svg::{Anchor, Canvas, Font, Point};

use super::theme::{Palette, Theme};

/// Content of the picture.
#[derive(Debug, Clone, Copy)]
pub struct PatternPicture<'a> {
    /// Title.
    pub title: &'a str,
    /// The pattern.
    pub pattern: &'a Pattern,
    /// Colours.
    pub theme: Theme,
}

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 500.0;

/// Radius of the circle of no loss, px.
const RADIUS: f64 = 180.0;

/// Loss in the middle, dB.
const MIDDLE_DB: f64 = 40.0;

/// Centres of both cuts, px.
const CENTRES: [Point; 2] = [[230.0, 270.0], [670.0, 270.0]];

/// Draws the horizontal cut from above, its boresight upwards, and the vertical one from the side, its
/// boresight to the right, as SVG; circles are 10 dB apart.
#[must_use]
pub fn pattern_svg(picture: &PatternPicture<'_>) -> String {
    let description = "Losses of the horizontal and the vertical cut of an antenna, dB";
    let mut canvas = Canvas::new([WIDTH, HEIGHT], picture.title, description);
    let palette = picture.theme.palette();
    let page = format!("fill=\"{}\"", palette.page);
    canvas.rect("page", [0.0, 0.0], [WIDTH, HEIGHT], &page);
    let bold = Font::plain(16.0, palette.ink).bold().anchored(Anchor::Middle);
    canvas.text("title", [WIDTH / 2.0, 34.0], bold, picture.title);
    let losses = picture.pattern.cuts();
    // Angles on the picture clockwise from its top: that of the first sample.
    let cuts = [
        ("horizontal", losses.horizontal_loss_db, 0.0),
        ("vertical", losses.vertical_loss_db, 90.0),
    ];
    for (centre, (name, losses_db, first_deg)) in CENTRES.into_iter().zip(cuts) {
        grid(&mut canvas, palette, centre, name, first_deg);
        let count = losses_db.len() as f64;
        let points = losses_db
            .iter()
            .enumerate()
            .map(|(index, loss_db)| at(centre, first_deg + index as f64 * 360.0 / count, *loss_db));
        let points: Vec<Point> = points.collect();
        let style = format!("fill=\"none\" stroke=\"{}\" stroke-width=\"2\"", palette.sea);
        canvas.polygon("cut", &points, &style);
    }
    canvas.finish()
}

/// Place of a loss in a direction clockwise from the top.
fn at(centre: Point, angle_deg: f64, loss_db: f64) -> Point {
    let radius = RADIUS * (1.0 - loss_db / MIDDLE_DB).max(0.0);
    let (sin, cos) = sin_cos(angle_deg.to_radians());
    [centre[0] + radius * sin, centre[1] - radius * cos]
}

/// Circles, spokes and their labels.
fn grid(canvas: &mut Canvas, palette: &Palette, centre: Point, name: &str, first_deg: f64) {
    let style = format!("fill=\"none\" stroke=\"{}\"", palette.grid);
    let soft = Font::plain(11.0, palette.ink_soft).anchored(Anchor::Middle);
    for spoke in 0..12 {
        let angle_deg = f64::from(spoke) * 30.0;
        canvas.line("grid", centre, at(centre, first_deg + angle_deg, 0.0), &style);
        let [x, y] = at(centre, first_deg + angle_deg, -4.0);
        canvas.text("tick", [x, y + 4.0], soft, &format!("{angle_deg}°"));
    }
    for loss_db in [0.0, 10.0, 20.0, 30.0] {
        canvas.circle("grid", centre, RADIUS * (1.0 - loss_db / MIDDLE_DB), &style);
        let [x, y] = at(centre, 15.0, loss_db);
        canvas.text("tick", [x, y + 4.0], soft, &format!("-{loss_db} dB"));
    }
    let plain = Font::plain(13.0, palette.ink).anchored(Anchor::Middle);
    canvas.text("axis", [centre[0], centre[1] + RADIUS + 42.0], plain, name);
}
