//! Links, profiles and coverages for other languages: requests as JSON documents, heights and results as
//! arrays.
//!
//! The functions are those of the models with nothing added, so that every binding gives the same bits as
//! the program. No files and no system calls: the crate builds for WebAssembly.
//!
//! | module | result |
//! |---|---|
//! | [`link`] | budget of a link in both directions |
//! | [`path`] | samples of a profile with Earth bulge, ray and Fresnel zone |
//! | [`coverage`] | planes of a coverage around a site |
//! | [`elevation`] | terrain from an array of heights |
//! | [`itm`] | loss of one path by the Irregular Terrain Model |

#![warn(missing_docs)]

#[cfg(feature = "models")]
pub mod coverage;
#[cfg(feature = "models")]
pub mod document;
#[cfg(feature = "models")]
pub mod elevation;
pub mod itm;
#[cfg(feature = "models")]
pub mod link;
#[cfg(feature = "models")]
pub mod path;
#[cfg(feature = "models")]
pub mod station;

#[cfg(all(test, feature = "models"))]
mod tests;

/// Error of a request: the key, the value found and the values allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    /// An error of the value of `key`.
    pub fn new(key: &str, found: impl std::fmt::Display, allowed: impl std::fmt::Display) -> Self {
        Self(format!("invalid {key}: found {found}, allowed {allowed}"))
    }

    /// An error of another layer.
    pub fn of(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

/// Version of the models and of this interface.
#[must_use]
pub const fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
