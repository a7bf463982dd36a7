//! Differences between two plans, key by key.

use serde_json::Value;

use super::plan::Plan;

/// Differences that are named; more are counted.
const NAMED_MAX: usize = 4;

/// Characters of a value that are shown: enough to tell two digests apart.
const VALUE_MAX: usize = 24;

/// The keys in which a manifest differs from a plan, each with both values.
pub(super) fn differences(manifest: &[u8], plan: &Plan) -> String {
    let Ok(there) = serde_json::from_slice::<Value>(manifest) else {
        return "its manifest.json cannot be read".to_owned();
    };
    let here = serde_json::to_value(plan).expect("a plan is plain data");
    let mut all = Vec::new();
    compare("", &there, &here, &mut all);
    let more = all.len().saturating_sub(NAMED_MAX);
    all.truncate(NAMED_MAX);
    if more > 0 {
        all.push(format!("{more} more keys"));
    }
    match all.as_slice() {
        [] => "its manifest.json is of another version".to_owned(),
        all => all.join("; "),
    }
}

fn compare(path: &str, there: &Value, here: &Value, all: &mut Vec<String>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (there, here) {
        (Value::Object(there), Value::Object(here)) => {
            for key in there.keys().chain(here.keys().filter(|key| !there.contains_key(*key))) {
                let value = |object: &serde_json::Map<String, Value>| {
                    object.get(key).cloned().unwrap_or(Value::Null)
                };
                compare(&below(key), &value(there), &value(here), all);
            }
        }
        (Value::Array(there), Value::Array(here)) if there.len() == here.len() => {
            for (index, (there, here)) in there.iter().zip(here).enumerate() {
                let name = here["name"].as_str().map_or_else(|| index.to_string(), str::to_owned);
                compare(&below(&name), there, here, all);
            }
        }
        (there, here) if there != here => {
            all.push(format!("{path} is {} there, {} here", text(there), text(here)));
        }
        _ => {}
    }
}

/// A value in few characters.
fn text(value: &Value) -> String {
    match value {
        Value::Null => "absent".to_owned(),
        Value::Array(all) => format!("a list of {}", all.len()),
        Value::Object(all) => format!("a table of {} keys", all.len()),
        Value::String(text) if text.chars().count() > VALUE_MAX => {
            let start: String = text.chars().take(VALUE_MAX / 2).collect();
            format!("{start}…")
        }
        Value::String(text) => format!("{text:?}"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use groundwave_model::terrain::GeoPoint;

    use super::super::fixtures;
    use super::*;

    #[test]
    fn changed_keys_are_named_with_both_values() {
        let places = [57.7, 57.8].map(|lat_deg| GeoPoint::new(lat_deg, 11.9).unwrap());
        let plan = fixtures::plan(&places, 2_000.0, 6.0);
        let manifest = |plan: &Plan| serde_json::to_vec(plan).unwrap();
        let mut other = plan.clone();
        other.sites[1].station.height_agl_m = 25.0;
        other.margin_db = 6.0;
        let text = differences(&manifest(&other), &plan);
        assert!(
            text.contains("sites.site 1.station.height_agl_m is 25.0 there, 20.0 here"),
            "{text}"
        );
        assert!(text.contains("margin_db is 6.0 there, 0.0 here"), "{text}");
        other.sites.pop();
        other
            .terrain
            .insert("N57E011.hgt".to_owned(), "0123456789abcdef0123456789abcdef".to_owned());
        let text = differences(&manifest(&other), &plan);
        assert!(text.contains("sites is a list of 1 there, a list of 2 here"), "{text}");
        assert!(text.contains("terrain.N57E011.hgt is 0123456789ab… there, absent here"), "{text}");
        let mut many = plan.clone();
        many.radius_m = 1.0;
        many.packet_bytes = 7;
        many.samples = Some(9);
        many.choose = Some(1);
        many.title = "another".to_owned();
        many.margin_db = 3.0;
        let text = differences(&manifest(&many), &plan);
        assert!(text.ends_with("; 2 more keys"), "{text}");
        assert!(differences(b"{", &plan).contains("cannot be read"));
    }
}
