//! A netlink socket for questions with one answer or many.
//!
//! As on a [line](crate::kernel), the kernel answers within the system call that asks; a dump goes
//! on while it is read. So nothing here waits for anything but the kernel, and then not for long.

use std::os::fd::AsFd;
use std::path::Path;

use netlink_sys::Socket;
use rustix::net::netdevice::{index_to_name, name_to_index};

use super::ReadingError;
use crate::kernel::line::{Messages, connect, put_message};

/// Longest datagram of answers, bytes; the kernel fills at most 32 KiB.
const HEARD_BYTES_MAX: usize = 64 << 10;
/// Most bytes of one dump: the tables of some ten thousand nodes.
const DUMP_BYTES_MAX: usize = 64 << 20;
/// A table that changed while it was read is read again, so often.
const TRIES: usize = 4;

const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const ACK: u16 = 4;
const DUMP_INTERRUPTED: u16 = 0x10;
const DUMP: u16 = 0x300;

/// Whether a question has one answer or a table of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// At most one answer; the flags besides, for example `CREATE`.
    One(u16),
    /// A dump.
    Table,
}

/// A socket that is asked one thing at a time.
#[derive(Debug)]
pub(crate) struct Talk {
    socket: Socket,
    sequence: u32,
    out: Vec<u8>,
    heard: Vec<u8>,
}

impl Talk {
    /// Opens a socket in the network namespace at `netns`, or in that of the calling thread.
    pub fn open(protocol: isize, netns: Option<&Path>) -> Result<Self, ReadingError> {
        let socket = connect(protocol, netns)?;
        Ok(Self {
            socket: socket.map_err(|err| ReadingError::io("open a netlink socket", err))?,
            sequence: 0,
            out: Vec::new(),
            heard: Vec::with_capacity(HEARD_BYTES_MAX),
        })
    }

    /// Number of the interface with this name.
    pub fn index(&self, name: &str) -> Result<u32, ReadingError> {
        name_to_index(self.socket.as_fd(), name)
            .map_err(|err| ReadingError::io(format!("interface {name}"), err.into()))
    }

    /// Name of the interface with this number.
    pub fn name(&self, index: u32) -> Result<String, ReadingError> {
        index_to_name(self.socket.as_fd(), index)
            .map_err(|err| ReadingError::io(format!("interface {index}"), err.into()))
    }

    /// Asks; answers the bodies that came, in order.
    ///
    /// # Errors
    /// What the kernel refused with, or [`ReadingError::Io`] when it does not answer in time.
    pub fn ask(
        &mut self,
        what: &str,
        kind: u16,
        shape: Shape,
        body: impl Fn(&mut Vec<u8>),
    ) -> Result<Vec<Vec<u8>>, ReadingError> {
        for _ in 1..TRIES {
            let (answers, whole) = self.turn(what, kind, shape, &body)?;
            if whole {
                return Ok(answers);
            }
        }
        // A table that never stands still is still worth something.
        Ok(self.turn(what, kind, shape, &body)?.0)
    }

    fn turn(
        &mut self,
        what: &str,
        kind: u16,
        shape: Shape,
        body: impl Fn(&mut Vec<u8>),
    ) -> Result<(Vec<Vec<u8>>, bool), ReadingError> {
        let io = |source| ReadingError::io(what, source);
        self.sequence = self.sequence.wrapping_add(1);
        self.out.clear();
        let flags = match shape {
            Shape::One(flags) => flags | ACK,
            Shape::Table => DUMP,
        };
        put_message(&mut self.out, (kind, flags, self.sequence), body);
        self.socket.send(&self.out, 0).map_err(io)?;
        let (mut answers, mut bytes, mut whole) = (Vec::new(), 0, true);
        loop {
            self.heard.clear();
            self.socket.recv(&mut self.heard, 0).map_err(io)?;
            for message in Messages(&self.heard) {
                // What an earlier question left behind, broken off, has other numbers.
                if message.sequence != self.sequence {
                    continue;
                }
                whole &= message.flags & DUMP_INTERRUPTED == 0;
                match message.kind {
                    NLMSG_ERROR => match message.error() {
                        None => return Err(ReadingError::decode(format!("{what}: an error"))),
                        Some((0, _)) => return Ok((answers, whole)),
                        Some((errno, said)) => {
                            return Err(ReadingError::refused(what, errno, said));
                        }
                    },
                    NLMSG_DONE => match ended(message.body) {
                        0 => return Ok((answers, whole)),
                        errno => return Err(ReadingError::refused(what, errno, None)),
                    },
                    _ => {
                        bytes += message.body.len();
                        answers.push(message.body.to_vec());
                    }
                }
                if bytes > DUMP_BYTES_MAX {
                    return Err(ReadingError::decode(format!("{what}: an endless table")));
                }
            }
        }
    }
}

/// The error number, positive, that a dump ended with.
fn ended(body: &[u8]) -> i32 {
    let number = body.get(..4).and_then(|word| word.try_into().ok());
    number.map_or(0, i32::from_ne_bytes).saturating_neg().max(0)
}
