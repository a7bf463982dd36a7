//! Propagation: published models as pure functions of plain numbers.
//!
#![doc = include_str!("README.md")]
//!
//! | module | what | source |
//! |---|---|---|
//! | [`profile`] | heights and clutter along a path | |
//! | [`free_space`] | free-space loss | ITU-R P.525 |
//! | [`itm`] | Irregular Terrain Model, point to point and area | NTIA TR 82-100 |
//! | [`bullington`] | delta-Bullington diffraction | ITU-R P.526 |
//! | [`p1812`] | paths with clutter for shares of time and places, 30 MHz to 6 GHz | ITU-R P.1812 |
//! | [`p528`] | paths to aircraft over the smooth Earth, 100 MHz to 30 GHz | ITU-R P.528 |
//! | [`hata`] | towns, suburbs and open country, 150 MHz to 3.7 GHz | Hata 1980, COST 231, NTIA TR 15-517 |
//! | [`spherical_earth`] | diffraction over the smooth Earth | ITU-R P.526 |
//! | [`gases`] | oxygen and water vapour | ITU-R P.676 |
//! | [`rain`] | specific attenuation of rain | ITU-R P.838 |
//! | [`outage`] | rain and multipath fading | ITU-R P.530 |
//! | [`clutter`] | buildings and trees around terminals | ITU-R P.2108 |
//! | [`building_entry`] | ways into buildings | ITU-R P.2109 |
//! | [`vegetation`] | woodland | ITU-R P.833 |
//! | [`noise`] | thermal and man-made noise | ITU-R P.372 |
#![cfg_attr(
    test,
    expect(clippy::disallowed_methods, reason = "tests compare with functions of the platform")
)]
// The public surface is read by people who do not know the code.
#![warn(missing_docs)]

pub mod building_entry;
pub mod bullington;
pub mod clutter;
pub mod domain;
pub mod free_space;
pub mod gases;
pub mod hata;
pub mod itm;
pub mod noise;
pub mod numeric;
pub mod outage;
pub mod p1812;
pub mod p528;
pub mod polarization;
pub mod profile;
pub mod quantile;
pub mod rain;
pub mod spherical_earth;
#[cfg(test)]
#[macro_use]
mod vectors;
pub mod vegetation;
