use super::*;

fn options() -> TimelineOptions {
    TimelineOptions {
        directions: vec![Direction::PORT1],
        window_ns: 100_000_000,
        speed: 1.0,
        base: ImpairmentSpec::default(),
    }
}

const RIDE: &str = r#"
title = "A train ride"
length = "90s"

[[step]]
at = "0s"
direction = "both"
preset = "lte"

[[step]]
at = "30s"
set = { delay = "120ms", loss = "3%", rate = "512kbit" }

[[step]]
at = "60s"
preset = "lte"
set = { rate = "2mbit" }
"#;

#[test]
fn a_ride_is_read_in_order() {
    let ride = from_toml(RIDE, "ride.toml", &options()).unwrap();
    assert_eq!(ride.title, "A train ride");
    assert_eq!(ride.length_ns, 90_000_000_000);
    let order: Vec<_> = ride.steps.iter().map(|step| (step.at_ns, step.direction)).collect();
    assert_eq!(
        order,
        [
            (0, Direction::PORT1),
            (0, Direction::PORT2),
            (30_000_000_000, Direction::PORT1),
            (60_000_000_000, Direction::PORT1),
        ]
    );
    let at = |ns| ride.state(Direction::PORT1, ns).unwrap().rate.unwrap().bps;
    assert_eq!((at(0), at(29_999_999_999), at(30_000_000_000)), (12_000_000, 12_000_000, 512_000));
    // ImpairmentSpec over a preset replace what it says, and keep the rest.
    assert_eq!(at(u64::MAX), 2_000_000);
    let last = ride.state(Direction::PORT1, u64::MAX).unwrap();
    assert!(last.latency.is_some() && last.loss.is_none());
    assert_eq!(ride.directions(), Direction::BOTH);
}

#[test]
fn tables_say_the_same_as_files() {
    let table = "# a ride\nat,direction,preset,delay,loss,rate\n0s,both,lte,,,\n\
                 30s,port1,,120ms,3%,512kbit\n60s,,lte,,,2mbit\n";
    let table = crate::timeline_csv::read(table, "ride.csv", &options()).unwrap();
    let file = from_toml(RIDE, "ride.toml", &options()).unwrap();
    assert_eq!(table.steps, file.steps);
    assert_eq!(table.length_ns, 60_000_000_000);
}

#[test]
fn traces_become_rates_beside_what_they_do_not_say() {
    let options = TimelineOptions {
        directions: vec![Direction::PORT2],
        window_ns: 100_000_000,
        speed: 1.0,
        base: ImpairmentSpec { delay: Some("20ms".to_owned()), ..ImpairmentSpec::default() },
    };
    // A packet a millisecond, a pause, then two.
    let times = (1..100).chain((300..=400).flat_map(|ms| [ms, ms]));
    let text: String = times.map(|ms| format!("{ms}\n")).collect();
    let trace = from_trace(&text, "trace", &options).unwrap();
    let steps: Vec<_> = trace
        .steps
        .iter()
        .map(|step| (step.at_ns / 1_000_000, step.impairment.rate.unwrap().bps))
        .collect();
    // 148500 bytes less the bucket of 23760, plus half a frame, in 100 ms; a frame a second; 303000
    // bytes less the bucket of 48480, half a frame and what passed in the pause.
    let bytes = [148_500.0 - 23_260.0, 151.4, 303_000.0 - 47_980.0 - 1_316.8];
    let bps = bytes.map(|bytes| (bytes * 10.0) as u64 * 8);
    assert_eq!(steps, [(0, bps[0]), (100, bps[1]), (300, bps[2])]);
    assert_eq!(trace.length_ns, 400_000_000);
    assert!(trace.steps.iter().all(|step| step.impairment.latency.is_some()));
    assert_eq!(trace.directions(), [Direction::PORT2]);
}

#[test]
fn wrong_lines_are_named() {
    let toml = [
        ("", "step: no step"),
        ("[[step]]\nat = \"5\"\n", "t.toml:2:6: step[0].at: found \"5\""),
        (
            "[[step]]\nat = \"0s\"\ndirection = \"port33\"\n",
            "t.toml:3:13: step[0].direction: found \"port33\"",
        ),
        ("[[step]]\nat = \"0s\"\npreset = \"lt\"\n", "did you mean \"lte\""),
        (
            "[[step]]\nat = \"0s\"\nset = { loss = \"200%\" }\n",
            "t.toml:3:16: step[0].set.loss: found \"200%\"",
        ),
        ("[[step]]\nat = \"0s\"\nset = { rate = \"0\" }\n", "step[0].set.rate: found 0"),
        ("[[step]]\nat = \"0s\"\nset = { los = \"2%\" }\n", "did you mean \"loss\""),
        ("[[step]]\nat = \"0s\"\n[[step]]\nat = \"0s\"\n", "two steps of port1 at 0"),
        ("length = \"1s\"\n[[step]]\nat = \"2s\"\n", "a length of 2s or more"),
        ("[[step]]\nat = \"99999h\"\n", "up to 100 days"),
    ];
    for (text, part) in toml {
        let message = from_toml(text, "t.toml", &options()).unwrap_err().to_string();
        assert!(message.contains(part), "{message} does not contain {part}");
    }
    let csv = [
        ("at,speed\n", "t.csv:1: unknown column: found \"speed\""),
        ("delay\n5ms\n", "found no \"at\""),
        ("at,rate\n0s,1mbit\n1s,fast\n", "t.csv:3: invalid rate: found \"fast\""),
        ("at,rate\n0s\n", "t.csv:2"),
        ("at,at\n", "duplicate column"),
        ("at,rate\n", "found no step"),
        ("at,preset\n0s,lte:left\n", "lte:down, lte:up"),
    ];
    for (text, part) in csv {
        let message = crate::timeline_csv::read(text, "t.csv", &options()).unwrap_err().to_string();
        assert!(message.contains(part), "{message} does not contain {part}");
    }
}

#[test]
fn an_invalid_trace_is_told_once() {
    let error = from_trace("5\n4\n", "cell.down", &options()).unwrap_err();
    let message = error.to_string();
    assert_eq!(message, "cell.down: line 2: found 4 ms, allowed 5 ms (the line above) or more");
    let causes = std::error::Error::source(&error);
    assert!(causes.is_none(), "{causes:?}");
}
