//! The machine step by step: time and chance are values of the test.

use super::backoff::{Chance, MachineChance};
use super::machine::{Machine, Outcome, Rhythm, Task};

/// A node, its clock, and a gateway that a test plays.
struct Bench {
    machine: Machine,
    chance: MachineChance,
    now_ms: u64,
}

impl Bench {
    fn new() -> Self {
        let machine = Machine::new(Rhythm::default(), 0);
        Self { machine, chance: MachineChance::seeded(3), now_ms: 0 }
    }

    /// The next task that is not sampling or waiting.
    fn task(&mut self) -> Task {
        loop {
            match self.machine.next(self.now_ms) {
                Task::Wait(until_ms) => {
                    assert!(until_ms > self.now_ms, "waits for the past");
                    self.now_ms = until_ms;
                }
                Task::Sample => {
                    self.machine.done(Task::Sample, Outcome::Done, self.now_ms, &mut self.chance)
                }
                task => return task,
            }
        }
    }

    fn expect(&mut self, task: Task, outcome: Outcome) {
        assert_eq!(self.task(), task);
        self.machine.done(task, outcome, self.now_ms, &mut self.chance);
    }

    fn running() -> Self {
        let mut bench = Self::new();
        for task in
            [Task::ReadHost, Task::Register, Task::Tunnel, Task::Fetch, Task::LogIn, Task::Join]
        {
            bench.expect(task, Outcome::Done);
        }
        bench
    }
}

#[test]
fn a_node_that_is_let_in_comes_to_beat_every_five_seconds() {
    let mut bench = Bench::running();
    assert!(bench.machine.runs());
    bench.expect(Task::Heartbeat, Outcome::Done);
    let mut last_ms = bench.now_ms;
    for _ in 0..100 {
        bench.expect(Task::Heartbeat, Outcome::Done);
        let apart = bench.now_ms - last_ms;
        assert!((4_500..=5_500).contains(&apart), "{apart}");
        last_ms = bench.now_ms;
    }
}

#[test]
fn a_node_waits_for_its_link_and_for_approval() {
    let mut bench = Bench::new();
    for _ in 0..5 {
        bench.expect(Task::ReadHost, Outcome::Failed);
    }
    assert_eq!(bench.now_ms, 4_000);
    bench.expect(Task::ReadHost, Outcome::Done);
    bench.expect(Task::Register, Outcome::Pending(30_000));
    let asked_ms = bench.now_ms;
    bench.expect(Task::Register, Outcome::Done);
    assert!((27_000..=33_000).contains(&(bench.now_ms - asked_ms)));
}

#[test]
fn silence_while_registering_backs_off_to_five_minutes() {
    let mut bench = Bench::new();
    bench.expect(Task::ReadHost, Outcome::Done);
    let mut waits = Vec::new();
    for _ in 0..12 {
        let before_ms = bench.now_ms;
        bench.expect(Task::Register, Outcome::Failed);
        waits.push(bench.now_ms - before_ms);
    }
    assert!(waits[1..].iter().all(|wait| (5_000..=300_000).contains(wait)), "{waits:?}");
    assert!(waits[10] >= 150_000, "{waits:?}");
    // A rejected node retries rarely, but does retry.
    bench.expect(Task::Register, Outcome::Refused(403, None));
    let before_ms = bench.now_ms;
    bench.expect(Task::Register, Outcome::Done);
    assert!(bench.now_ms - before_ms >= 150_000);
}

#[test]
fn what_the_gateway_asks_to_wait_is_waited() {
    let mut bench = Bench::new();
    bench.expect(Task::ReadHost, Outcome::Done);
    bench.expect(Task::Register, Outcome::Refused(503, Some(300_000)));
    let before_ms = bench.now_ms;
    bench.expect(Task::Register, Outcome::Done);
    assert!((300_000..=330_000).contains(&(bench.now_ms - before_ms)));
    let mut bench = Bench::running();
    bench.expect(Task::Heartbeat, Outcome::Refused(429, Some(20_000)));
    let before_ms = bench.now_ms;
    bench.expect(Task::Heartbeat, Outcome::Done);
    assert!(bench.now_ms - before_ms >= 20_000);
}

#[test]
fn a_wait_without_bounds_silences_no_node_for_longer_than_an_hour() {
    let mut bench = Bench::new();
    bench.expect(Task::ReadHost, Outcome::Done);
    bench.expect(Task::Register, Outcome::Refused(503, Some(u64::MAX)));
    bench.expect(Task::Register, Outcome::Done);
    assert!(bench.now_ms <= 3_960_000, "{}", bench.now_ms);
    let mut bench = Bench::running();
    // The token is over by then.
    let heartbeat = |bench: &mut Bench| {
        while bench.task() == Task::LogIn {
            bench.expect(Task::LogIn, Outcome::Done);
        }
        bench.expect(Task::Heartbeat, Outcome::Done);
    };
    bench.expect(Task::Heartbeat, Outcome::Refused(503, Some(u64::MAX)));
    let before_ms = bench.now_ms;
    heartbeat(&mut bench);
    assert!(bench.now_ms - before_ms <= 3_606_000, "{}", bench.now_ms - before_ms);
    bench.machine.set_backlog(true);
    bench.expect(Task::Replay, Outcome::Refused(429, Some(u64::MAX)));
    heartbeat(&mut bench);
}

