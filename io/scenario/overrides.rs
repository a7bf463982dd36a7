//! Values of a scenario file set from outside: `--set` of a run, and the cells of a study.

use std::fmt;
use std::str::FromStr;

use toml::{Table, Value};

/// Maximum number of names in an error.
const NAMES_MAX: usize = 20;

/// A key of a scenario with the value that replaces it: `environment.rain_rate_mm_h=20`.
///
/// Keys are dotted as in TOML. Within a list of tables an item goes by its `name` or by its number from 0:
/// `node.west.height_agl_m=30`, `weather.0.rain_rate_mm_h=40`. Values are those of TOML; text without quotes is
/// a string.
#[derive(Debug, Clone, PartialEq)]
pub struct Override {
    text: String,
    tree: Table,
}

impl Override {
    /// The key set to a value.
    ///
    /// # Errors
    /// When the key is none of TOML.
    pub fn new(key: &str, value: &Value) -> Result<Self, String> {
        format!("{key}={value}").parse()
    }

    /// Several values of one key: `environment.rain_rate_mm_h=0,20,50`.
    ///
    /// # Errors
    /// When the key is none of TOML, or there is no value.
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        let invalid = || format!("invalid values: found {text:?}, allowed KEY=VALUE,VALUE");
        let (key, values) = text.split_once('=').ok_or_else(invalid)?;
        if values.trim().is_empty() {
            return Err(invalid());
        }
        // As a list of TOML, so that commas within quotes and brackets stay.
        let list = toml::from_str::<Table>(&format!("list = [{values}]")).ok();
        let list = list.and_then(|table| table.get("list").and_then(Value::as_array).cloned());
        let list = match list {
            Some(list) => list,
            None if values.split(',').any(|value| value.trim().is_empty()) => return Err(invalid()),
            None => values.split(',').map(|value| Value::String(value.trim().to_owned())).collect(),
        };
        list.iter().map(|value| Self::new(key.trim(), value)).collect()
    }

    /// The key, as it was written.
    #[must_use]
    pub fn key(&self) -> &str {
        self.text.split_once('=').map_or("", |(key, _)| key.trim())
    }
}

impl fmt::Display for Override {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl FromStr for Override {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let invalid = || {
            format!(
                "invalid setting: found {text:?}, allowed KEY=VALUE, as in environment.rain_rate_mm_h=20 or \
                 node.west.height_agl_m=30"
            )
        };
        let (key, value) = text.split_once('=').ok_or_else(invalid)?;
        let (key, value) = (key.trim(), value.trim());
        let read = |value: &str| toml::from_str::<Table>(&format!("{key} = {value}"));
        let quoted = || read(&Value::String(value.to_owned()).to_string());
        let tree = read(value).or_else(|_| quoted()).map_err(|_| invalid())?;
        // A line break in a value could smuggle in a second key.
        if key.is_empty() || tree.len() != 1 {
            return Err(invalid());
        }
        Ok(Self { text: format!("{key}={value}"), tree })
    }
}

/// The text of a scenario with values set.
///
/// # Errors
/// When the text cannot be parsed as TOML, or a key names an item that is not there.
pub fn apply(text: &str, overrides: &[Override]) -> Result<String, String> {
    let mut document: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    for own in overrides {
        merge(&mut document, &own.tree, "").map_err(|what| format!("{own}: {what}"))?;
    }
    toml::to_string(&document).map_err(|error| error.to_string())
}

/// Checks the values of several keys that are set together, each in turn: no value twice, and no key that is another
/// one or a part of it, by name or number, in the scenario `text`.
///
/// # Errors
/// The keys or the value.
pub fn check_varied(text: &str, keys: &[Vec<Override>]) -> Result<(), String> {
    let document: Table = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut places: Vec<(Vec<String>, &str)> = Vec::new();
    for values in keys {
        for (at, value) in values.iter().enumerate() {
            if values[..at].iter().any(|before| before.tree == value.tree) {
                return Err(format!("found {value} twice, allowed each value once"));
            }
        }
        let Some(own) = values.first() else { continue };
        let place = place(&document, &own.tree).map_err(|what| format!("{own}: {what}"))?;
        let overlaps = |(other, _): &&(Vec<String>, &str)| {
            other.iter().zip(&place).all(|(other, own)| other == own)
        };
        if let Some((_, other)) = places.iter().find(overlaps) {
            let key = own.key();
            return Err(format!(
                "found {other} and {key}, allowed keys of which none sets another"
            ));
        }
        places.push((place, own.key()));
    }
    Ok(())
}

