//! Node commands that an agent supports. None of them runs a program.

use std::collections::{BTreeMap, VecDeque};

use groundwave_systems::sensor::ScannedDevice;
use serde::Serialize;
use uuid::Uuid;

use super::host_state::HostState;
use crate::gpio::GpioLines;
use crate::i2c::Sensors;

/// Names of the supported commands.
pub const SUPPORTED: [&str; 5] = ["echo", "gpio", "i2c_scan", "look", "renew_token"];
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
        (host, sensors): (&HostState, &Sensors),
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
            "look" => reported(Ok(host)),
            "gpio" => reported(
                GpioLines::default()
                    .inventory()
                    .map_err(|err| err.to_string()),
            ),
            "i2c_scan" => reported(scanned(args, sensors)),
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

/// Outcome of a node command that reports a document.
fn reported<T: Serialize>(found: Result<T, String>) -> (bool, String, FollowUp) {
    let text = found.and_then(|found| serde_json::to_string(&found).map_err(|err| err.to_string()));
    match text {
        Ok(text) => (true, text, FollowUp::Nothing),
        Err(why) => (false, why, FollowUp::Nothing),
    }
}

/// Devices of the bus that the arguments name.
fn scanned(
    args: &BTreeMap<String, String>,
    sensors: &Sensors,
) -> Result<Vec<ScannedDevice>, String> {
    let bus = args.get("bus").map_or("", String::as_str);
    let number = bus.parse();
    let number = number.map_err(|_| format!("invalid bus: found {bus:?}, allowed a number"))?;
    let reserved = args.get("reserved").is_some_and(|word| word == "true");
    sensors.scan(number, reserved)
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
        let sensors = Sensors::default();
        let args = BTreeMap::from([("text".to_owned(), "ä".repeat(20_000))]);
        let id = |at: u128| Uuid::from_u128(at);
        let done = commands
            .execute(id(1), "echo", &args, (&host, &sensors))
            .unwrap();
        assert!(
            done.done && done.output.len() <= OUTPUT_BYTES_MAX && done.output.starts_with("text=ä")
        );
        assert_eq!(
            commands.execute(id(1), "echo", &args, (&host, &sensors)),
            None
        );
        let shell = commands
            .execute(id(2), "sh", &args, (&host, &sensors))
            .unwrap();
        assert!(!shell.done && shell.output.contains("echo"));
        let bus = BTreeMap::from([("bus".to_owned(), "900".to_owned())]);
        let scan = commands.execute(id(4), "i2c_scan", &bus, (&host, &sensors));
        let scan = scan.unwrap();
        assert!(!scan.done && scan.output.contains("/dev/i2c-900 is absent"));
        let scan = commands.execute(id(5), "i2c_scan", &args, (&host, &sensors));
        assert!(scan.unwrap().output.contains("invalid bus"));
        assert_eq!(
            commands
                .execute(id(3), "renew_token", &args, (&host, &sensors))
                .unwrap()
                .follow_up,
            FollowUp::RenewToken
        );
        for at in 10..200 {
            assert!(
                commands
                    .execute(id(at), "echo", &args, (&host, &sensors))
                    .is_some()
            );
        }
        assert_eq!(commands.seen.len(), REMEMBERED);
    }
}
