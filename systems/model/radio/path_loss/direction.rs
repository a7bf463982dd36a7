//! Inputs of path-loss models: those common to all, and typed settings that belong to one.

use groundwave_propagation::polarization::Polarization;

use crate::radio::environment::Environment;

/// One direction of a pair of stations: inputs common to all models, all validated.
///
/// The settings of one model are read by [`Self::settings`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Direction<'a> {
    /// Frequency of the transmitter, MHz.
    pub frequency_mhz: f64,
    /// Polarisation of the transmitted wave.
    pub polarization: Polarization,
    /// Heights (tx, rx) of the antennas over terrain, m above ground.
    pub antenna_agl_m: [f64; 2],
    /// Private: models read it by their settings, so that these are what they declare.
    environment: &'a Environment,
}

impl<'a> Direction<'a> {
    /// Direction in a validated environment, with heights (tx, rx), m above ground.
    pub(in crate::radio) const fn new(
        frequency_mhz: f64,
        polarization: Polarization,
        antenna_agl_m: [f64; 2],
        environment: &'a Environment,
    ) -> Self {
        Self { frequency_mhz, polarization, antenna_agl_m, environment }
    }

    /// Settings of a model.
    #[must_use]
    pub fn settings<S: Settings>(&self) -> S {
        S::of(self.environment)
    }
}

/// Settings of one model: fields of [`Environment`], with the same names, units and ranges.
pub trait Settings: Sized {
    /// Names of the fields, in the order of [`PathLossModel::settings`](super::PathLossModel::settings).
    const NAMES: &'static [&'static str];

    /// Values of the fields in `environment`.
    fn of(environment: &Environment) -> Self;
}

/// Declares the structure of a model's settings. A field that [`Environment`] does not have, or has in
/// another type, does not compile.
macro_rules! settings {
    (
        $(#[$attribute:meta])*
        $visibility:vis struct $name:ident {
            $($(#[$field_attribute:meta])* $field:ident: $type:ty,)+
        }
    ) => {
        $(#[$attribute])*
        #[derive(Debug, Clone, Copy, PartialEq)]
        $visibility struct $name {
            $($(#[$field_attribute])* $visibility $field: $type,)+
        }

        impl $crate::radio::path_loss::Settings for $name {
            const NAMES: &'static [&'static str] = &[$(stringify!($field)),+];

            fn of(environment: &$crate::radio::Environment) -> Self {
                Self { $($field: environment.$field,)+ }
            }
        }
    };
}

pub(super) use settings;
