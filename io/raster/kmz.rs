//! An overlay for globes: KML 2.2 (OGC 07-147r2) with its pictures in one zip file.

use std::path::Path;

use super::archive::pack;
use super::atomic::PartFile;
use super::error::RasterError;
use super::geometry::GridGeometry;
use super::grid::Grid;
use super::picture::{Legend, Style, coloured};
use super::site::Site;
use super::xml::escape;

/// Content of an overlay.
#[derive(Debug, Clone, Copy)]
pub struct Overlay<'a> {
    /// Heading in the list of places.
    pub title: &'a str,
    /// Text of the description: area, assumptions, sources; may be empty.
    pub description: &'a str,
    /// Label of what was not computed, if anything was not.
    pub outside: Option<&'a str>,
    /// The layer, one pixel a cell. Globes stumble over sides beyond some 4096 pixels:
    /// [`Grid::reduce`] makes it smaller.
    pub layer: &'a Grid,
    /// Colours and legend.
    pub style: &'a Style,
    /// Shown as placemarks.
    pub sites: &'a [Site],
}

/// Width of the legend on the screen (px).
const LEGEND_PX: u32 = 190;

/// Writes the overlay, its legend and the sites.
///
/// # Errors
/// When the disk fails or the layer has no cells.
pub fn write_kmz(path: &Path, overlay: &Overlay<'_>) -> Result<(), RasterError> {
    let picture = coloured(overlay.layer, overlay.style).to_fast_png()?;
    write_kmz_of(path, overlay, &picture)
}

/// As [`write_kmz`], of a layer that is already drawn, as PNG, one pixel a cell.
///
/// # Errors
/// As [`write_kmz`].
pub fn write_kmz_of(path: &Path, overlay: &Overlay<'_>, picture: &[u8]) -> Result<(), RasterError> {
    let left_out = overlay.style.left_out();
    let legend = Legend {
        range: overlay.style.range_of(overlay.layer),
        no_data: left_out.as_deref(),
        outside: overlay.outside,
        ..Legend::new(overlay.style)
    };
    let (document, legend) = (document(overlay), legend.picture(LEGEND_PX)?.to_fast_png()?);
    let entries = [
        // The document must come first.
        ("doc.kml", document.as_bytes()),
        ("overlay.png", picture),
        ("legend.png", &legend),
    ];
    let mut part = PartFile::create(path)?;
    let written = pack(&mut part, &entries);
    written.map_err(|error| part.failed()(error.into()))?;
    part.commit()
}

fn document(overlay: &Overlay<'_>) -> String {
    let title = escape(overlay.title);
    let description = if overlay.description.is_empty() {
        String::new()
    } else {
        format!("<description>{}</description>\n", escape(overlay.description))
    };
    let mut kml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
         <kml xmlns=\"http://www.opengis.net/kml/2.2\">\n<Document>\n<name>{title}</name>\n\
         {description}<GroundOverlay>\n<name>{}</name>\n{description}<color>ccffffff</color>\n\
         <Icon><href>overlay.png</href></Icon>\n{}</GroundOverlay>\n\
         <ScreenOverlay>\n<name>Legend</name>\n<Icon><href>legend.png</href></Icon>\n",
        escape(&overlay.style.title),
        lat_lon_box(&overlay.layer.geometry)
    );
    for (element, x, y) in [("overlayXY", 0.0, 1.0), ("screenXY", 0.02, 0.96)] {
        kml +=
            &format!("<{element} x=\"{x}\" y=\"{y}\" xunits=\"fraction\" yunits=\"fraction\"/>\n");
    }
    // -1: as large as the picture is.
    kml += "<size x=\"-1\" y=\"-1\" xunits=\"pixels\" yunits=\"pixels\"/>\n</ScreenOverlay>\n";
    // Not in a folder: GDAL takes a document for a raster only without one.
    for site in overlay.sites {
        kml += &placemark(site);
    }
    kml + "</Document>\n</kml>\n"
}

