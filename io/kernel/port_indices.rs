//! Indices of the interfaces behind ports, by which changes of other programs and interfaces that return are noticed.

use std::collections::{BTreeMap, BTreeSet};

use groundwave_netlink::Changes;

use super::incoming::base_of;

/// Index of no interface.
const GONE: u32 = 0;

/// Indices behind ports: of their interfaces, and of the devices of those that are incoming traffic.
#[derive(Debug, Default)]
pub(super) struct PortIndices {
    /// Last seen index of the interface of each port; [`GONE`] where it is not there.
    interfaces: BTreeMap<String, u32>,
    /// Index of the device of each port that is incoming traffic and is impaired.
    devices: BTreeMap<String, u32>,
    /// Ports whose interface is another one since [`Self::take_returned`].
    returned: BTreeSet<String>,
}

impl PortIndices {
    /// Last seen index of the interface of a port; `None` where it is not there.
    pub fn interface(&self, port: &str) -> Option<u32> {
        self.interfaces.get(port).copied().filter(|index| *index != GONE)
    }

    /// Notes the interface of a port, `None` where it is not there. Returns the index of the one before, if it was
    /// another.
    pub fn note(&mut self, port: &str, index: Option<u32>) -> Option<u32> {
        let index = index.unwrap_or(GONE);
        let Some(before) = self.interfaces.get_mut(port) else {
            if index != GONE {
                self.interfaces.insert(port.to_owned(), index);
            }
            return None;
        };
        if *before == index {
            return None;
        }
        let before = std::mem::replace(before, index);
        if index != GONE {
            self.returned.insert(port.to_owned());
        }
        Some(before).filter(|before| *before != GONE)
    }

    /// Notes the device of a port that is incoming traffic, `None` without one.
    pub fn note_device(&mut self, port: &str, index: Option<u32>) {
        match index {
            Some(index) => self.devices.insert(port.to_owned(), index),
            None => self.devices.remove(port),
        };
    }

    /// Ports that notifications are about.
    pub fn changed(&self, changes: &Changes) -> BTreeSet<String> {
        let is_changed = |(port, index): &(&String, &u32)| {
            let name = base_of(port).unwrap_or(port);
            changes.overrun
                || changes.disciplines.contains(*index)
                || changes.filters.contains(*index)
                || changes.removed.contains(*index)
                || changes.present.get(name).is_some_and(|now| now != *index)
                // It has another name now.
                || changes.present.iter().any(|(other, now)| now == *index && other != name)
        };
        let is_device_changed = |(_, index): &(&String, &u32)| {
            changes.disciplines.contains(*index)
                || changes.filters.contains(*index)
                || changes.removed.contains(*index)
        };
        let interfaces = self.interfaces.iter().filter(is_changed);
        let devices = self.devices.iter().filter(is_device_changed);
        interfaces.chain(devices).map(|(port, _)| port.clone()).collect()
    }

    /// Ports whose interface was removed.
    pub fn removed(&self, changes: &Changes) -> Vec<String> {
        let removed = self.interfaces.iter().filter(|(_, index)| changes.removed.contains(*index));
        removed.map(|(port, _)| port.clone()).collect()
    }

    /// Ports whose interface is another one since the last call, so that nothing requested is in force there.
    pub fn take_returned(&mut self) -> Vec<String> {
        std::mem::take(&mut self.returned).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interface_that_is_there_again_has_returned_once() {
        let mut ports = PortIndices::default();
        assert_eq!(ports.note("eth0", None), None, "it was never there");
        assert_eq!(ports.note("eth0", Some(4)), None);
        assert_eq!(ports.take_returned(), [""; 0], "the first one");
        assert_eq!(ports.note("eth0", None), Some(4));
        assert_eq!((ports.interface("eth0"), ports.take_returned()), (None, vec![]));
        // Also with the same index, as a program may ask for.
        assert_eq!(ports.note("eth0", Some(4)), None);
        assert_eq!(ports.take_returned(), ["eth0"]);
        assert_eq!(ports.note("eth0", Some(9)), Some(4), "in place of the other one");
        assert_eq!(ports.note("eth0", Some(9)), None);
        assert_eq!(
            (ports.take_returned(), ports.take_returned()),
            (vec!["eth0".to_owned()], vec![])
        );
        assert_eq!(ports.interface("eth0"), Some(9));
    }

    #[test]
    fn changes_of_the_interface_and_of_the_device_are_those_of_the_port() {
        let mut ports = PortIndices::default();
        ports.note("eth0", Some(4));
        ports.note("incoming:eth1", Some(5));
        ports.note_device("incoming:eth1", Some(50));
        let changed = |changes: Changes| ports.changed(&changes).into_iter().collect::<Vec<_>>();
        let of = |index: u32| [index].into();
        let named = |name: &str, index: u32| [(name.to_owned(), index)].into();
        assert_eq!(changed(Changes { disciplines: of(4), ..Changes::default() }), ["eth0"]);
        for index in [5, 50] {
            for changes in [
                Changes { removed: of(index), ..Changes::default() },
                Changes { disciplines: of(index), ..Changes::default() },
                Changes { filters: of(index), ..Changes::default() },
            ] {
                assert_eq!(changed(changes), ["incoming:eth1"]);
            }
        }
        for (name, index, port) in [
            ("eth0", 4, ""),
            ("eth0", 7, "eth0"),
            ("eth1", 7, "incoming:eth1"),
            ("wan0", 4, "eth0"),
            ("wan0", 5, "incoming:eth1"),
            ("gwin5", 50, ""),
        ] {
            let changes = Changes { present: named(name, index), ..Changes::default() };
            let expected: Vec<&str> =
                Some(port).filter(|port| !port.is_empty()).into_iter().collect();
            assert_eq!(changed(changes), expected, "{name} {index}");
        }
        let all = changed(Changes { overrun: true, ..Changes::default() });
        assert_eq!(all, ["eth0", "incoming:eth1"]);
        let removed = Changes { removed: [4, 50].into(), ..Changes::default() };
        assert_eq!(ports.removed(&removed), ["eth0"]);
    }
}
