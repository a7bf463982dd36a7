//! Error of the propagation formulas: an input outside their domain.

/// An input a formula is not defined for. Every field is as the caller gave it.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum DomainError {
    /// Not within a closed interval; `NaN` is within none.
    #[error("invalid {quantity}: found {value}, allowed {low} to {high}")]
    Range {
        /// Name of the input, with its unit.
        quantity: &'static str,
        /// Value found.
        value: f64,
        /// Minimum permitted value.
        low: f64,
        /// Maximum permitted value.
        high: f64,
    },
    /// Zero, negative, infinite or `NaN` where a positive finite number is needed.
    #[error("invalid {quantity}: found {value}, allowed a positive finite number")]
    NotPositive {
        /// Name of the input, with its unit.
        quantity: &'static str,
        /// Value found.
        value: f64,
    },
}

/// `value`, if `low <= value <= high`.
pub(crate) fn within(
    quantity: &'static str,
    value: f64,
    low: f64,
    high: f64,
) -> Result<f64, DomainError> {
    if value >= low && value <= high {
        Ok(value)
    } else {
        Err(DomainError::Range { quantity, value, low, high })
    }
}

/// `value`, if it is positive and finite.
pub(crate) fn positive(quantity: &'static str, value: f64) -> Result<f64, DomainError> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(DomainError::NotPositive { quantity, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_inclusive_and_nan_is_refused() {
        assert_eq!(within("x", 1.0, 1.0, 2.0), Ok(1.0));
        assert_eq!(within("x", 2.0, 1.0, 2.0), Ok(2.0));
        assert!(within("x", f64::NAN, 1.0, 2.0).is_err());
        assert!(positive("x", f64::INFINITY).is_err());
        assert!(positive("x", 0.0).is_err());
        assert_eq!(
            within("distance_km", 3.0, 1.0, 2.0).unwrap_err().to_string(),
            "invalid distance_km: found 3, allowed 1 to 2"
        );
    }
}
