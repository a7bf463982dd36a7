//! Licences, banned packages and sources of the dependency tree, as `deny.toml` allows them: what
//! `cargo deny` checks, on machines where it is not installed.

use std::collections::BTreeSet;
use std::process::Command;

use serde_json::Value;

use crate::support::root;

/// A table of `deny.toml` as JSON.
fn policy() -> Value {
    let text = std::fs::read_to_string(root().join("deny.toml")).unwrap();
    toml::from_str(&text).unwrap()
}

/// Every package of the tree, for all targets.
fn packages() -> Vec<Value> {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .current_dir(root())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

fn words(list: &Value) -> BTreeSet<&str> {
    let words = list.as_array().into_iter().flatten();
    words.filter_map(Value::as_str).collect()
}

/// True if one alternative of an SPDX expression has only allowed licences. `AND` binds closer than
/// `OR`; the old `A/B` means `A OR B`.
fn is_allowed(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let mut tokens: Vec<&str> = spaced.split_whitespace().collect();
    tokens.reverse();
    let verdict = any(&mut tokens, allowed);
    assert!(tokens.is_empty(), "invalid expression {expression}");
    verdict
}

fn any(tokens: &mut Vec<&str>, allowed: &BTreeSet<&str>) -> bool {
    let mut verdict = all(tokens, allowed);
    while tokens.last() == Some(&"OR") {
        tokens.pop();
        verdict |= all(tokens, allowed);
    }
    verdict
}

fn all(tokens: &mut Vec<&str>, allowed: &BTreeSet<&str>) -> bool {
    let mut verdict = one(tokens, allowed);
    while tokens.last() == Some(&"AND") {
        tokens.pop();
        verdict &= one(tokens, allowed);
    }
    verdict
}

fn one(tokens: &mut Vec<&str>, allowed: &BTreeSet<&str>) -> bool {
    let token = tokens.pop().expect("a licence");
    if token == "(" {
        let verdict = any(tokens, allowed);
        assert_eq!(tokens.pop(), Some(")"));
        return verdict;
    }
    // An exception makes a licence more permissive, never less.
    if tokens.last() == Some(&"WITH") {
        tokens.pop();
        tokens.pop();
    }
    allowed.contains(token)
}

#[test]
fn licences_are_allowed() {
    let policy = policy();
    let licenses = &policy["licenses"];
    let mut refused = Vec::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        let mut allowed = words(&licenses["allow"]);
        for exception in licenses["exceptions"].as_array().into_iter().flatten() {
            if exception["crate"] == name {
                allowed.extend(words(&exception["allow"]));
            }
        }
        let expression = package["license"].as_str().unwrap_or("none");
        if !is_allowed(expression, &allowed) {
            refused.push(format!("{name}: {expression}"));
        }
    }
    assert_eq!(refused, Vec::<String>::new());
}

#[test]
fn banned_packages_and_foreign_sources_are_not_used() {
    let policy = policy();
    let banned = policy["bans"]["deny"].as_array().unwrap();
    let mut refused = Vec::new();
    for package in packages() {
        let name = package["name"].as_str().unwrap();
        if let Some(entry) = banned.iter().find(|entry| entry["crate"] == name) {
            refused.push(format!("{name}: {}", entry["reason"]));
        }
        let source = package["source"].as_str();
        if source.is_some_and(|source| !source.ends_with("github.com/rust-lang/crates.io-index")) {
            refused.push(format!("{name}: {}", package["source"]));
        }
    }
    assert_eq!(refused, Vec::<String>::new());
}

#[test]
fn licence_expressions_are_understood() {
    let allowed = BTreeSet::from(["MIT", "Apache-2.0", "Unicode-3.0"]);
    for good in [
        "MIT",
        "GPL-3.0 OR MIT",
        "GPL-3.0/Apache-2.0",
        "(MIT OR GPL-3.0) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(is_allowed(good, &allowed), "{good}");
    }
    for bad in ["MPL-2.0", "MIT AND MPL-2.0", "(MIT OR Zlib) AND Zlib"] {
        assert!(!is_allowed(bad, &allowed), "{bad}");
    }
}
