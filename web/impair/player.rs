//! Playback of timelines of impairments, without drift.

use std::time::Duration;

use groundwave_impair::{Direction, Impairment};
use groundwave_io_impair::timeline::Timeline;
use tokio::time::{Instant, sleep_until};

/// Start position, speed and repetition.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Playback {
    /// Start position in the timeline, ns.
    pub seek_ns: u64,
    /// Speed factor.
    pub speed: f64,
    /// Repeat at the end.
    pub repeat: bool,
}

/// Result of a playback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Played {
    /// Applied states.
    pub applied: u64,
    /// Steps skipped because a later one of the direction was due.
    pub skipped: u64,
}

/// One state to apply.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Due<'a> {
    /// Position in the timeline, ns.
    pub at_ns: u64,
    /// Direction.
    pub direction: Direction,
    /// State.
    pub impairment: &'a Impairment,
}

/// Plays `line`: first the states at the start position, then each step at its time, measured from
/// the start, so that delays do not accumulate. Of several due steps of a direction the last counts.
///
/// # Errors
/// The first error of `apply`.
pub async fn play<E>(
    line: &Timeline,
    playback: Playback,
    mut apply: impl AsyncFnMut(Due<'_>) -> Result<(), E>,
) -> Result<Played, E> {
    let began = Instant::now();
    let mut played = Played::default();
    let directions = line.directions();
    for direction in directions.iter().copied() {
        if let Some(impairment) = line.state(direction, playback.seek_ns) {
            let at_ns = playback.seek_ns;
            apply(Due { at_ns, direction, impairment }).await?;
            played.applied += 1;
        }
    }
    // Timeline position at which the current repetition began, ns.
    let mut repeat_ns = 0_u64;
    let mut next = line.steps.partition_point(|step| step.at_ns <= playback.seek_ns);
    loop {
        while next < line.steps.len() {
            sleep_until(instant_at(began, playback, repeat_ns + line.steps[next].at_ns)).await;
            let now_ns = position(began, playback).saturating_sub(repeat_ns);
            let upto = line.steps.partition_point(|step| step.at_ns <= now_ns).max(next + 1);
            let due = &line.steps[next..upto];
            for direction in directions.iter().copied() {
                let mut of_it = due.iter().rev().filter(|step| step.direction == direction);
                if let Some(step) = of_it.next() {
                    let (at_ns, impairment) = (step.at_ns, &step.impairment);
                    apply(Due { at_ns, direction, impairment }).await?;
                    played.applied += 1;
                    played.skipped += of_it.count() as u64;
                }
            }
            next = upto;
        }
        repeat_ns += line.length_ns;
        sleep_until(instant_at(began, playback, repeat_ns)).await;
        if !playback.repeat {
            return Ok(played);
        }
        next = 0;
    }
}

/// Instant at which the timeline reaches `line_ns`, over all repetitions.
fn instant_at(began: Instant, playback: Playback, line_ns: u64) -> Instant {
    let after_s = line_ns.saturating_sub(playback.seek_ns) as f64 / 1e9 / playback.speed;
    began + Duration::from_secs_f64(after_s)
}

/// Position in the timeline, over all repetitions, ns; rounded up, so that a step is due at its time.
fn position(began: Instant, playback: Playback) -> u64 {
    let passed_s = began.elapsed().as_secs_f64() * playback.speed;
    playback.seek_ns + (passed_s * 1e9).ceil() as u64
}

#[cfg(test)]
mod tests {
    use groundwave_io_impair::impairment_spec::ImpairmentSpec;
    use groundwave_io_impair::timeline::{TimelineOptions, from_toml};

    use super::*;

    fn line() -> Timeline {
        let text = "length = \"10s\"\n\
                    [[step]]\nat = \"0s\"\nset = { rate = \"1mbit\" }\n\
                    [[step]]\nat = \"4s\"\nset = { rate = \"2mbit\" }\n\
                    [[step]]\nat = \"6s\"\nset = { rate = \"3mbit\" }\n";
        let reading = TimelineOptions {
            directions: vec![Direction::PORT1],
            window_ns: 0,
            speed: 1.0,
            base: ImpairmentSpec::default(),
        };
        from_toml(text, "line.toml", &reading).unwrap()
    }

    fn pace(seek_s: u64, speed: f64, repeat: bool) -> Playback {
        Playback { seek_ns: seek_s * 1_000_000_000, speed, repeat }
    }

    /// Applied states, in ms and Mbit/s, at most `most`.
    async fn applied(
        playback: Playback,
        most: usize,
        takes_ms: u64,
    ) -> (Vec<(u128, u64)>, Option<Played>) {
        let began = Instant::now();
        let mut states = Vec::new();
        let line = line();
        let played = play(&line, playback, async |due: Due<'_>| {
            states
                .push((began.elapsed().as_millis(), due.impairment.rate.unwrap().bps / 1_000_000));
            tokio::time::sleep(Duration::from_millis(takes_ms)).await;
            if states.len() < most { Ok(()) } else { Err(()) }
        });
        let played = played.await.ok();
        (states, played)
    }

    #[tokio::test(start_paused = true)]
    async fn states_come_at_their_moments_and_the_end_is_waited_for() {
        let began = Instant::now();
        let (states, played) = applied(pace(0, 1.0, false), 99, 0).await;
        assert_eq!(states, [(0, 1), (4_000, 2), (6_000, 3)]);
        assert_eq!(played.unwrap().applied, 3);
        assert_eq!(began.elapsed().as_secs(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn seeking_begins_in_the_state_of_that_moment() {
        let (states, _) = applied(pace(5, 1.0, false), 99, 0).await;
        assert_eq!(states, [(0, 2), (1_000, 3)]);
        let (states, _) = applied(pace(4, 2.0, false), 99, 0).await;
        assert_eq!(states, [(0, 2), (1_000, 3)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_goes_on_without_drift_though_applying_takes_time() {
        let (states, _) = applied(pace(6, 1.0, true), 8, 300).await;
        let want = [
            (0, 3),
            (4_000, 1),
            (8_000, 2),
            (10_000, 3),
            (14_000, 1),
            (18_000, 2),
            (20_000, 3),
            (24_000, 1),
        ];
        assert_eq!(states, want);
    }

    #[tokio::test(start_paused = true)]
    async fn overdue_steps_are_skipped() {
        let (states, played) = applied(pace(0, 1.0, false), 99, 7_000).await;
        assert_eq!(states, [(0, 1), (7_000, 3)]);
        assert_eq!(played.unwrap(), Played { applied: 2, skipped: 1 });
    }
}
