//! Links as values: which pairs may hear each other, and what a pair gets through.

mod budget;
mod evaluate;
mod key;
mod path_sample;
mod probe;
mod range;
mod spatial_index;

pub use budget::{Direction, LinkBudget};
pub use evaluate::{
    Inputs, LinkPercentile, Percentile, SAMPLES_MAX, SAMPLES_MIN, judge, percentiles,
    post_spacing_m, samples_for, score, spacing_under_m, trace,
};
pub use evaluate::{LINKS_PER_TASK, budgets};
pub use key::LinkKey;
pub use path_sample::{PathSample, path_samples};
pub use probe::{Probe, ProbeDelivery, ProbeRate};
pub use range::{OVER_HORIZON_M, Reach, coverage_radius_m};
pub use spatial_index::SpatialIndex;
#[doc(hidden)]
pub use spatial_index::straight_m;
