//! Drawing of maps that is not part of the plan: noted beside it, and layers kept until all variants
//! are known.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use groundwave_raster::picture::Choice;
use groundwave_raster::{Grid, GridGeometry};
use groundwave_scenario::MapLayer;
use groundwave_scenario::coverage::Interference;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::fold_tile::Layer;
use super::interference::Air;
use super::site_marks::Labels;
use super::unit::{Column, Level};
use super::work::{Sweep, SweepError};

/// Names of files in the folder of a sweep.
const MAPS_FILE: &str = "maps.json";
const LABELS_FILE: &str = "labels.json";
const INTERFERENCE_FILE: &str = "interference.json";

/// Drawing of maps by layer.
pub type Choices = BTreeMap<MapLayer, Choice>;

impl Sweep {
    /// Writes down how the scenario wants maps drawn, for a merge.
    ///
    /// # Errors
    /// [`SweepError::Disk`] when it cannot be written.
    pub fn note_maps(&self, maps: &Choices) -> Result<(), SweepError> {
        self.note(MAPS_FILE, maps)
    }

    /// Choices noted in the folder; the defaults without a note.
    ///
    /// # Errors
    /// [`SweepError::Disk`] when the note cannot be read.
    pub fn noted_maps(&self) -> Result<Choices, SweepError> {
        self.noted(MAPS_FILE)
    }

    /// Writes down the labels of sites, for a merge: no unit depends on them.
    ///
    /// # Errors
    /// As [`Sweep::note_maps`].
    pub fn note_labels(&self, labels: &Labels) -> Result<(), SweepError> {
        self.note(LABELS_FILE, labels)
    }

    /// Labels noted in the folder; none without a note.
    ///
    /// # Errors
    /// As [`Sweep::noted_maps`].
    pub fn noted_labels(&self) -> Result<Labels, SweepError> {
        self.noted(LABELS_FILE)
    }

    /// Writes down duty of sites and correlation of shadowing, for a merge.
    ///
    /// # Errors
    /// As [`Sweep::note_maps`].
    pub fn note_interference(&self, interference: &Interference) -> Result<(), SweepError> {
        self.note(INTERFERENCE_FILE, interference)
    }

    /// Interference noted in the folder; the defaults without a note.
    ///
    /// # Errors
    /// As [`Sweep::noted_maps`].
    pub fn noted_interference(&self) -> Result<Interference, SweepError> {
        self.noted(INTERFERENCE_FILE)
    }

    /// Writes a note on what is not part of the plan; one of defaults is removed.
    fn note<T: Serialize + Default + PartialEq>(
        &self,
        name: &str,
        entries: &T,
    ) -> Result<(), SweepError> {
        let path = self.folder().join(name);
        let disk = |err| SweepError::Disk { operation: "write", path: path.clone(), err };
        if *entries == T::default() {
            return match fs::remove_file(&path) {
                Err(err) if err.kind() != io::ErrorKind::NotFound => Err(disk(err)),
                _ => Ok(()),
            };
        }
        let mut json = serde_json::to_vec_pretty(entries).expect("notes are plain data");
        json.push(b'\n');
        // Every worker notes the same.
        if fs::read(&path).is_ok_and(|there| there == json) {
            return Ok(());
        }
        let written = groundwave_raster::write_whole(&path, &json);
        written.map_err(|err| disk(io::Error::other(err)))
    }

    fn noted<T: DeserializeOwned + Default>(&self, name: &str) -> Result<T, SweepError> {
        let path = self.folder().join(name);
        let entries = match fs::read(&path) {
            Err(err) if err.kind() == io::ErrorKind::NotFound => return Ok(T::default()),
            Ok(bytes) => serde_json::from_slice(&bytes).map_err(io::Error::from),
            Err(err) => Err(err),
        };
        entries.map_err(|err| SweepError::Disk { operation: "read", path, err })
    }
}

