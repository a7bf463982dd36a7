use groundwave_protocol::metrics::NAMES_MAX;

use super::reading_refusal::ReadingRefusal;
use super::reading_refusal::SAMPLES_MAX;
use super::sample_buffer::SampleBuffer;

fn buffer(names: &[&str]) -> SampleBuffer {
    let names = names.iter().map(|&name| name.to_owned()).collect();
    SampleBuffer { names, ..SampleBuffer::default() }
}

#[test]
fn a_minute_ends_with_the_first_sample_of_the_next() {
    let mut buffer = buffer(&["mesh.tx_mbps", "mesh.rx_mbps"]);
    assert_eq!(buffer.push("mesh.tx_mbps", 120_500, 1.5, 180_000), Ok(true));
    assert_eq!(buffer.push("mesh.rx_mbps", 179_999, 2.5, 180_000), Ok(true));
    assert_eq!(buffer.push("mesh.tx_mbps", 180_000, 3.5, 180_000), Ok(true));
    assert_eq!(buffer.push("mesh.tx_mbps", 179_000, 9.0, 180_000), Ok(false));
    assert_eq!((buffer.previous.minute, buffer.previous.len()), (2, 2));
    let samples: Vec<_> = buffer.of("mesh.tx_mbps").collect();
    assert_eq!(samples, [(120_500, 1.5), (180_000, 3.5)]);
}

#[test]
fn what_exceeds_a_bound_is_refused_and_core_metrics_are_recorded() {
    let mut buffer = SampleBuffer::default();
    let busy = |_: &str| false;
    for index in 0..NAMES_MAX {
        assert_eq!(buffer.admit(&format!("sys.m{index}"), 0, busy), Ok(None));
    }
    assert_eq!(buffer.admit("sys.more", 0, busy), Err(ReadingRefusal::NamesFull));
    assert_eq!(buffer.admit("sys.m7", 0, busy), Ok(None));
    assert_eq!(buffer.admit("mesh.tx_mbps", 0, busy), Ok(None));
    for _ in 0..SAMPLES_MAX {
        assert_eq!(buffer.push("sys.m0", 1, 0.0, 0), Ok(true));
    }
    assert_eq!(buffer.push("sys.m0", 1, 0.0, 0), Err(ReadingRefusal::MinuteFull));
    assert_eq!(buffer.push_present("mesh.tx_mbps", 1, 2.0), Ok(()));
    assert_eq!((buffer.current.len(), buffer.dropped), (SAMPLES_MAX + 1, 2));
}

#[test]
fn a_metric_that_is_idle_makes_space_for_another() {
    let mut buffer = SampleBuffer::default();
    for index in 0..NAMES_MAX {
        assert_eq!(buffer.admit(&format!("sys.m{index}"), 0, |_| true), Ok(None));
    }
    assert_eq!(buffer.push("sys.m0", 1, 0.5, 0), Ok(true));
    // The first has a sample that is not in the history yet.
    assert_eq!(buffer.admit("sys.more", 0, |_| true), Ok(Some("sys.m1".to_owned())));
    assert_eq!(buffer.of("sys.m0").collect::<Vec<_>>(), [(1, 0.5)]);
    assert_eq!(buffer.of("sys.more").count(), 0);
}

#[test]
fn a_minute_that_a_clock_ahead_began_ends_and_no_sample_is_dropped() {
    let mut buffer = buffer(&["sys.load1"]);
    let years_ms = 10 * 365 * 86_400_000;
    let true_ms = 120_500;
    assert_eq!(buffer.push("sys.load1", true_ms + years_ms, 1.0, true_ms + years_ms), Ok(true));
    assert_eq!(buffer.push("sys.load1", true_ms, 2.0, true_ms), Ok(true));
    assert_eq!(buffer.previous.len(), 1, "the sample of the future is kept");
    let samples: Vec<_> = buffer.of("sys.load1").collect();
    assert_eq!(samples, [(true_ms + years_ms, 1.0), (true_ms, 2.0)]);
}
