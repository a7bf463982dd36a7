//! Documents of accounts and revoked tokens.

use bevy_ecs::prelude::*;
use groundwave_engine::{Document, Index, Refusal};
use serde::{Deserialize, Serialize};

use super::components::{
    Account, AccountId, AccountKind, RevokedToken, RevokedTokenId, RevokedTokenKind,
};

/// An account in the store.
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

/// A revoked token in the store.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RevokedTokenDocument(RevokedToken);

impl Document for RevokedTokenDocument {
    const TABLE: &'static str = "denials";
    type Kind = RevokedTokenKind;
    type Changed = Changed<RevokedToken>;

    fn read(_: &World, entity: EntityRef<'_>) -> Self {
        Self(*entity.get::<RevokedToken>().expect("a denial has one"))
    }

    fn restore(self, id: RevokedTokenId, world: &mut World) -> Result<(), Refusal> {
        world.resource::<Index<RevokedTokenKind>>().vacant(id)?;
        world.spawn((id, self.0));
        Ok(())
    }
}
