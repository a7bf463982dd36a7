//! Disciplines and interfaces of a testbed that another program changes: noticed, reported and undone.

use std::path::Path;

use serde_json::Value;

use super::bed::{Testbed, seconds, until};
use super::guest;
use crate::wire::{now_ns, tool};

guest!(
    "testbed::foreign":
    links_changed_by_others_are_repaired,
    ports_changed_by_others_are_repaired
);

/// All disciplines of a namespace, without counters.
fn disciplines(space: &str) -> Vec<Value> {
    let output = tool("ip", &format!("netns exec {space} tc -j qdisc show"));
    serde_json::from_str(&output).unwrap()
}

/// Another program changes something of a direction in a namespace; afterwards all is as before.
fn repaired(testbed: &Testbed, space: &str, [from, to]: [&str; 2], change: &str) {
    let before = disciplines(space);
    let repairs = Testbed::link(&testbed.status(), from, to)["repaired"]["repairs_total"].clone();
    let began_ns = now_ns();
    tool("ip", &format!("netns exec {space} {change}"));
    until("the change is undone", || {
        let repaired = Testbed::link(&testbed.status(), from, to)["repaired"].clone();
        repaired["repairs_total"] != repairs && disciplines(space).len() == before.len()
    });
    let link = Testbed::link(&testbed.status(), from, to);
    println!(
        "`{change}`: undone and reported after {:.1} s: {}",
        seconds(began_ns),
        link["repaired"]["last_change"]
    );
    assert_eq!(link.get("failure"), None, "{link}");
    assert_eq!(disciplines(space), before, "{change}");
    let text = testbed.output_of(&["status"]);
    assert!(text.contains(&format!("{from} > {to}: repaired")), "{text}");
}

/// A change of an interface within a node is reported until the interface is as before.
fn reported(
    testbed: &Testbed,
    space: &str,
    [from, to]: [&str; 2],
    [change, opposite]: [&str; 2],
    fault: &str,
) {
    let failure = || Testbed::link(&testbed.status(), from, to).get("failure").cloned();
    tool("ip", &format!("netns exec {space} ip {change}"));
    until("the change is reported", || {
        failure().is_some_and(|failure| failure.as_str().unwrap().contains(fault))
    });
    let since = Testbed::link(&testbed.status(), from, to)["failed_since"].clone();
    assert!(since.as_str().is_some_and(|since| since.ends_with('Z')), "{since}");
    assert!(testbed.output_of(&["status"]).contains(&format!("since {}", since.as_str().unwrap())));
    tool("ip", &format!("netns exec {space} ip {opposite}"));
    until("the change back is reported", || failure().is_none());
}

/// Values set by hand reach the kernel, and those of the model come back.
fn set_by_hand(testbed: &Testbed, space: &str, [from, to]: [&str; 2]) {
    testbed.in_force();
    let before = disciplines(space);
    let losses = || {
        let netem = disciplines(space).into_iter().filter(|qdisc| qdisc["kind"] == "netem");
        netem.map(|qdisc| qdisc["options"]["loss-random"]["loss"].as_f64()).collect::<Vec<_>>()
    };
    let without = losses().iter().filter(|loss| **loss == Some(0.25)).count();
    testbed.output_of(&["set", from, to, "--loss", "25%", "--one-way"]);
    until("the values are in force", || {
        losses().iter().filter(|loss| **loss == Some(0.25)).count() == without + 2
    });
    assert_eq!(Testbed::link(&testbed.status(), from, to)["manual"]["loss_prob"], 0.25);
    // The reading is that of the kernel: its rate is in bytes, and its queue is no value of the model.
    let tbf = disciplines(space)
        .into_iter()
        .find(|qdisc| qdisc["handle"] == "22:" && qdisc["dev"] == format!("to-{to}"))
        .unwrap();
    until("the values are read", || {
        let values = Testbed::link(&testbed.status(), from, to)["reading"]["values"].clone();
        values["loss_prob"] == 0.25
            && values["rate_bps"].as_u64() == tbf["options"]["rate"].as_u64().map(|rate| rate * 8)
    });
    let text = testbed.output_of(&["status"]);
    assert!(text.contains("as read") && text.contains("25.00 %"), "{text}");
    testbed.output_of(&["release", from, to]);
    until("the values of the model are back", || disciplines(space) == before);
}

