//! Notifications of the kernel about tables of nftables, whoever changed them (`nf_tables` of
//! `linux/netfilter/nfnetlink.h`).

use std::io;
use std::path::Path;

use netlink_sys::Socket;
use netlink_sys::protocols::NETLINK_NETFILTER;
use nix::libc::{ENOBUFS, NFNL_SUBSYS_NFTABLES, NFT_MSG_NEWGEN};

use super::attr::Attrs;
use super::netns::within;
use super::socket::{RECEIVE_BYTES_MAX, messages};
use super::wake::ReadySockets;

/// Multicast group of rulesets (`NFNLGRP_NFTABLES`).
const RULESETS: u32 = 7;
/// Bytes of `struct nfgenmsg`.
const HEADER_BYTES: usize = 4;
/// Name of the table, first attribute of each object in it (`NFTA_TABLE_NAME`, `NFTA_CHAIN_TABLE`,
/// `NFTA_RULE_TABLE`, `NFTA_SET_TABLE`).
const TABLE: u16 = 1;
/// Maximum of datagrams read at once: a program that changes without pause must not hold the reader.
const DATAGRAMS_MAX: usize = 4096;

/// Changes of one table in a network namespace.
#[derive(Debug)]
pub struct NftWatch {
    socket: Socket,
    wake: ReadySockets,
    received: Vec<u8>,
    table: String,
}

impl NftWatch {
    /// Subscribes to the table of this name, in all families, in the network namespace at `netns`, or in that of the
    /// calling thread. It takes CAP_NET_ADMIN there.
    ///
    /// # Errors
    /// When the kernel has no nfnetlink or refuses.
    pub fn open(netns: Option<&Path>, table: &str) -> io::Result<Self> {
        let socket = within(netns, || {
            let mut socket = Socket::new(NETLINK_NETFILTER)?;
            socket.bind_auto()?;
            socket.add_membership(RULESETS)?;
            socket.set_non_blocking(true)?;
            io::Result::Ok(socket)
        })??;
        let mut wake = ReadySockets::new()?;
        wake.add(&socket, 0)?;
        let received = Vec::with_capacity(RECEIVE_BYTES_MAX);
        Ok(Self { socket, wake, received, table: table.to_owned() })
    }

    /// Waits until the table may have changed. Nothing is lost when the future is dropped.
    ///
    /// # Errors
    /// When the socket fails.
    pub async fn changed(&mut self) -> io::Result<()> {
        loop {
            self.wake.wait().await?;
            if self.read()? {
                return Ok(());
            }
        }
    }

    /// Reads all notifications; `true` if one is about the table, or some were lost.
    fn read(&mut self) -> io::Result<bool> {
        let mut has_changed = false;
        for _ in 0..DATAGRAMS_MAX {
            self.received.clear();
            match self.socket.recv(&mut self.received, 0) {
                Ok(_) => has_changed |= concerns(&self.received, &self.table),
                Err(err) if err.kind() == io::ErrorKind::WouldBlock => break,
                Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
                Err(err) if err.raw_os_error() == Some(ENOBUFS) => has_changed = true,
                Err(err) => return Err(err),
            }
        }
        Ok(has_changed)
    }
}

/// `true` if a message of a datagram is about an object of `table`.
fn concerns(datagram: &[u8], table: &str) -> bool {
    messages(datagram).any(|message| {
        let [kind, subsystem] = message.message_type().to_le_bytes();
        // A new generation of the ruleset is that of any table.
        let is_object =
            i32::from(subsystem) == NFNL_SUBSYS_NFTABLES && i32::from(kind) != NFT_MSG_NEWGEN;
        let attributes = message.payload().get(HEADER_BYTES..).filter(|_| is_object);
        let name = attributes.and_then(|bytes| Attrs::read("a table", bytes).ok()?.text(TABLE));
        name.is_some_and(|name| name == table)
    })
}

#[cfg(test)]
mod tests {
    use nix::libc::{NFT_MSG_DELTABLE, NFT_MSG_NEWRULE};

    use super::super::attr::put_text;
    use super::super::socket::append_message;
    use super::*;

    fn notification(kind: i32, subsystem: i32, table: &str) -> Vec<u8> {
        let mut body = vec![1, 0, 0, 0];
        put_text(&mut body, TABLE, table);
        let mut out = Vec::new();
        let kind = u16::try_from(subsystem << 8 | kind).unwrap();
        append_message(&mut out, 1, &(kind, 0, body.as_slice()));
        out
    }

    #[test]
    fn objects_of_the_table_are_a_change_and_others_none() {
        let of = |kind, table: &str| notification(kind, NFNL_SUBSYS_NFTABLES, table);
        assert!(concerns(&of(NFT_MSG_DELTABLE, "meshgw"), "meshgw"));
        assert!(concerns(&of(NFT_MSG_NEWRULE, "meshgw"), "meshgw"));
        assert!(!concerns(&of(NFT_MSG_NEWRULE, "docker"), "meshgw"));
        assert!(!concerns(&of(NFT_MSG_NEWGEN, "meshgw"), "meshgw"));
        assert!(!concerns(&notification(NFT_MSG_DELTABLE, 1, "meshgw"), "meshgw"), "conntrack");
        let both = [of(NFT_MSG_NEWRULE, "docker"), of(NFT_MSG_DELTABLE, "meshgw")].concat();
        assert!(concerns(&both, "meshgw"));
        assert!(!concerns(&both[..30], "meshgw"), "a torn datagram has no message");
    }
}
