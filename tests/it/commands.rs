//! The closed list of what can change a world.

use groundwave_systems::terrain::Flat;
use groundwave_systems::{Snapshot, world};

#[test]
fn the_list_of_commands_is_the_one_we_know() {
    let engine = world(std::sync::Arc::new(Flat::default()))
        .build::<Snapshot>(1, 1_000_000)
        .unwrap();
    let names: Vec<_> = engine.registry().names().collect();
    insta::assert_snapshot!(names.join("\n"), @r"
    account.create
    account.issue
    account.note_login
    account.password
    account.remove
    account.revoke_tokens
    account.seal
    account.update
    deployment.create
    deployment.delete
    deployment.import
    deployment.update
    environment.set
    firewall.apply
    firewall.confirm
    firewall.observe
    firewall.revert
    firewall_rule.put
    firewall_rule.remove
    firewall_zone.put
    firewall_zone.remove
    fleet.begin
    fleet.clock_step
    fleet.finish
    fleet.hear
    fleet.join
    fleet.order
    fleet.patch
    fleet.samples
    fleet.tend
    flow.start
    flow.stop
    impairment.observe
    impairment.shape
    interface.put
    interface.remove
    link.fail
    link.observe
    link.restore
    mesh.limits
    motion.follow
    motion.goto
    motion.stop
    motion.wander
    network.put
    network.remove
    node.add
    node.fail
    node.move
    node.remove
    node.restore
    node.set_station
    node.update
    node_role.put
    node_role.remove
    onboarding.approve
    onboarding.dismiss
    onboarding.expect
    onboarding.forget
    onboarding.reject
    onboarding.reject_many
    onboarding.release_lease
    onboarding.request
    onboarding.reset
    onboarding.revoke
    power.remove
    power.samples
    template.create
    template.delete
    testbed.begin
    testbed.count
    testbed.hear
    testbed.kernel
    testbed.pace
    testbed.probe
    testbed.sight
    testbed.take_over
    token.deny
    trust.add_macs
    trust.policy
    trust.remove_mac
    trust.seal
    trust.secret
    underlay_domain.put
    underlay_domain.remove
    ");
}
