//! The table as the kernel holds it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::error::NftError;

/// Packets and bytes that a rule has decided on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// Packets.
    pub packets: u64,
    /// Bytes.
    pub bytes: u64,
}

/// A chain with its rules.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
struct ListedChain {
    chain: Value,
    rules: Vec<Value>,
}

/// The table as listed, without handles and counts.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Listing {
    chains: BTreeMap<String, ListedChain>,
    /// Sets, maps and their like: we make none.
    others: Vec<Value>,
    #[serde(skip)]
    counts: BTreeMap<String, Counted>,
}

/// A difference: pointer, expected and found value.
type Difference = (String, Value, Value);

fn text(object: &Map<String, Value>, key: &str) -> String {
    let text = object.get(key).and_then(Value::as_str);
    text.unwrap_or_default().to_owned()
}

/// Takes the counts out of a rule.
fn take_counts(rule: &mut Map<String, Value>) -> Counted {
    let mut sum = Counted::default();
    let expr = rule.get_mut("expr").and_then(Value::as_array_mut);
    for statement in expr.into_iter().flatten() {
        let Some(counter) = statement.get_mut("counter") else {
            continue;
        };
        let number = |key: &str| counter.get(key).and_then(Value::as_u64).unwrap_or(0);
        sum.packets = sum.packets.saturating_add(number("packets"));
        sum.bytes = sum.bytes.saturating_add(number("bytes"));
        *counter = Value::Null;
    }
    sum
}

impl Listing {
    /// Listing of `nft -j list table`.
    ///
    /// # Errors
    /// [`NftError::Decode`] for what is no JSON of nftables.
    pub fn parse(text_found: &[u8]) -> Result<Self, NftError> {
        #[derive(Deserialize)]
        struct Answer {
            nftables: Vec<Map<String, Value>>,
        }
        let answer: Answer = serde_json::from_slice(text_found)?;
        let mut listing = Self::default();
        for object in answer.nftables {
            for (kind, value) in object {
                let Value::Object(mut fields) = value else {
                    continue;
                };
                fields.remove("handle");
                match kind.as_str() {
                    "metainfo" | "table" => {}
                    "chain" => {
                        let name = text(&fields, "name");
                        listing.chains.entry(name).or_default().chain = Value::Object(fields);
                    }
                    "rule" => {
                        let chain = text(&fields, "chain");
                        let counted = take_counts(&mut fields);
                        let sum = listing.counts.entry(text(&fields, "comment")).or_default();
                        sum.packets = sum.packets.saturating_add(counted.packets);
                        sum.bytes = sum.bytes.saturating_add(counted.bytes);
                        let rules = &mut listing.chains.entry(chain).or_default().rules;
                        rules.push(Value::Object(fields));
                    }
                    _ => listing.others.push(json!({ kind: fields })),
                }
            }
        }
        Ok(listing)
    }

    /// Packets and bytes of the rules with this comment.
    #[must_use]
    pub fn counted(&self, comment: &str) -> Option<Counted> {
        self.counts.get(comment).copied()
    }

    /// Differences of `found` from this listing, by JSON pointer: chains, rules by their places, and
    /// objects of other kinds. No table at all is one difference.
    #[must_use]
    pub fn differences(&self, observation: Option<&Self>) -> Vec<Difference> {
        let Some(observation) = observation else {
            return vec![("/table".to_owned(), json!(true), json!(false))];
        };
        let mut all = Vec::new();
        let mut compare = |pointer: String, expected: Option<&Value>, actual: Option<&Value>| {
            if expected != actual {
                let value = |value: Option<&Value>| value.cloned().unwrap_or_default();
                all.push((pointer, value(expected), value(actual)));
            }
        };
        let nothing = ListedChain::default();
        let names: std::collections::BTreeSet<_> =
            self.chains.keys().chain(observation.chains.keys()).collect();
        for name in names {
            let (expected, actual) = (self.chains.get(name), observation.chains.get(name));
            let at = format!("/chains/{name}");
            let chain = |chain: Option<&'_ ListedChain>| chain.map(|chain| chain.chain.clone());
            compare(at.clone(), chain(expected).as_ref(), chain(actual).as_ref());
            let (expected, actual) = (expected.unwrap_or(&nothing), actual.unwrap_or(&nothing));
            for place in 0..expected.rules.len().max(actual.rules.len()) {
                let pointer = format!("{at}/rules/{place}");
                compare(pointer, expected.rules.get(place), actual.rules.get(place));
            }
        }
        for place in 0..self.others.len().max(observation.others.len()) {
            let pointer = format!("/others/{place}");
            compare(pointer, self.others.get(place), observation.others.get(place));
        }
        all
    }

    /// Number of rules.
    #[must_use]
    pub fn rules(&self) -> usize {
        self.chains.values().map(|chain| chain.rules.len()).sum()
    }

    /// The listing as JSON: chains with their rules.
    #[must_use]
    pub fn json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }
}
