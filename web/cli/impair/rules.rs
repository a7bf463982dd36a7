//! Rules of a direction: options, composition and tables.

use clap::Args;
use groundwave_http::Failure;
use groundwave_impair::{Impairment, ImpairmentField, LinkStats, Rule, Rules, Selector};
use groundwave_impaird::wire::{AppliedState, LeaseChange};
use groundwave_io_impair::impairment_spec::ImpairmentSpec;
use groundwave_text::{Align, Table};

use crate::cli::output;

/// Options of a rule.
#[derive(Args)]
#[command(next_help_heading = "Rule")]
pub struct RuleOptions {
    /// Impair only the traffic that meets these conditions, and leave the rest as it is: "proto udp
    /// dport 5000-5100 dst 10.1.0.0/16"; also src, sport and dscp
    #[arg(long = "match", value_name = "CONDITIONS")]
    selector: Option<String>,

    /// Name of the rule; the rule of that name is replaced in its place, another comes last [default:
    /// rule1, rule2, ...]
    #[arg(long = "rule", value_name = "NAME", requires = "selector")]
    name: Option<String>,

    /// Let that traffic pass unimpaired, and before all other
    #[arg(long, requires = "selector")]
    exclude: bool,

    /// Impair SSH like other traffic; without it the first rule of a direction comes after two that
    /// exclude TCP port 22, so that a session over the interface survives
    #[arg(long, requires = "selector")]
    impair_ssh: bool,
}

/// Rules that keep the way to the machine free.
const SSH: [(&str, &str); 2] =
    [("ssh-to", "proto tcp dport 22"), ("ssh-from", "proto tcp sport 22")];

/// A parsed rule, without its impairment.
pub struct NewRule {
    selector: Selector,
    name: Option<String>,
    pub exclude: bool,
    impair_ssh: bool,
}

impl RuleOptions {
    /// The rule that the options are about; `None` for the whole direction.
    pub fn rule(self) -> Result<Option<NewRule>, Failure> {
        let Self { selector, name, exclude, impair_ssh } = self;
        let Some(text) = selector else {
            return Ok(None);
        };
        let selector = text.parse().map_err(|what| Failure::Input(format!("--match: {what}")))?;
        Ok(Some(NewRule { selector, name, exclude, impair_ssh }))
    }
}

impl NewRule {
    /// Impairment of the rule with this name in `state`, if there is one.
    pub fn present(&self, state: &Impairment) -> Impairment {
        let rules = state.rules.iter().flat_map(|rules| &rules.0);
        let mut same = rules.filter(|rule| Some(&rule.name) == self.name.as_ref());
        same.next().and_then(|rule| rule.impairment.clone()).unwrap_or_default()
    }

    /// The rule, whose impairment is `impairment`, beside these rules.
    fn beside(&self, rules: &[Rule], impairment: Impairment) -> Rule {
        let is_free = |name: &String| rules.iter().all(|rule| rule.name != *name);
        let mut numbered = (1..).map(|number| format!("rule{number}"));
        Rule {
            name: self.name.clone().or_else(|| numbered.find(is_free)).unwrap_or_default(),
            selector: self.selector,
            exclude: self.exclude,
            impairment: (!self.exclude).then_some(impairment),
        }
    }

    /// Rules that keep the way to the machine free, where `state` has no rules yet.
    fn guards(&self, state: &Impairment) -> Result<Vec<Rule>, Failure> {
        if self.impair_ssh || state.rules.as_ref().is_some_and(|rules| !rules.0.is_empty()) {
            return Ok(Vec::new());
        }
        let guard = |(name, text): (&str, &str)| {
            let selector = text.parse().map_err(Failure::Input)?;
            Ok(Rule { name: name.to_owned(), selector, exclude: true, impairment: None })
        };
        SSH.map(guard).into_iter().collect()
    }

    /// Change of a lease: the rule, whose impairment is `impairment`, with the guards that the state `base`
    /// beneath the leases lacks. Other rules are left.
    pub fn lease(
        &self,
        in_force: &Impairment,
        base: &Impairment,
        impairment: Impairment,
    ) -> Result<LeaseChange, Failure> {
        let present = in_force.rules.as_ref().map_or(&[][..], |rules| &rules.0);
        let rule = self.beside(present, impairment);
        let mut rules = self.guards(base)?;
        rules.retain(|guard| guard.name != rule.name);
        rules.push(rule);
        let names = rules.iter().map(|rule| rule.name.clone()).collect();
        let impairment = Impairment { rules: Some(Rules(rules)), ..Impairment::default() };
        Ok(LeaseChange {
            impairment: checked(impairment)?,
            fields: Some(vec![ImpairmentField::Rules]),
            rules: Some(names),
        })
    }

    /// `state` with the rule, whose impairment is `impairment`.
    pub fn add(&self, state: &Impairment, impairment: Impairment) -> Result<Impairment, Failure> {
        let mut rules = self.guards(state)?;
        rules.extend(state.rules.iter().flat_map(|rules| rules.0.clone()));
        let rule = self.beside(&rules, impairment);
        match rules.iter_mut().find(|other| other.name == rule.name) {
            Some(place) => *place = rule,
            None => rules.push(rule),
        }
        checked(Impairment { rules: Some(Rules(rules)), ..state.clone() })
    }
}

