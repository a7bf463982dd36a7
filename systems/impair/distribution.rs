//! Distributions of delays.

use std::collections::BTreeMap;

use garde::Validate;
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use super::check::table_name;

/// Distribution of the deviations from the mean delay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Distribution {
    /// Evenly over mean ± jitter.
    Uniform {},
    /// Gaussian.
    Normal {},
    /// Heavy-tailed.
    Pareto {},
    /// A quarter Gaussian, three quarters heavy-tailed.
    ParetoNormal {},
    /// A histogram of the operator's, by name.
    Table {
        /// Name: 1 to 64 of `a-z0-9_-`.
        #[schemars(regex(pattern = r"^[a-z0-9_-]{1,64}$"))]
        #[garde(custom(table_name))]
        name: String,
    },
}

/// Kinds on the wire.
const KINDS: &[&str] = &["uniform", "normal", "pareto", "paretonormal", "table"];

/// Reads a distribution strictly by its schema: an object of strings. Inside a tagged object serde
/// would also take a kind by its number.
pub(super) fn distribution<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Distribution, D::Error> {
    let mut fields = BTreeMap::<String, String>::deserialize(deserializer)?;
    let mut take = |key| fields.remove(key).ok_or_else(|| D::Error::missing_field(key));
    let kind = take("kind")?;
    let distribution = match Distribution::built_in(&kind) {
        Some(built_in) => built_in,
        None if kind == "table" => Distribution::Table { name: take("name")? },
        None => return Err(D::Error::unknown_variant(&kind, KINDS)),
    };
    match fields.keys().next() {
        None => Ok(distribution),
        Some(surplus) => Err(D::Error::unknown_field(surplus, &["kind"])),
    }
}

impl Default for Distribution {
    fn default() -> Self {
        Self::Uniform {}
    }
}

impl Distribution {
    /// Those without a histogram of the operator's, in the order of the interface.
    pub const BUILT_IN: [Self; 4] =
        [Self::Uniform {}, Self::Normal {}, Self::Pareto {}, Self::ParetoNormal {}];

    /// The one of [`Self::BUILT_IN`] with this kind.
    #[must_use]
    pub fn built_in(kind: &str) -> Option<Self> {
        Self::BUILT_IN.into_iter().find(|distribution| distribution.kind() == kind)
    }

    /// Name of the kind on the wire.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Uniform {} => "uniform",
            Self::Normal {} => "normal",
            Self::Pareto {} => "pareto",
            Self::ParetoNormal {} => "paretonormal",
            Self::Table { .. } => "table",
        }
    }
}
