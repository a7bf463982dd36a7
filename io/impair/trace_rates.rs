//! Steps of a token bucket that pass as many bytes as a packet-delivery trace.
//!
//! The kernel fills the bucket of a shaper at every change of its rate (`tbf_change` in
//! net/sched/sch_tbf.c), so that a saturating sender gains a bucket with each step, and loses the
//! tokens that were too few for a frame. The rate of each step is therefore that of the trace less
//! the bucket, plus half a frame, over the time of the step. Windows that carry too little for that
//! are joined with the next ones. A step between windows without opportunities passes a frame a second;
//! what it passed is taken from the step after it.

use groundwave_impair::Rate;

use super::impairment_spec::{BURST_BYTES_MIN, derived_burst_bytes};
use super::mahimahi::{OPPORTUNITY_BYTES, Rates};

/// Shaper of a time without opportunities: a frame a second. A slower one would wait for its next
/// frame long after the time is over, because the kernel sets its timer by the rate of that moment.
pub const OUTAGE: Rate = Rate { bps: 8 * BURST_BYTES_MIN, burst_bytes: BURST_BYTES_MIN as u32 };

/// Tokens lost at a change, bytes: half of a frame between the smallest and the largest.
const LOST_BYTES: f64 = 500.0;
/// Fewest bytes of a step. The tokens lost at a change, of frames between 60 and 1514 bytes, then differ
/// from [`LOST_BYTES`] by less than 3 %.
const STEP_BYTES_MIN: f64 = 20_000.0;
/// Fewest bytes of a step, in buckets of its rate.
const STEP_BUCKETS_MIN: f64 = 1.125;

/// Shortest pause, in mean intervals between two opportunities.
const PAUSE_INTERVALS: f64 = 8.0;

/// The steps of a trace that is played `speed` times as fast: time in the trace, ms, and shaper. Two
/// successive steps differ.
#[must_use]
pub fn steps(rates: &Rates, speed: f64) -> Vec<(u64, Rate)> {
    let lasts_s = |window: usize| {
        let from_ms = window as u64 * rates.window_ms;
        let lasts_ms = rates.window_ms.min(rates.length_ms - from_ms);
        lasts_ms as f64 / 1000.0 / speed
    };
    let windows = rates.bps.iter().enumerate();
    let bytes: Vec<f64> =
        windows.map(|(window, bps)| *bps as f64 / 8.0 * lasts_s(window)).collect();
    let pauses = pauses(rates);
    let left = left(&bytes, &pauses);
    let mut steps = Steps { found: Vec::new(), owed_bytes: 0.0 };
    let mut next = 0;
    while next < bytes.len() {
        let start = next;
        let (mut sum, mut seconds, mut is_steady) = (0.0, 0.0, true);
        while next < bytes.len() && pauses[next] == pauses[start] {
            is_steady &= rates.bps[next] == rates.bps[start];
            // A step ends where the rate changes, if it and the rest have enough bytes.
            let is_enough = sum - steps.owed_bytes >= enough(sum, seconds);
            if next > start && !is_steady && is_enough && left[next] >= STEP_BYTES_MIN {
                break;
            }
            sum += bytes[next];
            seconds += lasts_s(next);
            next += 1;
        }
        steps.add(start as u64 * rates.window_ms, sum, seconds);
    }
    steps.found
}

/// Bytes from each window on to the next pause or the end.
fn left(bytes: &[f64], pauses: &[bool]) -> Vec<f64> {
    let mut left = vec![0.0; bytes.len()];
    let mut sum = 0.0;
    for window in (0..bytes.len()).rev() {
        sum = if pauses[window] { 0.0 } else { sum + bytes[window] };
        left[window] = sum;
    }
    left
}

struct Steps {
    found: Vec<(u64, Rate)>,
    /// Bytes that passed beyond those of the trace; negative if it had more.
    owed_bytes: f64,
}

impl Steps {
    fn add(&mut self, at_ms: u64, bytes: f64, seconds: f64) {
        let budget = bytes - self.owed_bytes;
        let mean = derived_burst_bytes((bytes * 8.0 / seconds) as u64);
        let mut burst_bytes =
            if budget >= enough(bytes, seconds) { mean } else { OUTAGE.burst_bytes };
        if bytes == 0.0 || budget <= f64::from(burst_bytes) {
            burst_bytes = OUTAGE.burst_bytes;
        }
        let filled = f64::from(burst_bytes) - LOST_BYTES;
        let bytes_per_s = ((budget - filled) / seconds) as u64;
        let mut rate = Rate { bps: bytes_per_s.saturating_mul(8).max(OUTAGE.bps), burst_bytes };
        if bytes == 0.0 || budget <= f64::from(burst_bytes) {
            rate = OUTAGE;
        }
        let before = self.found.last().map(|(_, rate)| *rate);
        if before == Some(rate) && rate != OUTAGE {
            // An equal shaper would not be changed, and its bucket not be filled.
            rate.bps += 8;
        }
        let filled = if before == Some(rate) { 0.0 } else { filled };
        self.owed_bytes = filled + rate.bps as f64 / 8.0 * seconds - budget;
        if before != Some(rate) {
            self.found.push((at_ms, rate));
        }
    }
}

