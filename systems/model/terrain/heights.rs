//! Kinds of heights: the ground they describe, their vertical datum, the way between posts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Ground that heights describe.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Ground {
    /// Bare earth, without trees and buildings (a terrain model, DTM).
    BareEarth,
    /// Surface, with tree tops and roofs in whole or in part (a surface model, DSM).
    Surface,
    /// Not stated.
    #[default]
    Unknown,
}

impl Ground {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::BareEarth, Self::Surface, Self::Unknown];

    /// Name for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::BareEarth => "bare earth",
            Self::Surface => "surface",
            Self::Unknown => "ground not stated",
        }
    }
}

/// Level from which heights are counted.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum VerticalDatum {
    /// Geoid EGM96, EPSG:5773.
    Egm96,
    /// Geoid EGM2008, EPSG:3855; within about 1 m of EGM96.
    Egm2008,
    /// Another one, mostly that of a country.
    Local,
    /// Not stated.
    #[default]
    Unknown,
}

impl VerticalDatum {
    /// Every datum.
    pub const ALL: [Self; 4] = [Self::Egm96, Self::Egm2008, Self::Local, Self::Unknown];

    /// Name for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Egm96 => "EGM96",
            Self::Egm2008 => "EGM2008",
            Self::Local => "local datum",
            Self::Unknown => "datum not stated",
        }
    }
}

/// Ground and datum of the heights of a source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct HeightKind {
    /// Ground.
    pub ground: Ground,
    /// Vertical datum.
    pub datum: VerticalDatum,
}

impl HeightKind {
    /// Heights of SRTM: a surface, above EGM96.
    pub const SRTM: Self = Self { ground: Ground::Surface, datum: VerticalDatum::Egm96 };

    fn bit(self) -> u16 {
        1 << (self.ground as u16 * 4 + self.datum as u16)
    }
}

/// Set of [`HeightKind`]s.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HeightKinds(u16);

impl HeightKinds {
    /// Adds a kind.
    pub fn insert(&mut self, kind: HeightKind) {
        self.0 |= kind.bit();
    }

    /// Union of the two sets.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True with more than one kind.
    #[must_use]
    pub fn is_mixed(self) -> bool {
        self.0.count_ones() > 1
    }

    /// The kinds.
    pub fn iter(self) -> impl Iterator<Item = HeightKind> {
        let all = Ground::ALL
            .into_iter()
            .flat_map(|ground| VerticalDatum::ALL.map(|datum| HeightKind { ground, datum }));
        all.filter(move |kind| self.0 & kind.bit() != 0)
    }
}

/// Height between posts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Posts {
    /// Bilinear between the four posts around a position.
    #[default]
    Interpolated,
    /// That of the nearest post, as SPLAT! takes it.
    Nearest,
}

/// Source of heights: a data set, and the terms it is used under.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeightSource {
    /// Name, for example `SRTM`.
    pub name: String,
    /// Files of it that can be asked for.
    pub files: usize,
    /// Ground that the heights describe.
    pub ground: Ground,
    /// Level from which they are counted.
    pub vertical_datum: VerticalDatum,
    /// Licence; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub licence: Option<String>,
    /// Attribution that results must carry; absent where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<String>,
}

impl HeightSource {
    /// Ground and datum.
    #[must_use]
    pub fn kind(&self) -> HeightKind {
        HeightKind { ground: self.ground, datum: self.vertical_datum }
    }

    /// Name, ground and datum in one line: `SRTM (surface, EGM96)`.
    #[must_use]
    pub fn summary(&self) -> String {
        let (ground, datum) = (self.ground.label(), self.vertical_datum.label());
        format!("{} ({ground}, {datum})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_kinds_holds_each_once() {
        let mut set = HeightKinds::default();
        assert!(!set.is_mixed() && set.iter().count() == 0);
        set.insert(HeightKind::SRTM);
        set.insert(HeightKind::SRTM);
        assert!(!set.is_mixed());
        let other = HeightKind { ground: Ground::BareEarth, datum: VerticalDatum::Unknown };
        let mut both = HeightKinds::default();
        both.insert(other);
        both = both.union(set);
        assert!(both.is_mixed());
        assert_eq!(both.iter().collect::<Vec<_>>(), [other, HeightKind::SRTM]);
    }
}
