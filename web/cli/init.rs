//! `init`: a first scenario.

use std::fmt::Write;
use std::io::{BufRead, IsTerminal, Write as _};
use std::path::{Path, PathBuf};

use clap::Args;
use groundwave_http::Failure;
use groundwave_model::radio::presets;
use groundwave_model::terrain::GeoPoint;
use groundwave_scenario::limits::TITLE_CHARS_MAX;
use groundwave_setup::fetch::squares_between;
use serde_json::json;

use super::output::{self, Output};
use super::place;
use super::quantity::height_m;

const EXAMPLES: &str = "\
Examples:
  groundwave init mesh.toml --at 57.70,11.93 --radio lora_868_eu --nodes 5 --spacing-km 2
  groundwave init - --at 57.70,11.93 --flat | groundwave validate -
  groundwave init coverage.toml --at 57.70,11.93 --coverage-km 10 --force";

/// Write a first scenario: nodes around a place, their radios and terrain
///
/// On a terminal options that are missing become questions.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Init {
    /// Scenario file to write; `-` is standard output
    file: PathBuf,

    /// Middle of the mesh: LAT,LON[,HEIGHT_AGL_M] in degrees and metres, UTM, MGRS, a Maidenhead locator, a plus code or the name of a
    /// town, with its country where there are several: Uppsala,SE
    #[arg(long, value_name = "PLACE", allow_hyphen_values = true)]
    at: Option<String>,

    /// Title [default: First mesh]
    #[arg(long)]
    title: Option<String>,

    /// Radio preset of all nodes (see `groundwave presets radios`) [default: lora_868_eu]
    #[arg(long, value_name = "ID")]
    radio: Option<String>,

    /// Nodes: one in the middle, the others in a circle around it, 2 to 60 [default: 4]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=60))]
    nodes: Option<u8>,

    /// Radius of that circle, km, 0.01 to 100
    #[arg(long, value_name = "KM", default_value_t = 3.0)]
    spacing_km: f64,

    /// Antenna height of all nodes, of the others where --at has one for the node in the middle, m above ground, or
    /// with a unit: 30ft [default: that of --at, else 10]
    #[arg(long, value_name = "M", value_parser = height_m)]
    height: Option<f64>,

    /// Flat ground at 0 m instead of terrain
    #[arg(long)]
    flat: bool,

    /// Coverage of the node in the middle up to this distance, for `sweep`, km, 0.1 to 200
    #[arg(long, value_name = "KM")]
    coverage_km: Option<f64>,

    /// Write over an existing file
    #[arg(long)]
    force: bool,
}

/// Range of the spacing, km: the positions of nodes have five decimals, a metre.
const SPACING_KM: [f64; 2] = [0.01, 100.0];

/// Range of the radius of the coverage, km: a cell of 3 arc-seconds has up to 93 m.
const COVERAGE_KM: [f64; 2] = [0.1, 200.0];

/// Antenna height where none is named, m above ground.
const HEIGHT_WHERE_UNNAMED_M: f64 = 10.0;

/// Radio where none is named.
const RADIO: &str = "lora_868_eu";

/// A scenario to be.
struct Draft {
    title: String,
    middle: GeoPoint,
    /// Antenna height that the place states, m above ground.
    middle_agl_m: Option<f64>,
    radio: String,
    nodes: u8,
}

impl Init {
    pub fn run(self, output: Output) -> Result<(), Failure> {
        output.refuse_stdout("FILE", &self.file)?;
        output::refuse_existing(&self.file, self.force)?;
        let draft = self.draft()?;
        let text = self.text(&draft)?;
        // What is written must be what `run` reads.
        groundwave_scenario::parse(&text, "scenario", Path::new("")).map_err(Failure::input)?;
        output::write_whole(&self.file, text.as_bytes())?;
        if output::is_stdio(&self.file) {
            return Ok(());
        }
        let file = self.file.display().to_string();
        let argument = shell_argument(&file);
        let mut steps = Vec::new();
        if !self.flat {
            steps.push(self.fetch(draft.middle));
        }
        steps.push(format!("groundwave run {argument}"));
        if self.coverage_km.is_some() {
            steps.push(format!("groundwave sweep {argument} -o coverage"));
        }
        if output.json {
            return output.json(&json!({ "file": file, "nodes": draft.nodes, "next": steps }));
        }
        output.text(&format!("{file}: {} nodes; next:\n  {}\n", draft.nodes, steps.join("\n  ")))
    }

