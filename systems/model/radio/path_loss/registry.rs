//! The registry of path-loss models.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::LazyLock;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use super::PathLossModel;
use super::cost231_hata::Cost231Hata;
use super::delta_bullington::DeltaBullington;
use super::extended_hata::ExtendedHata;
use super::free_space::FreeSpace;
use super::itm::IrregularTerrain;
use super::p528::Aeronautical;
use super::p1812::PointToArea;

/// Makes the enumeration of models, [`Model::ALL`] and [`Model::get`] from one line a model.
macro_rules! path_loss_models {
    ($($(#[$attribute:meta])* $model:ident => $implementation:expr,)+) => {
        /// Path-loss model.
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
        )]
        #[serde(rename_all = "snake_case")]
        pub enum Model {
            $(
                #[doc = concat!("`", stringify!($implementation), "`.")]
                $(#[$attribute])*
                $model,
            )+
        }

        impl Model {
            /// Every model, in the order of the registry.
            pub const ALL: &'static [Self] = &[$($(#[$attribute])* Self::$model),+];

            /// The implementation.
            #[must_use]
            pub fn get(self) -> &'static dyn PathLossModel {
                match self {
                    $($(#[$attribute])* Self::$model => &$implementation,)+
                }
            }
        }
    };
}

path_loss_models! {
    Itm => IrregularTerrain,
    DeltaBullington => DeltaBullington,
    FreeSpace => FreeSpace,
    P1812 => PointToArea,
    ExtendedHata => ExtendedHata,
    P528 => Aeronautical,
    Cost231Hata => Cost231Hata,
    #[cfg(test)] LinearSlope => super::tests::LinearSlope,
    #[cfg(test)] ClutterSum => super::tests::ClutterSum,
}

/// Model that is used where another one is not valid. Its range is unlimited.
pub const FALLBACK_MODEL: Model = Model::DeltaBullington;

/// [`Model::option_value`] of every model.
static OPTION_VALUES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let names = names().into_iter();
    names.map(|name| name.replace('_', "-")).collect()
});

impl Default for Model {
    fn default() -> Self {
        Self::where_unnamed(false)
    }
}

impl Model {
    /// Model where none is named: over land cover that of those which read clutter along paths that fits
    /// measured links best, else ITM.
    #[must_use]
    pub const fn where_unnamed(has_land_cover: bool) -> Self {
        if has_land_cover { Self::P1812 } else { Self::Itm }
    }

    /// Value of the command line option `--model`: the name with hyphens.
    #[must_use]
    pub fn option_value(self) -> &'static str {
        &OPTION_VALUES[self as usize]
    }
}

impl fmt::Display for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get().name())
    }
}

/// Name of a model that is not in the registry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid path-loss model: found {found:?}, allowed {}", names().join(", "))]
pub struct UnknownModel {
    /// Name found.
    pub found: String,
}

fn names() -> Vec<&'static str> {
    Model::ALL.iter().map(|model| model.get().name()).collect()
}

impl FromStr for Model {
    type Err = UnknownModel;

    /// Parses a name, with underscores or hyphens.
    fn from_str(text: &str) -> Result<Self, UnknownModel> {
        let name = text.replace('-', "_");
        let model = Self::ALL.iter().find(|model| model.get().name() == name);
        model.copied().ok_or_else(|| UnknownModel { found: text.to_owned() })
    }
}

impl JsonSchema for Model {
    fn schema_name() -> Cow<'static, str> {
        "Model".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let models = Self::ALL.iter().map(|model| {
            let model = model.get();
            json_schema!({
                "description": model.description(),
                "type": "string",
                "const": model.name(),
            })
        });
        let models: Vec<Schema> = models.collect();
        json_schema!({ "description": "Path-loss model.", "oneOf": models })
    }
}
