//! Node role endpoints.

use groundwave_gateway::fleet::NodeRole;

use crate::object_endpoints::object_endpoints;

object_endpoints! {
    /// Node role, with its revision.
    RoleView { role_id "role_id": "Role id", role: NodeRole = "Role" }
    at "/v1/model/roles", "/v1/model/roles/{role_id}", tag "model",
    noun "a node role", plural "node roles", missing "No such role", result "The role",
    conflict "Name exists, or changed while nodes have the role",
    list roles, create role_create, replace role_replace, remove role_remove
}
