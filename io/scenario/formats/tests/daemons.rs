//! Tables of routing daemons and data of networks that their nodes share; documents are made after the published
//! forms.

use groundwave_model::sample::station;
use groundwave_simulation::measure::Measured;

use super::super::{Dataset, Event, ReadOptions, Source, identify};
use super::count;

/// Reads documents as the format of their content.
#[track_caller]
fn read(name: &str, documents: &[&str]) -> Dataset {
    let source = Source {
        documents: documents.iter().map(|text| text.as_bytes().to_vec()).collect(),
        names: (0..documents.len()).map(|index| format!("{index}.json")).collect(),
        ..Source::default()
    };
    let format = identify(&source).unwrap();
    assert_eq!(format.name, name);
    format.read(&source, &ReadOptions::new(station())).unwrap()
}

/// Measurements by names of sender and receiver, with their times, s since the beginning.
fn links(dataset: &Dataset) -> Vec<(f64, &str, &str, Measured)> {
    let name = |index: u32| dataset.nodes[index as usize].name.as_str();
    let measured = dataset.events.iter().filter_map(|(at_s, event)| match *event {
        Event::Observe(from, to, values) => {
            Some((dataset.elapsed_s(*at_s), name(from), name(to), values))
        }
        _ => None,
    });
    measured.collect()
}

fn delivery(prob: f64) -> Measured {
    Measured { delivery_prob: Some(prob), ..Measured::default() }
}

const BABEL: &str = "BABEL 1.0\nversion babeld-1.12.1\nhost roof\nmy-id 02:00:00:ff:fe:00:00:01\nok\n\
    add interface wlan0 up true ipv6 fe80::1 ipv4 10.0.0.1\n\
    add neighbour 55d6b0 address fe80::2 if wlan0 reach ffff ureach 0000 rxcost 256 txcost 512 rtt 0.000 \
    rttcost 0 cost 512\n\
    add neighbour 55d6b1 address fe80::3 if wlan0 reach 0000 ureach 0000 rxcost 65535 txcost 65535 cost 65535\n\
    add neighbour 55d6b2 address fe80::4 if e12 reach ffff ureach 0000 rxcost 96 txcost 96 cost 96\n\
    add neighbour 55d6b4 address fe80::6 if wg0 reach ffff ureach 0000 rxcost 256 txcost 256 cost 256\n\
    add route 55d6c0 prefix 10.0.0.9/32 from 0.0.0.0/0 installed yes id 02:00:00:ff:fe:00:00:09 metric 512 \
    refmetric 0 via fe80::2 if wlan0\nok\n";

#[test]
fn costs_of_babeld_are_the_share_of_hellos_of_each_direction() {
    let dataset = read("babel", &[BABEL]);
    let two = "fe80::2";
    let expected = [
        (0.0, two, "roof", delivery(1.0)),
        (0.0, "roof", two, delivery(0.5)),
        (0.0, "fe80::3", "roof", delivery(0.0)),
        (0.0, "roof", "fe80::3", delivery(0.0)),
    ];
    assert_eq!(links(&dataset), expected);
    assert_eq!(count(&dataset.report, "a route, not a link"), 1);
    assert_eq!(count(&dataset.report, "that of a wired link"), 2);
    assert_eq!(count(&dataset.report, "a tunnel or cable"), 1);
}

#[test]
fn dumps_of_two_nodes_share_a_link_and_a_time() {
    let other = "BABEL 1.0\nhost valley\nmy-id 02:00:00:ff:fe:00:00:02\nok\n\
        add interface wlan0 up true ipv6 fe80::2 ipv4 10.0.0.2\n\
        add neighbour 1 address fe80::1 if wlan0 reach ffff ureach 0000 rxcost 512 txcost 256 cost 512\n";
    let dataset = read("babel", &[BABEL, other]);
    let all = links(&dataset);
    // No dump ends the links of the other node.
    assert!(all.iter().all(|(at_s, ..)| *at_s == 0.0), "{all:?}");
    let between: Vec<_> =
        all.iter().filter(|link| link.1 == "valley" || link.2 == "valley").collect();
    assert_eq!(between.len(), 2);
    for (_, from, _, values) in between {
        let expected = if *from == "valley" { 1.0 } else { 0.5 };
        assert_eq!(values.delivery_prob, Some(expected));
    }
}

