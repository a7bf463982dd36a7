//! Values of land-cover rasters: classes and heights of common products, and tables of one's own.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use groundwave_model::terrain::CoverKind;
use serde::Deserialize;

use super::super::about::WORLD_COVER;

/// Name of the file with the classes of the rasters in a folder.
pub const CLASSES_FILE: &str = "classes.toml";

/// Maximum size of a table, bytes.
const TABLE_BYTES_MAX: u64 = 1 << 20;

/// Height of trees, m above ground, where none is known. Of 15 m or more of ITU-R P.1812 table 2 masts of 20
/// to 50 m lose up to 14 dB too much.
const TREES_M: f32 = 12.0;

/// Height of buildings in effect, m above ground: fits the measured links of five cities best.
const BUILDINGS_M: f32 = 10.0;

/// A class of a land-cover raster.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Class {
    pub kind: CoverKind,
    /// m above ground, 0 to 1000.
    pub height_agl_m: f32,
}

/// Meaning of the samples of a raster.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Values {
    Classes(BTreeMap<u16, Class>),
    /// Heights of trees, m above ground.
    CanopyHeights,
    /// Mean heights of buildings, m above ground; 0 without any.
    BuildingHeights,
}

impl Values {
    /// Number of the layer: classes, canopy, buildings.
    pub fn layer(&self) -> usize {
        match self {
            Self::Classes(_) => 0,
            Self::CanopyHeights => 1,
            Self::BuildingHeights => 2,
        }
    }
}

/// Data set of a raster.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Product {
    pub name: &'static str,
    pub attribution: Option<&'static str>,
    pub values: Values,
}

const CORINE: &str =
    "© European Union, Copernicus Land Monitoring Service, European Environment Agency (EEA)";
const ETH_CANOPY: &str =
    "Lang et al. 2022, A high-resolution canopy height model of the Earth, CC BY 4.0";
const META_CANOPY: &str = "Meta and World Resources Institute, canopy height maps, CC BY 4.0";
const BUILT_HEIGHT: &str = "European Commission, JRC, GHS-BUILT-H R2023A";

/// Layers without classes or heights that are published beside those of a product: shares, errors, quality, changes.
const OTHER_LAYERS: [(&str, &[&str]); 3] = [
    ("worldcover", &["inputquality", "ndvi", "swir", "rgbnir", "s1vv", "gamma0"]),
    (
        "nlcd",
        &[
            "tcc",
            "canopy",
            "impervious",
            "fctimp",
            "impdsc",
            "lndchg",
            "lndcnf",
            "spcchg",
            "change",
        ],
    ),
    ("canopy", &["cover", "percent", "fraction", "density"]),
];

/// `true` for a file of a product that has neither classes nor heights, by its name.
pub(super) fn is_other_layer(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let stem = lower.rsplit_once('.').map_or(lower.as_str(), |(stem, _)| stem);
    let is_spread = product(name).is_some_and(|product| product.values == Values::CanopyHeights)
        && ["_sd", "_std"].iter().any(|ending| stem.ends_with(ending));
    let is_other = |(product, parts): &(&str, &[&str])| {
        let is_height = *product == "canopy" && stem.contains("height");
        stem.contains(product) && !is_height && parts.iter().any(|part| stem.contains(part))
    };
    is_spread || OTHER_LAYERS.iter().any(is_other)
}

/// `true` for the name of a square of Bing maps of zoom 9 or 10, as canopy heights of Meta have it.
fn is_quadkey(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    [9, 10].contains(&stem.len()) && stem.bytes().all(|digit| (b'0'..=b'3').contains(&digit))
}

/// The product that a file belongs to by its name; `None` for others.
pub(super) fn product(name: &str) -> Option<Product> {
    let lower = name.to_ascii_lowercase();
    let has = |part: &str| lower.contains(part);
    let of = |name, attribution, values| Some(Product { name, attribution, values });
    if has("worldcover") {
        of("ESA WorldCover", Some(WORLD_COVER), Values::Classes(world_cover()))
    } else if has("nlcd") {
        of("NLCD", None, Values::Classes(nlcd()))
    } else if has("clc20") || has("clc_20") || has("corine") {
        of("CORINE Land Cover", Some(CORINE), Values::Classes(corine()))
    } else if has("globalcanopyheight") {
        of("ETH canopy height", Some(ETH_CANOPY), Values::CanopyHeights)
    } else if is_quadkey(&lower) {
        of("canopy height", Some(META_CANOPY), Values::CanopyHeights)
    } else if has("canopy") || has("chm") {
        of("canopy height", Some(META_CANOPY).filter(|_| has("dinov3")), Values::CanopyHeights)
    } else if has("ghs_built_h") {
        of("GHS-BUILT-H", Some(BUILT_HEIGHT), Values::BuildingHeights)
    } else {
        None
    }
}

