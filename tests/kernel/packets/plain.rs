//! The measurement itself, against disciplines that `tc` set.

use std::time::Duration;

use crate::arrival::{Figures, rate_bps};
use crate::guest;
use crate::wire::{NEAR, Traffic, Wire, in_namespace, tool};

fn measured(set: &str, traffic: Traffic) -> Figures {
    let mut wire = Wire::lay();
    tool("tc", &format!("qdisc replace dev {NEAR} root {set}"));
    let t0 = crate::wire::now_ns();
    let arrivals = wire.measure(traffic);
    let f = Figures::of(traffic.count, &arrivals);
    println!(
        "{set}: {} ms {} {f:?} rate {:.4e}",
        (crate::wire::now_ns() - t0) / 1000000,
        arrivals.len(),
        rate_bps(&arrivals, 200_000_000)
    );
    f
}

#[test]
fn uml() {
    if !guest::inside() {
        return crate::PACKETS.assert("packets::plain::uml");
    }
    in_namespace(|| {
        let slow = Traffic {
            count: 400,
            every: Duration::from_millis(2),
            frame_bytes: 200,
            quiet: Duration::from_millis(200),
        };
        let fast = Traffic {
            count: 10000,
            every: Duration::from_micros(0),
            frame_bytes: 1000,
            quiet: Duration::from_millis(100),
        };
        in_namespace(|| measured("pfifo", slow));
        in_namespace(|| measured("netem delay 20ms", slow));
        in_namespace(|| measured("netem delay 100ms", slow));
        in_namespace(|| measured("netem delay 50ms 10ms distribution normal", slow));
        in_namespace(|| measured("netem loss 5%", fast));
        in_namespace(|| measured("netem duplicate 5%", fast));
        in_namespace(|| measured("netem corrupt 5%", fast));
        in_namespace(|| {
            measured(
                "netem delay 10ms reorder 25% gap 5 limit 10000",
                Traffic {
                    every: Duration::from_micros(50),
                    ..fast
                },
            )
        });
        in_namespace(|| {
            measured(
                "tbf rate 1mbit burst 5000 limit 20000",
                Traffic {
                    count: 1000,
                    every: Duration::from_millis(2),
                    ..fast
                },
            )
        });
        in_namespace(|| {
            measured(
                "tbf rate 10mbit burst 5000 limit 20000",
                Traffic {
                    count: 5000,
                    every: Duration::from_micros(400),
                    ..fast
                },
            )
        });
        in_namespace(|| {
            measured(
                "tbf rate 100mbit burst 25000 limit 200000",
                Traffic {
                    count: 20000,
                    every: Duration::from_micros(40),
                    ..fast
                },
            )
        });
    });
}
