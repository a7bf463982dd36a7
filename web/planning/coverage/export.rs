//! A finished job as a file, by the writers of sweeps.

use std::fs;
use std::path::Path;

use groundwave_raster::cog::{Band, CogLayout, Samples, write_cog};
use groundwave_raster::kmz::{Overlay, write_kmz};
use groundwave_raster::picture::{Style, WorldFile, coloured, zipped};
use groundwave_raster::{Grid, GridGeometry, RasterError, Resampling, Site};

use super::super::wire::coverage::{CoverageFormat, CoverageLayer};
use super::job::Job;

/// Link margins of the ends of the palette, dB: pictures have no colour where the link does not work.
const MARGIN_DB: [f64; 2] = [0.0, 40.0];
/// Minimum probability that has a colour in pictures, percent.
const PROBABILITY_MIN_PERCENT: f32 = 10.0;
/// Link margins of a colour, dB.
const STEP_DB: f64 = 5.0;

impl CoverageFormat {
    /// Ending of file names.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::PngWorld => "zip",
            Self::Tif => "tif",
            Self::Kmz => "kmz",
        }
    }

    /// Media type.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::PngWorld => "application/zip",
            Self::Tif => "image/tiff; application=geotiff; profile=cloud-optimized",
            Self::Kmz => "application/vnd.google-earth.kmz",
        }
    }
}

/// The coverage of a finished job as a file. Pictures are transparent where nothing is covered; files in archives are
/// called by the `subject`.
///
/// # Errors
/// When the file cannot be written.
pub fn export(
    job: &Job,
    sites: &[Site],
    format: CoverageFormat,
    layer: CoverageLayer,
    subject: &str,
) -> Result<Vec<u8>, RasterError> {
    let description = format!("Assumed: {}", job.assumptions());
    match format {
        CoverageFormat::Png | CoverageFormat::PngWorld => {
            let values = covered(job, layer)?;
            let picture = coloured(&values, &style(layer)).to_png_about(&description)?;
            match format {
                CoverageFormat::Png => Ok(picture),
                _ => zipped(subject, &picture, &WorldFile::new(values.geometry, [0, 0])),
            }
        }
        CoverageFormat::Kmz => {
            let (layer, style) = (covered(job, layer)?, style(layer));
            let overlay = Overlay {
                title: "Coverage",
                description: &description,
                outside: None,
                layer: &layer,
                style: &style,
                sites,
            };
            as_file("coverage.kmz", |path| write_kmz(path, &overlay))
        }
        CoverageFormat::Tif => as_file("coverage.tif", |path| raster(job, sites, path)),
    }
}

fn style(layer: CoverageLayer) -> Style {
    match layer {
        CoverageLayer::Margin => Style::ramp("Link margin", "dB", MARGIN_DB, Some(STEP_DB)),
        CoverageLayer::Probability => {
            Style::ramp("Probability that the link works", "%", [0.0, 100.0], Some(10.0))
        }
    }
}

/// Octets of a file that `write` makes.
fn as_file(
    name: &str,
    write: impl FnOnce(&Path) -> Result<(), RasterError>,
) -> Result<Vec<u8>, RasterError> {
    let folder = std::env::temp_dir();
    let failed = |source| RasterError::Write { path: folder.join(name), source };
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join(name);
    write(&path)?;
    fs::read(&path).map_err(failed)
}

fn geometry(job: &Job) -> GridGeometry {
    let grid = &job.asked.grid;
    let [cell_lat_deg, cell_lon_deg] = grid.cell_size_deg();
    let west_deg = grid.west_deg();
    GridGeometry {
        west_deg: match west_deg >= 180.0 {
            true => west_deg - 360.0,
            false => west_deg,
        },
        north_deg: grid.north_deg(),
        cell_lon_deg,
        cell_lat_deg,
        cols: grid.columns(),
        rows: grid.rows(),
    }
}

/// A value without data or infinite as NaN.
fn finite(value: f64) -> f32 {
    match value.is_finite() {
        true => value as f32,
        false => f32::NAN,
    }
}

/// Received power, dBm, link margin, dB, probability that the link works, percent, and server of each cell; NaN
/// without.
fn cells(job: &Job) -> Vec<[f32; 4]> {
    let sensitivity_dbm = job.sensitivity_dbm();
    let cell = |(power, percent, server): (Option<f64>, u8, u8)| {
        let power_dbm = power.unwrap_or(f64::NAN);
        let margin_db = power_dbm - sensitivity_dbm[usize::from(server)].unwrap_or(f64::NAN);
        let of_known = |value: f32| if power_dbm.is_finite() { value } else { f32::NAN };
        [
            finite(power_dbm),
            finite(margin_db),
            of_known(f32::from(percent)),
            of_known(f32::from(server)),
        ]
    };
    job.levels().into_iter().map(cell).collect()
}

/// Values of the cells that are covered; NaN elsewhere.
fn covered(job: &Job, layer: CoverageLayer) -> Result<Grid, RasterError> {
    let (band, minimum) = match layer {
        CoverageLayer::Margin => (1, 0.0),
        CoverageLayer::Probability => (2, PROBABILITY_MIN_PERCENT),
    };
    let values = cells(job).into_iter().map(|cell| cell[band]);
    let values = values.map(|value| if value < minimum { f32::NAN } else { value });
    Grid::new(geometry(job), values.collect())
}

/// Writes received power, margin, probability and, with several transmitting nodes, the server as bands.
fn raster(job: &Job, sites: &[Site], path: &Path) -> Result<(), RasterError> {
    let band = |(name, unit, resampling): (&str, &str, Resampling)| Band {
        name: name.to_owned(),
        unit: unit.to_owned(),
        resampling,
    };
    let bands = [
        ("rx_power", "dBm", Resampling::Mean),
        ("link_margin", "dB", Resampling::Mean),
        ("link_probability", "%", Resampling::Mean),
        ("server", "", Resampling::Mode),
    ];
    let count = match job.asked.sources.len() {
        1 => 3,
        _ => 4,
    };
    let mut layout = CogLayout::single(Samples::F32, "", "", Resampling::Mean);
    layout.bands = bands.into_iter().take(count).map(band).collect();
    let remark = |(number, site): (usize, &Site)| (format!("SITE_{number}"), site.name.clone());
    layout.remarks = sites.iter().enumerate().map(remark).collect();
    let assumed = job.assumptions().to_string();
    layout.remarks.push(("ASSUMPTIONS".to_owned(), assumed));
    let cells = cells(job);
    let geometry = geometry(job);
    let columns = geometry.cols as usize;
    let mut rows = |row: u32, out: &mut [f32]| {
        let own = &cells[row as usize * columns..][..columns];
        for (band, out) in out.chunks_mut(columns).enumerate() {
            for (value, cell) in out.iter_mut().zip(own) {
                *value = cell[band];
            }
        }
        Ok(())
    };
    write_cog(path, geometry, &layout, &mut rows).map(drop)
}