/// The layer of maps that a layer of the network is drawn as.
pub(super) fn map_layer(layer: Layer) -> Option<MapLayer> {
    match layer {
        Layer::Margin => Some(MapLayer::Margin),
        Layer::Level(Level::Power) => Some(MapLayer::Power),
        Layer::Level(Level::Column(Column::PathLoss)) => Some(MapLayer::PathLoss),
        Layer::Level(Level::Column(Column::FieldStrength)) => Some(MapLayer::FieldStrength),
        Layer::Level(Level::Column(Column::Rate)) => Some(MapLayer::Rate),
        Layer::Level(Level::Column(Column::Probability)) => Some(MapLayer::Probability),
        Layer::Air(Air::Sinr) => Some(MapLayer::Sinr),
        Layer::Air(Air::CarrierToInterference) => Some(MapLayer::CarrierToInterference),
        Layer::Air(Air::Probability) => Some(MapLayer::SinrProbability),
        Layer::Best | Layer::Second | Layer::Servers | Layer::Air(Air::Server) => None,
    }
}

/// Layers of variants on disk until the maps of all can be drawn.
pub(super) struct Kept {
    file: File,
    variants: Vec<Vec<(Layer, GridGeometry)>>,
}

impl Kept {
    /// Nothing yet, in a file without a name in `folder`.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn new(folder: &Path) -> io::Result<Self> {
        Ok(Self { file: tempfile::tempfile_in(folder)?, variants: Vec::new() })
    }

    /// Adds the layers of the next variant.
    ///
    /// # Errors
    /// When the disk does not take them.
    pub fn add(&mut self, grids: &[(Layer, Grid)]) -> io::Result<()> {
        let mut out = BufWriter::new(&self.file);
        for (_, grid) in grids {
            for cell in &grid.cells {
                out.write_all(&cell.to_le_bytes())?;
            }
        }
        out.flush()?;
        let places = grids.iter().map(|(layer, grid)| (*layer, grid.geometry));
        self.variants.push(places.collect());
        Ok(())
    }

    /// Calls `each` with the layers of every variant, in their order.
    ///
    /// # Errors
    /// Errors of `each`; failed reads, as `disk` converts them.
    pub fn each<E>(
        mut self,
        disk: impl Fn(io::Error) -> E,
        mut each: impl FnMut(usize, Vec<(Layer, Grid)>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.file.rewind().map_err(&disk)?;
        let mut from = BufReader::new(&self.file);
        for (variant, places) in self.variants.into_iter().enumerate() {
            let mut grids = Vec::new();
            for (layer, geometry) in places {
                let count = geometry.cols as usize * geometry.rows as usize;
                let mut bytes = vec![0; count * 4];
                from.read_exact(&mut bytes).map_err(&disk)?;
                let (values, _) = bytes.as_chunks::<4>();
                let cells = values.iter().map(|value| f32::from_le_bytes(*value)).collect();
                grids.push((layer, Grid { geometry, cells }));
            }
            each(variant, grids)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_layers_come_back_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let geometry = GridGeometry {
            west_deg: 11.0,
            north_deg: 58.0,
            cell_lon_deg: 0.1,
            cell_lat_deg: 0.1,
            cols: 3,
            rows: 2,
        };
        let grid =
            |first: f32| Grid { geometry, cells: (0..6).map(|i| first + i as f32).collect() };
        let variants = [
            vec![(Layer::Margin, grid(0.0)), (Layer::Best, grid(10.0))],
            vec![(Layer::Margin, grid(-20.0))],
        ];
        let mut kept = Kept::new(folder.path()).unwrap();
        variants.iter().for_each(|grids| kept.add(grids).unwrap());
        let mut found = Vec::new();
        kept.each(
            |err| err,
            |_, grids| {
                found.push(grids);
                Ok(())
            },
        )
        .unwrap();
        assert_eq!(found, variants);
    }
}