#[test]
fn link_that_a_later_dump_of_the_node_does_not_list_is_down() {
    let later = "BABEL 1.0\nhost roof\nmy-id 02:00:00:ff:fe:00:00:01\nok\n";
    let dataset = read("babel", &[BABEL, later]);
    let absent: Vec<_> = links(&dataset).into_iter().filter(|link| link.0 == 60.0).collect();
    assert_eq!(absent.len(), 4);
    assert!(absent.iter().all(|link| link.3 == delivery(0.0)), "{absent:?}");
}

#[test]
fn neighbours_of_babeld_over_ubus_are_read() {
    let text = r#"{"IPv6":{"fe80::9":{"dev":"wlan1-mesh_17","hello-reach":65535,"uhello-reach":0,
        "rxcost":256,"txcost":341.3333333333333,"rtt":"0.000","channel":255,"if_up":true}},"IPv4":[]}"#;
    let dataset = read("babel", &[text]);
    assert_eq!(
        links(&dataset),
        [(0.0, "fe80::9", "self", delivery(1.0)), (0.0, "self", "fe80::9", delivery(0.75))]
    );
}

#[test]
fn links_of_bmx7_have_shares_and_rates() {
    let text = "STATUS:\n\
        shortId  name nodeKey cv revision primaryIp        tun6Address tun4Address uptime     cpu txQ  nbs rts nodes\n\
        01662D16 roof RSA2048 21 e2bd709  fd70:166:2d16::1 ---         ---         0:00:03:34 0.2 0/50 2   9   10/10\n\
        LINKS:\n\
        shortId  name   linkKey    linkKeys   nbLocalIp dev   rts rq tq  rxRate txRate wTxRate mcs sgi chw wSnr\n\
        2ECE1A4E valley DH2048M112 RSA896,DH2 fe80::1   wlan0 1   90 100 54M    6500K  -1      0   0   20  23\n\
        ORIGINATORS:\n\
        shortId  name   as S dev   metric\n\
        2ECE1A4E valley nA A wlan0 999M\n";
    let dataset = read("bmx", &[text]);
    let towards = Measured { rate_bps: Some(54e6), snr_db: Some(23.0), ..delivery(0.9) };
    let back = Measured { rate_bps: Some(6.5e6), ..delivery(1.0) };
    assert_eq!(links(&dataset), [(0.0, "valley", "roof", towards), (0.0, "roof", "valley", back)]);
}

#[test]
fn links_of_bmx6_are_read_from_text_and_json() {
    let text = "LINKS:\n\
        globalId        llocalIp viaDev rxRate bestRxLink txRate bestTxLink routes wantsOgms nbLocalId\n\
        valley.8AE27D7C fe80::2  wlan0  96     1          100    1          3      1         0A00\n";
    let json = r#"{"status":{"globalId":"roof.11","name":"roof","uptime":"0:01"}}
        {"links":[{"globalId":"valley.8AE27D7C","llocalIp":"fe80::2","viaDev":"wlan0","rxRate":96,"bestRxLink":1,
        "txRate":100,"bestTxLink":1,"routes":3}]}"#;
    let values: Vec<Measured> = links(&read("bmx", &[text])).iter().map(|link| link.3).collect();
    assert_eq!(values, [delivery(0.96), delivery(1.0)]);
    let source = r#"{"links":[{"globalId":"valley.8AE27D7C","rxRate":96,"txRate":100}]}"#;
    let dataset = read("bmx", &[source]);
    assert_eq!(links(&dataset)[0], (0.0, "valley.8AE27D7C", "self", delivery(0.96)));
    let bytes = Source::of(json.as_bytes().to_vec());
    let dataset = super::super::bmx::FORMAT.read(&bytes, &ReadOptions::new(station())).unwrap();
    assert_eq!(links(&dataset)[1], (0.0, "roof", "valley.8AE27D7C", delivery(1.0)));
}