const fn open(height_agl_m: f32) -> Class {
    Class { kind: CoverKind::Open, height_agl_m }
}

const FOREST: Class = Class { kind: CoverKind::Forest, height_agl_m: TREES_M };
const SUBURBAN: Class = Class { kind: CoverKind::Suburban, height_agl_m: BUILDINGS_M };
const URBAN: Class = Class { kind: CoverKind::Urban, height_agl_m: BUILDINGS_M };

/// ESA WorldCover, product user manual 2.0, table 3.
fn world_cover() -> BTreeMap<u16, Class> {
    let mangrove = Class { height_agl_m: 8.0, ..FOREST };
    [(10, FOREST), (20, open(2.0)), (50, SUBURBAN), (90, open(1.0)), (95, mangrove)]
        .into_iter()
        .chain([30, 40, 60, 70, 80, 100].map(|class| (class, open(0.0))))
        .collect()
}

/// National Land Cover Database, legend of the USGS.
fn nlcd() -> BTreeMap<u16, Class> {
    [(41, FOREST), (42, FOREST), (43, FOREST), (90, FOREST)]
        .into_iter()
        .chain([(22, SUBURBAN), (23, SUBURBAN), (24, URBAN)])
        .chain([(51, open(2.0)), (52, open(2.0)), (95, open(1.0))])
        .chain([11, 12, 21, 31, 71, 72, 73, 74, 81, 82].map(|class| (class, open(0.0))))
        .collect()
}

/// CORINE Land Cover, nomenclature of the EEA, by its numbers 1 to 44 in rasters and by its codes 111 to 523.
fn corine() -> BTreeMap<u16, Class> {
    const CODES: [u16; 44] = [
        111, 112, 121, 122, 123, 124, 131, 132, 133, 141, 142, 211, 212, 213, 221, 222, 223, 231,
        241, 242, 243, 244, 311, 312, 313, 321, 322, 323, 324, 331, 332, 333, 334, 335, 411, 412,
        421, 422, 423, 511, 512, 521, 522, 523,
    ];
    let class = |code: u16| match code {
        111 => URBAN,
        112 | 121 | 123 | 133 | 141 => SUBURBAN,
        // Fruit trees, agro-forestry, woodland and shrub in transition.
        222 | 223 | 244 | 324 => Class { height_agl_m: 5.0, ..FOREST },
        311..=313 => FOREST,
        221 | 322 | 323 => open(2.0),
        411..=423 => open(1.0),
        _ => open(0.0),
    };
    let numbered = (1..).zip(CODES).map(|(number, code)| (number, class(code)));
    numbered.chain(CODES.map(|code| (code, class(code)))).collect()
}

/// Height of a class as a table has it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    surroundings: String,
    #[serde(default)]
    height_m: Option<f32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    classes: BTreeMap<String, Row>,
}

/// The classes of a table, if it is there.
///
/// # Errors
/// When the table cannot be read or is invalid.
pub(super) fn read(path: &Path) -> io::Result<Option<BTreeMap<u16, Class>>> {
    match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
        Ok(facts) if facts.len() > TABLE_BYTES_MAX => {
            let text = format!("invalid size: found {} bytes, allowed 1 MiB", facts.len());
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        Ok(_) => {}
    }
    let invalid = |text: String| io::Error::new(io::ErrorKind::InvalidData, text);
    let table: Table =
        toml::from_str(&fs::read_to_string(path)?).map_err(|error| invalid(error.to_string()))?;
    if table.classes.is_empty() {
        return Err(invalid("invalid classes: found none, allowed 1 or more".to_owned()));
    }
    let class = |(value, row): (String, Row)| {
        let number = value.parse().map_err(|_| {
            format!("invalid class: found {value:?}, allowed whole numbers from 0 to 65535")
        })?;
        Ok((number, row.class(&value)?))
    };
    let classes: Result<_, String> = table.classes.into_iter().map(class).collect();
    classes.map(Some).map_err(invalid)
}

