//! Lists of nodes of Meshtastic in other forms than that of `--info`: the table of `--nodes`, and JSON of clients that keep
//! nodes by their numbers or in an array.

use serde_json::{Map, Value, json};

use super::json_values::{entries, text};

/// Mark between the cells of the table.
const MARK: char = '│';

/// Nodes looked at to recognise a list.
const SNIFFED: usize = 20;

/// Cells of a row.
fn cells(line: &str) -> Vec<&str> {
    let line = line.trim();
    let inner = line.strip_prefix(MARK).and_then(|rest| rest.strip_suffix(MARK));
    inner.map(|inner| inner.split(MARK).map(str::trim).collect()).unwrap_or_default()
}

/// The names of the columns and the rows behind them; `None` for another text.
fn table(text: &str) -> Option<(Vec<&str>, impl Iterator<Item = Vec<&str>>)> {
    let mut rows = text.lines().map(cells);
    let is_header = |row: &Vec<&str>| ["ID", "User", "SNR"].iter().all(|name| row.contains(name));
    let header = rows.by_ref().find(is_header)?;
    Some((header, rows))
}

/// True for the output of `meshtastic --nodes`.
pub(super) fn is_table(text: &str) -> bool {
    text.contains(MARK) && table(text).is_some()
}

/// The nodes of the table by their ids, with the keys of `--info`.
pub(super) fn of_table(text: &str) -> Option<Value> {
    let (header, rows) = table(text)?;
    let mut nodes = Map::new();
    for row in rows {
        let cell = |name: &str| {
            let column = header.iter().position(|head| *head == name)?;
            row.get(column).copied().filter(|cell| !cell.is_empty() && *cell != "N/A")
        };
        // Units stand behind numbers: `57.7089°`, `34m`.
        let number = |name: &str| -> Option<f64> {
            cell(name)?.trim_end_matches(|c: char| !c.is_ascii_digit()).parse().ok()
        };
        let Some(id) = cell("ID").filter(|id| id.starts_with('!')) else { continue };
        // Instead of the SNR of nodes behind others some versions have the number of hops.
        let snr_db =
            cell("SNR").and_then(|cell| cell.strip_suffix("dB")?.trim().parse::<f64>().ok());
        let node = json!({
            "user": { "longName": cell("User"), "shortName": cell("AKA") },
            "position": {
                "latitude": number("Latitude"),
                "longitude": number("Longitude"),
                "altitude": number("Altitude"),
            },
            "snr": snr_db,
            "hopsAway": number("Hops"),
        });
        nodes.insert(id.to_owned(), node);
    }
    Some(Value::Object(nodes))
}

/// The id of a node, by itself, its number or its key.
fn id_of(key: Option<&String>, node: &Value) -> Option<String> {
    if let Some(id) = node["user"]["id"].as_str().filter(|id| id.starts_with('!')) {
        return Some(id.to_owned());
    }
    if let Some(key) = key.filter(|key| key.starts_with('!')) {
        return Some(key.clone());
    }
    let number = text(&node["num"]).or(key.cloned())?.parse::<u32>().ok()?;
    Some(format!("!{number:08x}"))
}

/// Nodes of a document with their ids: of an object by ids or numbers, of an array, or of `nodes` in an object.
fn nodes(document: &Value) -> impl Iterator<Item = (String, &Value)> {
    let list = match &document["nodes"] {
        Value::Null => document,
        list => list,
    };
    let is_node = |node: &Value| node["user"].is_object() || node["num"].is_number();
    let nodes = entries(list, "").filter(move |(.., node)| is_node(node));
    nodes.filter_map(|(_, key, node)| Some((id_of(key, node)?, node)))
}

/// True for a list of nodes in JSON.
pub(super) fn is_list(document: &Value) -> bool {
    let is_of_nodes = |node: &Value| node["user"]["longName"].is_string() || !node["num"].is_null();
    let mut own = nodes(document).take(SNIFFED);
    own.any(|(id, node)| document[&id].is_object() || is_of_nodes(node))
}

/// True for a list by ids, as `--info` has it.
pub(super) fn is_by_id(document: &Value) -> bool {
    document.as_object().is_some_and(|nodes| nodes.keys().any(|key| key.starts_with('!')))
}

/// The nodes of a list by their ids.
pub(super) fn by_id(document: &Value) -> Value {
    Value::Object(nodes(document).map(|(id, node)| (id, node.clone())).collect())
}
