//! `profile`: the terrain profile between two endpoints, as a table and as a picture.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use groundwave_http::Failure;
use groundwave_model::link::{PathSample, path_samples};
use groundwave_model::radio::Assumptions;
use groundwave_model::terrain::{HeightSource, Posts};
use groundwave_plot::{ProfilePicture, Theme, profile_svg};
use groundwave_text::{Align, Table, distance};
use serde::Serialize;

use super::ends::EndArgs;
use super::link::{analyse, heights, sources};
use super::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  groundwave profile --scenario scenarios/failover.toml west east --plot path.svg
  groundwave profile 57.7142,11.9367,30 57.8868,11.5880,20 --plot path.png --dark
  groundwave profile 57.71,11.94 57.89,11.59 --samples 64
  groundwave profile 57.71,11.94 57.89,11.59 --json | jq '.samples[].elevation_msl_m'";

/// Most rows of the table; --json has all samples.
const ROWS_MAX: usize = 24;

/// Show the terrain profile between two endpoints, with Fresnel zone and Earth bulge
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Profile {
    #[command(flatten)]
    endpoints: EndArgs,

    /// Write the profile as a picture: SVG, or PNG where the name ends with .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Dark theme of the picture
    #[arg(long, requires = "plot")]
    dark: bool,
}

#[derive(Serialize)]
struct Document<'a> {
    from: &'a str,
    to: &'a str,
    distance_m: f64,
    azimuth_deg: f64,
    terrain: String,
    terrain_sources: Vec<HeightSource>,
    posts: Posts,
    void_samples: u32,
    missing_samples: u32,
    /// Shares of time, locations and situations, effects left out, calibration.
    assumptions: &'a Assumptions,
    samples: Vec<PathSample>,
}

impl Profile {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let plot: Vec<_> = output::named("--plot", &self.plot).collect();
        output::refuse_shared(&plot, &self.endpoints.files())?;
        let path = self.endpoints.resolve()?;
        let (profile, forward, _) = analyse(&path)?;
        let [from, to] = &path.endpoints;
        if let Some(file) = &self.plot {
            let title = format!("{} → {}", from.name, to.name);
            let names = [from.name.as_str(), to.name.as_str()];
            let theme = if self.dark { Theme::Dark } else { Theme::Light };
            let picture =
                ProfilePicture { profile: &profile, result: &forward, names, title: &title, theme };
            output::picture(file, &profile_svg(&picture))?;
        }
        let assumptions = path.assumptions(&profile);
        let samples = path_samples(&profile, &forward, &*path.ground.terrain);
        let has_data = path.ground.require_data(&profile);
        if output.json {
            let source = path.ground.terrain.describe();
            output.json(&Document {
                from: &from.name,
                to: &to.name,
                distance_m: profile.distance_m,
                azimuth_deg: profile.azimuth_deg,
                terrain: source.name,
                terrain_sources: source.sources,
                posts: source.posts,
                void_samples: profile.terrain.void_samples,
                missing_samples: profile.terrain.missing_samples,
                assumptions: &assumptions,
                samples,
            })?;
            return has_data;
        }
        let mut out = format!("{}\n", output::heading(&format!("{} → {}", from.name, to.name)));
        let summary = format!(
            "{} at {:.2}°, {} samples {:.1} m apart, terrain: {}",
            distance(profile.distance_m),
            profile.azimuth_deg,
            samples.len(),
            profile.step_m,
            sources(&path, &profile)
        );
        let _ = writeln!(out, "{}", output::faint(&summary));
        if let Some(line) = heights(&path) {
            let _ = writeln!(out, "{}", output::faint(&line));
        }
        out += &output::assumed(&assumptions, output::profile_name(&assumptions));
        out.push('\n');
        let rows = rows(&samples);
        out.push_str(&output::table(&table(&samples, &rows), None));
        if rows.len() < samples.len() {
            let what = format!(
                "{} of {} samples, with the least clearance; --json has all",
                rows.len(),
                samples.len()
            );
            let _ = writeln!(out, "{}", output::faint(&what));
        }
        if let Some(file) = &self.plot {
            let _ = writeln!(out, "\npicture: {}", file.display());
        }
        let used = &profile.terrain;
        if !used.is_clean() {
            let what = format!(
                "{} samples in voids interpolated, {} outside the tiles taken as sea level",
                used.void_samples, used.missing_samples
            );
            let _ = writeln!(out, "{}", output::warning(&what));
        }
        output.text(&out)?;
        has_data
    }
}

/// Height of the ray above the ground, m.
fn clearance_m(sample: &PathSample) -> f64 {
    sample.ray_msl_m - sample.elevation_msl_m - sample.earth_bulge_m
}

/// Samples of the table, ascending: evenly spaced, both ends, and that of the least clearance.
fn rows(samples: &[PathSample]) -> Vec<usize> {
    if samples.len() <= ROWS_MAX {
        return (0..samples.len()).collect();
    }
    let last = samples.len() - 1;
    let even = (0..ROWS_MAX - 1).map(|row| row * last / (ROWS_MAX - 2));
    let clearances = samples.iter().map(clearance_m).enumerate();
    let least = clearances.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| at);
    let rows: BTreeSet<usize> = even.chain(least).collect();
    rows.into_iter().collect()
}

fn table(samples: &[PathSample], rows: &[usize]) -> Table {
    let heads = [
        "distance",
        "lat",
        "lon",
        "ground m MSL",
        "m HAE",
        "clutter m",
        "bulge m",
        "ray m MSL",
        "F1 m",
        "clear m",
    ];
    let mut table = Table::new(&heads.map(|head| (head, Align::Right)));
    for row in rows {
        let sample = &samples[*row];
        let clear_m = clearance_m(sample);
        table.row([
            distance(sample.distance_m),
            format!("{:.5}", sample.lat_deg),
            format!("{:.5}", sample.lon_deg),
            format!("{:.1}", sample.elevation_msl_m),
            sample.elevation_hae_m.map_or("–".to_owned(), |height_m| format!("{height_m:.1}")),
            sample.clutter_agl_m.map_or("–".to_owned(), |height_m| format!("{height_m:.1}")),
            format!("{:.1}", sample.earth_bulge_m),
            format!("{:.1}", sample.ray_msl_m),
            format!("{:.1}", sample.fresnel_radius_m),
            format!("{clear_m:.1}"),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(place: usize, elevation_msl_m: f64) -> PathSample {
        PathSample {
            distance_m: place as f64,
            lat_deg: 0.0,
            lon_deg: 0.0,
            elevation_msl_m,
            elevation_hae_m: None,
            clutter_agl_m: None,
            earth_bulge_m: 0.0,
            ray_msl_m: 50.0,
            fresnel_radius_m: 1.0,
        }
    }

    #[test]
    fn the_table_has_the_ends_and_the_least_clearance() {
        for ridge in 1..98 {
            let samples: Vec<_> =
                (0..99).map(|at| sample(at, if at == ridge { 60.0 } else { 10.0 })).collect();
            let rows = rows(&samples);
            assert!(rows.contains(&0) && rows.contains(&98) && rows.contains(&ridge), "{rows:?}");
            assert!(rows.len() <= ROWS_MAX && rows.is_sorted(), "{rows:?}");
        }
        assert_eq!(rows(&[sample(0, 1.0), sample(1, 1.0)]), [0, 1]);
    }
}
