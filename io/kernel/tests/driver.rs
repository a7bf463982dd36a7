//! A world, a driver and the model of a kernel together, and a replay of the world alone.

use std::sync::Arc;
use std::time::Duration;

use groundwave_engine::log::{FORMAT, Header};
use groundwave_engine::{Engine, Next, replay};
use groundwave_files::wall::MachineClock;
use groundwave_gateway::{Snapshot, world};
use groundwave_impair::{
    Direction, FailureKind, Impairment, Latency, Loss, PortView, SetImpairment,
};
use groundwave_model::terrain::Flat;
use groundwave_store::journal_file::{FileJournal, open};

use super::super::{
    Driver, DriverHandle, Fake, FilterMessage, FilterRequest, Handle as KernelHandle, Kernel,
    KernelError, Link, Netem, Options, Qdisc, Request, Shaper, Verb,
};
use super::random::block_on;

fn engine() -> Engine<Snapshot> {
    world(Arc::new(Flat::default())).build(1, 1_000_000).unwrap()
}

/// Submits a request and waits for its outcome, as an interface would.
async fn shape(
    handle: &groundwave_engine::Handle<Snapshot>,
    direction: Direction,
    impairment: Option<Impairment>,
) -> PortView {
    let requested = SetImpairment { direction, impairment };
    let generation = handle.submit(requested).unwrap().reply().await.unwrap();
    let mut views = handle.watch();
    let answered = views
        .wait_for(|view| view.impairments.port(direction).observed_generation >= generation)
        .await
        .unwrap();
    answered.impairments.port(direction).clone()
}

fn delayed(duration_ns: u64) -> Option<Impairment> {
    Some(Impairment { latency: Some(Latency::Constant { duration_ns }), ..Impairment::default() })
}

#[test]
fn a_request_is_answered_and_a_replay_needs_no_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("world.gwlog");
    let header = Header { format: FORMAT, seed: 1, step_ns: 1_000_000, inputs: Default::default() };
    let mut live = engine();
    live.record(FileJournal::create(&log, &header).unwrap());
    let handle = live.handle();
    let effects = live.effects();
    let running = live.spawn_on_demand(MachineClock::start()).unwrap();
    block_on(async {
        let fake = Fake::new(&["a", "b"]);
        let shaper = Shaper::start(fake.clone(), Options::default()).await.unwrap();
        let interfaces = vec!["a".to_owned(), "b".to_owned()];
        let (driver, access) = Driver::new(shaper, interfaces, handle.clone(), effects);
        let driving = tokio::spawn(driver.run());
        let port = shape(&handle, Direction::PORT1, delayed(5_000_000)).await;
        let applied = port.applied.unwrap();
        assert_eq!((Some(applied.impairment), port.failure), (delayed(5_000_000), None));
        assert!(applied.captured_at_wall_ns > 0 && applied.captured_at_ns > 0);
        let unsupported = Impairment {
            loss: Some(Loss::GilbertElliott { p: 0.0, r: 0.0, one_minus_h: 0.0, one_minus_k: 0.0 }),
            ..Impairment::default()
        };
        let port = shape(&handle, Direction::PORT1, Some(unsupported)).await;
        assert_eq!(port.failure.unwrap().kind, FailureKind::Unsupported);
        assert_eq!(Some(port.applied.unwrap().impairment), delayed(5_000_000));
        // Another program removes all disciplines; a reading shows that.
        fake.insert_foreign(
            "a",
            Qdisc {
                kind: "fq_codel".to_owned(),
                handle: KernelHandle::new(0x8001, 0),
                parent: KernelHandle::ROOT,
                ..Qdisc::default()
            },
        );
        fake.remove_interface("b");
        assert_eq!(access.refresh(Direction::PORT2).await.unwrap_err().kind, FailureKind::Io);
        let port = shape(&handle, Direction::PORT1, None).await;
        assert_eq!(port.failure, None);
        assert_eq!(fake.qdiscs("a").iter().filter(|qdisc| qdisc.kind == "netem").count(), 0);
        let stats = access.stats(Direction::PORT1).await.unwrap();
        assert!(stats.captured_at_ns > applied.captured_at_ns);
        drop(access);
        let (mut stopped, outcome) = running.stop();
        outcome.unwrap();
        stopped.mark().unwrap();
        drop((stopped, handle));
        driving.await.unwrap();
    });
    // Effects are not executed in a replay: the observations are in the log.
    let mut fresh = engine();
    let replayed = replay(&mut fresh, &mut open(&log).unwrap(), |_| Next::Go).unwrap();
    assert_eq!(replayed.marks, 1);
    assert_eq!(fresh.view().impairments.port(Direction::PORT1).generation, 3);
}