/// Parts of the key of a tree, items of lists by their numbers.
fn place(document: &Table, tree: &Table) -> Result<Vec<String>, String> {
    let mut parts = Vec::new();
    let (mut tree, mut at) = (tree, Some(Value::Table(document.clone())));
    loop {
        // One key has one entry at each depth; more are those of an inline table, which is a value.
        let mut entries = tree.iter();
        let (Some((key, value)), None) = (entries.next(), entries.next()) else {
            return Ok(parts);
        };
        let (part, below) = match at {
            Some(Value::Table(table)) => (key.clone(), table.get(key).cloned()),
            Some(Value::Array(mut items)) => {
                let place = parts.join(".");
                let own = item(&mut items, key, &place)?.clone();
                let number = items.iter().position(|each| *each == own).unwrap_or_default();
                (number.to_string(), Some(own))
            }
            _ => (key.clone(), None),
        };
        parts.push(part);
        at = below;
        match value {
            Value::Table(below) => tree = below,
            _ => return Ok(parts),
        }
    }
}

/// Keys whose value is the name of a preset, or a table that starts from one.
const PRESETS: [&str; 2] = ["radio", "antenna"];

fn merge(into: &mut Table, tree: &Table, path: &str) -> Result<(), String> {
    for (key, value) in tree {
        let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
        match (into.get_mut(key), value) {
            (Some(Value::Table(below)), Value::Table(tree)) => merge(below, tree, &path)?,
            (Some(Value::Array(items)), Value::Table(tree)) => {
                for (name, value) in tree {
                    let item = item(items, name, &path)?;
                    match (item, value) {
                        (Value::Table(below), Value::Table(tree)) => {
                            merge(below, tree, &format!("{path}.{name}"))?;
                        }
                        (item, value) => *item = value.clone(),
                    }
                }
            }
            // A part of a preset: the preset, with that part.
            (Some(own @ Value::String(_)), Value::Table(tree))
                if PRESETS.contains(&key.as_str()) =>
            {
                let mut preset = Table::from_iter([("preset".to_owned(), own.clone())]);
                merge(&mut preset, tree, &path)?;
                *own = Value::Table(preset);
            }
            (_, value) => {
                into.insert(key.clone(), value.clone());
            }
        }
    }
    Ok(())
}

