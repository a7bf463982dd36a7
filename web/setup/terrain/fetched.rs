//! Terrain that is fetched on first use.

use std::io::{BufRead, IsTerminal, Write};

use groundwave_http::Failure;
use groundwave_model::terrain::{GeoPoint, TileId};
use groundwave_scenario::{Scenario, Terrain};
use groundwave_terrain::cache::INDEX_FILE;

use super::super::fetch::{Fetching, squares_between, squares_of, squares_under};
use super::{OpenTerrain, TerrainOptions};

/// `true` if standard input and standard error are terminals: a question can be answered.
#[must_use]
pub fn is_dialogue() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Writes a line to standard error, where that is possible.
fn note(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// A question on the terminal about a fetch of these terms; `false` unless the answer is yes.
///
/// # Errors
/// When the terminal fails.
pub fn has_consent(terms: &str) -> Result<bool, Failure> {
    write!(anstream::stderr(), "Fetch {terms}? [y/N] ")?;
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Squares of a scenario whose ground a run cannot do without: those it names, else those under its nodes.
pub(super) fn needed(scenario: &Scenario) -> Result<Vec<TileId>, Failure> {
    match &scenario.terrain {
        Terrain::Tiles { names, .. } if !names.is_empty() => {
            names.iter().map(|name| name.parse().map_err(Failure::input)).collect()
        }
        _ => squares_under(scenario),
    }
}

impl TerrainOptions {
    /// The same options; on a terminal the squares that are missing are offered for a fetch.
    #[must_use]
    pub fn offering(&self) -> Self {
        Self { is_offering: true, ..self.clone() }
    }

    /// These options with the folder of fetched terrain, and in it the squares that `ground` lacks; `None` where none
    /// are to be fetched. A question is about the squares of `needed`, without one those of `all` are fetched.
    fn with_missing(
        &self,
        ground: &OpenTerrain,
        needed: impl FnOnce() -> Result<Vec<TileId>, Failure>,
        all: impl FnOnce() -> Result<Vec<TileId>, Failure>,
    ) -> Result<Option<Self>, Failure> {
        let is_question =
            self.is_offering && !self.is_offline() && !self.flat_earth && is_dialogue();
        if !self.is_fetching() && !is_question {
            return Ok(None);
        }
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let (source, url) =
            (variable("GROUNDWAVE_TERRAIN_SOURCE"), variable("GROUNDWAVE_TERRAIN_URL"));
        let folder = match self.cache_folder() {
            Err(_) if !self.is_fetching() => return Ok(None),
            folder => folder?,
        };
        let fetching = Fetching::new(folder, source.as_deref(), url.as_deref(), None)?;
        let squares = if self.is_fetching() { all()? } else { needed().unwrap_or_default() };
        let missing = fetching.lacking(&squares, &*ground.terrain)?;
        if !self.is_fetching() {
            if missing.is_empty() || !has_consent(&fetching.terms(&missing))? {
                return Ok(None);
            }
            fetching.cache.consent(fetching.source).map_err(Failure::machine)?;
        } else if !missing.is_empty() {
            note(&format!("fetching {}", fetching.terms(&missing)));
        }
        for square in missing {
            fetching.fetch(square, |_| {})?;
            note(&format!("fetched {square}"));
        }
        let mut options = self.clone();
        if fetching.cache.folder().join(INDEX_FILE).is_file() {
            options.terrain_cache = Some(fetching.cache.folder().to_owned());
        }
        Ok(Some(options))
    }

    /// Ground that `open` opens, after the squares that a scenario lacks were fetched where that is requested.
    pub(super) fn supplied(
        &self,
        scenario: &Scenario,
        open: impl Fn(&Self) -> Result<OpenTerrain, Failure>,
    ) -> Result<OpenTerrain, Failure> {
        let ground = open(self)?;
        let options = self.with_missing(&ground, || needed(scenario), || squares_of(scenario))?;
        options.map_or(Ok(ground), |options| open(&options))
    }

    /// The requested terrain under positions, else that of `make data`, else what was fetched, else none.
    ///
    /// # Errors
    /// When input is invalid or the machine fails.
    pub fn open_under(&self, positions: &[GeoPoint]) -> Result<OpenTerrain, Failure> {
        let ground = self.open()?;
        let squares = || squares_between(positions);
        let options = self.with_missing(&ground, squares, squares)?;
        options.map_or(Ok(ground), |options| options.open())
    }
}
