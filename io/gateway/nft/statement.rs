//! Objects of the JSON of nftables (libnftables-json(5)), as far as the firewall needs them.

use groundwave_gateway::canonical::Cidr;
use serde::Serialize;
use serde_json::{Value, json};

use super::{FAMILY, TABLE};

/// A command of a transaction.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Command {
    /// Creates an object.
    Add(Object),
    /// Deletes an object.
    Delete(Object),
}

/// An object of a ruleset.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Object {
    /// The table.
    Table(Table),
    /// A chain.
    Chain(BaseChain),
    /// A rule.
    Rule(Rule),
}

/// The table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    family: &'static str,
    name: &'static str,
}

impl Default for Table {
    fn default() -> Self {
        Self { family: FAMILY, name: TABLE }
    }
}

/// A chain at a hook of the kernel.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct BaseChain {
    family: &'static str,
    table: &'static str,
    name: &'static str,
    #[serde(rename = "type")]
    kind: &'static str,
    hook: &'static str,
    prio: i32,
    policy: &'static str,
}

impl BaseChain {
    /// Chain `name` of a kind at a hook; packets that reach its end are accepted.
    pub fn new(name: &'static str, kind: &'static str, hook: &'static str, prio: i32) -> Self {
        Self { family: FAMILY, table: TABLE, name, kind, hook, prio, policy: "accept" }
    }
}

/// A rule at the end of a chain.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rule {
    family: &'static str,
    table: &'static str,
    /// Name of the chain.
    pub chain: &'static str,
    /// Comment: the origin of the rule.
    pub comment: String,
    /// Statements.
    pub expr: Vec<Statement>,
}

impl Rule {
    /// Rule of a chain.
    pub fn new(chain: &'static str, comment: impl Into<String>, expr: Vec<Statement>) -> Self {
        Self { family: FAMILY, table: TABLE, chain, comment: comment.into(), expr }
    }
}

/// A statement of a rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Statement {
    /// A condition.
    Match(Match),
    /// A count of packets and bytes.
    Counter(()),
    /// Verdict: accepted.
    Accept(()),
    /// Verdict: dropped.
    Drop(()),
    /// Verdict: dropped with an ICMP error.
    Reject(()),
    /// Source address of the outgoing interface.
    Masquerade(()),
    /// Change of a field of the packet.
    Mangle(Mangle),
}

/// A condition on a field of a packet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Match {
    op: &'static str,
    left: Value,
    right: Value,
}

/// A change of a field of the packet.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Mangle {
    key: Value,
    value: Value,
}

fn matched(op: &'static str, left: Value, right: Value) -> Statement {
    Statement::Match(Match { op, left, right })
}

/// The interface by which a packet came (`iifname`) or leaves (`oifname`) is one of these, or none
/// of them.
pub fn interface(key: &'static str, names: &[String], is_one: bool) -> Statement {
    let op = if is_one { "==" } else { "!=" };
    let right = match names {
        [name] => json!(name),
        names => json!({ "set": names }),
    };
    matched(op, json!({ "meta": { "key": key } }), right)
}

/// An address of a packet, `saddr` or `daddr`, is in a range.
pub fn address(field: &'static str, range: Cidr) -> Statement {
    let protocol = if range.is_ipv4() { "ip" } else { "ip6" };
    let left = json!({ "payload": { "protocol": protocol, "field": field } });
    let right = json!({ "prefix": { "addr": range.first(), "len": range.prefix_len() } });
    matched("==", left, right)
}

/// The protocol above IP.
pub fn protocol(name: &'static str) -> Statement {
    let name = if name == "icmpv6" { "ipv6-icmp" } else { name };
    matched("==", json!({ "meta": { "key": "l4proto" } }), json!(name))
}

/// A port of a packet, `sport` or `dport`, is in a range.
pub fn port(protocol: &'static str, field: &'static str, first: u16, last: u16) -> Statement {
    let left = json!({ "payload": { "protocol": protocol, "field": field } });
    let right = match first == last {
        true => json!(first),
        false => json!({ "range": [first, last] }),
    };
    matched("==", left, right)
}

/// The packet belongs to a connection that was let in.
pub fn established() -> Statement {
    let left = json!({ "ct": { "key": "state" } });
    matched("in", left, json!(["established", "related"]))
}

/// First packet of a TCP connection, in either direction.
pub fn syn() -> Statement {
    let flags = json!({ "payload": { "protocol": "tcp", "field": "flags" } });
    matched("==", json!({ "&": [flags, ["syn", "rst"]] }), json!("syn"))
}

/// The maximum segment size follows the MTU of the route.
pub fn clamp() -> Statement {
    Statement::Mangle(Mangle {
        key: json!({ "tcp option": { "name": "maxseg", "field": "size" } }),
        value: json!({ "rt": { "key": "mtu" } }),
    })
}
