//! Commands: the only way to change the world.
//!
//! A command is a bevy [`Command`] with a name, a wire form and a typed reply. Inside the world it
//! is `commands.queue(..)`; outside it is [`Handle::submit`](crate::Handle::submit). `apply`
//! validates first and mutates after; it never blocks, reads clocks or draws ids.

use std::collections::BTreeMap;

use bevy_ecs::prelude::{Command, World};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::oneshot;

use crate::Refusal;

/// A command that is written to the log before it is applied.
pub trait Recorded:
    Command<Out = Result<Self::Reply, Refusal>> + Serialize + DeserializeOwned
{
    /// Name in the log, in spans and in scenarios, for example `node.move`.
    const NAME: &'static str;
    /// Reply to the submitter of a successful command.
    type Reply: Send + 'static;
}

/// Sends the reply to a waiting submitter, or the refusal by which its tick was lost.
pub(crate) type Release = Box<dyn FnOnce(Option<&Refusal>) + Send>;

/// A type-erased command in the inbox of the world.
pub trait Queued: Send {
    /// The command's [`Recorded::NAME`].
    fn name(&self) -> &'static str;
    /// The body as named msgpack.
    ///
    /// # Errors
    /// When a value cannot be written, which is a bug of the command's type.
    fn encode(&self) -> Result<Vec<u8>, rmp_serde::encode::Error>;
    /// Answers the command without applying it.
    fn refuse(self: Box<Self>, refusal: &Refusal);
    /// Applies the command.
    fn apply(self: Box<Self>, world: &mut World) -> Applied;
}

/// Result of applying a command.
pub struct Applied {
    /// Refusal; `None` if the command was applied.
    pub refusal: Option<Refusal>,
    pub(crate) release: Release,
}

/// A command and the channel of its typed reply.
pub(crate) struct Envelope<C: Recorded> {
    command: C,
    reply: Option<oneshot::Sender<Result<C::Reply, Refusal>>>,
}

impl<C: Recorded> Envelope<C> {
    /// A command whose submitter waits.
    pub(crate) fn awaited(command: C) -> (Self, oneshot::Receiver<Result<C::Reply, Refusal>>) {
        let (sender, receiver) = oneshot::channel();
        (Self { command, reply: Some(sender) }, receiver)
    }

    /// A command without a waiting submitter: from a scenario or a log.
    pub(crate) fn unawaited(command: C) -> Self {
        Self { command, reply: None }
    }
}

impl<C: Recorded> Queued for Envelope<C> {
    fn name(&self) -> &'static str {
        C::NAME
    }

    fn encode(&self) -> Result<Vec<u8>, rmp_serde::encode::Error> {
        rmp_serde::to_vec_named(&self.command)
    }

    fn refuse(self: Box<Self>, refusal: &Refusal) {
        if let Some(reply) = self.reply {
            let _ = reply.send(Err(refusal.clone()));
        }
    }

    fn apply(self: Box<Self>, world: &mut World) -> Applied {
        let Self { command, reply } = *self;
        let outcome = command.apply(world);
        let refusal = outcome.as_ref().err().cloned();
        let release: Release = Box::new(move |lost| {
            if let Some(reply) = reply {
                // A submitter that stopped listening is no error: its command was applied.
                let _ = reply.send(lost.map_or(outcome, |lost| Err(lost.clone())));
            }
        });
        Applied { refusal, release }
    }
}

/// A command of whose reply only the refusal is returned.
pub(crate) struct Watched {
    command: Box<dyn Queued>,
    outcome: oneshot::Sender<Result<(), Refusal>>,
}

impl Watched {
    /// The command, and where its outcome will be.
    pub(crate) fn new(command: Box<dyn Queued>) -> (Self, oneshot::Receiver<Result<(), Refusal>>) {
        let (outcome, receiver) = oneshot::channel();
        (Self { command, outcome }, receiver)
    }
}

impl Queued for Watched {
    fn name(&self) -> &'static str {
        self.command.name()
    }

    fn encode(&self) -> Result<Vec<u8>, rmp_serde::encode::Error> {
        self.command.encode()
    }

    fn refuse(self: Box<Self>, refusal: &Refusal) {
        let _ = self.outcome.send(Err(refusal.clone()));
        self.command.refuse(refusal);
    }

    fn apply(self: Box<Self>, world: &mut World) -> Applied {
        let applied = self.command.apply(world);
        // One that stopped listening is no error.
        let _ = self.outcome.send(applied.refusal.clone().map_or(Ok(()), Err));
        applied
    }
}

struct Decoder {
    from_bytes: fn(&[u8]) -> Result<Box<dyn Queued>, String>,
    from_json: fn(serde_json::Value) -> Result<Box<dyn Queued>, String>,
    to_json: fn(&[u8]) -> Result<serde_json::Value, String>,
}

/// The commands a world understands, by name. The one list of what can change it.
#[derive(Default)]
pub struct Registry {
    decoders: BTreeMap<&'static str, Decoder>,
}

impl Registry {
    pub(crate) fn register<C: Recorded>(&mut self) {
        let decoder = Decoder {
            from_bytes: |body| {
                let command: C = rmp_serde::from_slice(body).map_err(|err| err.to_string())?;
                Ok(Box::new(Envelope::unawaited(command)))
            },
            from_json: |body| {
                let command: C = serde_json::from_value(body).map_err(|err| err.to_string())?;
                Ok(Box::new(Envelope::unawaited(command)))
            },
            to_json: |body| {
                let command: C = rmp_serde::from_slice(body).map_err(|err| err.to_string())?;
                serde_json::to_value(command).map_err(|err| err.to_string())
            },
        };
        let before = self.decoders.insert(C::NAME, decoder);
        assert!(before.is_none(), "two commands are named {}", C::NAME);
    }

    /// The names of all commands, sorted.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.decoders.keys().copied()
    }

    fn decoder(&self, name: &str) -> Result<&Decoder, String> {
        self.decoders.get(name).ok_or_else(|| {
            let names = self.names().collect::<Vec<_>>().join(", ");
            format!("unknown command {name:?}; allowed: {names}")
        })
    }

    /// The command `name` from a named-msgpack body.
    ///
    /// # Errors
    /// An unknown name, or what is wrong with the body.
    pub fn from_bytes(&self, name: &str, body: &[u8]) -> Result<Box<dyn Queued>, String> {
        (self.decoder(name)?.from_bytes)(body)
    }

    /// The command `name` from a JSON body, as scenarios write it.
    ///
    /// # Errors
    /// An unknown name, or what is wrong with the body.
    pub fn from_json(
        &self,
        name: &str,
        body: serde_json::Value,
    ) -> Result<Box<dyn Queued>, String> {
        (self.decoder(name)?.from_json)(body)
    }

    /// A logged body as JSON, for display.
    ///
    /// # Errors
    /// An unknown name, or what is wrong with the body.
    pub fn to_json(&self, name: &str, body: &[u8]) -> Result<serde_json::Value, String> {
        (self.decoder(name)?.to_json)(body)
    }
}
