//! Order of the sources of an option: command line, scenario, environment or configuration file.

use std::cmp::Ordering;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches};

use super::TerrainOptions;

/// Options whose values come from the environment or a configuration file: those of a scenario come before
/// them, and those of the command line before both.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fallbacks {
    pub(super) srtm_dir: bool,
    pub(super) geoid: bool,
    pub(super) land_cover: bool,
    pub(super) posts: bool,
    pub(super) fetch: bool,
    pub(super) terrain_cache: bool,
    /// `true` for `--flat-earth=false` on the command line: tiles in place of the flat ground of a scenario.
    pub(super) is_tiled: bool,
    /// `true` where `--offline` comes before `--fetch`, such as that of the environment.
    is_fetch_void: bool,
    /// `true` where `--fetch` comes before `--offline`.
    is_offline_void: bool,
}

impl TerrainOptions {
    /// `true` where missing tiles are fetched without a question.
    pub(super) fn is_fetching(&self) -> bool {
        self.fetch && !self.fallbacks.is_fetch_void
    }

    /// `true` where nothing is fetched.
    pub(super) fn is_offline(&self) -> bool {
        self.offline && !self.fallbacks.is_offline_void
    }
}

/// Order of the sources of `--fetch` and `--offline` where both are on: the greater one is in force.
///
/// # Errors
/// Where both have one source.
fn order(matches: &ArgMatches) -> Result<Option<Ordering>, clap::Error> {
    let is_on = |id: &str| matches.get_one::<bool>(id) == Some(&true);
    if !is_on("fetch") || !is_on("offline") {
        return Ok(None);
    }
    match matches.value_source("fetch").cmp(&matches.value_source("offline")) {
        Ordering::Equal => {
            let what = "invalid --offline: found beside --fetch, allowed without it\n";
            Err(clap::Error::raw(ErrorKind::ArgumentConflict, what))
        }
        order => Ok(Some(order)),
    }
}

impl FromArgMatches for Fallbacks {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let order = order(matches)?;
        let is_fallback = |id: &str| {
            matches.value_source(id).is_some_and(|from| from != ValueSource::CommandLine)
        };
        Ok(Self {
            srtm_dir: is_fallback("srtm_dir"),
            geoid: is_fallback("geoid"),
            land_cover: is_fallback("land_cover"),
            posts: is_fallback("posts"),
            fetch: is_fallback("fetch"),
            terrain_cache: is_fallback("terrain_cache"),
            is_tiled: matches.value_source("flat_earth") == Some(ValueSource::CommandLine)
                && matches.get_one::<bool>("flat_earth") == Some(&false),
            is_fetch_void: order == Some(Ordering::Less),
            is_offline_void: order == Some(Ordering::Greater),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// No options of its own.
impl Args for Fallbacks {
    fn augment_args(command: clap::Command) -> clap::Command {
        command
    }

    fn augment_args_for_update(command: clap::Command) -> clap::Command {
        command
    }
}

/// The value of an option and that of a scenario, by their order.
pub(super) fn first<T: Clone>(
    own: Option<&T>,
    is_fallback: bool,
    of_scenario: Option<T>,
) -> Option<T> {
    match is_fallback {
        true => of_scenario.or_else(|| own.cloned()),
        false => own.cloned().or(of_scenario),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use clap::{CommandFactory, Parser};

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        ground: TerrainOptions,
    }

    #[test]
    fn fetching_and_offline_on_the_command_line_come_before_each_other_elsewhere() {
        let of = |elsewhere: &'static str, words: &[&str]| {
            let command = Line::command().mut_arg(elsewhere, |arg| arg.default_value("true"));
            let matches = command.try_get_matches_from(words).unwrap();
            let ground = Line::from_arg_matches(&matches).map(|line| line.ground);
            ground.map(|ground| (ground.is_fetching(), ground.is_offline()))
        };
        assert_eq!(of("fetch", &["link"]).unwrap(), (true, false));
        assert_eq!(of("fetch", &["link", "--offline"]).unwrap(), (false, true));
        assert_eq!(of("offline", &["link", "--fetch"]).unwrap(), (true, false));
        let command = Line::command();
        let matches = command.try_get_matches_from(["link", "--fetch", "--offline"]).unwrap();
        let error = Line::from_arg_matches(&matches).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::ArgumentConflict);
    }

    #[test]
    fn tiles_replace_the_flat_ground_of_a_scenario_where_requested() {
        let text = "[scenario]\ntitle = \"a\"\nduration_s = 1\n[terrain]\nflat_msl_m = 7\n\
                    [[node]]\nname = \"a\"\nlat_deg = 57.7\nlon_deg = 11.9\nheight_agl_m = 10\n\
                    radio = \"wifi_5g_mesh\"\n";
        let scenario = groundwave_scenario::parse(text, "a.toml", Path::new("")).unwrap();
        let flat_msl_m = |is_tiled: bool| {
            let fallbacks = Fallbacks { is_tiled, ..Fallbacks::default() };
            let options = TerrainOptions { fallbacks, ..TerrainOptions::default() };
            options.for_scenario(&scenario).unwrap().inputs.get("flat_msl_m").cloned()
        };
        assert_eq!(flat_msl_m(false).as_deref(), Some("7"));
        assert_eq!(flat_msl_m(true), None);
    }
}