#[test]
fn three_forms_of_batadv_vis_are_one_mesh() {
    let document = r#"{ "source_version" : "2014.4.0", "algorithm" : 4, "vis" : [
        { "primary" : "02:00:00:00:00:01", "neighbors" : [
          { "router" : "02:00:00:00:00:01", "neighbor" : "02:00:00:00:00:02", "metric" : "1.250" } ],
          "clients" : [ "33:33:00:00:00:02" ] },
        { "primary" : "02:00:00:00:00:02", "secondary": [ "02:00:00:00:00:22" ], "neighbors" : [
          { "router" : "02:00:00:00:00:22", "neighbor" : "02:00:00:00:00:01", "metric" : "1.000" } ] } ] }"#;
    let lines = "{ \"primary\" : \"02:00:00:00:00:01\" }\n\
        { \"router\" : \"02:00:00:00:00:01\", \"neighbor\" : \"02:00:00:00:00:02\", \"label\" : \"1.250\" }\n\
        { \"router\" : \"02:00:00:00:00:01\", \"gateway\" : \"33:33:00:00:00:02\", \"label\" : \"TT\" }\n\
        { \"primary\" : \"02:00:00:00:00:02\" }\n\
        { \"secondary\" : \"02:00:00:00:00:22\", \"of\" : \"02:00:00:00:00:02\" }\n\
        { \"router\" : \"02:00:00:00:00:22\", \"neighbor\" : \"02:00:00:00:00:01\", \"label\" : \"1.000\" }\n";
    let dot = "digraph {\n\tsubgraph \"cluster_02:00:00:00:00:01\" {\n\t\t\"02:00:00:00:00:01\" [peripheries=2]\n\t}\n\
        \t\"02:00:00:00:00:01\" -> \"02:00:00:00:00:02\" [label=\"1.250\"]\n\
        \t\"02:00:00:00:00:01\" -> \"33:33:00:00:00:02\" [label=\"TT\"]\n\
        \t\"02:00:00:00:00:02\" -> \"02:00:00:00:00:01\" [label=\"1.000\"]\n}\n";
    let (one, two) = ("02:00:00:00:00:01", "02:00:00:00:00:02");
    let quality = |quality| Measured { quality: Some(quality), ..Measured::default() };
    for text in [document, lines, dot] {
        let dataset = read("batadv-vis", &[text]);
        let expected = [(0.0, one, two, quality(0.8)), (0.0, two, one, quality(1.0))];
        assert_eq!(links(&dataset), expected, "{text}");
        assert_eq!(count(&dataset.report, "a client, not a node"), 1, "{text}");
    }
    let rates = document.replace("\"algorithm\" : 4", "\"algorithm\" : 5");
    let dataset = read("batadv-vis", &[&rates]);
    assert_eq!(links(&dataset)[0].3.rate_bps, Some(1.25e6));
}