    /// Command that fetches the ground of the mesh and of its coverage.
    fn fetch(&self, middle: GeoPoint) -> String {
        // To a decimetre: other coordinates give many digits.
        let rounded = |deg: f64| (deg * 1e6).round() / 1e6;
        let (lat_deg, lon_deg) = (rounded(middle.lat_deg()), rounded(middle.lon_deg()));
        let radius_km = self.spacing_km.max(self.coverage_km.unwrap_or(0.0)).ceil() + 2.0;
        format!("groundwave terrain fetch {lat_deg},{lon_deg} --radius-km {radius_km}")
    }

    /// The title: one line that a scenario can have.
    fn title(&self) -> Result<String, Failure> {
        let title = self.title.clone().unwrap_or_else(|| "First mesh".to_owned());
        let is_line = !title.trim().is_empty() && !title.contains(char::is_control);
        match is_line && title.chars().count() <= TITLE_CHARS_MAX {
            true => Ok(title),
            false => Err(Failure::Input(format!(
                "invalid --title: found {title:?}, allowed one line of 1 to {TITLE_CHARS_MAX} characters"
            ))),
        }
    }

    fn draft(&self) -> Result<Draft, Failure> {
        let title = self.title()?;
        within("--spacing-km", self.spacing_km, SPACING_KM)?;
        if let Some(coverage_km) = self.coverage_km {
            within("--coverage-km", coverage_km, COVERAGE_KM)?;
        }
        let can_ask = std::io::stdin().is_terminal();
        // A radio that is named at fault ends the command before a question.
        let radio_option = self.radio.as_deref().map(known_radio).transpose()?;
        let (middle, middle_agl_m) = match &self.at {
            Some(place) => place::read(place)?,
            None if can_ask => {
                let towns = groundwave_page::towns().map_or("", |_| " or a town");
                let question = format!("Middle of the mesh (latitude,longitude{towns})");
                asked(&mut std::io::stdin().lock(), &question, None, place::read)?
            }
            None => {
                let what = "missing --at: allowed LAT,LON, such as --at 57.70,11.93";
                return Err(Failure::Input(what.to_owned()));
            }
        };
        let radio = match radio_option {
            Some(radio) => radio,
            None if can_ask && self.at.is_none() => {
                asked(&mut std::io::stdin().lock(), "Radio", Some(RADIO), known_radio)?
            }
            None => RADIO.to_owned(),
        };
        Ok(Draft { title, middle, middle_agl_m, radio, nodes: self.nodes.unwrap_or(4) })
    }

    fn text(&self, draft: &Draft) -> Result<String, Failure> {
        let Draft { title, middle, middle_agl_m, radio, nodes } = draft;
        let height_m = |is_middle: bool| match is_middle {
            true => middle_agl_m.or(self.height),
            false => self.height.or(*middle_agl_m),
        };
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut text = format!(
            "# groundwave run FILE; every key is described by `groundwave schema` and scenarios/README.md.\n\
             [scenario]\ntitle = {}\nduration_s = 60\n\n[terrain]\n",
            quoted(title)
        );
        let positions: Vec<_> =
            (0..*nodes).map(|node| self.position(*middle, node, *nodes)).collect();
        text += &match self.flat {
            true => "flat_msl_m = 0\n".to_owned(),
            false => format!(
                "# Tiles under the nodes and their coverage, in the folder of fetched terrain, --srtm-dir or .data/srtm. To fetch them:\n\
                 #   {}\ntiles = [{}]\n",
                self.fetch(*middle),
                tiles(&self.ground_under(*middle, &positions))?
            ),
        };
        let antenna = presets::antenna_where_unnamed(radio).id;
        for (node, (lat_deg, lon_deg)) in positions.iter().enumerate() {
            let _ = write!(
                text,
                "\n[[node]]\nname = \"n{node}\"\nlat_deg = {lat_deg:.5}\nlon_deg = {lon_deg:.5}\n\
                 height_agl_m = {}\nradio = {}\nantenna = \"{antenna}\"\n",
                height_m(node == 0).unwrap_or(HEIGHT_WHERE_UNNAMED_M),
                quoted(radio)
            );
        }
        if let Some(radius_km) = self.coverage_km {
            let _ = write!(
                text,
                "\n[coverage]\nsites = [\"n0\"]\nradius_km = {radius_km}\ncell_arcsec = 3\n"
            );
        }
        Ok(text)
    }

