//! Levels that heights are above.

use super::dataset::Height;

/// Level that heights are above whose document states none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Datum {
    /// Ground.
    Ground,
    /// Mean sea level.
    Sea,
    /// Ellipsoid of WGS84.
    Ellipsoid,
}

impl Datum {
    /// Names of the levels, as EMANE has them.
    pub const NAMES: [&'static str; 3] = ["agl", "msl", "hae"];

    /// The level of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let all = Self::NAMES.into_iter().zip([Self::Ground, Self::Sea, Self::Ellipsoid]);
        all.into_iter().find(|(own, _)| *own == name).map(|(_, datum)| datum)
    }

    /// Heights above the level, of metres.
    pub(super) const fn height(self) -> fn(f64) -> Height {
        match self {
            Self::Ground => Height::Ground,
            Self::Sea => Height::Sea,
            Self::Ellipsoid => Height::Ellipsoid,
        }
    }
}
