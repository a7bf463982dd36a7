//! Three radios: one for the gateway, in the virtual machine's root namespace, one for each of two
//! nodes.

use crate::tool::{run, say, try_run, wait_for};

/// The gateway's namespace and those of the nodes.
pub const PLACES: [&str; 3] = ["", "n1", "n2"];

/// Makes them an 802.11s mesh with batman-adv over it; the gateway has 10.41.0.1.
pub fn lay() {
    for (number, netns) in PLACES.iter().enumerate() {
        if !netns.is_empty() {
            run("", &format!("ip netns add {netns}"));
            run("", &format!("iw phy phy{number} set netns name {netns}"));
            run(netns, "ip link set lo up");
        }
        run(netns, &format!("iw dev wlan{number} set type mp"));
        // The MTU leaves space for batman-adv's headers around a full packet.
        run(netns, &format!("ip link set wlan{number} mtu 1560 up"));
        run(netns, &format!("iw dev wlan{number} mesh join groundwave freq 2412 HT20"));
        run(netns, &format!("iw dev wlan{number} set mesh_param mesh_fwding 0"));
    }
    wait_for("six peerings of three radios", 60, || {
        let estab = |(number, netns): (usize, &&str)| {
            run(netns, &format!("iw dev wlan{number} station dump")).matches("ESTAB").count()
        };
        let peers: usize = PLACES.iter().enumerate().map(estab).sum();
        (peers >= 6).then_some(())
    });
    for (number, netns) in PLACES.iter().enumerate() {
        run(netns, "ip link add bat0 type batadv");
        run(netns, &format!("ip link set wlan{number} master bat0"));
        run(netns, "ip link set bat0 up");
        run(netns, "batctl meshif bat0 orig_interval 200");
        // It holds broadcasts back for half a minute, to look for bridges that are not there.
        run(netns, "batctl meshif bat0 bridge_loop_avoidance 0");
    }
    run("", "batctl meshif bat0 gw_mode server 10mbit/2mbit");
    run("n1", "batctl meshif bat0 gw_mode client");
    run("", "ip addr add 10.41.0.1/24 dev bat0");
    say("bat0 is up");
}

/// Waits until each receives the others.
pub fn converge() {
    for netns in PLACES {
        wait_for("two originators", 60, || {
            let (ok, output) = try_run(netns, "batctl meshif bat0 originators_json");
            (ok && output.matches("\"best\":true").count() >= 2).then_some(())
        });
    }
}

/// Connects a radio to the others or cuts it off, in both directions; peerings stay as they are, as
/// with a node behind a hill. (A radio that leaves the mesh and joins it anew is not always peered
/// with again.)
pub fn set_reception(number: usize, is_receiving: bool) {
    let group = if is_receiving { "1" } else { "2" };
    let path = format!("/sys/kernel/debug/ieee80211/phy{number}/hwsim/group");
    std::fs::write(&path, group).unwrap_or_else(|err| panic!("{path}: {err}"));
}