#[test]
fn shared_links_of_libremesh_join_by_addresses() {
    let wifi = r#"{
      "LiMe-a": {"src_loc":{"lat":"-31.80","long":"-64.41"},"links":{"aabb":{"freq":5240,"iface":"wlan1-mesh",
        "tx_rate":300000,"dst_mac":"ae:00:00:00:00:0b","channel":48,"chains":[-56,-57],"signal":-54,
        "rx_rate":270000,"src_mac":"ae:00:00:00:00:0a"}}},
      "LiMe-b": {"src_loc":{"lat":"FIXME","long":"FIXME"},"links":{"aabb":{"freq":5240,"iface":"wlan1-mesh",
        "tx_rate":243000,"dst_mac":"ae:00:00:00:00:0a","channel":48,"signal":-55,"rx_rate":300000,
        "src_mac":"ae:00:00:00:00:0b"}}}}"#;
    let dataset = read("libremesh", &[wifi]);
    assert_eq!(dataset.nodes.len(), 2);
    let [lat, lon] = [-31.80, -64.41];
    let place = dataset.nodes[0].position.unwrap();
    assert_eq!((place.lat_deg(), place.lon_deg()), (lat, lon));
    assert_eq!(dataset.nodes[1].position, None);
    let signals: Vec<_> =
        links(&dataset).iter().map(|link| (link.1, link.2, link.3.rx_power_dbm)).collect();
    // What both ends state of a direction is one measurement.
    let expected = [("LiMe-b", "LiMe-a", Some(-54.0)), ("LiMe-a", "LiMe-b", Some(-55.0))];
    assert_eq!(signals, expected);
    assert_eq!(links(&dataset)[0].3.rate_bps, Some(270e6));
    assert_eq!(links(&dataset)[0].3.frequency_mhz, Some(5240.0));
}

#[test]
fn shared_state_of_batman_babel_and_nodes_is_read() {
    let bat = r#"{"LiMe-a":[{"dst_mac":"02:00:00:00:00:0b","last_seen_msecs":20,"tq":204,"iface":"wlan1-mesh_29",
        "src_mac":"02:00:00:00:00:0a"}]}"#;
    let bat = read("libremesh", &[bat]);
    assert_eq!(links(&bat)[0].3.quality, Some(0.8));
    let babel = r#"{"LiMe-a":{"k":{"src_ip":"fe80::a","dst_ip":"fe80::b","iface":"wlan1-mesh_17","rxcost":256,
        "txcost":512}}}"#;
    let babel = read("libremesh", &[babel]);
    assert_eq!(links(&babel)[1], (0.0, "LiMe-a", "fe80::b", delivery(0.5)));
    let info = r#"{"LiMe-a":{"bleachTTL":30,"data":{"hostname":"LiMe-a","board":"tplink,wdr3500",
        "firmware_version":"2020.4","coordinates":{"lat":"-31.8","lon":"-64.4"}}}}"#;
    let info = read("libremesh", &[info]);
    assert!(info.nodes[0].position.is_some(), "{:?}", info.nodes);
}

#[test]
fn raw_lines_of_yanic_are_one_snapshot() {
    let node = |id: &str, mac: &str, other: &str, lat: f64| {
        format!(
            r#"{{"firstseen":"2026-01-01T00:00:00+0100","online":true,"nodeinfo":{{"node_id":"{id}","hostname":"{id}",
            "network":{{"mesh":{{"bat0":{{"interfaces":{{"wireless":["{mac}"]}}}}}}}},
            "location":{{"latitude":{lat},"longitude":8.5}}}},
            "neighbours":{{"node_id":"{id}","batadv":{{"{mac}":{{"neighbours":{{"{other}":{{"tq":204,"lastseen":1}}}}}}}}}}}}"#
        )
        .replace('\n', " ")
    };
    let (a, b) = ("02:00:00:00:00:0a", "02:00:00:00:00:0b");
    let lines = [
        r#"{"version":1,"updated_at":"2026-01-01T01:00:00+0000","format":"raw-nodes-jsonl"}"#
            .to_owned(),
        node("aa", a, b, 52.0),
        node("bb", b, a, 52.1),
    ];
    let dataset = read("meshviewer", &[&lines.join("\n")]);
    let quality = Measured { quality: Some(0.8), ..Measured::default() };
    assert_eq!(links(&dataset), [(0.0, "bb", "aa", quality), (0.0, "aa", "bb", quality)]);
    assert_eq!(dataset.nodes.len(), 2);
    assert_eq!(dataset.begin_unix_s, Some(1_767_229_200.0));
}