/// An interface of another program in the place of a new link is in its way until it goes.
fn obstacle_is_reported_until_it_goes(testbed: &Testbed) {
    tool("ip", "netns exec gw.foreign.nolvik ip link add to-spare type veth peer name spare-far");
    testbed
        .output_of(&["add", "spare", "--lat", "57.7841", "--lon", "11.9412", "--like", "nolvik"]);
    let is_in_the_way = |[from, to]: [&str; 2]| {
        let status = testbed.status();
        let mut links = status["links"].as_array().unwrap().iter();
        let link = links.find(|link| link["from"] == from && link["to"] == to);
        link.and_then(|link| link["failure"].as_str())
            .is_some_and(|failure| failure.contains("File exists"))
    };
    for ends in [["nolvik", "spare"], ["spare", "nolvik"]] {
        until("the link is not in force", || is_in_the_way(ends));
    }
    tool("ip", "netns exec gw.foreign.nolvik ip link del to-spare");
    until("the link is in force", || !is_in_the_way(["nolvik", "spare"]));
    testbed.in_force();
    testbed.await_answers("nolvik", &testbed.address("spare"));
    testbed.output_of(&["remove", "spare"]);
}

/// A node whose namespace cannot be created is reported with its links until it can.
fn absent_node_is_reported_and_created_later(testbed: &Testbed) {
    let obstacle = Path::new("/run/netns/gw.foreign.late");
    std::fs::create_dir(obstacle).unwrap();
    testbed.output_of(&["add", "late", "--lat", "57.7841", "--lon", "11.9412", "--like", "nolvik"]);
    let is_absent = || {
        let status = testbed.status();
        let mut links = status["links"].as_array().unwrap().iter();
        links.any(|link| {
            let failure = link["failure"].as_str().unwrap_or_default();
            failure.contains("node late has no namespace: ")
        })
    };
    until("the node is reported", is_absent);
    std::fs::remove_dir(obstacle).unwrap();
    until("the node is there", || !is_absent());
    testbed.in_force();
    testbed.await_answers("nolvik", &testbed.address("late"));
    testbed.output_of(&["remove", "late"]);
}

fn links_changed_by_others_are_repaired() {
    let testbed = Testbed::up("foreign", &[("routing = \"babel\"", "routing = \"static\"")]);
    testbed.in_force();
    let city = testbed.address("ramberget");
    testbed.await_answers("bohus", &city);
    let ends = ["save", "nolvik"];
    for change in [
        "tc qdisc del dev to-nolvik root",
        "tc qdisc replace dev to-nolvik root handle 7: pfifo limit 9",
        "tc qdisc change dev to-nolvik parent 1:2 handle 12: netem loss 100%",
        "tc qdisc del dev to-nolvik parent 12:1 handle 22:",
        "tc filter del dev to-nolvik",
        "ip link del to-nolvik",
        "ip link set to-nolvik netns 1",
    ] {
        repaired(&testbed, "gw.foreign.save", ends, change);
    }
    testbed.in_force();
    assert!(!tool("ip", "-br link").contains("to-nolvik"), "no end is left outside");
    testbed.await_answers("bohus", &city);
    testbed.await_answers("save", &testbed.address("nolvik"));
    routes_and_names_are_restored(&testbed);
    for (change, opposite, fault) in [
        ("link set to-nolvik down", "link set to-nolvik up", "its interface is down in the node"),
        (
            "link set to-nolvik mtu 1400",
            "link set to-nolvik mtu 1500",
            "is 1400 bytes instead of 1500",
        ),
        ("address flush dev to-nolvik", "", "its interface is without its address"),
    ] {
        let address = testbed.address("save");
        let opposite = match opposite {
            "" => format!("address add {address}/32 dev to-nolvik"),
            other => other.to_owned(),
        };
        reported(&testbed, "gw.foreign.save", ends, [change, &opposite], fault);
    }
    testbed.in_force();
    set_by_hand(&testbed, "gw.foreign.save", ends);
    obstacle_is_reported_until_it_goes(&testbed);
    absent_node_is_reported_and_created_later(&testbed);
    // The output of the program in a node is passed on.
    for (program, code) in [("true", 0), ("false", 1), ("no-such-program", 127), ("/etc", 126)] {
        assert_eq!(testbed.exit_code("save", program), Some(code), "{program}");
    }
}

