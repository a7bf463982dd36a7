//! The running kernel, in a network namespace of its own.

use groundwave_impair::{Impairment, Latency, Loss, QueueUnit};
use groundwave_needs::needs;
use nix::sched::{CloneFlags, unshare};

use super::super::batch::Batch;
use super::super::conformance::{conforms, draw, incoming_conforms, options, possible, round_trip};
use super::super::fifo::Fifo;
use super::super::{Handle, Kernel, LinuxTc, Namespaces, Redirection, Request, Shaper, Verb};
use super::random::block_on;

/// Runs `work` in a new namespace with the veth pair `port1`, `peer1`.
pub(super) fn in_a_fresh_namespace(work: impl FnOnce() + Send) {
    let entered = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                unshare(CloneFlags::CLONE_NEWNET).unwrap();
                for arguments in ["link add port1 type veth peer name peer1", "link set port1 up"] {
                    let words = arguments.split(' ');
                    let done = std::process::Command::new("ip").args(words).status();
                    assert!(done.unwrap().success(), "ip {arguments}");
                }
                work();
            })
            .join()
    });
    entered.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
}

#[needs(namespaces)]
#[test]
fn the_running_kernel_conforms() {
    in_a_fresh_namespace(|| {
        block_on(async {
            let kernel = LinuxTc::open(None).unwrap();
            let options = options(std::path::Path::new("/nowhere"));
            let other = LinuxTc::open(None).unwrap();
            conforms(kernel, other, "port1", options.clone()).await;
            let kernel = LinuxTc::open(None).unwrap();
            let shaper = Shaper::start(kernel, options).await.unwrap();
            let capabilities = shaper.capabilities();
            assert_eq!(capabilities.backend_name, "linux-tc");
            let has = |module| !capabilities.missing.iter().any(|missing| missing.module == module);
            assert_eq!(capabilities.netem, has("sch_netem"));
            assert!(capabilities.pfifo && capabilities.bfifo);
        });
    });
}

#[needs(namespaces)]
#[test]
fn incoming_traffic_of_the_running_kernel_conforms() {
    in_a_fresh_namespace(|| {
        block_on(async {
            let [kernel, other] = [(), ()].map(|()| LinuxTc::open(None).unwrap());
            let options = options(std::path::Path::new("/nowhere"));
            let disturb = |state| {
                let mut show = std::process::Command::new("ip");
                let links = show.args(["-o", "link", "show", "type", "ifb"]).output().unwrap();
                let links = String::from_utf8(links.stdout).unwrap();
                let device = links.split(": ").nth(1).unwrap();
                let command = match state {
                    Redirection::InForce => return,
                    Redirection::Missing => "tc filter del dev port1 ingress pref 26455".to_owned(),
                    Redirection::DeviceGone => format!("ip link del {device}"),
                    Redirection::DeviceDown => format!("ip link set {device} down"),
                };
                let words: Vec<_> = command.split(' ').collect();
                let status = std::process::Command::new(words[0]).args(&words[1..]).status();
                assert!(status.unwrap().success(), "{command}");
            };
            incoming_conforms(kernel, other, "port1", disturb, options).await;
            let mut show = std::process::Command::new("tc");
            let text = show.args(["qdisc", "show", "dev", "port1"]).output().unwrap().stdout;
            assert!(!String::from_utf8(text).unwrap().contains("clsact"), "no hook remains");
        });
    });
}

