//! Wires that are not there yet.

use std::collections::BTreeMap;
use std::path::Path;

use groundwave_systems::site::NodeId;
use groundwave_systems::testbed::{Protocol, Seat, WireSide};

use super::babel::Babel;
use super::batman;
use super::error::TestbedError;
use super::message::{End, address, enslave, neighbour, pair, up};
use super::names::{hardware, index, interface, link_local};
use super::plant::{Act, Laid, Plant, Seated, Wish};
use crate::kernel::wire::Ends;

/// MTU of a wire that no mesh protocol wraps, bytes.
const MTU_BYTES: u32 = 1500;

impl Plant {
    /// Lays the wires among `wishes` that are not there.
    pub(super) fn lay(
        &mut self,
        wishes: &[Wish],
        failures: &mut BTreeMap<WireSide, String>,
    ) -> Result<(), TestbedError> {
        let missing = |(side, ..): &&Wish| !self.wires.contains_key(side);
        let mut fresh: BTreeMap<(NodeId, NodeId), u32> = BTreeMap::new();
        for (side, number, _) in wishes.iter().filter(missing) {
            fresh.insert((side.from.min(side.to), side.from.max(side.to)), *number);
        }
        let mut acts: BTreeMap<NodeId, Vec<(WireSide, Act)>> = BTreeMap::new();
        for (&(a, b), &number) in &fresh {
            let (Some(near), Some(far)) = (self.seats.get(&a), self.seats.get(&b)) else {
                continue;
            };
            let wrapped = [near, far]
                .iter()
                .any(|end| end.protocol == Protocol::Batman);
            let end = |peer: &Seat, back| End {
                name: interface(peer),
                index: index(number),
                hardware: hardware(number, back),
                mtu_bytes: if wrapped {
                    batman::MTU_BYTES
                } else {
                    MTU_BYTES
                },
                alias: format!("groundwave {}", self.names.testbed),
            };
            let (one, other) = (end(&far.seat, false), end(&near.seat, true));
            let act = pair(&one, &other, far.space.descriptor());
            let side = WireSide { from: a, to: b };
            acts.entry(a).or_default().push((side, Act::Setup(act)));
        }
        self.carry_out(acts, failures)?;
        let mut acts: BTreeMap<NodeId, Vec<(WireSide, Act)>> = BTreeMap::new();
        let mut guided: BTreeMap<NodeId, Vec<String>> = BTreeMap::new();
        let speaks_ipv6 = Path::new("/proc/sys/net/ipv6").exists();
        for (&(a, b), &number) in &fresh {
            if failures.contains_key(&WireSide { from: a, to: b }) {
                continue;
            }
            for (from, to) in [(a, b), (b, a)] {
                let (Some(own), Some(peer)) = (self.seats.get(&from), self.seats.get(&to)) else {
                    continue;
                };
                let side = WireSide { from, to };
                let index = index(number);
                let mut setup = vec![up(index)];
                if speaks_ipv6 {
                    // Radios know each other's addresses from their beacons; measurements of one
                    // link must not hang on a lost solicitation.
                    let far = hardware(number, from == a);
                    setup.push(neighbour(index, link_local(far), far));
                }
                match own.protocol {
                    Protocol::Batman => setup.push(enslave(index, batman::INDEX)),
                    _ => setup.push(address(index, self.names.address(own.seat.number), 32)),
                }
                let of_node = acts.entry(from).or_default();
                of_node.extend(setup.into_iter().map(|setup| (side, Act::Setup(setup))));
                let ends = Some(Ends::default());
                self.wires.insert(side, Laid { number, ends });
                guided.entry(from).or_default().push(interface(&peer.seat));
            }
        }
        self.carry_out(acts, failures)?;
        for (node, interfaces) in guided {
            self.guide(node, &interfaces)?;
        }
        Ok(())
    }

    /// Tells the program that finds ways at a node of new interfaces, or, when it does not run, of
    /// all.
    pub(super) fn guide(&self, node: NodeId, fresh: &[String]) -> Result<(), TestbedError> {
        let Some(seated) = self.seats.get(&node) else {
            return Ok(());
        };
        if seated.protocol != Protocol::Babel {
            return Ok(());
        }
        let babel = self.babel(seated);
        let all = || self.wires.keys().filter(|side| side.from == node);
        let all = || all().filter_map(|side| Some(interface(&self.seats.get(&side.to)?.seat)));
        let interfaces: Vec<String> = if babel.runs() {
            fresh.to_vec()
        } else {
            all().collect()
        };
        if interfaces.is_empty() {
            return Ok(());
        }
        babel.serve(self.names.address(seated.seat.number), &interfaces)
    }

    pub(super) fn babel(&self, seated: &Seated) -> Babel {
        let netns = self.names.path(&seated.seat.name);
        Babel::of(&self.folder, &netns, &seated.seat.name)
    }
}