/// Another program deletes the routes of a node, and the name of its namespace.
fn routes_and_names_are_restored(testbed: &Testbed) {
    let routes = || tool("ip", "netns exec gw.foreign.save ip route show proto 119");
    let before = routes();
    assert!(before.lines().count() >= 3, "{before}");
    tool("ip", "netns exec gw.foreign.save ip route flush table main");
    // They may be back before anybody looks; the report shows that they were gone.
    until("the routes are back", || routes() == before);
    until("the routes of the kernel are read", || {
        let status = testbed.status();
        let node = status["nodes"].as_array().unwrap().iter().find(|node| node["name"] == "save");
        let read = node.unwrap()["heard"].as_object().unwrap().len();
        read == before.lines().count()
    });
    until("the repair is reported", || {
        testbed.output_of(&["status"]).contains("routes through it were deleted")
    });
    let far = testbed.address("ramberget");
    tool("ip", &format!("netns exec gw.foreign.save ip route replace unreachable {far}"));
    until("the replaced route is back", || routes() == before);
    tool("ip", "netns del gw.foreign.save");
    until("the name is back", || Path::new("/run/netns/gw.foreign.save").exists());
    assert_eq!(testbed.exit_code("save", "true"), Some(0));
    assert_eq!(routes(), before, "it is the same namespace");
    testbed.await_answers("save", &testbed.address("nolvik"));
}

fn ports_changed_by_others_are_repaired() {
    let changes = [("routing = \"babel\"", "routing = \"static\"\nwiring = \"segment\"")];
    let testbed = Testbed::up("ports", &changes);
    testbed.in_force();
    let ends = ["nolvik", "save"];
    let port = tool("ip", "netns exec gw.ports.~air ip -br link");
    assert!(port.contains("to-save"), "{port}");
    for change in [
        "tc qdisc del dev to-save root",
        "tc qdisc replace dev to-save root handle 7: pfifo limit 9",
        "tc filter del dev to-save",
    ] {
        repaired(&testbed, "gw.ports.~air", ends, change);
    }
    testbed.in_force();
    let relay = testbed.address("save");
    testbed.await_answers("nolvik", &relay);
    // The radio of a node is its own: what changes there is reported and left.
    let flushed = format!("address add {relay}/32 dev radio0");
    for ([change, opposite], fault) in [
        (["link set radio0 down", "link set radio0 up"], "its interface is down in the node"),
        (["link set radio0 mtu 1400", "link set radio0 mtu 1500"], "is 1400 bytes instead of 1500"),
        (["address flush dev radio0", &flushed], "its interface is without its address"),
    ] {
        reported(&testbed, "gw.ports.save", ["save", "nolvik"], [change, opposite], fault);
        testbed.await_answers("nolvik", &relay);
    }
    let port = ["link set to-save down", "link set to-save up"];
    reported(
        &testbed,
        "gw.ports.~air",
        ["save", "nolvik"],
        port,
        "its port of the segment is down",
    );
    testbed.await_answers("nolvik", &relay);
}
