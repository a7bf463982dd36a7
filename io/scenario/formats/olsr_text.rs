//! Tables of OLSR's txtinfo plugin: links and topology.

use std::collections::BTreeMap;

use groundwave_simulation::measure::Measured;

use super::mesh::{self, MeshSnapshot, quality};
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "txtinfo",
    label: "OLSRd txtinfo",
    description: "OLSRd or batmand txtinfo: link quality of links and topology",
    extensions: &["txt"],
    contents: &[Content::Measurements],
    sniff: |sample| {
        sample.text().lines().any(|line| TABLES.iter().any(|(name, ..)| line.trim() == *name))
    },
    read: Some(|source, options| mesh::read_text(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Tables with links: title, columns of the node and of its neighbour.
const TABLES: [(&str, &str, &str); 2] =
    [("Table: Links", "Local IP", "Remote IP"), ("Table: Topology", "Last hop IP", "Dest. IP")];

/// First heads of the topology of batmand: `MAC 1  MAC2  FINTO FINTO Costo`.
const MAC_HEADS: [&str; 2] = ["MAC", "1"];

/// Takes a row of the topology of batmand: two addresses, two values without a meaning, and the ETX.
fn batman(line: &str, snapshot: &mut MeshSnapshot) {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [from, to, .., cost] = words[..] else {
        return snapshot.drop("a link without two addresses");
    };
    snapshot.listed_links += 1;
    match cost.parse::<f64>() {
        Ok(etx) if etx >= 1.0 && etx.is_finite() => snapshot.link(from, to, quality(1.0 / etx)),
        _ => snapshot.drop("a link whose cost is not an ETX of 1 or more"),
    }
}

/// The link quality of a node is the share that arrives there from its neighbour; `INFINITE` is the
/// cost of a link that carries nothing.
fn parse(text: &str, snapshot: &mut MeshSnapshot) {
    let mut table = None;
    let mut is_of_batman = false;
    let mut columns: BTreeMap<String, usize> = BTreeMap::new();
    for line in text.lines() {
        let line = line.trim_end();
        if line.starts_with("Table:") {
            table = TABLES.iter().find(|(name, ..)| *name == line);
            is_of_batman = false;
            columns.clear();
            continue;
        }
        let Some((_, here, there)) = table.filter(|_| !line.is_empty()) else { continue };
        if line.split_whitespace().take(2).eq(MAC_HEADS) {
            is_of_batman = true;
            continue;
        }
        if is_of_batman {
            batman(line, snapshot);
            continue;
        }
        let cells: Vec<&str> = line.split('\t').map(str::trim).collect();
        if columns.is_empty() {
            columns =
                cells.iter().enumerate().map(|(index, cell)| ((*cell).to_owned(), index)).collect();
            continue;
        }
        let cell =
            |name: &str| cells.get(*columns.get(name)?).copied().filter(|cell| !cell.is_empty());
        let Some((here, there)) = cell(here).zip(cell(there)) else {
            snapshot.drop("a link without two addresses");
            continue;
        };
        for (from, to, name) in [(there, here, "LQ"), (here, there, "NLQ")] {
            let delivery_prob = cell(name).and_then(|cell| cell.parse().ok());
            match delivery_prob {
                Some(_) => {
                    snapshot.link(from, to, Measured { delivery_prob, ..Measured::default() })
                }
                None => snapshot.drop("a link without its quality"),
            }
        }
    }
}