/// `state` without the rule of this name. One that is `in_force` alone is that of a lease, which ends it.
pub fn without(
    state: &Impairment,
    in_force: &Impairment,
    name: &str,
) -> Result<Impairment, Failure> {
    let Rules(mut rules) = state.rules.clone().unwrap_or_default();
    let count = rules.len();
    let names = rules.iter().map(|rule| rule.name.clone()).collect::<Vec<_>>().join(", ");
    rules.retain(|rule| rule.name != name);
    if rules.len() == count {
        let mut leased = in_force.rules.iter().flat_map(|rules| &rules.0);
        if leased.any(|rule| rule.name == name) {
            return Err(Failure::Input(format!(
                "invalid --rule: found {name:?}, which a lease sets, allowed rules that are set without one; \
                 `impair leases` lists the leases, `impair leases cancel ID` ends one"
            )));
        }
        let allowed = if names.is_empty() { "none, as there is no rule".to_owned() } else { names };
        return Err(Failure::Input(format!("invalid --rule: found {name:?}, allowed {allowed}")));
    }
    let rules = Some(Rules(rules)).filter(|rules| !rules.0.is_empty());
    checked(Impairment { rules, ..state.clone() })
}

fn checked(impairment: Impairment) -> Result<Impairment, Failure> {
    match impairment.validate() {
        Ok(()) => Ok(impairment),
        Err(refusal) => Err(Failure::Input(refusal.to_string())),
    }
}

/// Tables of the rules of each direction that has some.
pub fn tables(states: &[AppliedState]) -> String {
    let mut out = String::new();
    for state in states {
        let Some(Rules(rules)) = &state.impairment.rules else {
            continue;
        };
        let heads = [state.direction.name(), "match", "impairment"];
        let mut table = Table::new(&heads.map(|head| (head, Align::Left)));
        for rule in rules {
            let impairment = rule.impairment.clone().unwrap_or_default();
            let texts = match rule.exclude {
                true => "excluded".to_owned(),
                false => ImpairmentSpec::of(&impairment).words().join(", "),
            };
            table.row([rule.name.clone(), rule.selector.to_string(), texts]);
        }
        out.push('\n');
        out.push_str(&output::table(&table, None));
    }
    out
}

/// Counters of the rules of a direction; `None` without any.
pub fn counters(direction: &str, stats: &LinkStats) -> Option<Table> {
    let heads = [
        (direction, Align::Left),
        ("packets out", Align::Right),
        ("bytes out", Align::Right),
        ("dropped", Align::Right),
        ("queued", Align::Right),
    ];
    let mut table = Table::new(&heads);
    for rule in &stats.rules {
        let counts =
            [rule.packets_total, rule.bytes_total, rule.drops_total, rule.backlog_packets.into()];
        let counts = counts.map(|count| count.to_string());
        table.row([rule.names.join(", ")].into_iter().chain(counts));
    }
    (!table.is_empty()).then_some(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule(text: &str, name: Option<&str>, exclude: bool, impair_ssh: bool) -> NewRule {
        let name = name.map(str::to_owned);
        NewRule { selector: text.parse().unwrap(), name, exclude, impair_ssh }
    }

    fn names(state: &Impairment) -> Vec<&str> {
        state.rules.iter().flat_map(|rules| &rules.0).map(|rule| rule.name.as_str()).collect()
    }

    #[test]
    fn rules_are_added_replaced_and_removed_beside_the_state() {
        let lossy: Impairment =
            serde_json::from_str(r#"{"loss":{"model":"bernoulli","pct":1.0}}"#).unwrap();
        let voip = rule("proto udp dport 5000", None, false, false);
        let state = voip.add(&lossy, lossy.clone()).unwrap();
        assert_eq!(names(&state), ["ssh-to", "ssh-from", "rule1"]);
        assert_eq!(state.loss, lossy.loss, "the rest stays");
        let state = rule("dscp 1", Some("bulk"), false, true).add(&state, lossy.clone()).unwrap();
        let state = rule("dscp 2", Some("rule1"), true, false).add(&state, lossy.clone()).unwrap();
        assert_eq!(names(&state), ["ssh-to", "ssh-from", "rule1", "bulk"]);
        let Rules(rules) = state.rules.as_ref().unwrap();
        assert!(rules[2].exclude && rules[2].impairment.is_none());
        assert_eq!(rules[2].selector.to_string(), "dscp 2");
        let alone = rule("dscp 3", None, false, true).add(&lossy, lossy.clone()).unwrap();
        assert_eq!(names(&alone), ["rule1"]);
        let rest = without(&state, &state, "ssh-to").unwrap();
        assert_eq!(names(&rest), ["ssh-from", "rule1", "bulk"]);
        assert_eq!(without(&alone, &alone, "rule1").unwrap(), lossy);
        let error = text(without(&lossy, &state, "bulk"));
        assert!(error.contains("found \"bulk\", which a lease sets"), "{error}");
        let lease = voip.lease(&state, &Impairment::default(), lossy.clone()).unwrap();
        let leased = ["ssh-to", "ssh-from", "rule2"];
        assert_eq!(names(&lease.impairment), leased, "rule1 is another rule of the state in force");
        assert_eq!(lease.rules.unwrap(), leased);
        let lease = voip.lease(&state, &state, lossy.clone()).unwrap();
        assert_eq!(names(&lease.impairment), ["rule2"], "the guards lie beneath");
        let error = text(without(&state, &state, "x"));
        assert!(error.contains("found \"x\", allowed ssh-to, ssh-from, rule1, bulk"), "{error}");
    }

    /// Text of a refused input.
    fn text<T>(outcome: Result<T, Failure>) -> String {
        match outcome {
            Err(Failure::Input(text)) => text,
            _ => panic!("not refused"),
        }
    }

    #[test]
    fn invalid_rule_gives_an_error() {
        let empty = Impairment::default();
        let error = rule("proto tcp", Some("A b"), true, true).add(&empty, empty.clone());
        assert!(text(error).contains("name"));
        let error = rule("dport 5", None, true, true).add(&empty, empty.clone());
        assert!(text(error).contains("protocol tcp, udp or sctp"));
    }
}