#[test]
fn racing_requests_end_in_one_of_them() {
    let live = engine();
    let handle = live.handle();
    let effects = live.effects();
    let running = live.spawn_on_demand(MachineClock::start()).unwrap();
    block_on(async {
        let fake = Fake::new(&["a", "b"]);
        let shaper = Shaper::start(fake.clone(), Options::default()).await.unwrap();
        let interfaces = vec!["a".to_owned(), "b".to_owned()];
        let (driver, access) = Driver::new(shaper, interfaces, handle.clone(), effects);
        let driving = tokio::spawn(driver.run());
        let requested = |one: bool| {
            let text = if one {
                r#"{"latency":{"kind":"constant","duration":1},"rate":{"bps":8000,"burst_bytes":2000}}"#
            } else {
                r#"{"loss":{"model":"bernoulli","pct":2.0},"queue":{"limit":{"unit":"packets","value":7}}}"#
            };
            serde_json::from_str::<Impairment>(text).unwrap()
        };
        for _ in 0..50 {
            let both = [true, false].map(|one| {
                let (handle, requested) = (handle.clone(), requested(one));
                tokio::spawn(async move { shape(&handle, Direction::PORT2, Some(requested)).await })
            });
            for racer in both {
                let found = racer.await.unwrap().applied.unwrap().impairment;
                assert!(found == requested(true) || found == requested(false), "a mix: {found:?}");
            }
        }
        drop(access);
        running.stop().1.unwrap();
        drop(handle);
        driving.await.unwrap();
    });
}