#[test]
fn contacts_and_neighbours_of_meshcore_are_one_mesh() {
    let contacts = r#"{"A1B2C3D4E5F60718293a4b5c6d7e8f901122334455667788990011223344aabb":{"public_key":
        "A1B2C3D4E5F60718293a4b5c6d7e8f901122334455667788990011223344aabb","type":2,"flags":0,"out_path_len":-1,
        "out_path":"","adv_name":"Hill","last_advert":1760000000,"adv_lat":59.3,"adv_lon":18.1,"lastmod":1760000000},
        "ffee":{"public_key":"ffeeddccbbaa","type":1,"adv_name":"Walker","adv_lat":0.0,"adv_lon":0.0}}"#;
    let neighbours = r#"{"pubkey_prefix":"ffeeddcc","neighbours_count":1,"results_count":1,
        "neighbours":[{"pubkey":"a1b2c3d4","secs_ago":12,"snr":-3.5}]}"#;
    let dataset = read("meshcore", &[contacts, neighbours]);
    assert!(dataset.nodes[0].position.is_some() && dataset.nodes[1].position.is_none());
    let snr = Measured { snr_db: Some(-3.5), ..Measured::default() };
    assert_eq!(links(&dataset), [(0.0, "Hill", "Walker", snr)]);
    let export = r#"{"name":"Mine","public_key":"00aa00aa","position_settings":{"latitude":"59.2","longitude":
        "18.0"},"contacts":[{"type":2,"name":"Hill","custom_name":null,"public_key":"a1b2c3d4e5","flags":0,
        "latitude":"59.3","longitude":"18.1","last_advert":1760000000}]}"#;
    let dataset = read("meshcore", &[export]);
    let names: Vec<_> = dataset.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["Mine", "Hill"]);
    assert!(dataset.nodes.iter().all(|node| node.position.is_some()));
}

#[test]
fn documents_of_two_nodes_do_not_end_links_of_each_other() {
    let node = |name: &str, peer: &str| {
        format!(
            r#"{{"node":"{name}","lat":"34.0","lon":"-118.0","meshrf":{{"status":"on"}},"link_info":
            {{"10.0.0.9":{{"hostname":"{peer}","linkType":"RF","linkQuality":1,"neighborLinkQuality":0.9,
            "signal":-70,"noise":-95}}}}}}"#
        )
    };
    let dataset = read("aredn", &[&node("AA1A", "BB2B"), &node("CC3C", "DD4D")]);
    let all = links(&dataset);
    assert_eq!(all.len(), 4);
    assert!(all.iter().all(|link| link.0 == 0.0 && link.3.delivery_prob != Some(0.0)), "{all:?}");
}

