//! Reasons for refusing a prediction.

/// An input outside the model's domain, or one that leads outside it. The messages say what was
/// wrong, its value and what is allowed; [`Invalid::code`] is NTIA's number for the same
/// condition.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Invalid {
    /// Transmitting antenna height.
    #[error("transmitter height {0} m above ground is not within 0.5 to 3000 m")]
    TxHeight(f64),
    /// Receiving antenna height.
    #[error("receiver height {0} m above ground is not within 0.5 to 3000 m")]
    RxHeight(f64),
    /// Share of time.
    #[error("time {0} % is not between 0 and 100 % exclusive")]
    Time(f64),
    /// Share of locations.
    #[error("location {0} % is not between 0 and 100 % exclusive")]
    Location(f64),
    /// Share of situations.
    #[error("situation {0} % is not between 0 and 100 % exclusive")]
    Situation(f64),
    /// Confidence, in the confidence and reliability form.
    #[error("confidence {0} % is not between 0 and 100 % exclusive")]
    Confidence(f64),
    /// Reliability, in the confidence and reliability form.
    #[error("reliability {0} % is not between 0 and 100 % exclusive")]
    Reliability(f64),
    /// Surface refractivity reduced to sea level.
    #[error("surface refractivity {0} N-units is not within 250 to 400 N-units")]
    Refractivity(f64),
    /// Frequency.
    #[error("frequency {0} MHz is not within 20 to 20000 MHz")]
    Frequency(f64),
    /// Relative permittivity of the ground.
    #[error("relative permittivity {0} is not within 1 to 1e6")]
    Epsilon(f64),
    /// Conductivity of the ground.
    #[error("ground conductivity {0} S/m is not above 0 and at most 1e8 S/m")]
    Sigma(f64),
    /// Reactance not below resistance, the computed surface transfer impedance being
    /// `re + i im`.
    #[error("ground impedance has |imaginary part| {im} not below its real part {re}")]
    GroundImpedance {
        /// Real part.
        re: f64,
        /// Imaginary part.
        im: f64,
    },
    /// Code of the mode of variability.
    #[error("mode of variability {0} is not 0 to 3, 10 to 13, 20 to 23 or 30 to 33")]
    Mdvar(u8),
    /// Computed radius of the effective earth.
    #[error("effective earth radius {0} m is not within 4000 to 13333 km")]
    EffectiveEarth(f64),
    /// Path length.
    #[error("path distance {0} m is not above 0 and at most 20040 km")]
    PathDistance(f64),
    /// Terrain irregularity, in area mode.
    #[error("terrain irregularity {0} m is not within 0 to 100000 m")]
    DeltaH(f64),
    /// Computed surface refractivity: the terrain is too high.
    #[error("surface refractivity at path height is {0} N-units, below 150: terrain too high")]
    SurfaceRefractivitySmall(f64),
    /// Computed surface refractivity: the terrain is too low.
    #[error("surface refractivity at path height is {0} N-units, above 400: terrain too low")]
    SurfaceRefractivityLarge(f64),
    /// Too few points for a path.
    #[error("terrain profile has {0} points; at least 2 are needed")]
    ProfilePoints(usize),
    /// Spacing of the points.
    #[error("terrain profile step {0} m is not a finite number of at least 0.01 m")]
    ProfileStep(f64),
    /// An elevation that is not a number or not on this planet.
    #[error("terrain elevation {value} m at point {index} is not within ±20000 m")]
    Elevation {
        /// Zero-based index of the first such point.
        index: usize,
        /// Elevation, m above mean sea level.
        value: f64,
    },
}

impl Invalid {
    /// NTIA's return code (`ERRORS_AND_WARNINGS.md`), or `None` for the conditions it does not
    /// check: those on the profile itself.
    #[must_use]
    pub const fn code(&self) -> Option<u16> {
        Some(match self {
            Self::TxHeight(_) => 1000,
            Self::RxHeight(_) => 1001,
            Self::Time(_) => 1003,
            Self::Location(_) => 1004,
            Self::Situation(_) => 1005,
            Self::Confidence(_) => 1006,
            Self::Reliability(_) => 1007,
            Self::Refractivity(_) => 1008,
            Self::Frequency(_) => 1009,
            Self::Epsilon(_) => 1011,
            Self::Sigma(_) => 1012,
            Self::GroundImpedance { .. } => 1013,
            Self::Mdvar(_) => 1014,
            Self::EffectiveEarth(_) => 1016,
            Self::PathDistance(_) => 1017,
            Self::DeltaH(_) => 1018,
            Self::SurfaceRefractivitySmall(_) => 1021,
            Self::SurfaceRefractivityLarge(_) => 1022,
            Self::ProfilePoints(_) | Self::ProfileStep(_) | Self::Elevation { .. } => return None,
        })
    }
}

/// `Ok` if `low <= value <= high`; `NaN` never is.
pub(super) fn within(
    value: f64,
    low: f64,
    high: f64,
    refuse: impl FnOnce(f64) -> Invalid,
) -> Result<(), Invalid> {
    if value >= low && value <= high { Ok(()) } else { Err(refuse(value)) }
}
