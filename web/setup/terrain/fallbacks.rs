//! Order of the sources of an option: command line, scenario, environment or configuration file.

use clap::parser::ValueSource;
use clap::{ArgMatches, Args, FromArgMatches};

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
}

impl FromArgMatches for Fallbacks {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
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

    use super::super::TerrainOptions;
    use super::*;

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