#[test]
fn networks_of_netdiff_are_read_and_what_has_no_links_is_named() {
    let bmx =
        r#"[{"name":"a","links":[{"name":"b","rxRate":91,"txRate":40}]},{"name":"b","links":[]}]"#;
    let mesh = read("bmx", &[bmx]);
    let directions: Vec<_> =
        links(&mesh).iter().map(|link| (link.1, link.2, link.3.delivery_prob)).collect();
    assert_eq!(directions, [("b", "a", Some(0.91)), ("a", "b", Some(0.4))]);
    let batman = "Table: Topology\n       MAC 1             MAC2       FINTO FINTO Costo\n\
                  a0:f3:c1:ac:6c:44 10:fe:ed:37:3a:39 1.000 1.000 1.250\n";
    let mesh = read("txtinfo", &[batman]);
    assert_eq!(links(&mesh).iter().map(|link| link.3.quality).collect::<Vec<_>>(), [Some(0.8)]);
    let info = r#"{"node_id":"f81a","hostname":"foo","network":{"mac":"f8:1a:67:a6:01:ea"},
        "location":{"latitude":53.08,"longitude":8.88}}"#;
    let mesh = read("meshviewer", &[info]);
    assert_eq!((mesh.nodes[0].name.as_str(), mesh.nodes[0].position.is_some()), ("foo", true));
    for (text, part) in [
        (r#"{"type":"NetworkRoutes","protocol":"olsrv2","routes":[]}"#, "a routing table"),
        (r#"{"node_id":"f81a","traffic":{"rx":{}},"clients":{}}"#, "statistics of respondd"),
    ] {
        let error = identify(&Source::of(text.into())).unwrap_err();
        assert!(error.to_string().contains(part), "{error}");
        assert!(error.to_string().len() < 400, "{error}");
    }
}

#[test]
fn originators_of_batctl_may_have_names() {
    let table = "[B.A.T.M.A.N. adv 2024.0, MainIF/MAC: wlan0/02:00:00:00:00:01 (bat0 BATMAN_IV)]\n\
        \u{20}  Originator        last-seen (#/255) Nexthop           [outgoingIF]\n\
        \u{20}* gate1               0.360s   (204) gate1 [     wlan0]\n\
        \u{20}* 02:00:00:00:00:04    0.480s   (180) gate1 [     wlan0]\n\
        \u{20}* 02:00:00:00:00:05    0.480s   (255) 02:00:00:00:00:05 [     wlan0]\n";
    let dataset = read("batctl_text", &[table]);
    let quality = |quality: f64| Measured { quality: Some(quality), ..Measured::default() };
    let here = "02:00:00:00:00:01";
    let expected =
        [(0.0, here, "gate1", quality(0.8)), (0.0, here, "02:00:00:00:00:05", quality(1.0))];
    assert_eq!(links(&dataset), expected);
    assert_eq!(count(&dataset.report, "a route, not a link"), 1);
}

#[test]
fn changes_behind_a_dump_of_babeld_replace_and_remove_neighbours() {
    let text = format!(
        "{BABEL}change neighbour 55d6b0 address fe80::2 if wlan0 reach ffff ureach 0000 rxcost 1024 txcost 256 cost 256\n\
         flush neighbour 55d6b1 address fe80::3 if wlan0 reach 0000 ureach 0000 rxcost 65535 txcost 65535 cost 65535\n\
         add neighbour 55d6b3 address fe80::5 if wlan0 reach ffff ureach 0000 rxcost 256 txcost 256 cost 256\n"
    );
    let dataset = read("babel", &[&text]);
    let expected = [
        (0.0, "fe80::2", "roof", delivery(0.25)),
        (0.0, "roof", "fe80::2", delivery(1.0)),
        (0.0, "fe80::5", "roof", delivery(1.0)),
        (0.0, "roof", "fe80::5", delivery(1.0)),
    ];
    assert_eq!(links(&dataset), expected);
}

#[test]
fn links_and_topology_of_olsrd2_have_rates() {
    let link = |bind: &str, originator: &str, metric: &str, costs: [&str; 2]| {
        format!(
            r#"{{"if":"wlan0","link_bindto":"{bind}","link_status":"symmetric","link_mac":"02:00:00:00:00:0a",
            "neighbor_originator":"{originator}","domain":0,"domain_metric":"{metric}",
            "domain_metric_in":"1.02kbit/s","domain_metric_in_raw":{},"domain_metric_out":"1.02kbit/s",
            "domain_metric_out_raw":{}}}"#,
            costs[0], costs[1]
        )
    };
    let rows = [
        link("fe80::2", "fd00::2", "ff_dat_metric", ["2097152", "1048576"]),
        link("fe80::3", "fd00::3", "ff_dat_metric", ["16776960", "2097152"]),
        link("fe80::4", "fd00::4", "hopcount_metric", ["1", "1"]),
        link("-", "-", "ff_dat_metric", ["1", "1"]),
    ];
    let table = format!(r#"{{"link":[{}]}}"#, rows.join(","));
    let own = r#"{"originator":[{"originator":"-"},{"originator":"fd00::1"}]}"#;
    let mesh = read("olsrd2", &[&format!("{own}{table}")]);
    let rates: Vec<_> =
        links(&mesh).into_iter().map(|link| (link.1, link.2, link.3.rate_bps)).collect();
    let expected = [
        ("fd00::2", "fd00::1", Some(1024.0)),
        ("fd00::1", "fd00::2", Some(2048.0)),
        ("fd00::1", "fd00::3", Some(1024.0)),
    ];
    assert_eq!(rates, expected);
    for (what, times) in [
        ("a metric other than a rate (hopcount_metric)", 2),
        ("without a metric yet", 1),
        ("without its neighbour", 1),
    ] {
        assert_eq!(count(&mesh.report, what), times, "{what}: {}", mesh.report);
    }
    let edge = r#"{"edge":[{"node":"fd00::1","edge":"fd00::2","edge_ansn":3,"domain":0,"domain_metric":"ff_dat_metric",
        "domain_metric_out":"2.05kbit/s","domain_metric_out_raw":1048576}]}"#;
    let mesh = read("olsrd2", &[edge]);
    assert_eq!(links(&mesh)[0].3.rate_bps, Some(2048.0));
    let text = "wlan0\tfe80::2\t20\tsymmetric\t0\tff_dat_metric\t1.02kbit/s\t2105088\n";
    let error = identify(&Source::of(text.into())).unwrap_err().to_string();
    assert!(error.contains("nhdpinfo json link") && error.contains("olsrd2"), "{error}");
}

