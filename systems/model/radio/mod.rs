//! Link budget of one link from end to end: stations, path and environment.
//!
//! Pure functions over plain values. Two [`Station`]s, a terrain profile and an [`Environment`] go
//! in, a [`LinkResult`] with every term of the budget comes out: [`evaluate`] for one direction,
//! [`evaluate_both`] for a link. [`Prepared`] keeps what does not depend on the path, for sweeps.

pub mod antenna;
pub mod assumptions;
mod availability;
pub mod budget;
mod building;
pub mod calibration;
pub mod climate;
mod clutter;
pub(crate) mod deciles;
pub mod environment;
pub mod expectation;
pub mod field_strength;
pub mod fresnel;
mod geometry;
mod link;
mod losses;
pub mod modulation;
pub mod outcome;
pub mod path_loss;
pub mod pattern;
pub mod prediction;
pub mod prepare;
pub mod presets;
mod receiver_path;
pub mod result;
pub mod station;
pub mod surroundings;
mod takeover;
pub(crate) mod transmitter;
pub mod warning;

#[cfg(test)]
mod tests;

pub use assumptions::{Assumptions, CalibratedBy, Effect};
pub use budget::{Workspace, both, evaluate, evaluate_both};
pub use calibration::{Area, Calibration, FittedWith, Offset};
pub use climate::Climate;
pub use environment::{Environment, NoiseCategory};
pub use expectation::Expectation;
pub use fresnel::{Clearance, Obstruction};
pub use groundwave_values::bounds::BadValue;
pub use modulation::ModulationId;
pub use outcome::{Availability, LimitingFactor, Margin, Rate, Receiver, Verdict};
pub use path_loss::{ItmTerrain, Model, PropagationMode};
pub use pattern::Pattern;
pub use prediction::{Basis, Prediction};
pub use prepare::Prepared;
pub use presets::Role;
pub use result::{Budget, Geometry, LinkResult, Losses, TerrainReport};
pub use station::{Antenna, Pointing, Radio, Station, Waveform};
pub use surroundings::{Clutter, ClutterCategory, Indoor, Multipath, Surroundings, Vegetation};
pub use transmitter::MarginTerms;
pub use warning::{Warning, Warnings};
