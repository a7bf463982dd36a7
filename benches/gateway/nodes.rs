//! A store with many nodes that are let in, and what they say.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::sync::{Arc, Mutex};

use groundwave_credentials::load_or_make;
use groundwave_engine::{Engine, Recorded, Row, Store, StoreFault};
use groundwave_files::wall::wall_ns;
use groundwave_gateway::account::{AccountId, AccountRole, CreateAccount, IssueCredential, Secret};
use groundwave_gateway::onboarding::{
    AddressPool, ApproveRegistration, JoinClaims, RegistrationId, RequestJoin, SameMac,
};
use groundwave_gateway::{Snapshot, world};
use groundwave_model::terrain::Flat;
use groundwave_protocol::{Mac, Proof, PublicKey};
use groundwave_simulation::site::NodeId;
use groundwave_store::RedbStore;
use groundwave_web_gateway::services::tokens::TokenKeys;
use serde_json::{Value, json};

/// Range of overlay addresses.
pub const OVERLAY: &str = "10.64.0.0/16";

fn mac(number: u64) -> Mac {
    let [.., a, b, c, d] = number.to_be_bytes();
    Mac([2, 0, a, b, c, d])
}

fn does<C: Recorded>(engine: &mut Engine<Snapshot>, command: C) -> C::Reply {
    let reply = engine.handle().submit(command).expect("a running world");
    engine.tick(Some(wall_ns())).expect("a sound tick");
    reply.wait().expect("a sound command")
}

/// A store that remembers what it would have to write.
struct Gathered(Arc<Mutex<Vec<Row>>>);

impl Store for Gathered {
    fn load(&mut self) -> Result<Vec<Row>, StoreFault> {
        Ok(Vec::new())
    }
    fn commit(&mut self, _: u64, rows: &[Row]) -> Result<(), StoreFault> {
        self.0.lock().expect("a row is a row").extend_from_slice(rows);
        Ok(())
    }
}

/// A store in which `count` nodes are in; a token of each, and one of an admin.
pub fn seed(folder: &Path, count: u64) -> (Vec<String>, String) {
    let mut builder = world(Arc::new(Flat { elevation_msl_m: 0.0 }));
    builder.resource(AddressPool::parse(OVERLAY).expect("a range"));
    let mut engine = builder.build::<Snapshot>(0, 1_000_000).expect("a world");
    let rows = Arc::new(Mutex::new(Vec::new()));
    engine.keep(Gathered(Arc::clone(&rows))).expect("an empty store");
    let source = IpAddr::V4(Ipv4Addr::new(10, 41, 0, 9));
    for number in 0..count {
        let mut key = [7; 32];
        key[..8].copy_from_slice(&number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
        key[8..16].copy_from_slice(&number.to_be_bytes());
        let request = RequestJoin {
            registration: RegistrationId::from_u128((1 << 64) + u128::from(number)),
            node: NodeId::from_u128((2 << 64) + u128::from(number)),
            same_mac: SameMac::SameNode,
            public_key: PublicKey::new(key).expect("a key"),
            claims: JoinClaims {
                mac: mac(number),
                hostname: format!("node-{number}"),
                listen_port: None,
                source_ip: source,
                underlay_ip: source,
                proof: Proof::Absent,
                mac_verified: false,
                code_sha256: None,
                key_proof: None,
            },
        };
        let (registration, node) = (request.registration, request.node);
        does(&mut engine, request);
        let approve = ApproveRegistration {
            registration,
            node,
            same_mac: SameMac::SameNode,
            name: None,
            role_id: None,
            overlay_ip: None,
            by: "bench".to_owned(),
            revision: None,
        };
        does(&mut engine, approve);
        let issue = IssueCredential {
            account: AccountId::from_u128((3 << 64) + u128::from(number)),
            node,
            username: format!("node-{number}"),
            secret_sha256: [0; 32],
        };
        does(&mut engine, issue);
    }
    let admin = CreateAccount {
        account: AccountId::from_u128(1),
        username: "admin".to_owned(),
        role: AccountRole::Admin,
        secret: Secret::Sha256([0; 32]),
        must_change_password: false,
    };
    does(&mut engine, admin);
    // Written at once: one transaction instead of one a command.
    let mut store = RedbStore::open(&folder.join("world.db")).expect("a store");
    let rows = rows.lock().expect("a row is a row");
    store.commit(1, &rows).expect("a disk with free space");
    let view = engine.view();
    let state = folder.join("state");
    std::fs::create_dir(&state).expect("a folder");
    let keys = TokenKeys::new(&load_or_make::<32>(&state.join("token.key")).expect("a key"));
    let now_s = wall_ns() / 1_000_000_000;
    let token = |id: AccountId| {
        let account = view.accounts.by_id.get(&id).expect("it was made");
        let jti = uuid::Uuid::from_u128(id.as_u128());
        let issued = keys.issue(id, account, AccountRole::Admin, jti, now_s);
        issued.expect("a token").0
    };
    let nodes = (0..count).map(|number| AccountId::from_u128((3 << 64) + u128::from(number)));
    (nodes.map(token).collect(), token(AccountId::from_u128(1)))
}

/// Heartbeat of a node; its neighbours are the next four.
pub fn heartbeat(number: u64, count: u64, seq: u64) -> Vec<u8> {
    let links: Vec<Value> = (1..=4)
        .map(|step| json!({ "neigh_address": mac((number + step) % count), "tq": 200 + step, "signal_dbm": -60.0 }))
        .collect();
    let beat = json!({
        "mac": mac(number), "hostname": format!("node-{number}"), "boot_id": "bench", "seq": seq,
        "uptime_s": seq * 5, "signal_dbm": -60.5, "active_transport": "wifi", "capabilities": ["gps"],
        "interfaces": [{ "name": "bat0", "mtu": 1500, "operstate": "up", "rx_bytes": seq, "tx_bytes": seq }],
        "mesh": { "algo_name": "BATMAN_IV", "originators": 9, "neighbor_count": 4, "plink_estab": 4, "links": links },
        "metrics": { "mesh.tx_mbps": 1.5, "mesh.rx_mbps": 2.5, "mesh.signal_dbm": -60.5, "mesh.plink_estab": 4,
            "mesh.neighbor_count": 4, "mesh.tx_retries": seq, "mesh.tx_failed": 0, "sys.load1": 0.25 },
    });
    beat.to_string().into_bytes()
}