/// The item of a list with a name, or with a number from 0.
fn item<'a>(items: &'a mut [Value], name: &str, path: &str) -> Result<&'a mut Value, String> {
    let name_of = |item: &Value| item.get("name").and_then(Value::as_str).map(str::to_owned);
    let by_name = items.iter().position(|item| name_of(item).as_deref() == Some(name));
    let number = by_name.or_else(|| name.parse().ok().filter(|number| *number < items.len()));
    let names: Vec<_> = items.iter().filter_map(name_of).take(NAMES_MAX).collect();
    let count = items.len();
    number.map(|number| &mut items[number]).ok_or_else(|| {
        let allowed =
            if names.is_empty() { String::new() } else { format!("{}, or ", names.join(", ")) };
        format!("unknown {path}: found {name:?}, allowed {allowed}0 to {}", count.saturating_sub(1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_that_set_each_other_are_refused() {
        let check = |keys: &[&str]| {
            let keys: Vec<_> = keys.iter().map(|key| Override::list(key).unwrap()).collect();
            check_varied(TEXT, &keys)
        };
        assert_eq!(check(&["node.west.height_agl_m=1,2", "node.west.tx_power_dbm=3,4"]), Ok(()));
        assert_eq!(check(&["environment.rain_rate_mm_h=1,2", "environment.k_factor=1"]), Ok(()));
        for keys in [
            ["node.west.height_agl_m=1,2", "node.0.height_agl_m=3"],
            ["node.west.height_agl_m=1,2", "node.\"west\".height_agl_m=3"],
            ["node.west.radio.tx_power_dbm=5,25", "node.west.radio=wifi_2g4_mesh"],
            ["node.west.radio=wifi_2g4_mesh", "node.0.radio.tx_power_dbm=5"],
        ] {
            let error = check(&keys).unwrap_err();
            assert!(error.contains("allowed keys of which none sets another"), "{error}");
        }
        let error = check(&["environment.rain_rate_mm_h=2, 2"]).unwrap_err();
        assert!(error.contains("twice"), "{error}");
    }

    const TEXT: &str = "
        [scenario]
        title = 't'
        duration_s = 60
        [[node]]
        name = 'west'
        radio = 'wifi_5g_mesh'
        height_agl_m = 10
        [[node]]
        name = 'far east'
        height_agl_m = 12
    ";

    fn applied(settings: &[&str]) -> Result<Table, String> {
        let overrides: Result<Vec<Override>, _> =
            settings.iter().map(|text| text.parse()).collect();
        apply(TEXT, &overrides?).map(|text| toml::from_str(&text).unwrap())
    }

    #[test]
    fn keys_go_by_table_name_and_number() {
        let document = applied(&[
            "scenario.seed=7",
            "environment.model=itm",
            "node.west.height_agl_m=30.5",
            "node.\"far east\".indoor=\"traditional\"",
            "node.1.height_agl_m=1",
        ])
        .unwrap();
        assert_eq!(document["scenario"]["seed"].as_integer(), Some(7));
        assert_eq!(document["environment"]["model"].as_str(), Some("itm"));
        let [west, east] = [0, 1].map(|number| &document["node"][number]);
        assert_eq!(west["height_agl_m"].as_float(), Some(30.5));
        assert_eq!(east["indoor"].as_str(), Some("traditional"));
        assert_eq!(east["height_agl_m"].as_integer(), Some(1));
        assert_eq!(document["scenario"]["duration_s"].as_integer(), Some(60));
    }

    #[test]
    fn a_part_of_a_preset_leaves_the_others() {
        let document = applied(&["node.west.radio.tx_power_dbm=10"]).unwrap();
        let radio = &document["node"][0]["radio"];
        assert_eq!(radio["preset"].as_str(), Some("wifi_5g_mesh"));
        assert_eq!(radio["tx_power_dbm"].as_integer(), Some(10));
    }

    #[test]
    fn lists_have_numbers_text_and_lists() {
        let texts = |text: &str| {
            let list = Override::list(text)?;
            Ok::<_, String>(list.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(texts("a.b=1, 2.5").unwrap(), "a.b=1 a.b=2.5");
        assert_eq!(
            texts("mesh.metric=etx,ett").unwrap(),
            "mesh.metric=\"etx\" mesh.metric=\"ett\""
        );
        assert_eq!(texts("a=[1,2],[3]").unwrap(), "a=[1, 2] a=[3]");
        for text in ["a", "a=", "=1", "a="] {
            assert!(texts(text).is_err(), "{text}");
        }
    }

    #[test]
    fn settings_that_name_nothing_give_an_error_with_what_is_allowed() {
        for (setting, part) in [
            ("seed", "allowed KEY=VALUE"),
            ("=3", "allowed KEY=VALUE"),
            ("a b=3", "allowed KEY=VALUE"),
            ("scenario.seed=3\nb=4", "allowed KEY=VALUE"),
            ("node.north.height_agl_m=3", "found \"north\", allowed west, far east, or 0 to 1"),
            ("node.7.height_agl_m=3", "found \"7\""),
        ] {
            let error = applied(&[setting]).unwrap_err();
            assert!(error.contains(part), "{setting}: {error}");
        }
    }
}