    /// Positions of the nodes and the edges of the coverage, whose ground is needed.
    fn ground_under(&self, middle: GeoPoint, nodes: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let mut positions = nodes.to_vec();
        if let Some(radius_km) = self.coverage_km {
            let [high_deg, wide_deg] = middle.reach_deg(radius_km * 1e3);
            let (lat_deg, lon_deg) = (middle.lat_deg(), middle.lon_deg());
            let wide_deg = wide_deg.min(179.0);
            positions.push(((lat_deg + high_deg).min(90.0), lon_deg));
            positions.push(((lat_deg - high_deg).max(-90.0), lon_deg));
            for lon_deg in [lon_deg - wide_deg, lon_deg + wide_deg] {
                positions.push((lat_deg, (lon_deg + 540.0).rem_euclid(360.0) - 180.0));
            }
        }
        positions
    }

    /// Position of a node: the first in the middle, the others in a circle, from the north clockwise.
    fn position(&self, middle: GeoPoint, node: u8, nodes: u8) -> (f64, f64) {
        let Some(place) = node.checked_sub(1) else {
            return (middle.lat_deg(), middle.lon_deg());
        };
        let azimuth_deg = 360.0 * f64::from(place) / f64::from(nodes - 1);
        let (east, north) = azimuth_deg.to_radians().sin_cos();
        // Kilometres of a degree; the circle need not be exact.
        let degree_km = 111.2;
        let lat_deg = middle.lat_deg() + self.spacing_km * north / degree_km;
        let lat_deg = lat_deg.clamp(-89.9, 89.9);
        let parallel_km = degree_km * lat_deg.to_radians().cos();
        let lon_deg = middle.lon_deg() + self.spacing_km * east / parallel_km;
        (lat_deg, (lon_deg + 540.0).rem_euclid(360.0) - 180.0)
    }
}

/// Names of the tiles under positions, as TOML.
fn tiles(positions: &[(f64, f64)]) -> Result<String, Failure> {
    let points: Result<Vec<_>, _> =
        positions.iter().map(|(lat_deg, lon_deg)| GeoPoint::new(*lat_deg, *lon_deg)).collect();
    let squares = squares_between(&points.map_err(Failure::input)?)?;
    let names: Vec<_> = squares.iter().map(|square| format!("\"{square}\"")).collect();
    Ok(names.join(", "))
}

/// A word of a shell that stands for a path.
fn shell_argument(path: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%".contains(c);
    match path.chars().all(is_plain) {
        true => path.to_owned(),
        false => format!("'{}'", path.replace('\'', r"'\''")),
    }
}

fn within(option: &str, value: f64, [minimum, maximum]: [f64; 2]) -> Result<(), Failure> {
    match (minimum..=maximum).contains(&value) {
        true => Ok(()),
        false => Err(Failure::Input(format!(
            "invalid {option}: found {value} km, allowed {minimum} to {maximum} km"
        ))),
    }
}

/// The answer to a question on standard error, which is repeated until the answer can be read; `default` for an empty line.
///
/// # Errors
/// When the input ends.
fn asked<T>(
    input: &mut impl BufRead,
    question: &str,
    default: Option<&str>,
    read: impl Fn(&str) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let hint = default.map_or(String::new(), |default| format!(" [{default}]"));
    loop {
        write!(anstream::stderr(), "{question}{hint}: ")?;
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            writeln!(anstream::stderr())?;
            return Err(Failure::Input(format!("missing answer to {question:?}")));
        }
        let text = match line.trim() {
            "" => default.unwrap_or_default(),
            text => text,
        };
        match read(text) {
            Ok(answer) => return Ok(answer),
            Err(fault) => writeln!(anstream::stderr(), "{}", fault.message())?,
        }
    }
}

