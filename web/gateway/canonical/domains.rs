//! Underlay domain endpoints.

use groundwave_gateway::canonical::UnderlayDomain;

use crate::object_endpoints::object_endpoints;

object_endpoints! {
    /// Underlay domain, with its revision.
    DomainView { domain_id "domain_id": "Underlay domain id", domain: UnderlayDomain = "Underlay domain" }
    at "/v1/model/underlay-domains", "/v1/model/underlay-domains/{domain_id}", tag "model",
    noun "an underlay domain", plural "underlay domains", missing "No such underlay domain", result "The underlay domain",
    conflict "Name exists, or interface of another domain",
    list domains, create domain_create, fetch domain_fetch, replace domain_replace,
    remove domain_remove
}
