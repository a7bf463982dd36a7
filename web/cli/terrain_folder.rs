//! `terrain list` and `terrain verify` of a folder of one's own: files in use, those that are not, damage.

use std::fmt::Write as _;
use std::path::Path;

use groundwave_http::Failure;
use groundwave_setup::terrain::{OpenTerrain, TerrainOptions};
use groundwave_text::{Align, Table};
use serde::Serialize;

use super::output::{self, Output};

/// A file that supplies heights.
#[derive(Serialize)]
struct Used {
    name: String,
    bytes: u64,
    /// Data set with ground and datum.
    data: String,
    /// South, west, north, east, deg.
    bounds_deg: [f64; 4],
}

/// A file that looks like terrain and is not used.
#[derive(Serialize)]
struct Unused {
    file: String,
    reason: String,
}

#[derive(Serialize)]
struct Document<'a> {
    folder: &'a Path,
    files: Vec<Used>,
    ignored: Vec<Unused>,
}

fn open(folder: &Path) -> Result<OpenTerrain, Failure> {
    let srtm_dir = Some(folder.to_owned());
    TerrainOptions { srtm_dir, ..TerrainOptions::default() }.open()
}

fn document<'a>(folder: &'a Path, ground: &OpenTerrain) -> Document<'a> {
    let files = ground.supplying().into_iter().map(|file| Used {
        bytes: std::fs::metadata(&file.path).map_or(0, |about| about.len()),
        data: file.about.with_files(1).summary(),
        name: file.name,
        bounds_deg: file.bounds_deg,
    });
    let ignored = ground
        .ignored()
        .iter()
        .map(|file| Unused { file: file.path.display().to_string(), reason: file.reason.clone() });
    Document { folder, files: files.collect(), ignored: ignored.collect() }
}

/// Lists the files of a folder.
pub fn list(folder: &Path, output: Output) -> Result<(), Failure> {
    let document = document(folder, &open(folder)?);
    if output.json {
        return output.json(&document);
    }
    let heads = [
        ("file", Align::Left),
        ("MB", Align::Right),
        ("south", Align::Right),
        ("west", Align::Right),
        ("north", Align::Right),
        ("east", Align::Right),
        ("data", Align::Left),
    ];
    let mut table = Table::new(&heads);
    for file in &document.files {
        let [south, west, north, east] = file.bounds_deg.map(|deg| format!("{deg:.3}"));
        let size_mb = format!("{:.1}", file.bytes as f64 / 1e6);
        table.row([file.name.clone(), size_mb, south, west, north, east, file.data.clone()]);
    }
    let folder = folder.display();
    let mut out = match table.is_empty() {
        true => format!("no .hgt tile or GeoTIFF file that can be used in {folder}\n"),
        false => format!("{folder}\n\n{}", output::table(&table, None)),
    };
    for file in &document.ignored {
        let line = format!("not used: {}: {}", file.file, file.reason);
        let _ = writeln!(out, "{}", output::warning(&line));
    }
    output.text(&out)
}

/// Decodes the files of a folder.
pub fn verify(folder: &Path, output: Output) -> Result<(), Failure> {
    let ground = open(folder)?;
    let document = document(folder, &ground);
    ground.check_all().map_err(|failure| match failure {
        Failure::Input(what) => {
            Failure::Machine(format!("damaged in {}: {what}", folder.display()))
        }
        failure => failure,
    })?;
    if document.files.is_empty() {
        let reasons =
            document.ignored.iter().map(|file| format!("; {}: {}", file.file, file.reason));
        let (folder, reasons) = (folder.display(), reasons.collect::<String>());
        let what =
            format!("invalid folder of terrain: found no file to verify in {folder}{reasons}");
        return Err(Failure::Input(what));
    }
    if output.json {
        return output.json(&document);
    }
    let (count, folder) = (document.files.len(), folder.display());
    let mut out = format!("{count} of {count} files in {folder} are sound\n");
    for file in &document.ignored {
        let line = format!("not used: {}: {}", file.file, file.reason);
        let _ = writeln!(out, "{}", output::warning(&line));
    }
    output.text(&out)
}
