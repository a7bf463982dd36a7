//! Tables of OLSR's txtinfo plugin: links and topology.

use std::collections::BTreeMap;

use groundwave_simulation::measure::Measured;

use super::mesh::{self, MeshSnapshot};
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "txtinfo",
    label: "OLSRd txtinfo",
    description: "OLSRd txtinfo: link quality of links and topology",
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

/// The link quality of a node is the share that arrives there from its neighbour; `INFINITE` is the
/// cost of a link that carries nothing.
fn parse(text: &str, snapshot: &mut MeshSnapshot) {
    let mut table = None;
    let mut columns: BTreeMap<String, usize> = BTreeMap::new();
    for line in text.lines() {
        let line = line.trim_end();
        if line.starts_with("Table:") {
            table = TABLES.iter().find(|(name, ..)| *name == line);
            columns.clear();
            continue;
        }
        let Some((_, here, there)) = table.filter(|_| !line.is_empty()) else { continue };
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
