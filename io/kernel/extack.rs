//! What a kernel says when it refuses: an error number, and words if it has any.

use std::io;

use super::nla::attributes;
use super::{Handle, KernelError, Request, Verb};

/// NLM_F_CAPPED: the refused message is not repeated behind its head.
const CAPPED: u16 = 0x100;
/// NLM_F_ACK_TLVS: attributes follow.
const TLVS: u16 = 0x200;
/// NLMSGERR_ATTR_MSG.
const WORDS: u16 = 1;
/// Bytes of `struct nlmsghdr`.
const HEAD: usize = 16;

/// The kernel's words in an error message; `body` is what follows its number.
#[must_use]
pub fn words(flags: u16, body: &[u8]) -> Option<String> {
    if flags & TLVS == 0 {
        return None;
    }
    let refused = u32::from_ne_bytes(body.get(..4)?.try_into().ok()?) as usize;
    let at = if flags & CAPPED != 0 {
        HEAD
    } else {
        refused.next_multiple_of(4)
    };
    let found = attributes(body.get(at..)?).ok()?;
    let (_, text) = found.into_iter().find(|(kind, _)| *kind == WORDS)?;
    let text = text.split(|byte| *byte == 0).next()?;
    Some(String::from_utf8_lossy(text).into_owned())
}

/// The error for `errno`, positive, and `words` in answer to `request`.
#[must_use]
pub fn refusal(request: &Request, errno: i32, words: Option<String>) -> KernelError {
    let verb = match request.verb {
        Verb::Create => "create",
        Verb::Change => "change",
        Verb::Delete => "delete",
    };
    let what = format!("{verb} {} {}", request.kind, request.handle);
    let unknown = words
        .as_deref()
        .is_some_and(|words| words.contains("kind is unknown"))
        || (words.is_none() && request.verb == Verb::Create && request.parent == Handle::ROOT);
    match errno {
        EPERM | EACCES => KernelError::Permission { what },
        ENODEV => KernelError::Gone {
            what: format!("number {}", request.index),
        },
        ENOENT if unknown => KernelError::Unsupported {
            what: request.kind.to_owned(),
            module: Some(format!("sch_{}", request.kind)),
        },
        EINTR | ENOBUFS => KernelError::Io {
            what,
            source: io::Error::from_raw_os_error(errno),
        },
        _ => KernelError::Rejected {
            what,
            errno,
            detail: words,
        },
    }
}

pub(crate) const EPERM: i32 = 1;
pub(crate) const ENOENT: i32 = 2;
const EINTR: i32 = 4;
const EACCES: i32 = 13;
pub(crate) const EEXIST: i32 = 17;
pub(crate) const ENODEV: i32 = 19;
pub(crate) const EINVAL: i32 = 22;
pub(crate) const ERANGE: i32 = 34;
const ENOBUFS: i32 = 105;

#[cfg(test)]
mod tests {
    use super::super::nla::put;
    use super::*;

    #[test]
    fn words_are_found_behind_a_message_repeated_or_not() {
        let mut head = 40u32.to_ne_bytes().to_vec();
        head.resize(HEAD, 0);
        let mut capped = head.clone();
        put(&mut capped, 2, &7u32.to_ne_bytes());
        put(&mut capped, WORDS, b"Invalid qdisc name\0");
        assert_eq!(
            words(CAPPED | TLVS, &capped).as_deref(),
            Some("Invalid qdisc name")
        );
        head.resize(40, 0xaa);
        put(&mut head, WORDS, b"Invalid handle\0");
        assert_eq!(words(TLVS, &head).as_deref(), Some("Invalid handle"));
        assert_eq!(words(CAPPED, &capped), None);
        assert_eq!(words(CAPPED | TLVS, &capped[..19]), None);
    }
}
