//! Propagation modes of a path.

use serde::{Deserialize, Serialize};

/// The mechanism that decides the reference attenuation. The discriminants are NTIA's numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PropagationMode {
    /// Shorter than the smooth-earth horizons together.
    LineOfSight = 1,
    /// Over the horizon, near.
    Diffraction,
    /// Over the horizon, far.
    Troposcatter,
}
