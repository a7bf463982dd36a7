//! Status lines of a replay, at a chosen speed.

use std::str::FromStr;
use std::time::Duration;

use groundwave_engine::Pacer;
use groundwave_files::wall::MachineClock;
use groundwave_gateway::Snapshot;
use groundwave_http::Failure;
use groundwave_simulation::history::Sample;
use groundwave_text::{bits_per_second, percent};

use crate::cli::output::{self, Output};

/// Speed of simulated time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Speed {
    /// As fast as possible.
    Max,
    /// Multiple of real time.
    Times(f64),
}

impl FromStr for Speed {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "max" {
            return Ok(Self::Max);
        }
        let number = text.strip_suffix('x').unwrap_or(text).parse::<f64>();
        match number {
            Ok(times) if (1e-3..=1e6).contains(&times) => Ok(Self::Times(times)),
            _ => Err(
                "invalid speed, allowed max, or a multiple of real time from 0.001x to 1000000x"
                    .to_owned(),
            ),
        }
    }
}

/// Schedule of status lines.
pub struct Watch {
    speed: Speed,
    from_ns: u64,
    step_ns: u64,
    due_ns: u64,
    /// Simulated time of the first shown tick, ns.
    begin_ns: Option<u64>,
    clock: MachineClock,
    output: Output,
}

impl Watch {
    pub fn new(speed: Speed, from_s: f64, step_s: f64, output: Output) -> Self {
        let from_ns = (from_s * 1e9) as u64;
        Self {
            speed,
            from_ns,
            step_ns: ((step_s * 1e9) as u64).max(1),
            due_ns: from_ns,
            begin_ns: None,
            clock: MachineClock::start(),
            output,
        }
    }

    /// Waits until `now` is due at the chosen speed; writes a line if one is due.
    pub fn show(&mut self, now: &Snapshot) -> Result<(), Failure> {
        if now.now_ns < self.from_ns {
            return Ok(());
        }
        if self.begin_ns.is_none() {
            self.begin_ns = Some(now.now_ns);
            self.clock = MachineClock::start();
        }
        if let (Speed::Times(times), Some(begin_ns)) = (self.speed, self.begin_ns) {
            let due_ns = ((now.now_ns - begin_ns) as f64 / times) as u64;
            let ahead_ns = due_ns.saturating_sub(self.clock.monotonic_ns());
            std::thread::sleep(Duration::from_nanos(ahead_ns));
        }
        if now.now_ns < self.due_ns {
            return Ok(());
        }
        self.due_ns = now.now_ns - now.now_ns % self.step_ns + self.step_ns;
        let sample = Sample::of(now);
        if self.output.json {
            return self.output.json_line(&sample);
        }
        let digest = groundwave_engine::digest(now);
        self.output.text(&format!(
            "{:>10.3} s  {:>4} nodes  {:>5} links  {:>3}/{} flows  reach {:>6}  {:>11}  {}\n",
            sample.at_s,
            sample.nodes_up,
            sample.links_up,
            sample.flows_up,
            now.flows.len(),
            percent(sample.reachable_share),
            bits_per_second(sample.carried_bps),
            output::faint(&digest[..12]),
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_is_a_multiple_or_max() {
        assert_eq!("max".parse(), Ok(Speed::Max));
        assert_eq!("10x".parse(), Ok(Speed::Times(10.0)));
        assert_eq!("0.5".parse(), Ok(Speed::Times(0.5)));
        for wrong in ["", "x", "0x", "-1x", "nan", "fast", "1e9"] {
            assert!(wrong.parse::<Speed>().is_err(), "{wrong}");
        }
    }
}