/// Waits until the interface has a delay of this length.
async fn delayed_by(fake: &Fake, interface: &str, delay_ns: i64) {
    for _ in 0..5_000 {
        let qdiscs = fake.qdiscs(interface);
        let netem = qdiscs.iter().find(|qdisc| qdisc.kind == "netem");
        if netem.is_some_and(|netem| Netem::parse(&netem.options).unwrap().latency_ns == delay_ns) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    panic!("{interface} has no delay of {delay_ns} ns: {:?}", fake.qdiscs(interface));
}

#[test]
fn interface_that_returns_has_the_last_granted_request_again() {
    let live = engine();
    let handle = live.handle();
    let effects = live.effects();
    let running = live.spawn_on_demand(MachineClock::start()).unwrap();
    block_on(async {
        let fake = Fake::new(&["a", "b"]);
        let mut earlier = Shaper::start(fake.clone(), Options::default()).await.unwrap();
        earlier.apply("b", &delayed(7_000_000).unwrap()).await.unwrap();
        let shaper = Shaper::start(fake.clone(), Options::default()).await.unwrap();
        let interfaces = vec!["a".to_owned(), "b".to_owned()];
        let (driver, access) = Driver::new(shaper, interfaces, handle.clone(), effects);
        let driving = tokio::spawn(driver.run());
        shape(&handle, Direction::PORT1, delayed(5_000_000)).await;
        fake.remove_interface("a");
        let port = shape(&handle, Direction::PORT1, delayed(9_000_000)).await;
        assert_eq!(port.failure.map(|failure| failure.kind), Some(FailureKind::Io));
        fake.return_interface("a");
        delayed_by(&fake, "a", 5_000_000).await;
        // What a daemon that ran before has put in force.
        fake.remove_interface("b");
        assert!(access.refresh(Direction::PORT2).await.is_err());
        fake.return_interface("b");
        delayed_by(&fake, "b", 7_000_000).await;
        access.refresh(Direction::PORT2).await.unwrap();
        let view = handle.view();
        let applied = view.impairments.port(Direction::PORT2).applied.clone().unwrap();
        assert_eq!((Some(applied.impairment), applied.divergence), (delayed(7_000_000), vec![]));
        drop(access);
        running.stop().1.unwrap();
        drop(handle);
        driving.await.unwrap();
    });
}

/// The model, each of whose answers takes 2 ms.
struct Slow(Fake);

impl Slow {
    async fn work(&self) {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

impl Kernel for Slow {
    fn backend(&self) -> (String, String) {
        self.0.backend()
    }

    fn changed(&mut self) -> Result<Vec<String>, KernelError> {
        self.0.changed()
    }

    async fn until_changed(&mut self) -> Result<(), KernelError> {
        self.0.until_changed().await
    }

    async fn link(&mut self, interface: &str) -> Result<Link, KernelError> {
        self.work().await;
        self.0.link(interface).await
    }

    async fn get(
        &mut self,
        index: u32,
        parent: KernelHandle,
    ) -> Result<Option<Qdisc>, KernelError> {
        self.work().await;
        self.0.get(index, parent).await
    }

    async fn has_ifb(&mut self) -> Result<bool, KernelError> {
        self.0.has_ifb().await
    }

    async fn filters(
        &mut self,
        index: u32,
        parent: KernelHandle,
    ) -> Result<Vec<FilterMessage>, KernelError> {
        self.work().await;
        self.0.filters(index, parent).await
    }

    async fn send_filters(&mut self, requests: &[FilterRequest]) -> Result<(), KernelError> {
        self.work().await;
        self.0.send_filters(requests).await
    }

    async fn send(&mut self, request: &Request) -> Result<(), KernelError> {
        self.work().await;
        self.0.send(request).await
    }
}

/// A client that changes and reads the second port without pause.
async fn load(handle: groundwave_engine::Handle<Snapshot>, access: DriverHandle, client: u64) {
    loop {
        access.refresh(Direction::PORT2).await.unwrap();
        shape(&handle, Direction::PORT2, delayed(client)).await;
        access.stats(Direction::PORT2).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_of_another_program_is_noticed_within_a_second_under_load() {
    let mut engine = engine();
    let (handle, effects) = (engine.handle(), engine.effects());
    // In this thread: virtual time stands still while the world computes.
    tokio::spawn(async move {
        let never = std::future::pending::<()>();
        drop(engine.tend(MachineClock::start(), never).await);
    });
    let fake = Fake::new(&["a", "b"]);
    let shaper = Shaper::start(Slow(fake.clone()), Options::default());
    let interfaces = vec!["a".to_owned(), "b".to_owned()];
    let (driver, access) = Driver::new(shaper.await.unwrap(), interfaces, handle.clone(), effects);
    tokio::spawn(driver.run());
    for client in 1..=100 {
        tokio::spawn(load(handle.clone(), access.clone(), client));
    }
    for round in 1..=10 {
        shape(&handle, Direction::PORT1, delayed(5_000_000)).await;
        tokio::time::sleep(Duration::from_millis(137 * round)).await;
        let began = tokio::time::Instant::now();
        let root = fake.qdiscs("a").remove(0);
        let delete = Request {
            verb: Verb::Delete,
            index: 0,
            handle: root.handle,
            parent: KernelHandle::ROOT,
            kind: "netem",
            options: None,
        };
        fake.send_foreign("a", &delete).unwrap();
        let mut views = handle.watch();
        let noticed = views.wait_for(|view| {
            let applied = view.impairments.port(Direction::PORT1).applied.as_ref();
            applied.is_some_and(|applied| !applied.divergence.is_empty())
        });
        noticed.await.unwrap();
        let took = began.elapsed();
        assert!(took < Duration::from_secs(1), "round {round}: {took:?}");
    }
}
