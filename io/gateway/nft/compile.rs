//! Zones and rules as one transaction.

use groundwave_gateway::canonical::{Cidr, Network};
use groundwave_gateway::config::ConfigObjects;
use groundwave_gateway::firewall::{Chain, FirewallRule, Verdict, Zone};
use serde::Serialize;

use super::statement::{self, BaseChain, Command, Object, Rule, Statement, Table};

/// A transaction on the table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Transaction {
    nftables: Vec<Command>,
}

impl Transaction {
    /// The transaction as nftables reads it.
    ///
    /// # Panics
    /// Never: it is plain data.
    #[must_use]
    pub fn json(&self) -> String {
        serde_json::to_string(self).expect("a transaction is plain data")
    }

    /// Deletes the table.
    #[must_use]
    pub fn removal() -> Self {
        // Deleting needs a table; adding one that is there changes nothing.
        let table = || Object::Table(Table::default());
        Self { nftables: vec![Command::Add(table()), Command::Delete(table())] }
    }
}

/// Chains: name, kind, hook, priority.
const CHAINS: [(&str, &str, &str, i32); 5] = [
    ("input", "filter", "input", 0),
    ("forward", "filter", "forward", 0),
    ("output", "filter", "output", 0),
    ("mss", "filter", "forward", -150),
    ("postrouting", "nat", "postrouting", 100),
];

const fn verdict(verdict: Verdict) -> Statement {
    match verdict {
        Verdict::Accept => Statement::Accept(()),
        Verdict::Drop => Statement::Drop(()),
        Verdict::Reject => Statement::Reject(()),
    }
}

/// Zones with the addresses of their networks.
struct Zones<'z> {
    all: Vec<(String, &'z Zone, Vec<Cidr>)>,
    /// Interfaces of all zones: packets of other interfaces belong to a zone by address.
    interfaces: Vec<String>,
}

/// One end of a packet: the names of its fields.
struct End {
    interface: &'static str,
    address: &'static str,
}

const SOURCE: End = End { interface: "iifname", address: "saddr" };
const DESTINATION: End = End { interface: "oifname", address: "daddr" };

/// Conditions of one end, and the family of its addresses, if they determine one.
type Condition = (Vec<Statement>, Option<bool>);

impl<'z> Zones<'z> {
    fn new(zones: &'z ConfigObjects<Zone>, networks: &ConfigObjects<Network>) -> Self {
        let ranges = |zone: &Zone| {
            let ids = zone.networks.iter();
            let networks = ids.filter_map(|id| networks.get(*id));
            networks.map(|network| network.object.overlay_cidr).collect()
        };
        let all: Vec<_> = zones
            .iter()
            .map(|(id, zone)| (id.to_string(), &zone.object, ranges(&zone.object)))
            .collect();
        let mut interfaces: Vec<_> =
            all.iter().flat_map(|(_, zone, _)| zone.interfaces.iter().cloned()).collect();
        interfaces.sort();
        Self { all, interfaces }
    }

    /// Ways for an end of a packet to be in a zone.
    fn conditions(&self, zone: &Zone, ranges: &[Cidr], end: &End) -> Vec<Condition> {
        let mut conditions = Vec::new();
        if !zone.interfaces.is_empty() {
            let named = statement::interface(end.interface, &zone.interfaces, true);
            conditions.push((vec![named], None));
        }
        for range in ranges {
            let mut condition = Vec::new();
            if !self.interfaces.is_empty() {
                condition.push(statement::interface(end.interface, &self.interfaces, false));
            }
            condition.push(statement::address(end.address, *range));
            conditions.push((condition, Some(range.is_ipv4())));
        }
        conditions
    }

    /// Ways for an end of a packet to be in the zone that a rule names; one without conditions for
    /// none.
    fn of_rule(&self, id: Option<String>, end: &End) -> Vec<Condition> {
        let Some(id) = id else {
            return vec![(Vec::new(), None)];
        };
        let mut zones = self.all.iter();
        let zone = zones.find(|(other, _, _)| *other == id);
        zone.map_or_else(Vec::new, |(_, zone, ranges)| self.conditions(zone, ranges, end))
    }
}