#[test]
fn a_refused_token_is_renewed_once_and_then_patiently() {
    let mut bench = Bench::running();
    bench.expect(Task::Heartbeat, Outcome::Refused(401, None));
    let before_ms = bench.now_ms;
    bench.expect(Task::LogIn, Outcome::Done);
    bench.expect(Task::Heartbeat, Outcome::Refused(401, None));
    assert!(bench.now_ms - before_ms < 1_000, "the first time at once");
    bench.expect(Task::LogIn, Outcome::Done);
    assert!(bench.now_ms - before_ms >= 5_000, "the second time later");
    bench.expect(Task::Heartbeat, Outcome::Done);
    bench.expect(Task::Heartbeat, Outcome::Refused(401, None));
    let before_ms = bench.now_ms;
    bench.expect(Task::LogIn, Outcome::Done);
    assert_eq!(bench.now_ms, before_ms, "an acknowledged heartbeat clears earlier failures");
}

#[test]
fn a_refused_credential_is_fetched_again() {
    let mut bench = Bench::running();
    bench.expect(Task::Heartbeat, Outcome::Refused(401, None));
    bench.expect(Task::LogIn, Outcome::Refused(401, None));
    bench.expect(Task::Fetch, Outcome::Done);
    bench.expect(Task::LogIn, Outcome::Done);
    bench.expect(Task::Heartbeat, Outcome::Done);
}

#[test]
fn tokens_are_renewed_between_50_and_58_minutes() {
    let mut ages = Vec::new();
    for seed in 0..20 {
        let mut bench = Bench { chance: MachineChance::seeded(seed), ..Bench::running() };
        bench.expect(Task::Heartbeat, Outcome::Refused(401, None));
        bench.expect(Task::LogIn, Outcome::Done);
        let born_ms = bench.now_ms;
        while bench.task() == Task::Heartbeat {
            bench.expect(Task::Heartbeat, Outcome::Done);
        }
        ages.push((bench.now_ms - born_ms) / 1000);
        bench.expect(Task::LogIn, Outcome::Done);
        bench.expect(Task::Heartbeat, Outcome::Done);
    }
    assert!(ages.iter().all(|age| (3_000..=3_486).contains(age)), "{ages:?}");
    assert!(ages.iter().max().unwrap() - ages.iter().min().unwrap() > 120, "{ages:?}");
}

#[test]
fn a_node_cut_off_beats_on_and_then_makes_its_way_anew() {
    let mut bench = Bench::running();
    bench.expect(Task::Heartbeat, Outcome::Done);
    let cut_ms = bench.now_ms;
    let mut heartbeats = 0;
    while bench.task() == Task::Heartbeat {
        bench.expect(Task::Heartbeat, Outcome::Failed);
        heartbeats += 1;
    }
    assert!(heartbeats >= 10, "{heartbeats}");
    assert!((60_000..=70_000).contains(&(bench.now_ms - cut_ms)));
    bench.expect(Task::ReadHost, Outcome::Done);
    bench.expect(Task::Register, Outcome::Done);
}

#[test]
fn what_was_missed_is_told_after_the_beat_that_is_heard() {
    let mut bench = Bench::running();
    bench.expect(Task::Heartbeat, Outcome::Failed);
    bench.machine.set_backlog(true);
    bench.expect(Task::Heartbeat, Outcome::Failed);
    bench.expect(Task::Heartbeat, Outcome::Done);
    bench.expect(Task::Replay, Outcome::Done);
    let before_ms = bench.now_ms;
    bench.expect(Task::Replay, Outcome::Refused(429, Some(60_000)));
    assert!(bench.now_ms - before_ms >= 500);
    bench.machine.set_backlog(false);
    bench.expect(Task::Heartbeat, Outcome::Done);
}

#[test]
fn a_revoked_node_asks_to_be_let_in_again() {
    let mut bench = Bench::running();
    bench.expect(Task::Heartbeat, Outcome::Refused(404, None));
    bench.expect(Task::Register, Outcome::Refused(403, None));
    let mut node = bench.machine.clone();
    node.set_period(10);
    assert!(bench.chance.unit() < 1.0 && !node.runs());
}

proptest::proptest! {
    /// Time goes on with any gateway: no task repeats endlessly without waiting.
    #[test]
    fn no_gateway_makes_it_spin(outcomes in proptest::collection::vec((0u8..6, 0u64..100_000), 1..200)) {
        let mut bench = Bench::new();
        let mut at_once = 0;
        let mut last_ms = 0;
        for (kind, wait_ms) in outcomes.into_iter().cycle().take(2_000) {
            let task = bench.task();
            at_once = if bench.now_ms == last_ms { at_once + 1 } else { 0 };
            proptest::prop_assert!(at_once < 12, "{task:?} at {}", bench.now_ms);
            last_ms = bench.now_ms;
            let outcome = match kind {
                0 => Outcome::Done,
                1 => Outcome::Failed,
                2 => Outcome::Pending(wait_ms),
                3 => Outcome::Refused(401, None),
                4 => Outcome::Refused(429, Some(wait_ms)),
                _ => Outcome::Refused(404, None),
            };
            bench.machine.done(task, outcome, bench.now_ms, &mut bench.chance);
        }
        proptest::prop_assert!(bench.now_ms > 100_000);
    }
}
