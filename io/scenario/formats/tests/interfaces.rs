//! Links over cables and tunnels in documents of radio meshes.

use groundwave_model::sample::station;

use super::super::{Dataset, Event, ReadOptions, Source, identify};
use super::count;

/// Reads a document as the format of its content.
#[track_caller]
fn read(name: &str, text: &str) -> Dataset {
    let source = Source::of(text.into());
    let format = identify(&source).unwrap();
    assert_eq!(format.name, name);
    format.read(&source, &ReadOptions::new(station())).unwrap()
}

/// Names of sender and receiver, with quality or delivery.
fn links(dataset: &Dataset) -> Vec<(&str, &str, Option<f64>)> {
    let name = |index: u32| dataset.nodes[index as usize].name.as_str();
    let measured = dataset.events.iter().filter_map(|(_, event)| match *event {
        Event::Observe(from, to, values) => {
            Some((name(from), name(to), values.quality.or(values.delivery_prob)))
        }
        _ => None,
    });
    measured.collect()
}

#[test]
fn tunnels_and_cables_of_respondd_give_no_links() {
    let mac = |kind: u8, end: u8| format!("02:00:00:00:{kind:02}:{end:02}");
    let node = |id: &str, end: u8, peer: u8| {
        let neighbour = |kind: u8, tq: u8| {
            let (own, other) = (mac(kind, end), mac(kind, peer));
            format!(r#""{own}":{{"neighbours":{{"{other}":{{"tq":{tq}}}}}}}"#)
        };
        format!(
            r#"{{"nodeinfo":{{"node_id":"{id}","hostname":"{id}","network":{{"mesh":{{"bat0":{{"interfaces":{{
            "wireless":["{}"],"tunnel":["{}"],"other":["{}"]}}}}}}}}}},
            "neighbours":{{"node_id":"{id}","batadv":{{{},{},{}}}}}}}"#,
            mac(1, end),
            mac(2, end),
            mac(3, end),
            neighbour(1, 51),
            neighbour(2, 255),
            neighbour(3, 255)
        )
    };
    let text = format!(r#"{{"nodes":[{},{}]}}"#, node("aa", 1, 2), node("bb", 2, 1));
    let mesh = read("meshviewer", &text);
    assert_eq!(links(&mesh), [("bb", "aa", Some(0.2)), ("aa", "bb", Some(0.2))]);
    assert_eq!(count(&mesh.report, "a tunnel or cable"), 4);
}

#[test]
fn cables_of_meshviewer_give_no_links() {
    let text = r#"{"nodes":[],"links":[
        {"source":"a","target":"b","source_tq":0.5,"target_tq":0.25,"type":"wifi"},
        {"source":"a","target":"c","source_tq":1,"target_tq":1,"type":"other"},
        {"source":"a","target":"d","source_tq":1,"target_tq":1,"type":"l2tp"},
        {"source":"a","target":"e","source_tq":1,"target_tq":1,"type":"vpn"}]}"#;
    let mesh = read("meshviewer", text);
    assert_eq!(links(&mesh), [("a", "b", Some(0.5)), ("b", "a", Some(0.25))]);
    assert_eq!(count(&mesh.report, "a tunnel or cable"), 3);
}

#[test]
fn rows_of_batctl_over_cables_and_tunnels_give_no_links() {
    let table = "[B.A.T.M.A.N. adv 2024.0, MainIF/MAC: wlan0/02:00:00:00:00:01 (bat0 BATMAN_IV)]\n\
        \u{20}* 02:00:00:00:00:02    0.1s   (204) 02:00:00:00:00:02 [     wlan0]\n\
        \u{20}  02:00:00:00:00:02    0.1s   (255) 02:00:00:00:00:02 [  mesh-vpn]\n\
        \u{20}* 02:00:00:00:00:03    0.1s   (255) 02:00:00:00:00:03 [    eth0.2]: 02:00:00:00:00:03 (255)\n";
    let mesh = read("batctl_text", table);
    assert_eq!(links(&mesh), [("02:00:00:00:00:01", "02:00:00:00:00:02", Some(0.8))]);
    assert_eq!(count(&mesh.report, "a tunnel or cable"), 2);
    let rows = r#"[{"hard_ifname":"wlan0","orig_address":"a","neigh_address":"a","tq":204},
        {"hard_ifname":"eth0.2","orig_address":"b","neigh_address":"b","tq":255},
        {"hard_ifname":"mesh-vpn","orig_address":"a","neigh_address":"a","tq":255}]"#;
    let mesh = read("batctl", rows);
    assert_eq!(links(&mesh), [("self", "a", Some(0.8))]);
    assert_eq!(count(&mesh.report, "a tunnel or cable"), 2);
}

#[test]
fn rows_of_bmx_over_cables_and_tunnels_give_no_links() {
    let table = "LINKS:\n\
        shortId  name   linkKey nbLocalIp dev   rts rq tq  rxRate txRate\n\
        2ECE1A4E valley DH2048  fe80::1   wlan0 1   90 100 54M    6500K\n\
        3ECE1A4E cellar DH2048  fe80::2   eth0  1   100 100 1000M 1000M\n";
    let mesh = read("bmx", table);
    assert_eq!(links(&mesh), [("valley", "self", Some(0.9)), ("self", "valley", Some(1.0))]);
    assert_eq!(count(&mesh.report, "a tunnel or cable"), 1);
    let rows = r#"{"links":[{"name":"valley","viaDev":"ath0","rxRate":96,"txRate":100},
        {"name":"cellar","viaDev":"tap0","rxRate":100,"txRate":100}]}"#;
    let mesh = read("bmx", rows);
    assert_eq!(links(&mesh), [("valley", "self", Some(0.96)), ("self", "valley", Some(1.0))]);
    assert_eq!(count(&mesh.report, "a tunnel or cable"), 1);
}

#[test]
fn rows_of_libremesh_and_babeld_over_cables_give_no_links() {
    let shared = r#"{"LiMe-a":[
        {"dst_mac":"02:00:00:00:00:0b","tq":204,"iface":"wlan1-mesh_29","src_mac":"02:00:00:00:00:0a"},
        {"dst_mac":"02:00:00:00:00:0c","tq":255,"iface":"eth0_29","src_mac":"02:00:00:00:00:0d"},
        {"dst_ip":"fe80::c","rxcost":256,"txcost":256,"iface":"lan1_17","src_ip":"fe80::d"}]}"#;
    let mesh = read("libremesh", shared);
    assert_eq!(links(&mesh), [("LiMe-a", "02:00:00:00:00:0b", Some(0.8))]);
    assert_eq!(count(&mesh.report, "a tunnel or cable"), 2);
    let neighbours = r#"{"IPv6":{"fe80::9":{"dev":"wlan1-mesh_17","rxcost":256,"txcost":512},
        "fe80::8":{"dev":"br-lan","rxcost":256,"txcost":256}},"IPv4":[]}"#;
    let mesh = read("babel", neighbours);
    assert_eq!(links(&mesh), [("fe80::9", "self", Some(1.0)), ("self", "fe80::9", Some(0.5))]);
    assert_eq!(count(&mesh.report, "a tunnel or cable"), 1);
}
