//! The Irregular Terrain Model (ITM, Longley-Rice): basic transmission loss over real or
//! statistically described terrain, 20 MHz to 20 GHz, roughly 1 km to 2000 km.
//!
//! [`reference()`] works out everything that is certain about one terrain profile, up to the
//! reference attenuation; [`area`] does so for two antennas a distance apart over terrain known
//! only by its irregularity. The [`Reference`] they return then gives the loss not exceeded at
//! any [`Quantile`] of time, location and situation, for the price of a few square roots: ask for
//! the tenth, fiftieth and ninetieth percentile of the same reference. [`point_to_point`] does
//! both steps at once, and [`Prepared`] keeps what many paths have in common.
//!
//! The model is not reciprocal: swapping the ends of a rough path may change the loss by some
//! decibels.
//!
//! Sources, as cited in the parts:
//! * `TR 82-100`: G. A. Hufford, A. G. Longley, W. A. Kissick, "A Guide to the Use of the ITS
//!   Irregular Terrain Model in the Area Prediction Mode", NTIA Report 82-100, 1982.
//! * `Algorithm`: G. A. Hufford, "The ITS Irregular Terrain Model, version 1.2.2: The
//!   Algorithm", NTIA, 1995.
//! * `ERL 79-ITS 67`: A. G. Longley, P. L. Rice, "Prediction of Tropospheric Radio Transmission
//!   Loss Over Irregular Terrain: A Computer Method", ESSA, 1968.
//! * `TN101`: P. L. Rice et al., "Transmission Loss Predictions for Tropospheric Communication
//!   Circuits", NBS Technical Note 101, revised 1967.
//! * `Vogler 1964`: L. E. Vogler, "Calculation of Groundwave Attenuation in the Far Diffraction
//!   Region", Radio Science 68D(7).
//!
//! Results follow the model as NTIA publishes it (ITM v1.4, in the public domain; NTIA is
//! thankfully acknowledged as its author), including its behaviour on short profiles.

mod area;
mod batch;
mod climate;
mod constants;
mod diffraction;
mod fit;
mod horizons;
mod invalid;
mod line_of_sight;
mod longley_rice;
mod mdvar;
mod medium;
mod mode;
mod outcome;
mod path;
mod plain;
mod point_to_point;
mod profile;
mod quantile;
mod quick_pfl;
mod reference;
mod roughness;
mod smooth_earth;
mod troposcatter;
mod variability;
mod warnings;

#[cfg(test)]
mod tests;

pub use area::{AreaPath, MAX_AREA_DELTA_H_M, Siting, area, area_reference};
pub use batch::{BATCH, QUANTILES};
pub use climate::Climate;
pub(crate) use fit::line_ends;
pub(crate) use horizons::horizons;
pub use invalid::Invalid;
pub use mdvar::{Mdvar, VariabilityMode};
pub use medium::Medium;
pub(crate) use medium::{effective_curvature, surface_refractivity};
pub use mode::PropagationMode;
pub use outcome::{Outcome, Workspace};
pub use plain::PlainConstants;
pub use point_to_point::{Prepared, point_to_point, reference};
pub use profile::{MAX_DISTANCE_M, MAX_ELEVATION_M, MIN_STEP_M};
pub use quantile::Quantile;
pub use quick_pfl::{Measured, SIDE_BY_SIDE};
pub use reference::{Prediction, Reference};
pub use variability::Spread;
pub use warnings::Warnings;