/// The id of a radio preset.
fn known_radio(id: &str) -> Result<String, Failure> {
    if presets::radio(id).is_some() {
        return Ok(id.to_owned());
    }
    let allowed: Vec<_> = presets::RADIOS.iter().map(|preset| preset.id).collect();
    Err(Failure::Input(format!("invalid --radio: found {id:?}, allowed {}", allowed.join(", "))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    struct Line {
        #[command(flatten)]
        init: Init,
    }

    /// Text of the scenario of a command line.
    fn text_of(at: &str, more: &[&str]) -> String {
        let line = ["init", "m.toml", "--at", at];
        let init = <Line as clap::Parser>::parse_from(line.iter().chain(more)).init;
        init.text(&init.draft().unwrap()).unwrap()
    }

    #[test]
    fn a_question_is_repeated_until_its_answer_can_be_read() {
        let mut input = &b"PTP\n\nlora_915_us\n"[..];
        let mut radio = |default| asked(&mut input, "Radio", default, known_radio);
        assert_eq!(radio(Some(RADIO)).unwrap(), RADIO);
        assert_eq!(radio(None).unwrap(), "lora_915_us");
        let error = radio(Some(RADIO)).unwrap_err();
        assert_eq!(error.message(), "missing answer to \"Radio\"");
    }

    #[test]
    fn height_of_the_place_is_that_of_the_node_in_the_middle() {
        for (at, more, heights_m) in [
            ("57.70,11.93", &[][..], ["10", "10"]),
            ("57.70,11.93,30", &[], ["30", "30"]),
            ("57.70,11.93,30", &["--height", "5"], ["30", "5"]),
            ("57.70,11.93", &["--height", "5"], ["5", "5"]),
            ("32V 674934 6400683;2,5", &[], ["2.5", "2.5"]),
        ] {
            let text = text_of(at, &[&["--flat", "--nodes", "2"], more].concat());
            let lines: Vec<_> =
                text.lines().filter_map(|line| line.strip_prefix("height_agl_m = ")).collect();
            assert_eq!(lines, heights_m, "{at} {more:?}");
        }
    }

    #[test]
    fn tiny_and_huge_distances_give_the_allowed_ones() {
        for (option, value, allowed) in [
            ("--spacing-km", "1e-9", "allowed 0.01 to 100 km"),
            ("--spacing-km", "1e9", "allowed 0.01 to 100 km"),
            ("--spacing-km", "nan", "allowed 0.01 to 100 km"),
            ("--coverage-km", "1e-9", "allowed 0.1 to 200 km"),
            ("--coverage-km", "-1", "allowed 0.1 to 200 km"),
        ] {
            let option_of = format!("{option}={value}");
            let line = ["init", "m.toml", "--at", "57.70,11.93", &option_of];
            let error = <Line as clap::Parser>::parse_from(line).init.draft().err().unwrap();
            assert!(error.message().starts_with(&format!("invalid {option}: found ")), "{error:?}");
            assert!(error.message().ends_with(allowed), "{error:?}");
        }
    }

    #[test]
    fn tiles_lie_under_the_coverage_as_well() {
        let text = |more: &[&str]| text_of("57.70,11.93", more);
        let listed = |text: &str| text.contains("tiles = [\"N57E011\", \"N57E012\"]");
        assert!(!listed(&text(&[])) && listed(&text(&["--coverage-km", "8"])));
    }

    #[test]
    fn paths_of_any_name_are_one_word_of_a_shell() {
        for (path, word) in [
            ("mesh.toml", "mesh.toml"),
            ("maps/höjd_1.toml", "maps/höjd_1.toml"),
            ("my mesh.toml", "'my mesh.toml'"),
            ("it's.toml", r"'it'\''s.toml'"),
            ("a\"b$c\\d", "'a\"b$c\\d'"),
        ] {
            assert_eq!(shell_argument(path), word);
        }
    }
}