/// Edges (degrees). East stays above 180 for an overlay that crosses the antimeridian, as KML
/// requires.
fn lat_lon_box(area: &GridGeometry) -> String {
    format!(
        "<LatLonBox><north>{:.12}</north><south>{:.12}</south><east>{:.12}</east><west>{:.12}</west>\
         </LatLonBox>\n",
        area.north_deg,
        area.south_deg(),
        area.east_deg(),
        area.west_deg
    )
}

fn placemark(site: &Site) -> String {
    let mut kml = format!("<Placemark>\n<name>{}</name>\n", escape(site.label()));
    if !site.properties.is_empty() {
        kml += "<ExtendedData>\n";
        for (key, value) in &site.properties {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let (key, value) = (escape(key), escape(&value));
            kml += &format!("<Data name=\"{key}\"><value>{value}</value></Data>\n");
        }
        kml += "</ExtendedData>\n";
    }
    let (lon_deg, lat_deg) = (site.lon_deg, site.lat_deg);
    kml + &format!(
        "<Point><coordinates>{lon_deg:.7},{lat_deg:.7}</coordinates></Point>\n</Placemark>\n"
    )
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::Read;

    use super::*;

    fn layer() -> Grid {
        let geometry = GridGeometry {
            west_deg: 179.9,
            north_deg: -16.5,
            cell_lon_deg: 0.01,
            cell_lat_deg: 0.02,
            cols: 20,
            rows: 10,
        };
        Grid::new(geometry, (0..200).map(|i| i as f32).collect()).unwrap()
    }

    fn write(path: &Path) {
        let mut site = Site::new("Taveuni <west> & co", -16.8, -179.95);
        site.properties.insert("height_agl_m".into(), 12.5.into());
        let (layer, style) = (layer(), Style::ramp("Power", "dBm", [0.0, 200.0], None));
        let overlay = Overlay {
            title: "Fiji",
            description: "Not computed: cells > 20 km away",
            outside: Some("beyond 20 km: not computed"),
            layer: &layer,
            style: &style,
            sites: &[site],
        };
        write_kmz(path, &overlay).unwrap();
    }

    #[test]
    fn the_document_comes_first_and_places_the_overlay() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.kmz");
        write(&path);
        let mut zip = zip::ZipArchive::new(File::open(&path).unwrap()).unwrap();
        assert_eq!(zip.len(), 3);
        let mut kml = String::new();
        let mut first = zip.by_index(0).unwrap();
        assert_eq!(first.name(), "doc.kml");
        first.read_to_string(&mut kml).unwrap();
        drop(first);
        for part in [
            "<north>-16.500000000000</north><south>-16.700000000000</south>",
            "<east>180.100000000000</east><west>179.900000000000</west>",
            "<name>Taveuni &lt;west&gt; &amp; co</name>",
            "<Data name=\"height_agl_m\"><value>12.5</value></Data>",
            "<coordinates>-179.9500000,-16.8000000</coordinates>",
            "<href>legend.png</href>",
            "<description>Not computed: cells &gt; 20 km away</description>",
        ] {
            assert!(kml.contains(part), "{part} is not in {kml}");
        }
        for (name, width) in [("overlay.png", 20), ("legend.png", LEGEND_PX)] {
            let mut bytes = Vec::new();
            zip.by_name(name).unwrap().read_to_end(&mut bytes).unwrap();
            let reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
            assert_eq!(reader.info().width, width, "{name}");
        }
    }

    #[test]
    fn the_same_overlay_has_the_same_bytes() {
        let dir = tempfile::tempdir().unwrap();
        let paths = ["a.kmz", "b.kmz"].map(|name| dir.path().join(name));
        paths.iter().for_each(|path| write(path));
        let [first, second] = paths.map(|path| fs::read(path).unwrap());
        assert!(first == second);
    }
}
