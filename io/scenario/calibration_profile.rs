//! Calibration profiles as TOML files.
//!
//! ```toml
//! name = "gothenburg-2026"
//! [fitted]                       # model and environment of the predictions; older profiles have none
//! model = "itm"
//! time_percent = 50.0
//! location_percent = 50.0
//! situation_percent = 50.0
//! land_cover = false
//! antenna_agl_m = [1.5, 30.0]    # of the measured links; older profiles have neither this nor `indoor`
//! indoor = false                 # no end of them stood in a building
//! [area]                         # of the measured links; older profiles have none
//! south_deg = 57.6
//! west_deg = 11.7
//! north_deg = 57.8
//! east_deg = 12.1
//! [[class]]
//! frequency_mhz = [3000.0, 8000.0]
//! distance_km = [0.0, 1.0]
//! loss_db = 4.2                  # added to the model
//! interval_db = [3.1, 5.0]       # of that, 95 %
//! spread_db = 3.3                # standard deviation of the links around it
//! links = 41                     # this and what follows: for people
//! next_link_db = [-1.6, 10.0]    # loss beyond the model of the next link, 90 %
//! error_before_db = 5.1          # mean, of the model alone
//! error_held_out_db = 2.6        # mean, at nodes that were left out
//! inside_held_out_prob = 0.9     # share of links at such nodes within the interval of the next link
//! ```

use std::fmt::Write;
use std::path::Path;

use groundwave_model::radio::{Area, Calibration, FittedWith, Offset};
use groundwave_simulation::measure::calibrate::Fitted;
use groundwave_toml_document::{TomlDocument, TomlErrors};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    name: String,
    fitted: Option<FittedWith>,
    area: Option<Area>,
    #[serde(default)]
    class: Vec<Class>,
}

/// A class; what is not part of [`Offset`] is its quality, for people.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Class {
    frequency_mhz: [f64; 2],
    distance_km: [f64; 2],
    loss_db: f64,
    interval_db: Option<[f64; 2]>,
    spread_db: Option<f64>,
    #[serde(default, rename = "links")]
    _links: Option<u64>,
    #[serde(default, rename = "next_link_db")]
    _next_link_db: Option<[f64; 2]>,
    #[serde(default, rename = "error_before_db")]
    _error_before_db: Option<f64>,
    #[serde(default, rename = "error_held_out_db")]
    _error_held_out_db: Option<f64>,
    #[serde(default, rename = "inside_held_out_prob")]
    _inside_held_out_prob: Option<f64>,
}

/// Reads a profile.
///
/// # Errors
/// All invalid keys and values of the file.
pub fn load(path: &Path) -> Result<Calibration, TomlErrors> {
    let text = groundwave_toml_document::text(path)?;
    read(&path.display().to_string(), &text)
}

