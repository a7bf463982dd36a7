//! Interfaces and namespaces of the running kernel that go and are there again.

use std::process::Command;

use groundwave_impair::Impairment;
use groundwave_needs::needs;
use tokio::sync::mpsc::unbounded_channel;

use super::super::{Kernel, KernelError, LinuxTc, Namespaces, Shaper};
use super::host::in_a_fresh_namespace;
use super::random::block_on;

fn ip(words: &str) -> String {
    let output = Command::new("ip").args(words.split(' ')).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {words}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn rate() -> Impairment {
    serde_json::from_str(r#"{"rate":{"bps":8000000,"burst_bytes":15000}}"#).unwrap()
}

#[needs(namespaces)]
#[test]
fn interface_that_goes_and_returns_is_named() {
    in_a_fresh_namespace(|| {
        block_on(async {
            let mut kernel = LinuxTc::open(None).unwrap();
            let index = kernel.link("port1").await.unwrap().index;
            kernel.changed().unwrap();
            let is_gone = |link| matches!(link, Err(KernelError::Gone { .. }));
            ip("link del port1");
            assert_eq!(kernel.changed().unwrap(), ["port1"]);
            assert!(is_gone(kernel.link("port1").await));
            // With the index that it had, and another one later.
            for words in [
                format!("link add port1 index {index} type veth peer name peer1"),
                "link add port1 type veth peer name peer1".to_owned(),
            ] {
                ip(&words);
                assert_eq!(kernel.changed().unwrap(), ["port1"], "{words}");
                kernel.link("port1").await.unwrap();
                assert_eq!(kernel.returned(), ["port1"], "{words}");
                assert_eq!(kernel.returned(), [""; 0]);
                ip("link del port1");
                kernel.changed().unwrap();
            }
            ip("link add port1 type veth peer name peer1");
            kernel.link("port1").await.unwrap();
            kernel.changed().unwrap();
            kernel.returned();
            ip("link set port1 name other");
            assert_eq!(kernel.changed().unwrap(), ["port1"], "it has another name");
            assert!(is_gone(kernel.link("port1").await));
            ip("link set other name port1");
            assert_eq!(kernel.changed().unwrap(), ["port1"]);
        });
    });
}

#[needs(namespaces)]
#[test]
fn device_of_incoming_traffic_goes_with_its_interface() {
    in_a_fresh_namespace(|| {
        block_on(async {
            let kernel = LinuxTc::open(None).unwrap();
            let mut shaper = Shaper::start(kernel, Default::default()).await.unwrap();
            if !shaper.capabilities().incoming || !shaper.capabilities().tbf {
                return;
            }
            shaper.apply("incoming:port1", &rate()).await.unwrap();
            let devices = || ip("-o link show type ifb");
            assert!(!devices().is_empty());
            ip("link del port1");
            assert_eq!(shaper.changed().unwrap(), ["incoming:port1"]);
            assert_eq!(devices(), "");
            ip("link add port1 type veth peer name peer1");
            assert_eq!(shaper.changed().unwrap(), ["incoming:port1"]);
            shaper.read("incoming:port1").await.unwrap();
            assert_eq!(shaper.returned(), ["incoming:port1"]);
            shaper.apply("incoming:port1", &rate()).await.unwrap();
            assert_eq!(devices().lines().count(), 1);
        });
    });
}

#[needs(namespaces, tbf)]
#[test]
fn namespace_that_is_no_more_is_let_go_and_another_takes_its_place() {
    in_a_fresh_namespace(|| {
        block_on(async {
            let ports = [("netns:far/port1".to_owned(), None, "port1".to_owned())];
            let (sender, replacements) = unbounded_channel();
            let kernel = Namespaces::open(&ports).unwrap().replaced_by(replacements);
            let port = &ports[0].0;
            let mut shaper = Shaper::start(kernel, Default::default()).await.unwrap();
            shaper.apply(port, &rate()).await.unwrap();
            shaper.changed().unwrap();
            sender.send((0, None)).unwrap();
            shaper.until_changed().await.unwrap();
            assert_eq!(
                (shaper.changed().unwrap(), shaper.returned()),
                (vec![port.clone()], vec![])
            );
            let error = shaper.apply(port, &rate()).await.unwrap_err();
            assert!(matches!(error, KernelError::Gone { .. }), "{error}");
            assert!(error.to_string().contains("no such network namespace"), "{error}");
            sender.send((0, Some(LinuxTc::open(None).unwrap()))).unwrap();
            shaper.until_changed().await.unwrap();
            assert_eq!(
                (shaper.changed().unwrap(), shaper.returned()),
                (vec![], vec![port.clone()])
            );
            assert_eq!(shaper.apply(port, &rate()).await.unwrap().impairment, rate());
        });
    });
}

#[needs(namespaces)]
#[test]
fn interface_of_two_names_is_one_interface() {
    in_a_fresh_namespace(|| {
        ip("link property add dev port1 altname uplink");
        let own = std::path::Path::new("/proc/thread-self/ns/net");
        let ports = [
            ("port1".to_owned(), None, "port1".to_owned()),
            ("uplink".to_owned(), None, "uplink".to_owned()),
            ("netns:own/port1".to_owned(), Some(own), "port1".to_owned()),
            ("peer1".to_owned(), None, "peer1".to_owned()),
            ("incoming:port1".to_owned(), None, "incoming:port1".to_owned()),
            ("gone".to_owned(), None, "gone".to_owned()),
        ];
        let kernel = Namespaces::open(&ports).unwrap();
        let of = |port: &str| kernel.interface_of(port);
        assert!(of("port1").is_some());
        assert_eq!((of("uplink"), of("netns:own/port1")), (of("port1"), of("port1")));
        assert_ne!(of("peer1"), of("port1"));
        assert_ne!(of("incoming:port1"), of("port1"), "it is another direction");
        assert_eq!(of("gone"), None);
    });
}
