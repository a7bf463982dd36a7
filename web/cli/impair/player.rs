//! Playing a time line: the right state at the right moment, however long applying one takes.

use std::time::Duration;

use groundwave_io::impair::timeline::Timeline;
use groundwave_systems::impair::{Direction, Impairment};
use tokio::time::{Instant, sleep_until};

/// How a time line is played.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Where to begin, ns into the time line.
    pub seek_ns: u64,
    /// Seconds of time line in a second.
    pub speed: f64,
    /// Whether to begin again at the end.
    pub repeat: bool,
}

/// What was played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Played {
    /// States that were applied.
    pub applied: u64,
    /// Steps that were passed over because a later one was due already.
    pub passed_over: u64,
}

/// One state to apply.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Due<'a> {
    /// Ns into the time line.
    pub at_ns: u64,
    /// Which direction.
    pub direction: Direction,
    /// The state.
    pub impairment: &'a Impairment,
}

/// Plays `line`. The first states are those in force at the start; each later one is applied when
/// its moment has come, measured from the beginning, so that delays do not add up. Where several
/// steps of a direction are due, the last one counts.
///
/// # Errors
/// The first error of `apply`.
pub async fn play<E>(
    line: &Timeline,
    pace: Pace,
    mut apply: impl AsyncFnMut(Due<'_>) -> Result<(), E>,
) -> Result<Played, E> {
    let began = Instant::now();
    let mut played = Played::default();
    for direction in line.directions() {
        if let Some(impairment) = line.state(direction, pace.seek_ns) {
            let at_ns = pace.seek_ns;
            apply(Due {
                at_ns,
                direction,
                impairment,
            })
            .await?;
            played.applied += 1;
        }
    }
    // Time of the line at which its present round began; before the start for the first.
    let mut round_ns = 0_u64;
    let mut next = line
        .steps
        .partition_point(|step| step.at_ns <= pace.seek_ns);
    loop {
        while next < line.steps.len() {
            sleep_until(moment(began, pace, round_ns + line.steps[next].at_ns)).await;
            let now_ns = position(began, pace).saturating_sub(round_ns);
            let upto = line
                .steps
                .partition_point(|step| step.at_ns <= now_ns)
                .max(next + 1);
            let due = &line.steps[next..upto];
            for direction in Direction::ALL {
                let mut of_it = due.iter().rev().filter(|step| step.direction == direction);
                if let Some(step) = of_it.next() {
                    let (at_ns, impairment) = (step.at_ns, &step.impairment);
                    apply(Due {
                        at_ns,
                        direction,
                        impairment,
                    })
                    .await?;
                    played.applied += 1;
                    played.passed_over += of_it.count() as u64;
                }
            }
            next = upto;
        }
        round_ns += line.length_ns;
        sleep_until(moment(began, pace, round_ns)).await;
        if !pace.repeat {
            return Ok(played);
        }
        next = 0;
    }
}

/// When the time line reaches `line_ns`, counted over all rounds.
fn moment(began: Instant, pace: Pace, line_ns: u64) -> Instant {
    let after_s = line_ns.saturating_sub(pace.seek_ns) as f64 / 1e9 / pace.speed;
    began + Duration::from_secs_f64(after_s)
}

/// Where the time line is, counted over all rounds. Rounded up, so that a step whose moment has
/// come is due.
fn position(began: Instant, pace: Pace) -> u64 {
    let passed_s = began.elapsed().as_secs_f64() * pace.speed;
    pace.seek_ns + (passed_s * 1e9).ceil() as u64
}

#[cfg(test)]
mod tests {
    use groundwave_io::impair::timeline::{Reading, from_toml};
    use groundwave_io::impair::words::Words;

    use super::*;

    fn line() -> Timeline {
        let text = "length = \"10s\"\n\
                    [[step]]\nat = \"0s\"\nset = { rate = \"1mbit\" }\n\
                    [[step]]\nat = \"4s\"\nset = { rate = \"2mbit\" }\n\
                    [[step]]\nat = \"6s\"\nset = { rate = \"3mbit\" }\n";
        let reading = Reading {
            directions: vec![Direction::Port1],
            window_ns: 0,
            beside: Words::default(),
        };
        from_toml(text, "line.toml", &reading).unwrap()
    }

    fn pace(seek_s: u64, speed: f64, repeat: bool) -> Pace {
        Pace {
            seek_ns: seek_s * 1_000_000_000,
            speed,
            repeat,
        }
    }

    /// What is applied when, in ms and Mbit/s, until `most` states were.
    async fn heard(pace: Pace, most: usize, takes_ms: u64) -> (Vec<(u128, u64)>, Option<Played>) {
        let began = Instant::now();
        let mut heard = Vec::new();
        let line = line();
        let played = play(&line, pace, async |due: Due<'_>| {
            heard.push((
                began.elapsed().as_millis(),
                due.impairment.rate.unwrap().bps / 1_000_000,
            ));
            tokio::time::sleep(Duration::from_millis(takes_ms)).await;
            if heard.len() < most { Ok(()) } else { Err(()) }
        });
        let played = played.await.ok();
        (heard, played)
    }

    #[tokio::test(start_paused = true)]
    async fn states_come_at_their_moments_and_the_end_is_waited_for() {
        let began = Instant::now();
        let (states, played) = heard(pace(0, 1.0, false), 99, 0).await;
        assert_eq!(states, [(0, 1), (4_000, 2), (6_000, 3)]);
        assert_eq!(played.unwrap().applied, 3);
        assert_eq!(began.elapsed().as_secs(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn seeking_begins_in_the_state_of_that_moment() {
        let (states, _) = heard(pace(5, 1.0, false), 99, 0).await;
        assert_eq!(states, [(0, 2), (1_000, 3)]);
        let (states, _) = heard(pace(4, 2.0, false), 99, 0).await;
        assert_eq!(states, [(0, 2), (1_000, 3)]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_loop_goes_on_without_drift_though_applying_takes_time() {
        let (states, _) = heard(pace(6, 1.0, true), 8, 300).await;
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
    async fn steps_that_were_overtaken_are_passed_over() {
        let (states, played) = heard(pace(0, 1.0, false), 99, 7_000).await;
        assert_eq!(states, [(0, 1), (7_000, 3)]);
        assert_eq!(
            played.unwrap(),
            Played {
                applied: 2,
                passed_over: 1
            }
        );
    }
}
