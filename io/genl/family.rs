//! Generic netlink: families are found by name, and a command is a message of theirs.

use std::path::Path;

use netlink_sys::protocols::NETLINK_GENERIC;

use super::ReadingError;
use super::attrs::Attrs;
use super::talk::{Shape, Talk};
use crate::kernel::nla::put;

/// GENL_ID_CTRL.
const CONTROL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
/// Bytes of `struct genlmsghdr`.
const HEAD: usize = 4;

/// A family of commands of the running kernel.
#[derive(Debug)]
pub(crate) struct Family {
    pub talk: Talk,
    id: u16,
    version: u8,
}

impl Family {
    /// Finds a family in the network namespace at `netns`, or in that of the calling thread. The
    /// kernel loads a module for a name it does not know, where it may.
    pub fn open(name: &str, version: u8, netns: Option<&Path>) -> Result<Self, ReadingError> {
        let mut talk = Talk::open(NETLINK_GENERIC, netns)?;
        let what = format!("generic netlink family {name}");
        let answers = talk.ask(&what, CONTROL, Shape::One(0), |out| {
            out.extend_from_slice(&[CTRL_CMD_GETFAMILY, 1, 0, 0]);
            put(
                out,
                CTRL_ATTR_FAMILY_NAME,
                &[name.as_bytes(), b"\0"].concat(),
            );
        })?;
        let Some(answer) = answers.first() else {
            return Err(ReadingError::Absent { what });
        };
        let attrs = Attrs::read("a generic netlink family", payload(answer)?)?;
        let id = attrs.need(CTRL_ATTR_FAMILY_ID, attrs.u16(CTRL_ATTR_FAMILY_ID)?)?;
        Ok(Self { talk, id, version })
    }

    /// Asks; answers what follows the heads of the answers.
    pub fn ask(
        &mut self,
        what: &str,
        command: u8,
        shape: Shape,
        attributes: impl Fn(&mut Vec<u8>),
    ) -> Result<Vec<Vec<u8>>, ReadingError> {
        let version = self.version;
        self.talk.ask(what, self.id, shape, |out| {
            out.extend_from_slice(&[command, version, 0, 0]);
            attributes(out);
        })
    }
}

/// What follows the head of a generic netlink message.
pub(crate) fn payload(message: &[u8]) -> Result<&[u8], ReadingError> {
    message
        .get(HEAD..)
        .ok_or_else(|| ReadingError::decode("the head of a generic netlink message"))
}