#[test]
fn costs_of_netjson_are_those_of_its_metric() {
    let graph = |metric: &str, costs: [f64; 2]| {
        let [one, other] = costs;
        format!(
            r#"{{"type":"NetworkGraph","metric":"{metric}","nodes":[],"links":[
            {{"source":"a","target":"b","cost":{one}}},{{"source":"b","target":"a","cost":"{other}"}}]}}"#
        )
    };
    let of = |metric: &str, costs: [f64; 2]| {
        let mesh = read("netjson", &[&graph(metric, costs)]);
        let values: Vec<_> =
            links(&mesh).iter().map(|link| (link.3.quality, link.3.rate_bps)).collect();
        (values, mesh.report)
    };
    assert_eq!(of("ETX", [1.0, 2.0]).0, [(Some(1.0), None), (Some(0.5), None)]);
    let (values, report) = of("ETX", [1024.0, 4096.0]);
    assert_eq!(values, [(Some(1.0), None), (Some(0.25), None)]);
    assert_eq!(count(&report, "units of 1/1024 ETX"), 2);
    let airtime = of("ff_dat_metric", [2_097_152.0, 1_048_576.0]).0;
    assert_eq!(airtime, [(None, Some(1024.0)), (None, Some(2048.0))]);
    let (values, report) = of("hops", [1.0, 4.0]);
    assert_eq!(values.len(), 2);
    assert_eq!(count(&report, "the metric \"hops\": taken as ETX"), 2);
}

#[test]
fn nodes_of_one_host_name_without_ids_are_nodes_of_their_own() {
    let node = |id: &str, lat_deg: f64| {
        format!(r#"{{{id}"hostname":"roof","location":{{"latitude":{lat_deg},"longitude":11.9}}}}"#)
    };
    let map = |one: &str, other: &str| {
        let nodes = [node(one, 57.7), node(other, 57.8)].join(",");
        format!(r#"{{"timestamp":"2024-05-01T10:00:00","nodes":[{nodes}],"links":[]}}"#)
    };
    for text in [map("", ""), map(r#""node_id":"a","#, r#""node_id":"b","#)] {
        let mesh = read("meshviewer", &[&text]);
        assert_eq!(mesh.nodes.len(), 2, "{text}");
        assert_eq!(count(&mesh.report, "without a zone"), 1, "{text}");
        assert_eq!(mesh.begin_unix_s, Some(1_714_557_600.0), "{text}");
    }
}
