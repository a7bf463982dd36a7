//! `babeld` over the world's links.

use super::bed::{Testbed, agreement, seconds, until};
use super::guest;
use crate::wire::{now_ns, tool};

guest!("testbed::babel": it_takes_the_worlds_routes_and_follows_them);

/// Of 30 pairs, those that must agree: 95 %.
const PAIRS: usize = 30;
const AGREE_MIN: usize = 29;

fn it_takes_the_worlds_routes_and_follows_them() {
    let testbed = Testbed::up("ridge", &[]);
    converged(&testbed, "at the beginning");
    let city = testbed.address("ramberget");
    // Links lose packets: one ping alone may be lost.
    testbed.await_answers("bohus", &city);

    // The relay fails: real pings take the detour.
    testbed.output_of(&["fail", "save"]);
    println!(
        "save fails: pings get through again after {:.1} s",
        testbed.await_answers("bohus", &city)
    );
    let way = testbed.status();
    let hop = |status: &serde_json::Value| {
        let mut nodes = status["nodes"].as_array().unwrap().clone().into_iter();
        let node = nodes.find(|node| node["name"] == "ytterby").unwrap();
        node["next_hops"]["ramberget"].clone()
    };
    assert_eq!(hop(&way), "nolvik");
    converged(&testbed, "without save");

    // It comes back, and so does the way over the ridge.
    testbed.output_of(&["repair", "save"]);
    converged(&testbed, "with save again");
    assert_eq!(hop(&testbed.status()), "save");

    // It moves down behind its hill, from where it sees nothing but Nolvik.
    testbed.output_of(&["move", "save", BEHIND]);
    let hidden = testbed.status();
    assert_eq!(Testbed::link(&hidden, "save", "ramberget")["predicted"]["up"], false);
    println!(
        "save behind the hill: pings get through again after {:.1} s",
        testbed.await_answers("bohus", &city)
    );
    assert_eq!(hop(&hidden), "nolvik");
    converged(&testbed, "with save behind the hill");

    // A routing daemon is killed: another takes its place.
    let file = "/run/groundwave/ridge/babeld-ytterby.pid";
    let pid = || std::fs::read_to_string(file).unwrap_or_default().trim().to_owned();
    let killed = pid();
    tool("kill", &format!("-9 {killed}"));
    until("babeld is started again", || {
        let now = pid();
        !now.is_empty() && now != killed && std::path::Path::new(&format!("/proc/{now}")).exists()
    });
    until("the restart is counted, and the program runs", || {
        let status = testbed.status();
        let mut nodes = status["nodes"].as_array().unwrap().iter();
        let node = nodes.find(|node| node["name"] == "ytterby").unwrap();
        node["program"]["restarts_total"] == 1 && node["program"].get("failure").is_none()
    });
    assert!(testbed.output_of(&["status"]).contains("running, started again 1 x"));
    converged(&testbed, "with another babeld in ytterby");
}

/// A place on the northern slope of the ridge of Säve.
pub const BEHIND: &str = "57.80,11.96";

/// Waits until the ways agree, and prints those that do not.
pub fn converged(testbed: &Testbed, when: &str) {
    let began_ns = now_ns();
    let mut last = (0, Vec::new());
    until(&format!("babeld agrees {when}"), || {
        last = agreement(&testbed.status());
        assert_eq!(last.0 + last.1.len(), PAIRS);
        last.0 >= AGREE_MIN
    });
    let (agree, differ) = last;
    println!(
        "{when}: {agree} of {PAIRS} next hops are the world's after {:.1} s",
        seconds(began_ns)
    );
    for difference in differ {
        println!("  {difference}");
    }
}