/// Reads the text of a profile; `name` is that of its file, for messages.
///
/// # Errors
/// All invalid keys and values of the text.
pub fn read(name: &str, text: &str) -> Result<Calibration, TomlErrors> {
    let (file, mut document) = TomlDocument::read::<File>(name, text)?;
    let classes = file.class.iter().map(|class| Offset {
        frequency_mhz: class.frequency_mhz,
        distance_km: class.distance_km,
        loss_db: class.loss_db,
        interval_db: class.interval_db,
        spread_db: class.spread_db,
    });
    let classes: Vec<Offset> = classes.collect();
    let whole = Calibration { name: file.name, classes, fitted: file.fitted, area: file.area };
    let of = |name: &str, fitted, area| Calibration {
        name: name.to_owned(),
        classes: Vec::new(),
        fitted,
        area,
    };
    for (at, class) in whole.classes.iter().enumerate() {
        let pairs = [
            ("frequency_mhz", Some(class.frequency_mhz), true),
            ("distance_km", Some(class.distance_km), true),
            ("interval_db", class.interval_db, false),
        ];
        for (key, pair, is_strict) in pairs {
            let is_reversed =
                |[low, high]: &[f64; 2]| if is_strict { low >= high } else { low > high };
            if let Some([low, high]) = pair.filter(is_reversed) {
                let allowed = "the first below the second";
                document.invalid(
                    &format!("class[{at}].{key}"),
                    format!("[{low:?}, {high:?}]"),
                    allowed,
                );
            }
        }
        let alone = Calibration { classes: vec![*class], ..of("one", None, None) };
        if let Err(bad) = alone.validate() {
            let what = format!("{} is out of range", bad.found);
            document.invalid(&format!("class[{at}]"), what, bad.allowed.to_string());
        }
    }
    if whole.classes.is_empty() {
        document.invalid("class", "no classes", "at least one [[class]]");
    }
    if let Err(bad) = of("one", whole.fitted, None).validate() {
        document.invalid("fitted", bad.to_string(), bad.allowed.to_string());
    }
    if let Err(bad) = of("one", None, whole.area).validate() {
        document.invalid("area", bad.to_string(), bad.allowed.to_string());
    }
    if let Some(area) = whole.area.filter(|area| area.south_deg > area.north_deg) {
        let Area { south_deg, north_deg, .. } = area;
        let edges = format!("{south_deg} to {north_deg}");
        document.invalid("area", edges, "south_deg not above north_deg");
    }
    let only_name = of(&whole.name, None, None);
    if let Err(bad) = only_name.validate() {
        let what = format!("{} characters", bad.found);
        document.invalid("name", what, "1 to 64 characters");
    }
    document.finish()?;
    Ok(whole)
}

