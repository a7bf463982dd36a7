//! Picture of the terrain profile of a link.

use groundwave_model::radio::LinkResult;
use groundwave_model::terrain::Profile;
use groundwave_raster::scene::svg::Canvas;

use super::figures::{conditions, figures, notes, sight, verdict, warnings};
use super::header;
use super::layers;
use super::legend::Legend;
use super::marks;
use super::scene::Scene;
use super::text;
use super::theme::Theme;

/// Least size of the canvas, px; it grows with the lines of warnings.
const WIDTH: f64 = 1_200.0;
const HEIGHT: f64 = 640.0;

/// Content of a profile picture.
#[derive(Debug, Clone, Copy)]
pub struct ProfilePicture<'a> {
    /// The ground, from the transmitter to the receiver.
    pub profile: &'a Profile,
    /// The forward direction of the link over that ground.
    pub result: &'a LinkResult,
    /// Names of transmitter and receiver; long ones are shortened.
    pub names: [&'a str; 2],
    /// Headline; when empty, the two names.
    pub title: &'a str,
    /// Colours.
    pub theme: Theme,
}

/// Draws the ground between two antennas as SVG: 1200 by 640 px, scaling with its container.
///
/// Heights are drawn over the effective Earth of the result's k factor, where the ray is straight:
/// a place at `d1` and `d2` from the ends is raised by `d1 d2 / (2 k a)`, and curves of equal height
/// above the sea bend with it. Ground within 0.6 of the first Fresnel zone (ITU-R P.530 section
/// 2.2.2) is picked out.
///
/// Equal pictures give equal text; coordinates are at 0.1 px. Input that is no number is drawn as
/// 0 or as the value before it, and shown as `–`.
#[must_use]
pub fn profile_svg(picture: &ProfilePicture<'_>) -> String {
    let ProfilePicture { profile, result, names, theme, .. } = *picture;
    let palette = theme.palette();
    let scene = Scene::of(profile, result);
    let title = if picture.title.trim().is_empty() {
        format!("{} → {}", names[0], names[1])
    } else {
        picture.title.to_owned()
    };
    let mut notes = notes(result, profile.elevation_msl_m.len(), profile.step_m);
    if scene.distance_m <= 0.0 {
        notes.insert(0, "Both ends are at one place".to_owned());
    }
    let legend = Legend::new(&scene, result, &notes, &warnings(result), palette);
    let size = [WIDTH, HEIGHT.max(legend.bottom.ceil())];
    let mut canvas = Canvas::new(size, &title, &describe(picture, &scene));
    canvas.rect("page", [0.0, 0.0], size, &format!("fill=\"{}\"", palette.page));
    header::draw(&mut canvas, &title, result, &figures(result, scene.distance_m), palette);
    layers::draw(&mut canvas, &scene, result, palette);
    layers::axes(&mut canvas, &scene, names[0], palette);
    marks::masts(&mut canvas, &scene, result, names, palette);
    marks::spots(&mut canvas, &scene, result, names, palette);
    legend.draw(&mut canvas, palette);
    canvas.finish()
}

/// Description of the picture for screen readers.
fn describe(picture: &ProfilePicture<'_>, scene: &Scene) -> String {
    let ProfilePicture { result, names, .. } = *picture;
    let mut description = format!(
        "Terrain profile over {} from {} to {}. {}: link margin {} dB, path loss {} dB, {}. {}.",
        text::distance(scene.distance_m),
        names[0],
        names[1],
        verdict(result),
        text::signed(result.margin.link_margin_db, 1),
        text::number(result.losses.total_path_loss_db, 1),
        sight(result),
        conditions(result)
    );
    if let Some(place) = scene.tightest {
        let at = text::distance(place.along_m);
        let ratio = text::number(place.ratio, 2);
        description += " The ground comes closest to the ray at ";
        description += &format!("{at}, with a clearance of {ratio} first Fresnel radii.");
    }
    description
}
