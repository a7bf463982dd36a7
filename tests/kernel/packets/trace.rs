//! Played traces: a saturating sender gets what the trace has.

use std::fmt::Write as _;
use std::thread;
use std::time::Duration;

use groundwave_impair::Direction;
use groundwave_io_impair::impairment_spec::ImpairmentSpec;
use groundwave_io_impair::timeline::{Timeline, TimelineOptions, from_trace};

use super::row;
use crate::bed::{Bed, agrees, arms};
use crate::wire::{Traffic, now_ns};

arms! {
    PACKETS,
    windows_pass_what_the_trace_has: vm;
}

/// Bytes of a frame; the trace counts those of 1500.
const FRAME_BYTES: usize = 1000;
/// Length of the trace, ms.
const LENGTH_MS: u64 = 4000;

/// A trace whose rate walks around 11.47 Mbit/s.
fn trace() -> String {
    let (mut text, mut owed) = (String::new(), 0.0);
    for ms in 1..=LENGTH_MS {
        let factor = 1.0 + 0.4 * (ms as f64 / 130.0).sin() + 0.2 * (ms as f64 / 17.0).cos();
        owed += 11.47e6 * factor / 8000.0;
        while owed >= 1500.0 {
            writeln!(text, "{ms}").unwrap();
            owed -= 1500.0;
        }
    }
    writeln!(text, "{LENGTH_MS}").unwrap();
    text
}

/// Applies each step at its time, from now on.
fn play(bed: &mut Bed, timeline: &Timeline) {
    let start_ns = now_ns();
    for step in &timeline.steps {
        let ahead_ns = (start_ns + step.at_ns).saturating_sub(now_ns());
        thread::sleep(Duration::from_nanos(ahead_ns));
        let reading = bed.apply(&step.impairment).unwrap();
        assert!(agrees(&reading), "{:?}", reading.divergence);
    }
}

fn windows_pass_what_the_trace_has(bed: &mut Bed) {
    let text = trace();
    let set_bytes = text.lines().count() as f64 * 1500.0;
    for window_ms in [200, 100, 50, 20] {
        let options = TimelineOptions {
            directions: vec![Direction::PORT1],
            window_ns: window_ms * 1_000_000,
            speed: 1.0,
            base: ImpairmentSpec::default(),
        };
        let timeline = from_trace(&text, "trace", &options).unwrap();
        bed.apply(&timeline.steps[0].impairment).unwrap();
        let mut wire = bed.wire.take().unwrap();
        // Two fifths more than the trace has.
        let count = (set_bytes * 1.4 / FRAME_BYTES as f64) as u64;
        let traffic = Traffic {
            count,
            every: Duration::from_nanos(LENGTH_MS * 1_000_000 / count),
            frame_bytes: FRAME_BYTES,
            quiet: Duration::from_millis(200),
        };
        let arrivals = thread::scope(|scope| {
            let sender = scope.spawn(|| wire.measure(traffic));
            play(bed, &timeline);
            sender.join().unwrap()
        });
        bed.wire = Some(wire);
        let first_ns = arrivals[0].at_ns;
        let within = |at_ns: u64| at_ns - first_ns < LENGTH_MS * 1_000_000;
        let passed = arrivals.iter().filter(|arrival| within(arrival.at_ns));
        let passed: usize = passed.map(|arrival| arrival.bytes).sum();
        let error = passed as f64 / set_bytes - 1.0;
        row(
            &format!("a trace in windows of {window_ms} ms"),
            format_args!("{set_bytes} bytes"),
            format_args!("{passed} bytes, {:+.2} %", 100.0 * error),
        );
        assert!(error.abs() <= 0.03, "windows of {window_ms} ms: {error}");
    }
}
