//! Rules of a direction: traffic selected by its headers, with impairments of its own.

use garde::Validate;
use groundwave_engine::Refusal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Impairment;
use crate::check::check_table_name;
use crate::field::Kind;
use crate::selector::Selector;

/// Maximum number of rules of a direction.
pub const RULES_MAX: usize = 64;
/// Maximum number of rules with an impairment: bands of the kernel's `prio`, less one for excluded
/// traffic and one for the rest.
pub const IMPAIRED_RULES_MAX: usize = 14;

/// Rules in their order: the first whose conditions a packet meets decides. The fields beside them
/// impair the traffic that meets none.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(transparent)]
#[schemars(rename = "ImpairmentRules")]
pub struct Rules(
    #[schemars(length(max = RULES_MAX))]
    #[garde(dive)]
    pub Vec<Rule>,
);

/// Rule: selected traffic and its impairment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema, Validate)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "ImpairmentRule")]
pub struct Rule {
    /// Name, 1 to 64 of `a-z0-9_-`, of its own in the direction.
    #[schemars(regex(pattern = r"^[a-z0-9_-]{1,64}$"))]
    #[garde(skip)]
    pub name: String,
    /// Selected traffic.
    #[serde(rename = "match")]
    #[garde(dive)]
    pub selector: Selector,
    /// Selected traffic passes unimpaired, and before all other.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[garde(skip)]
    pub exclude: bool,
    /// Impairment of the selected traffic, without rules of its own; absent with `exclude`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[garde(dive)]
    pub impairment: Option<Impairment>,
}

impl Kind for Rules {
    fn counts_packets(&self) -> bool {
        let fields = |rule: &Rule| {
            let impairment = rule.impairment.as_ref();
            impairment.is_some_and(Impairment::counts_packets)
        };
        self.0.iter().any(fields)
    }
}

impl Rules {
    /// Checks what no range of a field expresses.
    ///
    /// # Errors
    /// [`Refusal::Invalid`] with the path of the key, the value found and the values allowed.
    pub(super) fn check(&self) -> Result<(), Refusal> {
        let impaired = self.0.iter().filter(|rule| !rule.exclude).count();
        if self.0.len() > RULES_MAX {
            let count = format!("{} rules", self.0.len());
            return Err(Refusal::invalid("rules", count, format!("up to {RULES_MAX}")));
        }
        if impaired > IMPAIRED_RULES_MAX {
            let count = format!("{impaired} rules with an impairment");
            return Err(Refusal::invalid("rules", count, format!("up to {IMPAIRED_RULES_MAX}")));
        }
        for (place, rule) in self.0.iter().enumerate() {
            rule.check(&format!("rules[{place}]"))?;
            if self.0[..place].iter().any(|other| other.name == rule.name) {
                let name = format!("{:?} twice", rule.name);
                let key = format!("rules[{place}].name");
                return Err(Refusal::invalid(key, name, "a name of its own for each rule"));
            }
        }
        Ok(())
    }
}

impl Rule {
    fn check(&self, key: &str) -> Result<(), Refusal> {
        check_table_name(&format!("{key}.name"), &self.name)?;
        self.selector.check(&format!("{key}.match"))?;
        let content = match (&self.impairment, self.exclude) {
            (Some(_), true) => "impairment and exclude",
            (None, false) => "neither impairment nor exclude",
            (Some(impairment), false) if impairment.rules.is_some() => {
                let key = format!("{key}.impairment.rules");
                return Err(Refusal::invalid(key, "rules", "rules of a direction only"));
            }
            _ => return Ok(()),
        };
        Err(Refusal::invalid(key, content, "one of impairment and exclude"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn refusal(rules: Value) -> String {
        let impairment: Impairment = serde_json::from_value(json!({ "rules": rules })).unwrap();
        impairment.validate().unwrap_err().to_string()
    }

    fn rule(name: &str) -> Value {
        json!({"name": name, "match": {"protocol": "udp"},
            "impairment": {"loss": {"model": "bernoulli", "pct": 5.0}}})
    }

    #[test]
    fn rules_read_back_and_pass() {
        let rules = json!({"rules": [
            {"name": "ssh", "match": {"protocol": "tcp", "destination_ports": "22"}, "exclude": true},
            rule("voip"),
        ]});
        let impairment: Impairment = serde_json::from_value(rules.clone()).unwrap();
        impairment.validate().unwrap();
        assert_eq!(serde_json::to_value(&impairment).unwrap(), rules);
        assert!(impairment.counts_packets(), "loss counts super-packets");
        assert!(!impairment.is_empty());
    }

    #[test]
    fn invalid_rules_give_key_found_and_allowed() {
        let with = |key: &str, value: Value| {
            let mut rule = rule("a");
            rule[key] = value;
            json!([rule])
        };
        let many = |count: usize| (0..count).map(|n| rule(&n.to_string())).collect::<Vec<_>>();
        let excluded =
            |n: usize| json!({"name": n.to_string(), "match": {"dscp": 1}, "exclude": true});
        for (rules, message) in [
            (with("match", json!({})), "rules[0].match: no condition"),
            (with("match", json!({"dscp": 64})), "rules[0].match.dscp: 64"),
            (
                with("match", json!({"destination_ports": "22"})),
                "rules[0].match.destination_ports: 22 with no protocol",
            ),
            (
                with("match", json!({"protocol": "icmp", "source_ports": "1-2"})),
                "rules[0].match.source_ports: 1-2 with icmp",
            ),
            (
                with("match", json!({"source": "10.0.0.0/8", "destination": "fd00::/64"})),
                "allowed: conditions of IPv4 or of IPv6",
            ),
            (
                with("match", json!({"source": "10.0.0.0/8", "protocol": "icmpv6"})),
                "rules[0].match",
            ),
            (with("exclude", json!(true)), "rules[0]: impairment and exclude"),
            (
                json!([{"name": "a", "match": {"dscp": 1}}]),
                "rules[0]: neither impairment nor exclude",
            ),
            (with("name", json!("A b")), "rules[0].name"),
            (json!([rule("a"), rule("a")]), "rules[1].name: \"a\" twice"),
            (
                with("impairment", json!({"loss": {"model": "bernoulli", "pct": 101.0}})),
                "rules[0].impairment.loss.pct: 101",
            ),
            (with("impairment", json!({"rules": []})), "rules[0].impairment.rules"),
            (
                json!(many(15)),
                "rules: 15 rules with an impairment is not allowed; allowed: up to 14",
            ),
            (json!((0..65).map(excluded).collect::<Vec<_>>()), "rules: 65 rules"),
        ] {
            let error = refusal(rules.clone());
            assert!(error.contains(message), "{rules}: {error}");
        }
        let all: Impairment = serde_json::from_value(json!({ "rules": many(14) })).unwrap();
        all.validate().unwrap();
    }
}
