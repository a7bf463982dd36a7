//! Measurements of links, beside the predictions of the model.
//!
//! Measurements arrive by command, as reports of devices or from recordings, and change nothing but
//! themselves: the model goes on predicting, and [`residual`] compares the two.

pub mod calibrate;
mod commands;
mod components;
mod place;
mod residual;
mod series;
mod state;
#[cfg(test)]
mod tests;
mod values;
mod view;

use groundwave_engine::{Builder, Phase};

pub use commands::{MEASUREMENTS_MAX, Measurement, ObserveLinks};
pub use components::LinkMeasurements;
pub use place::{PLACE_M, Place, square};
pub use residual::{Quantity, Residual, direction, excess_at_most_db, more_db, residual};
pub use series::{Bucket, Series};
pub use values::{LevelView, LinkDirection, Measured};
pub use view::Levels;

/// Measured links.
pub fn measure(engine: &mut Builder) {
    engine
        .section::<Levels>()
        .state::<state::Known>()
        .command::<ObserveLinks>()
        .systems(Phase::Publish, view::publish_levels);
}
