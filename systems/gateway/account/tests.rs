use groundwave_engine::{Engine, Recorded, Refusal};

use super::*;
use crate::Snapshot;
use crate::config::{Expected, Put};
use crate::test_world::{does_at, engine};

fn does<C: Recorded>(engine: &mut Engine<Snapshot>, command: C) -> Result<C::Reply, Refusal> {
    does_at(engine, 7_000, command)
}

fn create(name: &str, role: AccountRole) -> CreateAccount {
    CreateAccount {
        account: AccountId::named(name),
        username: name.to_owned(),
        role,
        secret: Secret::Argon2id("$argon2id$...".to_owned()),
        must_change_password: false,
    }
}

fn update(name: &str) -> UpdateAccount {
    UpdateAccount { account: AccountId::named(name), role: None, disabled: None, secret: None }
}

#[test]
fn usernames_that_differ_in_case_are_one() {
    let mut engine = engine();
    does(&mut engine, create("ada", AccountRole::Admin)).unwrap();
    let same = does(&mut engine, create("Ada", AccountRole::Viewer));
    assert!(matches!(same, Err(Refusal::Conflict { .. })), "{same:?}");
    assert!(same.unwrap_err().to_string().contains("\"ada\""));
    let view = engine.view();
    let id = |name: &str| view.accounts.named_in_any_case(name).map(|(id, _)| id);
    assert_eq!((id("ADA"), id("ad")), (Some(AccountId::named("ada")), None));
}

#[test]
fn an_admin_is_always_left() {
    let mut engine = engine();
    does(&mut engine, create("ada", AccountRole::Admin)).unwrap();
    does(&mut engine, create("bob", AccountRole::Viewer)).unwrap();
    let demoted = UpdateAccount { role: Some(AccountRole::Viewer), ..update("ada") };
    let shut = UpdateAccount { disabled: Some(true), ..update("ada") };
    let removal = RemoveAccount { account: AccountId::named("ada") };
    for refused in
        [does(&mut engine, demoted.clone()), does(&mut engine, shut), does(&mut engine, removal)]
    {
        assert!(matches!(refused, Err(Refusal::Conflict { .. })), "{refused:?}");
    }
    does(&mut engine, create("eve", AccountRole::Admin)).unwrap();
    does(&mut engine, demoted).unwrap();
    let view = engine.view();
    let (_, ada) = view.accounts.named("ada").unwrap();
    assert_eq!((ada.role, ada.version), (AccountRole::Viewer, 2));
}

#[test]
fn names_are_unique_and_can_be_typed() {
    let mut engine = engine();
    does(&mut engine, create("ada", AccountRole::Admin)).unwrap();
    let again =
        CreateAccount { account: AccountId::named("other"), ..create("ada", AccountRole::Viewer) };
    assert!(matches!(does(&mut engine, again), Err(Refusal::Conflict { .. })));
    for bad in ["", "a b", "ä", &"a".repeat(65)] {
        let refused = does(&mut engine, create(bad, AccountRole::Viewer));
        assert!(matches!(refused, Err(Refusal::Invalid { .. })), "{bad}");
    }
}

#[test]
fn what_changes_an_account_kills_its_tokens() {
    let mut engine = engine();
    does(&mut engine, create("ada", AccountRole::Admin)).unwrap();
    does(&mut engine, create("bob", AccountRole::Viewer)).unwrap();
    let version =
        |engine: &Engine<Snapshot>| engine.view().accounts.named("bob").unwrap().1.version;
    let account = AccountId::named("bob");
    does(&mut engine, RecordLogin { account }).unwrap();
    assert_eq!(version(&engine), 1);
    does(&mut engine, RevokeTokens { account }).unwrap();
    assert_eq!(version(&engine), 2);
    let secret = Secret::Sha256([1; 32]);
    does(&mut engine, ChangePassword { account, secret: secret.clone() }).unwrap();
    assert_eq!(version(&engine), 3);
    does(&mut engine, UpdateAccount { secret: Some(secret), ..update("bob") }).unwrap();
    let view = engine.view();
    let (_, bob) = view.accounts.named("bob").unwrap();
    assert_eq!((bob.version, bob.must_change_password), (4, true));
}

