//! Answers of the kernel: routing and generic netlink, queueing disciplines.

use std::path::Path;

use groundwave_fuzz::fuzz_target;
use groundwave_host::readings::decoders::{accepting_decoders, corpus};
use groundwave_kernel::linux_tc::read_qdisc;
use groundwave_kernel::{Fifo, Netem, Tbf};

/// Bodies of queueing disciplines as the kernel dumps them: a head, kind and options.
fn qdiscs() -> Vec<Vec<u8>> {
    let attribute = |kind: u16, value: &[u8]| {
        let length = (4 + value.len()) as u16;
        let mut bytes = [length.to_ne_bytes(), kind.to_ne_bytes()].concat();
        bytes.extend(value);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    };
    let of = |kind: &str, options: &[u8]| {
        let mut bytes = vec![0; 20];
        bytes[4..8].copy_from_slice(&7u32.to_ne_bytes());
        bytes[8..12].copy_from_slice(&0x1_0000u32.to_ne_bytes());
        bytes.extend(attribute(1, format!("{kind}\0").as_bytes()));
        bytes.extend(attribute(2, options));
        bytes.extend(attribute(7, &attribute(1, &[0; 16])));
        bytes
    };
    let netem = [vec![0; 24], attribute(9, &[1, 0, 0, 0, 2, 0, 0, 0])].concat();
    let loss = attribute(5, &attribute(2, &[9; 16]));
    vec![
        of("netem", &netem),
        of("netem", &[vec![3; 24], loss].concat()),
        of("tbf", &attribute(1, &[5; 36])),
        of("bfifo", &1500u32.to_ne_bytes()),
        of("noqueue", &[]),
    ]
}

fuzz_target!(netlink, corpus(), |bytes: &[u8]| {
    assert!(accepting_decoders(bytes) <= 18);
});
fuzz_target!(qdisc, qdiscs(), |bytes: &[u8]| {
    if let Ok(qdisc) = read_qdisc(bytes) {
        drop(Netem::parse(&qdisc.options));
        drop(Tbf::parse(&qdisc.options));
        drop(Fifo::parse(&qdisc.kind, &qdisc.options));
    }
    drop(Netem::parse(bytes));
    drop(Tbf::parse(bytes));
    drop(Fifo::parse("bfifo", bytes));
});
fuzz_target!(delay_table, vec![b"# normal\n-5 0 5\n32767\n".to_vec()], |bytes: &[u8]| {
    super::as_file("fuzz.dist", bytes, |path| {
        let folder = path.parent().unwrap_or(Path::new("/"));
        let named = groundwave_impair::Distribution::Table { name: "fuzz".to_owned() };
        drop(groundwave_kernel::table::table(&named, folder));
    });
});
