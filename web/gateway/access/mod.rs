//! Who may call what: one row an operation, and nothing else may be called.

pub mod guard;
pub mod idempotency;

use std::collections::BTreeMap;

use groundwave_systems::account::AccountRole;
use serde_json::Value;

/// What an operation asks of its caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// At least this role.
    Role(AccountRole),
}

/// A row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rule {
    /// Its `operationId`.
    pub operation: &'static str,
    /// What it asks of people.
    pub needs: Needs,
    /// Whether a node may call it, for itself.
    pub node: bool,
    /// Whether it is written into the record of who did what.
    pub audited: bool,
    /// Whether it may be called before a first password was changed.
    pub early: bool,
}

const OPEN: Needs = Needs::Nothing;
const VIEWER: Needs = Needs::Role(AccountRole::Viewer);
const OPERATOR: Needs = Needs::Role(AccountRole::Operator);
const ADMIN: Needs = Needs::Role(AccountRole::Admin);

const fn rule(
    operation: &'static str,
    needs: Needs,
    node: bool,
    audited: bool,
    early: bool,
) -> Rule {
    Rule {
        operation,
        needs,
        node,
        audited,
        early,
    }
}
/// Anybody, unrecorded.
const fn open(operation: &'static str) -> Rule {
    rule(operation, OPEN, true, false, true)
}
/// Anybody, recorded.
const fn door(operation: &'static str) -> Rule {
    rule(operation, OPEN, true, true, true)
}
/// Who is logged in, before anything else.
const fn own(operation: &'static str, node: bool, audited: bool) -> Rule {
    rule(operation, VIEWER, node, audited, true)
}
/// Reading.
const fn read(operation: &'static str, needs: Needs) -> Rule {
    rule(operation, needs, false, false, false)
}
/// Changing, recorded.
const fn act(operation: &'static str, needs: Needs) -> Rule {
    rule(operation, needs, false, true, false)
}
/// What nodes do all the time, for themselves, unrecorded.
const fn node(operation: &'static str, needs: Needs) -> Rule {
    rule(operation, needs, true, false, false)
}

/// The table.
pub const RULES: &[Rule] = &[
    open("health"),
    open("capabilities"),
    open("metrics"),
    open("openapi"),
    door("login"),
    door("login_viewer"),
    door("login_operator"),
    door("login_admin"),
    door("wg_register"),
    own("logout", true, true),
    own("me", true, false),
    own("change_password", false, true),
    read("system_info", VIEWER),
    read("system_cpu", VIEWER),
    read("system_board", VIEWER),
    read("system_tasks", VIEWER),
    read("events", VIEWER),
    read("mesh_status", VIEWER),
    read("mesh_topology", VIEWER),
    read("mesh_health", VIEWER),
    read("mesh_peers", VIEWER),
    act("mesh_peer_delete", ADMIN),
    read("mesh_channels", VIEWER),
    read("mesh_config", VIEWER),
    act("mesh_config_put", ADMIN),
    act("mesh_config_confirm", ADMIN),
    read("batman_originators", VIEWER),
    read("batman_neighbors", VIEWER),
    read("batman_gateways", VIEWER),
    read("batman_translocal", VIEWER),
    read("batman_transglobal", VIEWER),
    read("batman_dat_cache", VIEWER),
    read("batman_bla_claims", VIEWER),
    read("batman_hardifs", VIEWER),
    read("mesh_plinks", VIEWER),
    act("probe_create", OPERATOR),
    read("probe_fetch", VIEWER),
    read("ipam", VIEWER),
    read("ipam_leases", VIEWER),
    act("ipam_lease_delete", ADMIN),
    node("heartbeat", OPERATOR),
    node("node_join", OPERATOR),
    act("node_register", ADMIN),
    read("nodes_list", VIEWER),
    node("node_fetch", VIEWER),
    act("node_patch", OPERATOR),
    act("node_delete", ADMIN),
    node("telemetry_post", OPERATOR),
    read("telemetry_fetch", VIEWER),
    read("telemetry_latest", VIEWER),
    read("telemetry_latest_all", VIEWER),
    read("node_radio", VIEWER),
    read("node_health", VIEWER),
    read("node_interfaces", VIEWER),
    read("node_endpoints", VIEWER),
    read("node_events", VIEWER),
    act("node_command_create", OPERATOR),
    read("node_commands", VIEWER),
    node("node_command_result", OPERATOR),
    act("node_rotate_credentials", ADMIN),
    read("trust", VIEWER),
    act("trust_policy_put", ADMIN),
    read("trust_secret", ADMIN),
    act("trust_secret_rotate", ADMIN),
    read("trust_macs", OPERATOR),
    act("trust_mac_add", ADMIN),
    read("trust_mac_fetch", OPERATOR),
    act("trust_mac_delete", ADMIN),
    act("trust_macs_import", ADMIN),
    read("network_interfaces", VIEWER),
    read("network_interface", VIEWER),
    read("network_arp", VIEWER),
    read("network_routes", VIEWER),
    read("network_wireless", VIEWER),
    read("network_assoclist", VIEWER),
    read("dhcp_leases", VIEWER),
    act("dhcp_reservation_create", ADMIN),
    act("dhcp_reservation_delete", ADMIN),
    read("registrations", OPERATOR),
    read("registration_fetch", OPERATOR),
    act("registration_approve", ADMIN),
    act("registration_reject", ADMIN),
    act("registration_revoke", ADMIN),
    act("registration_reset", ADMIN),
    read("users", ADMIN),
    act("user_create", ADMIN),
    act("user_patch", ADMIN),
    act("user_delete", ADMIN),
    act("user_revoke_tokens", ADMIN),
    read("audit", ADMIN),
    act("backup", ADMIN),
];

/// The row of an operation.
#[must_use]
pub fn rule_of(operation: &str) -> Option<&'static Rule> {
    RULES.iter().find(|rule| rule.operation == operation)
}

/// Rows by method and path.
pub type Table = BTreeMap<(String, String), &'static Rule>;

/// The table of a document, by method in capitals and path.
///
/// # Errors
/// Operations without a row, and rows without an operation.
pub fn table(document: &Value) -> Result<Table, String> {
    let mut table = Table::new();
    let mut strangers = Vec::new();
    let paths = document["paths"].as_object();
    for (path, item) in paths.into_iter().flatten() {
        for (method, operation) in item.as_object().into_iter().flatten() {
            let Some(id) = operation["operationId"].as_str() else {
                continue;
            };
            match rule_of(id) {
                Some(rule) => {
                    table.insert((method.to_uppercase(), path.clone()), rule);
                }
                None => strangers.push(id.to_owned()),
            }
        }
    }
    let absent = |rule: &&Rule| !table.values().any(|held| held.operation == rule.operation);
    let unused: Vec<_> = RULES
        .iter()
        .filter(absent)
        .map(|rule| rule.operation)
        .collect();
    if !strangers.is_empty() || !unused.is_empty() {
        return Err(format!(
            "operations nobody may call: {strangers:?}; rows without an operation: {unused:?}"
        ));
    }
    Ok(table)
}
