//! Value out of range, with its key and the allowed range.

use std::fmt;

/// A configuration value that was refused.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("`{key}` is {found}, allowed is {allowed}")]
pub struct BadValue {
    /// Dotted path of the value inside the document, e.g. `radio.frequency_mhz`.
    pub key: &'static str,
    /// Value found.
    pub found: f64,
    /// Allowed range.
    pub allowed: Allowed,
}

/// The closed or half-open interval a value must lie in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Allowed {
    /// Smallest allowed value, itself allowed.
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// True if `max` itself is allowed.
    pub max_included: bool,
}

impl fmt::Display for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let close = if self.max_included { ']' } else { ')' };
        write!(f, "[{}, {}{close}", self.min, self.max)
    }
}

/// Accepts `found` when it lies in `[min, max]`; NaN and infinities are refused.
pub(crate) fn within(key: &'static str, found: f64, min: f64, max: f64) -> Result<(), BadValue> {
    if (min..=max).contains(&found) {
        return Ok(());
    }
    let allowed = Allowed {
        min,
        max,
        max_included: true,
    };
    Err(BadValue {
        key,
        found,
        allowed,
    })
}

/// Accepts `found` when it lies in `[min, max)`; NaN and infinities are refused.
pub(crate) fn below(key: &'static str, found: f64, min: f64, max: f64) -> Result<(), BadValue> {
    if (min..max).contains(&found) {
        return Ok(());
    }
    let allowed = Allowed {
        min,
        max,
        max_included: false,
    };
    Err(BadValue {
        key,
        found,
        allowed,
    })
}
