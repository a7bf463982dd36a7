//! Generic netlink: commands of a family, which is found by its name.

use std::path::Path;

use groundwave_files::ReadingError;
use netlink_packet_core::DecodeError;
use netlink_sys::protocols::NETLINK_GENERIC;
use nix::libc::{CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME, CTRL_CMD_GETFAMILY, GENL_ID_CTRL};

use super::attr::{Attrs, put_text};
use super::socket::{NetlinkRequest, NetlinkSocket};

/// Bytes of `struct genlmsghdr`.
const HEADER_BYTES: usize = 4;

/// A socket for the commands of one family.
#[derive(Debug)]
pub struct GenlSocket {
    socket: NetlinkSocket,
    id: u16,
    version: u8,
}

/// A command of a family.
struct Command<W> {
    family: u16,
    version: u8,
    command: u8,
    write: W,
}

impl<W: Fn(&mut Vec<u8>)> NetlinkRequest for Command<W> {
    fn header(&self) -> (u16, u16) {
        (self.family, 0)
    }

    fn write_body(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[self.command, self.version, 0, 0]);
        (self.write)(out);
    }
}

impl GenlSocket {
    /// Opens a socket for the family `name` in the network namespace at `netns`, or in that of
    /// the calling thread. The kernel loads the module of an unknown family where it may.
    ///
    /// # Errors
    /// [`ReadingError::Absent`] when the kernel lacks the family.
    pub fn open(name: &str, version: u8, netns: Option<&Path>) -> Result<Self, ReadingError> {
        let what = format!("generic netlink family {name}");
        let socket = NetlinkSocket::open(NETLINK_GENERIC, netns);
        let mut control = Self {
            socket: socket.map_err(|err| ReadingError::io("open a netlink socket", err))?,
            id: GENL_ID_CTRL as u16,
            version: 1,
        };
        let answer = control.call(&what, CTRL_CMD_GETFAMILY as u8, |out| {
            put_text(out, CTRL_ATTR_FAMILY_NAME as u16, name);
        })?;
        let Some(answer) = answer else {
            return Err(ReadingError::Absent { what });
        };
        let attrs = Attrs::read("generic netlink family", payload(&answer)?)?;
        let id = attrs.u16(CTRL_ATTR_FAMILY_ID as u16)?;
        let id = attrs.need(CTRL_ATTR_FAMILY_ID as u16, id)?;
        Ok(Self { id, version, ..control })
    }

    /// Index of the interface `name`.
    pub fn index(&self, name: &str) -> Result<u32, ReadingError> {
        let index = self.socket.index(name);
        index.map_err(|err| ReadingError::io(format!("interface {name}"), err))
    }

    /// Name of the interface `index`.
    pub fn name(&self, index: u32) -> Result<String, ReadingError> {
        let name = self.socket.name(index);
        name.map_err(|err| ReadingError::io(format!("interface {index}"), err))
    }

    /// Executes a command with the attributes that `write` appends; `what` is its name in errors.
    /// Returns the body of the answer, if there is one.
    ///
    /// # Errors
    /// The kernel's refusal, or [`ReadingError::Io`] without an answer in time.
    pub fn call(
        &mut self,
        what: &str,
        command: u8,
        write: impl Fn(&mut Vec<u8>),
    ) -> Result<Option<Vec<u8>>, ReadingError> {
        let command = self.command(command, write);
        self.socket.add(&command);
        let answers = self.socket.call();
        let answer = answers.map_err(|err| ReadingError::io(what, err))?.pop();
        answer.unwrap_or(Ok(None)).map_err(|err| err.reading(what))
    }

    /// As [`GenlSocket::call`], for a table: the bodies of all answers.
    ///
    /// # Errors
    /// As [`GenlSocket::call`].
    pub fn dump(
        &mut self,
        what: &str,
        command: u8,
        write: impl Fn(&mut Vec<u8>),
    ) -> Result<Vec<Vec<u8>>, ReadingError> {
        let command = self.command(command, write);
        let answers = self.socket.dump(&command);
        answers.map_err(|err| err.reading(what))
    }

    fn command<W: Fn(&mut Vec<u8>)>(&self, command: u8, write: W) -> Command<W> {
        Command { family: self.id, version: self.version, command, write }
    }
}

/// The attributes of a generic netlink message, behind its header.
pub fn payload(message: &[u8]) -> Result<&[u8], DecodeError> {
    let header = || DecodeError::from("the header of a generic netlink message");
    message.get(HEADER_BYTES..).ok_or_else(header)
}
