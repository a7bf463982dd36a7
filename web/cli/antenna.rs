//! `antenna`: gain, beamwidths and picture of a pattern file.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use groundwave_http::Failure;
use groundwave_http::option_value::require_file;
use groundwave_plot::{PatternPicture, Theme, pattern_svg};
use groundwave_propagation::polarization::Polarization;
use groundwave_scenario::antenna::{self, AntennaSummary};

use super::output::{self, Output};

const EXAMPLES: &str = "\
Examples:
  groundwave antenna examples/sector.msi
  groundwave antenna examples/sector.msi --plot sector.svg
  groundwave antenna examples/sector.msi --json | jq .pattern.vertical_loss_db";

/// Content of a file of a pattern, for messages.
pub const PATTERN_CONTENT: &str =
    "an antenna pattern of MSI/Planet, SPLAT!, TIA/EIA-804 or Radio Mobile";

/// Show gain, beamwidths and picture of an antenna pattern: MSI/Planet, SPLAT!, TIA/EIA-804 or Radio Mobile
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Antenna {
    /// File of the pattern; a .az of SPLAT! brings the .el beside it
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Write both cuts as a picture: SVG, or PNG where the name ends with .png
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,

    /// Dark theme of the picture
    #[arg(long, requires = "plot")]
    dark: bool,
}

impl Antenna {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        let plot: Vec<_> = output::named("--plot", &self.plot).collect();
        output::refuse_shared(&plot, &[("FILE", &self.file)])?;
        require_file("FILE", &self.file, PATTERN_CONTENT)?;
        let file = antenna::load(&self.file).map_err(Failure::input)?;
        let stem = self.file.file_stem().unwrap_or_default().to_string_lossy();
        let facts = file.summary(&stem);
        let name = &facts.name;
        if let Some(picture) = &self.plot {
            let theme = if self.dark { Theme::Dark } else { Theme::Light };
            let own = PatternPicture { title: name, pattern: &file.pattern, theme };
            output::picture(picture, &pattern_svg(&own))?;
        }
        if output.json {
            return output.json(&facts);
        }
        let mut text = format!("{}\n", output::heading(name));
        for (label, value) in rows(&facts) {
            let _ = writeln!(text, "  {label}: {value}");
        }
        if let Some(picture) = &self.plot {
            let _ = writeln!(text, "\npicture: {}", picture.display());
        }
        output.text(&text)
    }
}

/// Labels and values of the text.
fn rows(facts: &AntennaSummary) -> [(&'static str, String); 8] {
    let or_none = |value: Option<f64>, unit: &str| {
        value.map_or("not in the file".to_owned(), |value| format!("{value} {unit}"))
    };
    let (azimuth_deg, elevation_deg) = (facts.maximum_azimuth_deg, facts.maximum_elevation_deg);
    [
        ("format", facts.format.to_owned()),
        ("frequency", or_none(facts.frequency_mhz, "MHz")),
        ("gain", or_none(facts.gain_dbi, "dBi")),
        (
            "polarization",
            facts.polarization.map_or("not in the file", Polarization::name).to_owned(),
        ),
        ("beamwidth in azimuth", format!("{}°", facts.azimuth_beamwidth_deg)),
        ("beamwidth in elevation", format!("{}°", facts.elevation_beamwidth_deg)),
        ("front to back", format!("{} dB", facts.front_to_back_db)),
        ("maximum", format!("{azimuth_deg}° azimuth, {elevation_deg}° elevation")),
    ]
}
