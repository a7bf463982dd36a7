//! Network endpoints.

use groundwave_gateway::canonical::Network;

use crate::object_endpoints::object_endpoints;

object_endpoints! {
    /// Network, with its revision.
    NetworkView { network_id "network_id": "Network id", network: Network = "Network" }
    at "/v1/model/networks", "/v1/model/networks/{network_id}", tag "model",
    noun "a network", plural "networks", missing "No such network", result "The network",
    conflict "Name exists, range overlaps another network or lacks leased addresses",
    list networks, create network_create, fetch network_fetch, replace network_replace,
    remove network_remove
}
