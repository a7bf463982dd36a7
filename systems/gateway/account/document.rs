//! Documents of accounts and revoked tokens.

use groundwave_engine::StoredComponent;

use super::components::{Account, AccountKind, RevokedToken, RevokedTokenKind};

impl StoredComponent for Account {
    const TABLE: &'static str = "accounts";
    type Kind = AccountKind;
}

impl StoredComponent for RevokedToken {
    const TABLE: &'static str = "denials";
    type Kind = RevokedTokenKind;
}
