//! Failed netlink requests, with the kernel's extended acknowledgement.

use std::io;

use groundwave_files::ReadingError;
use netlink_packet_core::DecodeError;
use nix::libc::{NLM_F_ACK_TLVS, NLM_F_CAPPED};
use thiserror::Error;

use super::attr::Attrs;

/// Bytes of `struct nlmsghdr`.
pub(super) const HEADER_BYTES: usize = 16;
/// Text of an extended acknowledgement.
const NLMSGERR_ATTR_MSG: u16 = 1;

/// Failed netlink request.
#[derive(Debug, Error)]
pub enum NetlinkError {
    /// The kernel refused the request.
    #[error("{}{}", io::Error::from_raw_os_error(*.errno), suffix(.message.as_deref()))]
    Refused {
        /// Error number, positive.
        errno: i32,
        /// Text of the extended acknowledgement.
        message: Option<String>,
    },
    /// A system call on the socket or the network namespace failed.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The answer cannot be decoded.
    #[error("invalid answer: {0}")]
    Decode(#[from] DecodeError),
}

impl NetlinkError {
    /// The failure of the operation `what` on the state of the machine.
    pub fn reading(self, what: impl Into<String>) -> ReadingError {
        match self {
            Self::Refused { errno, message } => ReadingError::refused(what, errno, message),
            Self::Io(source) => ReadingError::io(what, source),
            Self::Decode(err) => ReadingError::decode(format!("{}: {err}", what.into())),
        }
    }
}

fn suffix(text: Option<&str>) -> String {
    text.map_or_else(String::new, |text| format!(": {text}"))
}

/// Text of the extended acknowledgement in an error message (`NLMSGERR_ATTR_MSG`); `body` follows
/// the error number.
pub(super) fn extended_message(flags: u16, body: &[u8]) -> Option<String> {
    if i32::from(flags) & NLM_F_ACK_TLVS == 0 {
        return None;
    }
    let refused = u32::from_ne_bytes(*body.first_chunk()?) as usize;
    // A capped message repeats only the header of the refused one.
    let start = if i32::from(flags) & NLM_F_CAPPED != 0 {
        HEADER_BYTES
    } else {
        refused.next_multiple_of(4)
    };
    let attrs = Attrs::read("extended acknowledgement", body.get(start..)?).ok()?;
    attrs.text(NLMSGERR_ATTR_MSG)
}

#[cfg(test)]
mod tests {
    use super::super::attr::put;
    use super::*;

    #[test]
    fn extended_message_follows_a_capped_or_a_repeated_request() {
        const CAPPED: u16 = NLM_F_CAPPED as u16;
        const TLVS: u16 = NLM_F_ACK_TLVS as u16;
        let mut repeated = 40u32.to_ne_bytes().to_vec();
        repeated.resize(HEADER_BYTES, 0);
        let mut capped = repeated.clone();
        put(&mut capped, 2, &7u32.to_ne_bytes());
        put(&mut capped, 1, b"Invalid qdisc name\0");
        let message = extended_message(CAPPED | TLVS, &capped);
        assert_eq!(message.as_deref(), Some("Invalid qdisc name"));
        repeated.resize(40, 0xaa);
        put(&mut repeated, 1, b"Invalid handle\0");
        let message = extended_message(TLVS, &repeated);
        assert_eq!(message.as_deref(), Some("Invalid handle"));
        assert_eq!(extended_message(CAPPED, &capped), None);
        assert_eq!(extended_message(CAPPED | TLVS, &capped[..19]), None);
    }
}
