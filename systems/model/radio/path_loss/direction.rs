//! Inputs of path-loss models: those common to all, and typed settings that belong to one.

use groundwave_propagation::polarization::Polarization;

use crate::radio::climate::Climate;
use crate::radio::surroundings::Surroundings;

/// One direction of a pair of stations: inputs common to all models, all validated.
///
/// The settings of one model are read by [`Self::settings`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Direction {
    /// Frequency of the transmitter, MHz.
    pub frequency_mhz: f64,
    /// Polarisation of the transmitted wave.
    pub polarization: Polarization,
    /// Heights (tx, rx) of the antennas over terrain, m above ground.
    pub antenna_agl_m: [f64; 2],
    /// Heights of buildings and trees on the halves of the path next to transmitter and receiver, m above
    /// ground; `None` where they have none. For models that use clutter, where the profile has none.
    pub clutter_agl_m: [Option<f64>; 2],
    /// Surroundings of transmitter and receiver, from the clutter of the environment where a station has
    /// none of its own. For models that include them.
    pub surroundings: [Surroundings; 2],
    /// Private: models read them by their settings, so that these are what they declare.
    values: SettingValues,
}

impl Direction {
    /// Direction with validated values, and heights (tx, rx), m above ground.
    pub(in crate::radio) const fn new(
        frequency_mhz: f64,
        polarization: Polarization,
        antenna_agl_m: [f64; 2],
        values: SettingValues,
    ) -> Self {
        Self {
            frequency_mhz,
            polarization,
            antenna_agl_m,
            clutter_agl_m: [None; 2],
            surroundings: [Surroundings::Unknown; 2],
            values,
        }
    }

    /// The direction with clutter on the halves of the path next to transmitter and receiver, m above ground.
    pub(in crate::radio) const fn with_clutter(self, clutter_agl_m: [Option<f64>; 2]) -> Self {
        Self { clutter_agl_m, ..self }
    }

    /// The direction with surroundings of transmitter and receiver.
    pub(in crate::radio) const fn with_surroundings(self, surroundings: [Surroundings; 2]) -> Self {
        Self { surroundings, ..self }
    }

    /// Settings of a model.
    #[must_use]
    pub fn settings<S: Settings>(&self) -> S {
        S::of(&self.values)
    }
}

/// Values of the settings of all models. Names, units and ranges are those of the environment, which
/// imports the registry of models: models import these values instead of it.
#[expect(missing_docs, reason = "fields of the environment")]
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SettingValues {
    pub climate: Climate,
    pub refractivity_n_units: f64,
    pub permittivity: f64,
    pub conductivity_s_m: f64,
    pub time_percent: f64,
    pub location_percent: f64,
    pub situation_percent: f64,
    pub k_factor: f64,
}

/// Settings of one model: fields of [`SettingValues`].
pub trait Settings: Sized {
    /// Names of the fields, for [`PathLossModel::settings`](super::PathLossModel::settings).
    const NAMES: &'static [&'static str];

    /// Those of `values`.
    fn of(values: &SettingValues) -> Self;
}

/// Declares the structure of a model's settings. A field that [`SettingValues`] does not have, or has in
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

            fn of(values: &$crate::radio::path_loss::SettingValues) -> Self {
                Self { $($field: values.$field,)+ }
            }
        }
    };
}

pub(super) use settings;