/// A profile as a file, with the model and environment it was fitted with, its area and the quality of each class.
#[must_use]
pub fn write(
    name: &str,
    source: &str,
    with: &FittedWith,
    area: Option<&Area>,
    fitted: &[Fitted],
) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut out = format!(
        "# Offsets of the model, fitted on {}. Named by a scenario with\n# [calibration]\n# file = \
         \"this file\"\nname = {}\n",
        quoted(source),
        quoted(name)
    );
    let section = toml::to_string(with).expect("numbers and names");
    let (values, tables) = section.split_once("\n[").unwrap_or((section.trim_end(), ""));
    let _ = write!(out, "\n[fitted]\n{values}\n");
    if !tables.is_empty() {
        let _ = write!(out, "\n[fitted.{}\n", tables.trim_end());
    }
    if let Some(Area { south_deg, west_deg, north_deg, east_deg }) = area {
        // Outwards to four digits, some 10 m.
        let edge = |deg: &f64, outward: f64, most_deg: f64| {
            ((deg * 1e4 + outward * 0.5).round() / 1e4).clamp(-most_deg, most_deg)
        };
        let (south, north) = (edge(south_deg, -1.0, 90.0), edge(north_deg, 1.0, 90.0));
        let (west, east) = (edge(west_deg, -1.0, 180.0), edge(east_deg, 1.0, 180.0));
        let _ = write!(
            out,
            "\n[area]\nsouth_deg = {south:?}\nwest_deg = {west:?}\nnorth_deg = {north:?}\n\
             east_deg = {east:?}\n"
        );
    }
    for one in fitted {
        let Offset { frequency_mhz, distance_km, loss_db, .. } = one.offset;
        let [low_mhz, high_mhz] = frequency_mhz;
        let [low_km, high_km] = distance_km;
        let [low_db, high_db] = one.interval_db;
        let _ = write!(
            out,
            "\n[[class]]\nfrequency_mhz = [{low_mhz:?}, {high_mhz:?}]\n\
             distance_km = [{low_km:?}, {high_km:?}]\nloss_db = {loss_db:?}\n\
             interval_db = [{low_db:.1}, {high_db:.1}]\nspread_db = {:.2}\nlinks = {}\n\
             next_link_db = [{:.1}, {:.1}]\nerror_before_db = {:.2}\n",
            one.spread_db, one.links, one.next_link_db[0], one.next_link_db[1], one.error_before_db
        );
        if let (Some(error_db), Some(prob)) = (one.error_held_out_db, one.inside_held_out_prob) {
            let _ = writeln!(
                out,
                "error_held_out_db = {error_db:.2}\ninside_held_out_prob = {prob:.3}"
            );
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use groundwave_model::radio::{Clutter, Environment};

    use super::*;

    #[test]
    fn profiles_read_back_and_invalid_ones_are_refused() {
        let offset = Offset {
            frequency_mhz: [3000.0, 8000.0],
            distance_km: [0.0, 1.0],
            loss_db: -4.2,
            interval_db: Some([-5.0, -3.0]),
            spread_db: Some(2.0),
        };
        let fitted = Fitted {
            offset,
            interval_db: [-5.0, -3.0],
            spread_db: 2.0,
            links: 12,
            next_link_db: [-8.0, -0.4],
            error_before_db: 4.5,
            error_held_out_db: Some(1.7),
            inside_held_out_prob: Some(0.9),
        };
        let clutter = Clutter::Statistical { below_height_m: 12.0, location_percent: 50.0 };
        let environment = Environment { clutter: Some(clutter), ..Environment::default() };
        let with = FittedWith {
            antenna_agl_m: Some([1.5, 30.0]),
            indoor: Some(false),
            ..environment.fitted_with(true)
        };
        let area = Area { south_deg: 57.6, west_deg: 11.7, north_deg: 57.8, east_deg: 12.0 };
        let text = write("north \"side\"", "a.gwlog", &with, Some(&area), &[fitted]);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("p.toml");
        std::fs::write(&path, &text).unwrap();
        let read = load(&path).unwrap();
        assert_eq!((read.name.as_str(), &read.classes[..]), ("north \"side\"", &[offset][..]));
        assert_eq!(read.fitted, Some(with), "{text}");
        let own = read.area.unwrap();
        let apart =
            [own.south_deg - 57.6, own.west_deg - 11.7, own.north_deg - 57.8, own.east_deg - 12.0];
        assert!(apart.iter().all(|deg| deg.abs() < 2e-4), "{own:?}");
        let begin = text.find("\n[fitted]").unwrap();
        let end = text.find("\n[[class]]").unwrap();
        std::fs::write(&path, format!("{}{}", &text[..begin], &text[end..])).unwrap();
        assert_eq!(load(&path).unwrap().fitted, None);
        for (bent, says) in [
            (text.replace("loss_db = -4.2", "loss_db = -94.2"), "class[0]"),
            (text.replace("[-5.0, -3.0]", "[-95.0, -3.0]"), "[-60, 60]"),
            (text.replace("links", "lynx"), "lynx"),
            (
                text.replace("distance_km = [0.0, 1.0]", "distance_km = [1.0, 0.5]"),
                "class[0].distance_km: [1.0, 0.5]; allowed: the first below the second",
            ),
            (
                text.replace("[3000.0, 8000.0]", "[8000.0, 3000.0]"),
                "class[0].frequency_mhz: [8000.0, 3000.0]",
            ),
            (text.replace("[-5.0, -3.0]", "[-3.0, -5.0]"), "class[0].interval_db"),
            (text.replace("north_deg = 57.8", "north_deg = 157.8"), "north_deg"),
            (text.replace("south_deg = 57", "south_deg = 67"), "south_deg not above north_deg"),
            (text.replace("time_percent = 50", "time_percent = 150"), "time_percent"),
            (text.replace("\"itm\"", "\"item\""), "item"),
            ("name = \"x\"\n".to_owned(), "no classes"),
        ] {
            std::fs::write(&path, bent).unwrap();
            let text = load(&path).unwrap_err().to_string();
            assert!(text.contains(says), "{text}");
        }
    }
}
