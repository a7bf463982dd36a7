//! Node commands that an agent supports. None of them runs a program.

use std::collections::{BTreeMap, VecDeque};

use uuid::Uuid;

use super::host_state::HostState;

/// Names of the supported commands.
pub const SUPPORTED: [&str; 3] = ["echo", "look", "renew_token"];
/// Longest answer, bytes; the gateway takes no more.
const OUTPUT_BYTES_MAX: usize = 16 << 10;
/// Node commands remembered, so that none is carried out twice.
const REMEMBERED: usize = 64;

/// Further action that a node command needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FollowUp {
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
    pub follow_up: FollowUp,
}

/// Node commands seen so far.
#[derive(Debug, Default)]
pub struct NodeCommands {
    seen: VecDeque<Uuid>,
}

impl NodeCommands {
    /// Carries out a node command; `None` when it was before.
    pub fn execute(
        &mut self,
        command_id: Uuid,
        kind: &str,
        args: &BTreeMap<String, String>,
        host: &HostState,
    ) -> Option<Finished> {
        if self.seen.contains(&command_id) {
            return None;
        }
        if self.seen.len() >= REMEMBERED {
            self.seen.pop_front();
        }
        self.seen.push_back(command_id);
        let (done, output, follow_up) = match kind {
            "echo" => (true, said(args), FollowUp::Nothing),
            "look" => match serde_json::to_string(host) {
                Ok(text) => (true, text, FollowUp::Nothing),
                Err(err) => (false, err.to_string(), FollowUp::Nothing),
            },
            "renew_token" => (true, String::new(), FollowUp::RenewToken),
            _ => (
                false,
                format!("known are {}", SUPPORTED.join(", ")),
                FollowUp::Nothing,
            ),
        };
        Some(Finished {
            command_id,
            done,
            output: cut(output),
            follow_up,
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
        let mut commands = NodeCommands::default();
        let host = HostState::default();
        let args = BTreeMap::from([("text".to_owned(), "ä".repeat(20_000))]);
        let id = |at: u128| Uuid::from_u128(at);
        let done = commands.execute(id(1), "echo", &args, &host).unwrap();
        assert!(
            done.done && done.output.len() <= OUTPUT_BYTES_MAX && done.output.starts_with("text=ä")
        );
        assert_eq!(commands.execute(id(1), "echo", &args, &host), None);
        let shell = commands.execute(id(2), "sh", &args, &host).unwrap();
        assert!(!shell.done && shell.output.contains("echo"));
        assert_eq!(
            commands
                .execute(id(3), "renew_token", &args, &host)
                .unwrap()
                .follow_up,
            FollowUp::RenewToken
        );
        for at in 10..200 {
            assert!(commands.execute(id(at), "echo", &args, &host).is_some());
        }
        assert_eq!(commands.seen.len(), REMEMBERED);
    }
}
