//! Scenarios of CORE (coreemu): devices with places, and a link for each that carries.

use std::collections::BTreeMap;
use std::io::{self, Write};

use groundwave_systems::Snapshot;

pub(super) fn write(now: &Snapshot, out: &mut impl Write) -> io::Result<u64> {
    let (mut lat, mut lon) = (0.0, 0.0);
    for node in now.nodes.iter() {
        lat += node.position.lat_deg() / now.nodes.len() as f64;
        lon += node.position.lon_deg() / now.nodes.len() as f64;
    }
    writeln!(out, "<?xml version='1.0' encoding='UTF-8'?>")?;
    writeln!(
        out,
        "<scenario name=\"groundwave\">\n  <networks/>\n  <devices>"
    )?;
    let mut numbers = BTreeMap::new();
    for (at, node) in now.nodes.iter().enumerate() {
        let number = at + 1;
        numbers.insert(node.id, number);
        let name = escaped(&node.name);
        let (lat, lon) = (node.position.lat_deg(), node.position.lon_deg());
        writeln!(
            out,
            "    <device id=\"{number}\" name=\"{name}\" icon=\"\" canvas=\"1\" type=\"mdr\" class=\"\" \
             image=\"\">\n      <position lat=\"{lat:.7}\" lon=\"{lon:.7}\" alt=\"{:.1}\"/>\n    </device>",
            node.station.height_agl_m
        )?;
    }
    writeln!(out, "  </devices>\n  <links>")?;
    let runs = |id| now.node(id).is_some_and(|node| node.operating);
    let mut count = now.nodes.len() as u64;
    for link in now
        .links
        .iter()
        .filter(|link| !link.severed && runs(link.a) && runs(link.b))
    {
        if link.budget.etx().is_none() {
            continue;
        }
        let (a, b) = (numbers[&link.a], numbers[&link.b]);
        // The slower and lossier direction: a link of CORE is the same both ways.
        let (forward, backward) = (&link.budget.forward, &link.budget.backward);
        let bandwidth = forward.data_rate_bps.min(backward.data_rate_bps).round();
        let loss_percent = forward.per.max(backward.per) * 100.0;
        let delay_us = (link.budget.distance_m / 299.792_458).round();
        writeln!(
            out,
            "    <link node1=\"{a}\" node2=\"{b}\">\n      <options delay=\"{delay_us}\" \
             bandwidth=\"{bandwidth}\" loss=\"{loss_percent:.3}\" dup=\"0\" jitter=\"0\" unidirectional=\"0\"/>\n    </link>"
        )?;
        count += 1;
    }
    writeln!(
        out,
        "  </links>\n  <session_origin lat=\"{lat:.7}\" lon=\"{lon:.7}\" alt=\"2.0\" scale=\"150.0\"/>\n</scenario>"
    )?;
    Ok(count)
}

fn escaped(text: &str) -> String {
    quick_xml::escape::escape(text).into_owned()
}
