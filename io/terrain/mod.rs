//! Terrain from files: SRTM tiles, GeoTIFF files and the EGM96 geoid behind the trait
//! [`groundwave_systems::terrain::Terrain`].
//!
//! A tile is read once, whole, into native numbers and kept until its directory is dropped.
//! Memory-mapping was weighed and refused: a mapped file that shrinks kills the process
//! (SIGBUS) where a read returns an error, compressed tiles need the memory anyway, and the
//! byte order would have to be turned at every tap. The price is memory: 2.9 MB for each
//! touched 3 arc-second tile, 26 MB for each touched 1 arc-second tile.

pub mod about;
pub mod cache;
mod folder;
mod gather;
pub mod geoid;
mod ground;
pub mod hgt;
mod index;
mod name;
mod raster;
mod read;
mod stack;
pub mod tiles;

pub use about::About;
pub use folder::{DirectoryError, Ignored};
pub use geoid::{Geoid, GeoidError};
pub use hgt::{Resolution, Tile};
pub use raster::RasterError;
pub use read::HgtError;
pub use stack::{OffTiles, TerrainError, TerrainStack};
pub use tiles::{FAULT_TARGET, TileDirectory};

#[cfg(test)]
mod real_tests;
#[cfg(test)]
mod relay_tests;
