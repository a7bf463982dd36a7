//! Public map: what the mesh shows to anyone, where the gateway is configured to.
//!
//! Names, states, positions and links of approved nodes; no addresses, keys or readings. Nodes with the
//! tag `private` are left out. The same nodes are sent as Cursor on Target to the receivers of `--cot`.

pub mod cot;
pub mod map;
pub mod meshviewer;

use groundwave_http::Problem;
use groundwave_http::endpoints::Endpoints;
use groundwave_http::operations;
use groundwave_http::problem::ProblemKind;

use crate::access::{Access, rule_of};
use crate::settings::Settings;
use crate::state::Gateway;

/// Tag of nodes that the public map leaves out, in any case.
pub const PRIVATE: &str = "private";

/// Endpoints of this category.
pub fn endpoints() -> Endpoints<Gateway, Access> {
    Endpoints::default().with(operations!(
        rule_of;
        map::public_map,
        meshviewer::public_meshviewer,
    ))
}

/// Refuses where there is no public map.
fn permit(settings: &Settings) -> Result<(), Problem> {
    if settings.public_map {
        return Ok(());
    }
    let detail = "there is no public map: start the gateway with --public-map";
    Err(Problem::new(axum::http::StatusCode::NOT_FOUND, detail).of_kind(ProblemKind::NotFound))
}
