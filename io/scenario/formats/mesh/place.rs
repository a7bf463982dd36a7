//! Places of the documents of a series: numbers, names and lines.

use std::path::Path;

use super::super::error::Location;

/// A document of a series: its number, and its name where there are several.
#[derive(Debug, Default)]
pub(super) struct Place {
    pub number: usize,
    pub name: String,
    /// Line in the file; 0 where it is not known.
    pub line: usize,
}

impl Place {
    /// The node that a table is of by its name, that of its folder or else of the file, and what differs in it
    /// between nodes: of files not the digits, which count snapshots. `None` without a file.
    pub fn node(&self) -> Option<(String, String)> {
        let path = Path::new(&self.name);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            let name = folder.to_string_lossy().into_owned();
            return Some((name.clone(), name));
        }
        path.extension()?;
        let name = path.file_stem()?.to_string_lossy().into_owned();
        let kind = name.replace(|c: char| !c.is_alphabetic(), "");
        Some((name, kind))
    }

    /// Location of a path in the document.
    pub fn at(&self, path: &str) -> Location {
        let location = Location::new(self.line as u64, path);
        if self.name.is_empty() { location } else { location.within(&self.name) }
    }
}