/// The conditions of a rule that do not depend on zones.
fn filters(rule: &FirewallRule) -> Vec<Statement> {
    let ips = [(SOURCE.address, rule.src_ip), (DESTINATION.address, rule.dest_ip)].into_iter();
    let mut statements: Vec<_> =
        ips.filter_map(|(field, range)| Some(statement::address(field, range?))).collect();
    if let Some(proto) = rule.proto {
        statements.push(statement::protocol(proto.word()));
        for (field, ports) in [("sport", rule.src_port), ("dport", rule.dest_port)] {
            if let Some(ports) = ports {
                let word = proto.word();
                statements.push(statement::port(word, field, ports.first(), ports.last()));
            }
        }
    }
    statements
}

/// The rules of nftables that a rule becomes: one for each way to be in its zones.
fn expand(id: &str, rule: &FirewallRule, zones: &Zones<'_>) -> Vec<Rule> {
    let chain = match rule.chain {
        Chain::Forward => "forward",
        Chain::Input => "input",
        Chain::Output => "output",
    };
    let text = |zone: Option<groundwave_engine::Id<Zone>>| zone.map(|zone| zone.to_string());
    let sources = zones.of_rule(text(rule.src_zone), &SOURCE);
    let destinations = zones.of_rule(text(rule.dest_zone), &DESTINATION);
    let family = rule.src_ip.or(rule.dest_ip).map(|range| range.is_ipv4());
    let mut rules = Vec::new();
    for (source, source_family) in &sources {
        for (destination, destination_family) in &destinations {
            let families = [family, *source_family, *destination_family];
            let mut families = families.into_iter().flatten();
            let first = families.next();
            // Conditions on addresses of two families fit no packet.
            if families.any(|other| Some(other) != first) {
                continue;
            }
            let mut expr = [source.clone(), destination.clone(), filters(rule)].concat();
            expr.extend([Statement::Counter(()), verdict(rule.action)]);
            rules.push(Rule::new(chain, id, expr));
        }
    }
    rules
}

/// The ruleset of zones and rules: all of it or none takes effect. Packets of connections that were
/// let in pass; rules decide in the order of their priorities; then the zone decides.
#[must_use]
pub fn compile(
    zones: &ConfigObjects<Zone>,
    rules: &ConfigObjects<FirewallRule>,
    networks: &ConfigObjects<Network>,
) -> Transaction {
    let zones = Zones::new(zones, networks);
    let mut objects = vec![Object::Table(Table::default())];
    for (name, kind, hook, prio) in CHAINS {
        objects.push(Object::Chain(BaseChain::new(name, kind, hook, prio)));
    }
    let mut push = |rule: Rule| objects.push(Object::Rule(rule));
    for chain in ["input", "forward", "output"] {
        let pass = vec![statement::established(), Statement::Accept(())];
        push(Rule::new(chain, "established", pass));
    }
    let own = ["lo".to_owned()];
    for (chain, end) in [("input", &SOURCE), ("output", &DESTINATION)] {
        let local = statement::interface(end.interface, &own, true);
        push(Rule::new(chain, "local", vec![local, Statement::Accept(())]));
    }
    let mut ordered: Vec<_> = rules.iter().filter(|(_, rule)| rule.object.enabled).collect();
    ordered.sort_by_key(|(id, rule)| (rule.object.priority, *id));
    for (id, rule) in ordered {
        expand(&id.to_string(), &rule.object, &zones).into_iter().for_each(&mut push);
    }
    for (id, zone, ranges) in &zones.all {
        let policies = [
            ("input", &SOURCE, zone.input),
            ("forward", &SOURCE, zone.forward),
            ("output", &DESTINATION, zone.output),
        ];
        for (chain, end, policy) in policies {
            for (mut expr, _) in zones.conditions(zone, ranges, end) {
                expr.extend([Statement::Counter(()), verdict(policy)]);
                push(Rule::new(chain, id, expr));
            }
        }
        if zone.mss_clamp {
            for end in [&SOURCE, &DESTINATION] {
                for (mut expr, _) in zones.conditions(zone, ranges, end) {
                    expr.extend([statement::syn(), statement::clamp()]);
                    push(Rule::new("mss", id, expr));
                }
            }
        }
        if zone.masquerade {
            for (mut expr, _) in zones.conditions(zone, ranges, &DESTINATION) {
                expr.extend([Statement::Counter(()), Statement::Masquerade(())]);
                push(Rule::new("postrouting", id, expr));
            }
        }
    }
    let mut nftables = Transaction::removal().nftables;
    nftables.extend(objects.into_iter().map(Command::Add));
    Transaction { nftables }
}
