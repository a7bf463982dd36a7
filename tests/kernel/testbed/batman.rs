//! `batman-adv` over the world's links.

use super::bed::{NODES, Testbed, until};
use super::guest;
use crate::wire::tool;

guest!("testbed::batman": its_quality_falls_and_its_next_hop_changes);

/// Readings of the quality in a row: they span the window of 64 announcements over which `batman-adv`
/// averages a link's quality, as one reading alone differs by tens from the next.
const READINGS: usize = 16;

fn its_quality_falls_and_its_next_hop_changes() {
    let testbed = Testbed::up("bat", &[("routing = \"babel\"", "routing = \"batman\"")]);
    for node in NODES {
        // Announcements five times as often: what takes a minute takes a while.
        let mut batctl = testbed.command(node, "batctl");
        let set = batctl.args(["meshif", "bat0", "orig_interval", "200"]).output().unwrap();
        assert!(set.status.success(), "{set:?}");
    }
    let way = || {
        let status = testbed.status();
        let nodes = status["nodes"].as_array().unwrap();
        let node = nodes.iter().find(|node| node["name"] == "ytterby").unwrap();
        let neighbour = &node["heard"]["ramberget"];
        (
            neighbour["next_hop"].as_str().unwrap_or_default().to_owned(),
            neighbour["metric"].as_f64().unwrap_or(0.0),
        )
    };
    let city = testbed.address("ramberget");
    println!("pings get through after {:.1} s", testbed.await_answers("bohus", &city));
    until("the way leads over the ridge with a high quality", || {
        let (hop, quality) = way();
        hop == "save" && quality > 200.0
    });
    let mut before = 0.0;
    let mut read = 0;
    until("a window of qualities over the ridge is read", || {
        let (hop, quality) = way();
        if hop == "save" {
            before += quality / READINGS as f64;
            read += 1;
        }
        read == READINGS
    });

    // Half of what the relay announces does not reach the city any more.
    testbed.output_of(&["radio", "save", "--tx-power-dbm", "15"]);
    let status = testbed.status();
    let loss = &Testbed::link(&status, "save", "ramberget")["predicted"]["broadcast_loss_prob"];
    println!("save > ramberget: broadcast loss is {loss} now");
    let mut lower = Vec::new();
    until("the way leads over nolvik with a lower quality", || {
        let (hop, quality) = way();
        if hop == "nolvik" && quality < before {
            lower.push(quality);
        } else {
            lower.clear();
        }
        lower.len() == READINGS
    });
    println!("ytterby to ramberget: TQ {before:.0} over save, then {lower:?} over nolvik");
    println!("pings get through after {:.1} s", testbed.await_answers("bohus", &city));

    // Another program deletes the interface of the mesh.
    tool("ip", "netns exec gw.bat.nolvik ip link del bat0");
    until("the interface is there again, and reported", || {
        let link = Testbed::link(&testbed.status(), "nolvik", "save");
        let change = link["repaired"]["last_change"].as_str().unwrap_or_default();
        change.contains("bat0") && link.get("failure").is_none()
    });
    testbed.await_answers("nolvik", &city);
    tool("ip", "netns exec gw.bat.nolvik ip link set to-save nomaster");
    let failure = || Testbed::link(&testbed.status(), "nolvik", "save").get("failure").cloned();
    until("an interface outside the mesh is reported", || {
        failure().is_some_and(|failure| failure.as_str().unwrap().contains("belong to bat0"))
    });
    tool("ip", "netns exec gw.bat.nolvik ip link set to-save master bat0");
    until("it is a member again", || failure().is_none());

    // The relay is off: its quality is gone, and so is every way over it.
    testbed.output_of(&["fail", "save"]);
    println!("save fails: pings get through after {:.1} s", testbed.await_answers("bohus", &city));
}
