//! Names and ids that belong to one node or one account.

use groundwave_gateway::account::AccountRole;
use serde_json::json;

use super::Bench;

#[test]
fn a_registration_is_approved_as_its_own_node_alone() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    let (own, ..) = bench.node(83);
    let (other, ..) = bench.node(84);
    let document = bench.get(&admin, "/v1/admin/registrations").is(200);
    let mut registrations = document["items"].as_array().unwrap().iter();
    let registration = registrations.find(|one| one["node_id"] == own.as_str()).unwrap();
    let path =
        format!("/v1/admin/registrations/{}", registration["registration_id"].as_str().unwrap());
    let approve = format!("{path}/approve");
    for _ in 0..2 {
        bench.call(&admin, "POST", &approve, &json!({ "node_id": other })).problem(409);
        let document = bench.call(&admin, "POST", &approve, &json!({ "node_id": own })).is(200);
        assert_eq!(document["node_id"], own.as_str());
        // Also once it was revoked.
        let reason = json!({ "reason": "stolen" });
        bench.call(&admin, "POST", &format!("{path}/revoke"), &reason).is(200);
    }
}

#[test]
fn usernames_log_in_in_any_case_and_are_no_ids() {
    let bench = Bench::new();
    let admin = bench.login("admin");
    bench.account("Ada", AccountRole::Viewer);
    for username in ["Ada", "ada", "ADA"] {
        let token = bench.login(username);
        assert_eq!(bench.get(&token, "/api/auth/me").is(200)["username"], "Ada");
    }
    let (node, ..) = bench.node(85);
    let new = json!({ "username": node, "password": "a staple, a horse", "role": "viewer" });
    bench.call(&admin, "POST", "/v1/admin/users", &new).problem(422);
}
