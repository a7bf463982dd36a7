//! Free space only (ITU-R P.525).

use groundwave_propagation::profile::PathProfile;

use super::{
    Attenuation, Direction, HeightRanges, PathLossModel, PreparedModel, PropagationMode,
    ShareRanges, Validity,
};
use crate::radio::Warning;

/// Free-space loss without attenuation by terrain.
#[derive(Debug)]
pub(super) struct FreeSpace;

impl PathLossModel for FreeSpace {
    fn name(&self) -> &'static str {
        "free_space"
    }

    fn label(&self) -> &'static str {
        "free space"
    }

    fn description(&self) -> &'static str {
        "Free space only; terrain is reported but costs nothing."
    }

    fn version(&self) -> &'static str {
        "ITU-R P.525-4"
    }

    fn source(&self) -> &'static str {
        "Recommendation ITU-R P.525-4, 2019"
    }

    fn settings(&self) -> &'static [&'static str] {
        &[]
    }

    fn shares(&self) -> ShareRanges {
        ShareRanges::NONE
    }

    fn validity(&self) -> Validity {
        Validity::UNLIMITED
    }

    fn heights(&self) -> HeightRanges {
        HeightRanges::UNLIMITED
    }

    fn uses_terrain(&self) -> bool {
        false
    }

    fn uses_clutter(&self) -> bool {
        false
    }

    fn includes_surroundings(&self) -> bool {
        false
    }

    fn includes_gases(&self) -> bool {
        false
    }

    fn prepare(&self, _: &Direction) -> Result<Box<dyn PreparedModel>, Warning> {
        Ok(Box::new(Self))
    }
}

impl PreparedModel for FreeSpace {
    fn attenuation(&self, _: &PathProfile<'_>) -> Result<Attenuation, Warning> {
        Ok(Attenuation { mode: Some(PropagationMode::LineOfSight), ..Attenuation::default() })
    }
}
