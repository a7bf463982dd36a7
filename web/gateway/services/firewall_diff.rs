//! Differences between two rulesets.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Change of a rule or a chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// In the new ruleset only.
    Added,
    /// In the old ruleset only.
    Removed,
}

/// Difference between two rulesets.
#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RuleChange {
    /// Change.
    pub change: ChangeKind,
    /// Chain or rule, in the JSON of nftables.
    pub object: Value,
}

/// Chains and rules of a transaction.
fn objects(transaction: &str) -> Vec<Value> {
    let parsed: Value = serde_json::from_str(transaction).unwrap_or_default();
    let commands = parsed["nftables"].as_array().cloned().unwrap_or_default();
    commands
        .into_iter()
        .filter_map(|mut command| {
            let object = command.get_mut("add")?.take();
            object.get("table").is_none().then_some(object)
        })
        .collect()
}

/// Chains and rules that only one of two transactions has; each counts as often as it occurs.
#[must_use]
pub fn difference(before: Option<&str>, after: &str) -> Vec<RuleChange> {
    let mut removed = before.map_or_else(Vec::new, objects);
    let mut added = Vec::new();
    for object in objects(after) {
        match removed.iter().position(|old| *old == object) {
            Some(place) => {
                removed.remove(place);
            }
            None => added.push(object),
        }
    }
    let change = |change| move |object| RuleChange { change, object };
    let removed = removed.into_iter().map(change(ChangeKind::Removed));
    removed.chain(added.into_iter().map(change(ChangeKind::Added))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn transaction(rules: &[&str]) -> String {
        let rules = rules.iter().map(|comment| {
            serde_json::json!({ "add": { "rule": { "chain": "input", "comment": comment } } })
        });
        let table = serde_json::json!({ "add": { "table": { "name": "t" } } });
        let all: Vec<_> = std::iter::once(table).chain(rules).collect();
        serde_json::json!({ "nftables": all }).to_string()
    }

    #[test]
    fn a_difference_has_what_only_one_ruleset_has() {
        let changes = difference(Some(&transaction(&["a", "b", "b"])), &transaction(&["b", "c"]));
        let comments: Vec<_> = changes
            .iter()
            .map(|change| (change.change, change.object["rule"]["comment"].as_str().unwrap()))
            .collect();
        let expected =
            [(ChangeKind::Removed, "a"), (ChangeKind::Removed, "b"), (ChangeKind::Added, "c")];
        assert_eq!(comments, expected);
        assert_eq!(difference(None, &transaction(&["a"])).len(), 1);
        assert!(difference(Some(&transaction(&["a"])), &transaction(&["a"])).is_empty());
    }
}
