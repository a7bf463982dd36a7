//! Outage of terrestrial links by rain and by multipath (ITU-R P.530-17).

mod multipath;
mod rain;

pub use multipath::{
    MultipathPath, average_year_percent, geoclimatic_conversion_db, geoclimatic_factor,
};
pub use rain::{RAIN_PERCENT_MAX, RAIN_PERCENT_MIN, RainFading, RainOutage};

#[cfg(test)]
mod tests;