/// The same name and index in two namespaces.
#[needs(namespaces, tbf)]
#[test]
fn ports_of_two_namespaces_are_shaped_apart() {
    let (tell_id, id) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let far = std::thread::spawn(move || {
        in_a_fresh_namespace(move || {
            tell_id.send(nix::unistd::gettid()).unwrap();
            ended.recv().unwrap();
        });
    });
    let file = format!("/proc/{}/ns/net", id.recv().unwrap());
    in_a_fresh_namespace(|| {
        block_on(async {
            let there = Some(std::path::Path::new(&file));
            let ports = [
                ("port1".to_owned(), None, "port1".to_owned()),
                ("netns:far/port1".to_owned(), there, "port1".to_owned()),
            ];
            let kernel = Namespaces::open(&ports).unwrap();
            let mut shaper = Shaper::start(kernel, Default::default()).await.unwrap();
            let rate = |bps: u64| -> Impairment {
                let text = format!(r#"{{"rate":{{"bps":{bps},"burst_bytes":15000}}}}"#);
                serde_json::from_str(&text).unwrap()
            };
            for ((port, _, _), bps) in ports.iter().zip([8_000_000, 16_000_000]) {
                let reading = shaper.apply(port, &rate(bps)).await.unwrap();
                assert_eq!((reading.impairment, reading.divergence), (rate(bps), vec![]), "{port}");
            }
            assert_eq!(shaper.changed().unwrap(), [""; 0], "own changes");
            let mut other = LinuxTc::open(there).unwrap();
            let index = other.link("port1").await.unwrap().index;
            let root = other.get(index, Handle::ROOT).await.unwrap().unwrap();
            let removal = Request {
                verb: Verb::Delete,
                index,
                handle: root.handle,
                parent: Handle::ROOT,
                kind: if root.kind == "netem" { "netem" } else { "tbf" },
                options: None,
            };
            other.send(&removal).await.unwrap();
            shaper.until_changed().await.unwrap();
            assert_eq!(shaper.changed().unwrap(), ["netns:far/port1"]);
            assert!(shaper.read("netns:far/port1").await.unwrap().impairment.is_empty());
            assert_eq!(shaper.read("port1").await.unwrap().impairment, rate(8_000_000));
        });
    });
    end.send(()).unwrap();
    far.join().unwrap();
}

/// Properties that the kernel lacks are left out.
#[needs(namespaces)]
#[test]
fn random_impairments_read_back_from_the_running_kernel() {
    in_a_fresh_namespace(|| {
        block_on(async {
            let kernel = LinuxTc::open(None).unwrap();
            let options = options(std::path::Path::new("/nowhere"));
            let mut shaper = Shaper::start(kernel, options).await.unwrap();
            let mut stream = groundwave_engine::Seed(5).stream("impairments", 0, 0);
            for _ in 0..500 {
                let mut requested = draw(&mut || stream.bits());
                if !shaper.capabilities().netem {
                    requested = Impairment {
                        rate: requested.rate,
                        queue: requested.queue,
                        ..Impairment::default()
                    };
                }
                if possible(&shaper, &requested) {
                    round_trip(&mut shaper, "port1", &requested).await;
                }
            }
        });
    });
}

#[needs(namespaces, tbf)]
#[test]
fn tc_shows_the_requested_parameters() {
    in_a_fresh_namespace(|| {
        block_on(async {
            let kernel = LinuxTc::open(None).unwrap();
            let mut shaper = Shaper::start(kernel, Default::default()).await.unwrap();
            let requested = r#"{"rate":{"bps":8000000,"burst_bytes":15000},"queue":{"limit":{"unit":"packets","value":44}}}"#;
            let requested: Impairment = serde_json::from_str(requested).unwrap();
            let reading = shaper.apply("port1", &requested).await.unwrap();
            assert_eq!((reading.impairment, reading.divergence), (requested, vec![]));
            let show = std::process::Command::new("tc")
                .args(["-j", "qdisc", "show", "dev", "port1"])
                .output()
                .unwrap();
            let shown: serde_json::Value = serde_json::from_slice(&show.stdout).unwrap();
            let by = |kind: &str| {
                let all = shown.as_array().unwrap();
                all.iter().find(|qdisc| qdisc["kind"] == kind).unwrap()["options"].clone()
            };
            assert_eq!(by("tbf")["rate"], 1_000_000, "tc shows bytes per second");
            assert_eq!(by("tbf")["burst"], 15_000);
            assert_eq!(by("pfifo")["limit"], 44);
        });
    });
}

#[needs(namespaces, kernel_without_netem)]
#[test]
fn without_netem_latency_and_loss_name_the_module() {
    in_a_fresh_namespace(|| {
        block_on(async {
            let kernel = LinuxTc::open(None).unwrap();
            let mut shaper = Shaper::start(kernel, Default::default()).await.unwrap();
            assert!(!shaper.capabilities().netem);
            let latency = Impairment {
                latency: Some(Latency::Constant { duration_ns: 1 }),
                ..Impairment::default()
            };
            let loss = Impairment {
                loss: Some(Loss::Bernoulli { pct: 1.0, correlation: None }),
                ..Impairment::default()
            };
            for (requested, what) in [(latency, "latency"), (loss, "loss")] {
                let said = shaper.apply("port1", &requested).await.unwrap_err().to_string();
                assert_eq!(
                    said,
                    format!("{what} is not supported: the kernel has no module sch_netem")
                );
            }
        });
    });
}

#[needs(namespaces)]
#[test]
fn a_batch_goes_on_after_errors_and_names_them() {
    in_a_fresh_namespace(|| {
        let index = block_on(async {
            let mut kernel = LinuxTc::open(None).unwrap();
            kernel.link("port1").await.unwrap().index
        });
        let mut batch = Batch::open(None).unwrap();
        let queue = |verb, handle, limit| Request {
            verb,
            index,
            handle: Handle::new(handle, 0),
            parent: Handle::ROOT,
            kind: "bfifo",
            options: Some(Fifo { unit: QueueUnit::Bytes, limit }.payload()),
        };
        let created = batch.send(&[queue(Verb::Create, 3, 1)]).unwrap();
        assert!(created.is_empty());
        let many: Vec<_> = (0..3000)
            .map(|at| queue(Verb::Change, if at % 1000 == 500 { 4 } else { 3 }, at))
            .collect();
        let refused: Vec<_> = batch.send(&many).unwrap().iter().map(|(at, _)| *at).collect();
        assert_eq!(refused, [500, 1500, 2500]);
        let nobody = Request { index: 0x7fff_fff0, ..queue(Verb::Change, 3, 1) };
        let refused = batch.send(&[nobody]).unwrap();
        assert!(matches!(refused[..], [(0, super::super::KernelError::Gone { .. })]));
        block_on(async {
            let mut kernel = LinuxTc::open(None).unwrap();
            let index = kernel.link("port1").await.unwrap().index;
            let held = kernel.get(index, Handle::ROOT).await.unwrap().unwrap();
            assert_eq!(held.options, 2999u32.to_ne_bytes());
        });
    });
}

#[needs(namespaces)]
#[test]
fn lost_notifications_are_answered_with_every_interface() {
    in_a_fresh_namespace(|| {
        block_on(async {
            let mut kernel = LinuxTc::open(None).unwrap();
            for quiet in ["lo", "port1"] {
                kernel.link(quiet).await.unwrap();
            }
            let index = kernel.link("peer1").await.unwrap().index;
            // Notifications of `ip`, which made the interfaces.
            kernel.changed().unwrap();
            let mut other = Batch::open(None).unwrap();
            let queue = |verb, limit| Request {
                verb,
                index,
                handle: Handle::new(3, 0),
                parent: Handle::ROOT,
                kind: "bfifo",
                options: Some(Fifo { unit: QueueUnit::Bytes, limit }.payload()),
            };
            assert!(other.send(&[queue(Verb::Create, 1)]).unwrap().is_empty());
            kernel.until_changed().await.unwrap();
            assert_eq!(kernel.changed().unwrap(), ["peer1"]);
            let many: Vec<_> = (0..5000).map(|at| queue(Verb::Change, at)).collect();
            assert!(other.send(&many).unwrap().is_empty());
            kernel.until_changed().await.unwrap();
            assert_eq!(kernel.changed().unwrap(), ["lo", "peer1", "port1"]);
            tokio::select! {
                biased;
                _ = kernel.until_changed() => panic!("everything was read"),
                () = std::future::ready(()) => {}
            }
        });
    });
}
