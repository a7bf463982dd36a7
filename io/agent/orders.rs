//! Node commands that an agent supports. None of them runs a program.

use std::collections::{BTreeMap, VecDeque};

use uuid::Uuid;

use super::look::Look;

/// Names of the supported commands.
pub const SUPPORTED: [&str; 3] = ["echo", "look", "renew_token"];
/// Longest answer, bytes; the gateway takes no more.
const OUTPUT_BYTES_MAX: usize = 16 << 10;
/// Node commands remembered, so that none is carried out twice.
const REMEMBERED: usize = 64;

/// Further action that a node command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Also {
    /// Nothing.
    Nothing,
    /// A new token.
    RenewToken,
}

/// A node command that was carried out, or failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finished {
    /// Identifier of the command.
    pub command_id: Uuid,
    /// `true` if it succeeded.
    pub done: bool,
    /// Output or reason of failure.
    pub output: String,
    /// Further action needed.
    pub also: Also,
}

/// Node commands seen so far.
#[derive(Debug, Default)]
pub struct Orders {
    seen: VecDeque<Uuid>,
}

impl Orders {
    /// Carries out an order; `None` when it was before.
    pub fn carry_out(
        &mut self,
        command_id: Uuid,
        kind: &str,
        args: &BTreeMap<String, String>,
        look: &Look,
    ) -> Option<Finished> {
        if self.seen.contains(&command_id) {
            return None;
        }
        if self.seen.len() >= REMEMBERED {
            self.seen.pop_front();
        }
        self.seen.push_back(command_id);
        let (done, output, also) = match kind {
            "echo" => (true, said(args), Also::Nothing),
            "look" => match serde_json::to_string(look) {
                Ok(text) => (true, text, Also::Nothing),
                Err(err) => (false, err.to_string(), Also::Nothing),
            },
            "renew_token" => (true, String::new(), Also::RenewToken),
            _ => (
                false,
                format!("known are {}", SUPPORTED.join(", ")),
                Also::Nothing,
            ),
        };
        Some(Finished {
            command_id,
            done,
            output: cut(output),
            also,
        })
    }
}

fn said(args: &BTreeMap<String, String>) -> String {
    let pairs: Vec<String> = args
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.join("\n")
}

/// At most what the gateway takes, cut between two characters.
fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(OUTPUT_BYTES_MAX));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_words_are_done_once_and_others_never() {
        let mut orders = Orders::default();
        let look = Look::default();
        let args = BTreeMap::from([("text".to_owned(), "ä".repeat(20_000))]);
        let id = |at: u128| Uuid::from_u128(at);
        let done = orders.carry_out(id(1), "echo", &args, &look).unwrap();
        assert!(
            done.done && done.output.len() <= OUTPUT_BYTES_MAX && done.output.starts_with("text=ä")
        );
        assert_eq!(orders.carry_out(id(1), "echo", &args, &look), None);
        let shell = orders.carry_out(id(2), "sh", &args, &look).unwrap();
        assert!(!shell.done && shell.output.contains("echo"));
        assert_eq!(
            orders
                .carry_out(id(3), "renew_token", &args, &look)
                .unwrap()
                .also,
            Also::RenewToken
        );
        for at in 10..200 {
            assert!(orders.carry_out(id(at), "echo", &args, &look).is_some());
        }
        assert_eq!(orders.seen.len(), REMEMBERED);
    }
}