#[test]
fn a_dead_token_is_forgotten_once_it_would_have_died() {
    let mut engine = engine();
    let token = RevokedTokenId::from_u128(7);
    does(&mut engine, RevokeToken { token, until_ns: 8_000 }).unwrap();
    assert!(engine.view().accounts.denies(token));
    engine.handle().submit(RevokeTokens { account: AccountId::named("nobody") }).unwrap();
    engine.tick(Some(9_000)).unwrap();
    engine.tick(None).unwrap();
    assert!(!engine.view().accounts.denies(token));
}

#[test]
fn a_secret_is_not_printed() {
    let secret = Secret::Argon2id("canary".to_owned());
    assert_eq!(format!("{secret:?}"), "Secret(..)");
}

fn api_token(name: &str, of: &str, role: AccountRole) -> Put<ApiToken> {
    Put {
        id: ApiTokenId::named(&format!("{of} {name}")),
        object: ApiToken {
            name: name.to_owned(),
            account: AccountId::named(of),
            account_version: 1,
            role,
            scopes: vec!["nodes:read".to_owned()],
            token_sha256: [1; 32],
            expires_ns: Some(8_000),
            last_used_ns: None,
        },
        expected: Expected::Absent,
    }
}

#[test]
fn an_api_token_has_a_role_of_its_account_and_goes_with_it() {
    let mut engine = engine();
    does(&mut engine, create("ada", AccountRole::Admin)).unwrap();
    does(&mut engine, create("bob", AccountRole::Operator)).unwrap();
    let refused = does(&mut engine, api_token("a", "bob", AccountRole::Admin));
    assert!(matches!(refused, Err(Refusal::Invalid { .. })), "{refused:?}");
    let refused = does(&mut engine, api_token("a", "nobody", AccountRole::Viewer));
    assert!(matches!(refused, Err(Refusal::NotFound { .. })), "{refused:?}");
    let versioned = does(&mut engine, api_token("a", "bob", AccountRole::Operator)).unwrap();
    assert!(!versioned.object.has_expired(7_999) && versioned.object.has_expired(8_000));
    // Names are unique in an account.
    let mut again = api_token("a", "bob", AccountRole::Viewer);
    again.id = ApiTokenId::named("another");
    let refused = does(&mut engine, again);
    assert!(matches!(refused, Err(Refusal::Conflict { .. })), "{refused:?}");
    does(&mut engine, api_token("a", "ada", AccountRole::Viewer)).unwrap();
    let token = ApiTokenId::named("bob a");
    does(&mut engine, NoteTokenUse { token }).unwrap();
    let view = engine.view();
    let versioned = view.config.api_tokens.get(token).unwrap();
    assert_eq!((versioned.object.last_used_ns, versioned.revision), (Some(7_000), 1));
    let account = AccountId::named("bob");
    does(&mut engine, RevokeTokens { account }).unwrap();
    let view = engine.view();
    assert!(!versioned.object.is_of(&view.accounts.by_id[&account]));
    does(&mut engine, RemoveAccount { account }).unwrap();
    let view = engine.view();
    let tokens: Vec<_> = view.config.api_tokens.iter().map(|(id, _)| id).collect();
    assert_eq!(tokens, [ApiTokenId::named("ada a")]);
}

#[test]
fn the_name_of_an_api_token_that_expired_is_free() {
    let mut engine = engine();
    does(&mut engine, create("bob", AccountRole::Operator)).unwrap();
    does(&mut engine, api_token("a", "bob", AccountRole::Viewer)).unwrap();
    let mut next = api_token("a", "bob", AccountRole::Viewer);
    next.id = ApiTokenId::named("next");
    let refused = does_at(&mut engine, 7_999, next.clone());
    assert!(matches!(refused, Err(Refusal::Conflict { .. })), "{refused:?}");
    does_at(&mut engine, 8_000, next).unwrap();
}