impl Row {
    fn class(&self, value: &str) -> Result<Class, String> {
        let usual = match self.surroundings.as_str() {
            "open" => open(0.0),
            "forest" => FOREST,
            "suburban" => SUBURBAN,
            "urban" => URBAN,
            "dense_urban" => Class { kind: CoverKind::DenseUrban, height_agl_m: 15.0 },
            other => {
                return Err(format!(
                    "invalid surroundings of class {value}: found {other:?}, allowed open, forest, suburban, \
                     urban, dense_urban"
                ));
            }
        };
        let height_agl_m = self.height_m.unwrap_or(usual.height_agl_m);
        if !(0.0..=1_000.0).contains(&height_agl_m) {
            return Err(format!(
                "invalid height_m of class {value}: found {height_agl_m}, allowed 0 to 1000"
            ));
        }
        Ok(Class { height_agl_m, ..usual })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(name: &str, value: u16) -> Class {
        match product(name).unwrap().values {
            Values::Classes(classes) => classes[&value],
            values => panic!("{values:?}"),
        }
    }

    #[test]
    fn names_of_files_give_their_product() {
        let world = "ESA_WorldCover_10m_2021_v200_N57E009_Map.tif";
        assert_eq!(class(world, 10), FOREST);
        assert_eq!(class(world, 50), SUBURBAN);
        assert_eq!(class(world, 80), open(0.0));
        assert_eq!(class("Annual_NLCD_LndCov_2023_CU_C1V0.tif", 24), URBAN);
        let corine = "U2018_CLC2018_V2020_20u1.tif";
        assert_eq!(class(corine, 23), class(corine, 311));
        assert_eq!(class(corine, 44), class(corine, 523));
        let values = |name: &str| product(name).map(|product| product.values);
        let canopy = "ETH_GlobalCanopyHeight_10m_2020_N57E009_Map.tif";
        assert_eq!(values(canopy), Some(Values::CanopyHeights));
        let built = "GHS_BUILT_H_ANBH_E2018_GLOBE_R2023A_4326_3ss_V1_0_R3_C19.tif";
        assert_eq!(values(built), Some(Values::BuildingHeights));
        assert_eq!(product("town.tif"), None);
        let meta = product("1202100312.tif").unwrap();
        assert_eq!((meta.values, meta.attribution), (Values::CanopyHeights, Some(META_CANOPY)));
        assert_eq!(product("1202104312.tif"), None);
    }

    #[test]
    fn shares_errors_and_quality_are_no_classes_and_no_heights() {
        for name in [
            "nlcd_tcc_CONUS_2021_v2021-4.tif",
            "nlcd_2019_impervious_l48_20210604.tif",
            "Annual_NLCD_FctImp_2023_CU_C1V0.tif",
            "Annual_NLCD_LndCnf_2023_CU_C1V0.tif",
            "ESA_WorldCover_10m_2021_v200_N57E009_InputQuality.tif",
            "ETH_GlobalCanopyHeight_10m_2020_N57E009_Map_SD.tif",
            "canopy_cover_percent.tif",
        ] {
            assert!(is_other_layer(name), "{name}");
        }
        for name in [
            "Annual_NLCD_LndCov_2023_CU_C1V0.tif",
            "nlcd_2021_land_cover_l48_20230630.tif",
            "ESA_WorldCover_10m_2021_v200_N57E009_Map.tif",
            "ETH_GlobalCanopyHeight_10m_2020_N57E009_Map.tif",
            "canopy_height.tif",
            "U2018_CLC2018_V2020_20u1.tif",
            "GHS_BUILT_H_ANBH_E2018_GLOBE_R2023A_4326_3ss_V1_0_R3_C19.tif",
        ] {
            assert!(!is_other_layer(name), "{name}");
        }
    }

    #[test]
    fn table_of_a_folder_has_classes_or_an_error_that_names_them() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(CLASSES_FILE);
        assert_eq!(read(&path).unwrap(), None);
        let read = |text: &str| {
            fs::write(&path, text).unwrap();
            read(&path).map_err(|error| error.to_string())
        };
        let classes = read(
            "[classes]\n1 = { surroundings = 'forest', height_m = 21 }\n2 = { surroundings = 'open' }",
        );
        let forest = Class { height_agl_m: 21.0, ..FOREST };
        assert_eq!(classes, Ok(Some(BTreeMap::from([(1, forest), (2, open(0.0))]))));
        for (text, part) in [
            ("[classes]", "found none"),
            ("[classes]\nx = { surroundings = 'open' }", "found \"x\""),
            ("[classes]\n7 = { surroundings = 'wood' }", "class 7: found \"wood\""),
            ("[classes]\n7 = { surroundings = 'open', height_m = -2 }", "class 7: found -2"),
            ("[classes]\n7 = { surrounding = 'open' }", "surrounding"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
