//! Firewall zone endpoints: changes are staged until they are applied.

use groundwave_gateway::firewall::Zone;

use crate::object_endpoints::object_endpoints;

object_endpoints! {
    /// Zone, with its revision.
    ZoneView { zone_id "zone_id": "Zone id", zone: Zone = "Zone" }
    at "/v1/firewall/zones", "/v1/firewall/zones/{zone_id}", tag "firewall",
    noun "a firewall zone", plural "firewall zones", missing "No such zone", result "The zone, staged",
    conflict "Name exists, or interface or network of another zone",
    list zones, create zone_create, fetch zone_fetch, replace zone_replace, remove zone_remove
}
