//! Terrain from files: SRTM tiles, GeoTIFF files and the EGM96 geoid behind the trait
//! [`groundwave_model::terrain::Terrain`].
//!
//! A tile is read whole into native numbers and kept within a memory budget, the least recently used
//! going first. Memory-mapping was weighed and refused: a mapped file that shrinks kills the process
//! (SIGBUS) where a read returns an error, compressed tiles need the memory anyway, and the
//! byte order would have to be turned at every tap. The price is memory, 5.8 MB for a tile of
//! 3 arc-seconds and 52 MB for one of 1 arc-second, and decoding again what was dropped.

pub mod about;
mod archive;
pub mod cache;
mod cover;
mod folder;
mod gather;
pub mod geoid;
mod ground;
mod heights;
pub mod hgt;
mod index;
pub mod memory;
mod name;
mod raster;
mod read;
mod sea;
mod spikes;
mod stack;
mod supplying;
pub mod tiles;

pub use about::About;
pub use cover::{COVER_FILE, CoverError, LandCover};
pub use folder::{DirectoryError, Ignored};
pub use geoid::{Geoid, GeoidError};
pub use hgt::{Census, Doubt, Resolution, Tile};
pub use raster::RasterError;
pub use raster::RemoteFile;
pub use read::HgtError;
pub use spikes::{Spike, Spikes};
pub use stack::{OffTiles, TerrainError, TerrainStack};
pub use supplying::Supplying;
pub use tiles::{FAULT_TARGET, TileDirectory};

#[cfg(test)]
mod analyses_tests;
#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod real_tests;
#[cfg(test)]
mod relay_tests;
