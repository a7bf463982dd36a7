//! The durable faces of accounts and dead tokens.

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Index, Refusal};
use serde::{Deserialize, Serialize};

use super::components::{Account, AccountId, AccountKind, Denial, DenialId, DenialKind};

/// An account as the store keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccountDocument(Account);

impl Document for AccountDocument {
    const TABLE: &'static str = "accounts";
    type Kind = AccountKind;
    type Changed = Changed<Account>;

    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        let account = entity.get::<Account>().expect("an account has one");
        Self(account.clone())
    }

    fn restore(self, id: AccountId, world: &mut World) -> Result<(), Refusal> {
        world.resource::<Index<AccountKind>>().vacant(id)?;
        world.spawn((id, self.0));
        Ok(())
    }
}

/// A dead token as the store keeps it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DenialDocument(Denial);

impl Document for DenialDocument {
    const TABLE: &'static str = "denials";
    type Kind = DenialKind;
    type Changed = Changed<Denial>;

    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        Self(*entity.get::<Denial>().expect("a denial has one"))
    }

    fn restore(self, id: DenialId, world: &mut World) -> Result<(), Refusal> {
        world.resource::<Index<DenialKind>>().vacant(id)?;
        world.spawn((id, self.0));
        Ok(())
    }
}
