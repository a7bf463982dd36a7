//! Neighbours of batman-adv as `batctl o` and `batctl n` print them.

use groundwave_simulation::measure::Measured;

use super::batctl::TQ_MAX;
use super::interfaces::{self, NOT_RADIO};
use super::mesh::{self, MeshSnapshot, SELF};
use super::{Content, Format};

/// The format.
pub static FORMAT: Format = Format {
    name: "batctl_text",
    label: "batctl",
    description: "batctl o or n, as text: TQ (BATMAN IV) or throughput (BATMAN V) of neighbours",
    extensions: &["txt"],
    contents: &[Content::Measurements],
    sniff: |sample| sample.text().lines().take(5).any(|line| line.starts_with(HEAD)),
    read: Some(|source, options| mesh::read_text(&FORMAT, parse, source, options)),
    is_series: true,
    ..Format::NONE
};

/// Beginning of the first line.
const HEAD: &str = "[B.A.T.M.A.N. adv";

/// Reads a table. The first line names the interface and address of the node whose it is; rows have
/// the originator, the time since it was last received, the TQ or throughput and the next hop. Originators and next
/// hops are addresses, or names by `/etc/bat-hosts`.
fn parse(text: &str, snapshot: &mut MeshSnapshot) {
    let mut node = SELF.to_owned();
    for line in text.lines() {
        if line.starts_with(HEAD) {
            let (_, interface) = line.split_once("MAC: ").unwrap_or_default();
            let address = interface.split(['/', ' ']).find(|word| is_address(word));
            node = address.map_or(node, str::to_owned);
            snapshot.observer = address.map(str::to_owned);
            continue;
        }
        let line = line.trim_start().trim_start_matches('*').trim_start();
        let mut words = line.split_whitespace();
        let (first, second) = (words.next(), words.next());
        let is_row = |word: &&str| is_address(word) || second.is_some_and(is_age);
        let Some(originator) = first.filter(is_row) else {
            // The heads of columns, and lines that say that there are none.
            continue;
        };
        let value = line.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
        let Some((value, rest)) = value else {
            snapshot.drop("a row without TQ or throughput");
            continue;
        };
        // Neighbours have no next hop before the interface in brackets.
        let next_hop = rest.split_whitespace().next().filter(|word| !word.starts_with('['));
        if next_hop.is_some_and(|next_hop| next_hop != originator) {
            snapshot.drop("an originator behind others: a route, not a link");
            continue;
        }
        let interface = rest.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        if interface.is_some_and(|(name, _)| interfaces::is_wired(name)) {
            snapshot.drop(NOT_RADIO);
            continue;
        }
        let value = value.trim();
        let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
        let values = match number {
            // BATMAN V prints Mbit/s with a decimal, BATMAN IV a TQ without.
            Some(mbit_s) if value.contains('.') => {
                Measured { rate_bps: Some(mbit_s * 1e6), ..Measured::default() }
            }
            Some(tq) => Measured { quality: Some(tq / TQ_MAX), ..Measured::default() },
            None => {
                snapshot.drop("a row without TQ or throughput");
                continue;
            }
        };
        snapshot.link(&node, originator, values);
    }
}

/// True for the time since an originator was last received, `0.480s`.
fn is_age(word: &str) -> bool {
    word.strip_suffix('s').is_some_and(|seconds| seconds.parse::<f64>().is_ok_and(f64::is_finite))
}

/// True for a MAC address.
fn is_address(word: &str) -> bool {
    let is_octet = |part: &str| part.len() == 2 && u8::from_str_radix(part, 16).is_ok();
    word.split(':').count() == 6 && word.split(':').all(is_octet)
}