/// Windows of pauses: without opportunities for much longer than the mean interval between two.
fn pauses(rates: &Rates) -> Vec<bool> {
    let mean_bps = rates.bps.iter().map(|bps| *bps as f64).sum::<f64>() / rates.bps.len() as f64;
    let interval_ms = 8000.0 * OPPORTUNITY_BYTES as f64 / mean_bps;
    let mut pauses = vec![false; rates.bps.len()];
    let mut next = 0;
    while next < pauses.len() {
        let start = next;
        while next < pauses.len() && rates.bps[next] == 0 {
            next += 1;
        }
        let lasts_ms = (next - start) as f64 * rates.window_ms as f64;
        pauses[start..next].fill(lasts_ms >= PAUSE_INTERVALS * interval_ms);
        next += 1;
    }
    pauses
}

/// Fewest bytes of a step with `bytes` in `seconds`.
fn enough(bytes: f64, seconds: f64) -> f64 {
    let bucket = derived_burst_bytes((bytes * 8.0 / seconds) as u64);
    (STEP_BUCKETS_MIN * f64::from(bucket)).max(STEP_BYTES_MIN)
}

#[cfg(test)]
mod tests {
    use super::super::mahimahi;
    use super::*;

    /// Bytes that a saturating sender of frames of `frame` bytes gets through the shaper, whose bucket
    /// the kernel fills at each step.
    fn passed(steps: &[(u64, Rate)], length_ms: u64, speed: f64, frame: f64) -> f64 {
        let ends = steps.iter().skip(1).map(|(at_ms, _)| *at_ms).chain([length_ms]);
        let mut passed = 0.0;
        for ((at_ms, rate), end_ms) in steps.iter().zip(ends) {
            let seconds = (end_ms - at_ms) as f64 / 1000.0 / speed;
            let tokens = f64::from(rate.burst_bytes) + rate.bps as f64 / 8.0 * seconds;
            let frames = (tokens / frame).floor();
            passed += frames * frame;
        }
        passed
    }

    /// A trace of 60 s whose rate walks between a third and thrice of `bps`, with pauses of `pause_ms`.
    fn walk(bps: u64, pause_ms: u64) -> String {
        let (mut text, mut owed) = (String::new(), 0.0);
        for ms in 1..=60_000_u64 {
            let phase = ms as f64 / 1000.0;
            let factor = 3_f64.powf((phase * 0.7).sin() * (phase * 3.1).cos());
            let is_pause = ms % 10_000 < pause_ms;
            owed += if is_pause { 0.0 } else { bps as f64 * factor / 8000.0 };
            while owed >= 1500.0 {
                text.push_str(&format!("{ms}\n"));
                owed -= 1500.0;
            }
        }
        text.push_str("60000\n");
        text
    }

    #[test]
    fn a_saturating_sender_gets_what_the_trace_has() {
        for bps in [300_000, 1_000_000, 11_470_000, 100_000_000] {
            for pause_ms in [0, 700, 3000] {
                let text = walk(bps, pause_ms);
                let bytes = text.lines().count() as f64 * 1500.0;
                for (window_ms, speed) in
                    [(200, 1.0), (100, 1.0), (50, 1.0), (20, 1.0), (200, 10.0)]
                {
                    let rates = mahimahi::rates(&text, window_ms).unwrap();
                    let steps = steps(&rates, speed);
                    for frame in [100.0, 500.0, 1000.0, 1514.0] {
                        let passed = passed(&steps, rates.length_ms, speed, frame);
                        let error = passed / (bytes / speed) - 1.0;
                        assert!(
                            error.abs() <= 0.03,
                            "{bps} bit/s, pauses of {pause_ms} ms, windows of {window_ms} ms, \
                             {speed} x, frames of {frame}: {:.2} %",
                            100.0 * error
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn windows_keep_their_times_where_they_carry_enough() {
        let rates = mahimahi::rates(&walk(11_470_000, 0), 200).unwrap();
        let found = steps(&rates, 1.0);
        assert!(found.len() > 290, "{} steps of 300 windows", found.len());
        assert!(found.windows(2).all(|pair| pair[0].1 != pair[1].1));
        let steady: String = (1..=1000).map(|ms| format!("{ms}\n")).collect();
        let rates = mahimahi::rates(&steady, 100).unwrap();
        assert_eq!(steps(&rates, 1.0).len(), 3, "the first window has one less, the last one more");
    }

    #[test]
    fn a_pause_is_an_outage() {
        let mut text: String = (1..=1000).map(|ms| format!("{ms}\n")).collect();
        text.push_str("4000\n");
        let rates = mahimahi::rates(&text, 100).unwrap();
        let found = steps(&rates, 1.0);
        let outage = found.iter().find(|(_, rate)| *rate == OUTAGE).unwrap();
        assert_eq!(outage.0, 1100);
        assert_eq!(found.last().unwrap().1, OUTAGE, "1500 bytes were passed before");
    }
}
