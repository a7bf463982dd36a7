//! Links and topology of olsrd2 (OONF), as the JSON of its commands `nhdpinfo` and `olsrv2info`.

use groundwave_simulation::measure::Measured;
use serde_json::Value;

use super::mesh::{self, MeshNode, MeshSnapshot, SELF, number, rows, text};
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "olsrd2",
    label: "olsrd2",
    description: "olsrd2, nhdpinfo json link or olsrv2info json edge: rates of links by the airtime metric",
    extensions: &["json"],
    contents: &[Content::Measurements],
    sniff: |sample| {
        let document = sample.json();
        let has = |list: &str, key: &str| !document[list][0][key].is_null();
        has("link", "neighbor_originator")
            || has("edge", "edge") && has("edge", "node")
            || has("originator", "originator")
    },
    read: Some(|source, options| mesh::read_text(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Name of the airtime metric (RFC 7779) in olsrd2.
pub(super) const AIRTIME: &str = "ff_dat_metric";

/// Costs of the airtime metric are this over the rate in bit/s, lost frames counted: 2^21 units of cost at 2^10 bit/s.
const COST_BPS: f64 = 2_147_483_648.0;

/// Cost of a link of which nothing is known yet, or that carries nothing (RFC 7181, 6.1).
const COST_MAX: f64 = 16_776_960.0;

/// Rate of a link by its cost in the airtime metric, bit/s; `None` for one that is not known or carries nothing.
pub(super) fn airtime_bps(cost: f64) -> Option<f64> {
    (1.0..COST_MAX).contains(&cost).then(|| COST_BPS / cost)
}

/// Reads the documents of an answer to one or more commands.
fn parse(text: &str, snapshot: &mut MeshSnapshot) {
    let mut documents = Vec::new();
    for document in serde_json::Deserializer::from_str(text).into_iter::<Value>() {
        match document {
            Ok(document) => documents.push(document),
            Err(_) => {
                snapshot.drop("a document of invalid JSON");
                break;
            }
        }
    }
    let all = |list: &'static str| documents.iter().flat_map(move |one| rows(&one[list]));
    let own = all("originator").find_map(|row| address(&row["originator"]));
    let has_edges = all("edge").next().is_some();
    // A topology is of the whole mesh.
    snapshot.observer = own.clone().filter(|_| !has_edges);
    let node = own.unwrap_or_else(|| SELF.to_owned());
    for row in all("link") {
        link(row, &node, snapshot);
    }
    for row in all("edge") {
        snapshot.listed_links += 1;
        let (Some(from), Some(to)) = (address(&row["node"]), address(&row["edge"])) else {
            snapshot.drop("a link without two addresses");
            continue;
        };
        if let Some(values) = measured(row, "out", snapshot) {
            snapshot.link(&from, &to, values);
        }
    }
    for one in all("node").filter_map(|row| address(&row["node"])) {
        add(&one, snapshot);
    }
}

/// An address; a hyphen stands for none.
fn address(value: &Value) -> Option<String> {
    text(value).filter(|address| address != "-")
}

fn add(key: &str, snapshot: &mut MeshSnapshot) {
    if snapshot.nodes.iter().all(|node| node.key != key) {
        snapshot.nodes.push(MeshNode {
            key: key.to_owned(),
            name: Some(key.to_owned()),
            path: "node".to_owned(),
            ..MeshNode::default()
        });
    }
}

/// Takes both directions of a link of a node to a neighbour, which is its originator.
fn link(row: &Value, node: &str, snapshot: &mut MeshSnapshot) {
    snapshot.listed_links += 1;
    let interface = address(&row["link_bindto"]);
    let Some(neighbour) = address(&row["neighbor_originator"]).or_else(|| interface.clone()) else {
        return snapshot.drop("a link without its neighbour");
    };
    let addresses = interface.into_iter().chain(address(&row["link_mac"]));
    let others = addresses.filter(|address| *address != neighbour);
    snapshot.aliases.extend(others.map(|address| (address, neighbour.clone())));
    for (from, to, way) in [(&*neighbour, node, "in"), (node, &*neighbour, "out")] {
        if let Some(values) = measured(row, way, snapshot) {
            snapshot.link(from, to, values);
        }
    }
}

/// Rate of a direction of a row, `in` or `out`; notes one that has none.
fn measured(row: &Value, way: &str, snapshot: &mut MeshSnapshot) -> Option<Measured> {
    let metric = text(&row["domain_metric"]).unwrap_or_default();
    if metric != AIRTIME {
        let metric: String = metric.chars().take(40).collect();
        snapshot.drop(&format!("a metric other than a rate ({metric}): not used"));
        return None;
    }
    let raw = number(&row[format!("domain_metric_{way}_raw")]);
    let rate_bps = match raw {
        Some(cost) => airtime_bps(cost),
        None => text(&row[format!("domain_metric_{way}")]).and_then(|text| bits_per_s(&text)),
    };
    if rate_bps.is_none() {
        snapshot.drop("a link without a metric yet");
    }
    Some(Measured { rate_bps: Some(rate_bps?), ..Measured::default() })
}

/// A rate such as `1.02kbit/s`, bit/s.
fn bits_per_s(text: &str) -> Option<f64> {
    let value = text.trim().strip_suffix("bit/s")?.trim_end();
    let (digits, factor) = match value.chars().last()? {
        'k' => (&value[..value.len() - 1], 1e3),
        'M' => (&value[..value.len() - 1], 1e6),
        'G' => (&value[..value.len() - 1], 1e9),
        _ => (value, 1.0),
    };
    let number = digits.trim_end().parse::<f64>().ok()?;
    Some(number * factor).filter(|bps| bps.is_finite() && *bps > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_the_rates_that_olsrd2_prints_beside_them() {
        // "1.02kbit/s" beside 2105088.
        let rate_bps = airtime_bps(2_105_088.0).unwrap();
        assert!((rate_bps - bits_per_s("1.02kbit/s").unwrap()).abs() < 1.0, "{rate_bps}");
        assert_eq!(bits_per_s("1020  bit/s"), Some(1020.0));
        assert_eq!(bits_per_s("5.5Mbit/s"), Some(5.5e6));
        for cost in [0.0, -1.0, f64::NAN, f64::INFINITY, 16_776_960.0] {
            assert_eq!(airtime_bps(cost), None, "{cost}");
        }
        for text in ["", "bit/s", "kbit/s", "x bit/s", "1e400bit/s", "-5bit/s", "-"] {
            assert_eq!(bits_per_s(text), None, "{text}");
        }
    }
}
