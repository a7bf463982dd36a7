//! Board endpoints.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use groundwave_engine::Id;
use groundwave_gateway::config::{Expected, Versioned};
use groundwave_host::i2c::load;
use groundwave_http::page::{Page, Paging};
use groundwave_http::tag::{Tag, tag};
use groundwave_http::{Json, Path, Problem, Query};
use groundwave_sensor::Board;
use groundwave_sensor::board::{BoardMatch, Header};
use groundwave_toml_document::TomlErrors;
use schemars::JsonSchema;
use serde::Serialize;
use uuid::Uuid;

use super::definition::{Definable, Definition};
use crate::access::{Admin, Viewer};
use crate::services::config_objects;
use crate::services::config_objects::{Revision, Shown};
use crate::services::host::Host;
use crate::services::peripherals::PeripheralHost;
use crate::services::world::{World, blocking, missing};

impl Definable for Board {
    const BYTES_MAX: usize = 64 << 10;

    fn of_toml(text: &str) -> Result<Self, TomlErrors> {
        load::board(text, "body")
    }
}

/// Board without its pins.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BoardSummary {
    /// Board name in paths.
    pub board_id: String,
    /// Name for people.
    pub name: String,
    /// Machines that are such a board.
    #[serde(rename = "match")]
    pub matches: BoardMatch,
    /// Headers.
    pub headers: Vec<Header>,
    /// `true` for boards that come with the program.
    pub built_in: bool,
    /// `true` for the board of the gateway's own machine.
    pub is_host: bool,
}

/// Board with its pins.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BoardView {
    /// Board.
    #[serde(flatten)]
    pub board: Board,
    /// `true` for boards that come with the program.
    pub built_in: bool,
    /// Revision, unless it is built in.
    #[serde(flatten)]
    pub revision: Option<Revision>,
}

impl Shown for BoardView {
    type Object = Board;

    fn of(_: Uuid, versioned: &Versioned<Board>) -> Self {
        Self {
            board: versioned.object.clone(),
            built_in: false,
            revision: Some(Revision::of(versioned)),
        }
    }
}

/// List boards
#[utoipa::path(get, path = "/v1/boards", tag = "sensors", params(Paging),
    responses((status = 200, description = "Built-in and created ones, by name")))]
pub async fn boards(
    _: Viewer,
    State(world): State<World>,
    State(host): State<Arc<PeripheralHost>>,
    State(machine): State<Arc<Host>>,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<BoardSummary>>, Problem> {
    let boards = config_objects::objects::<Board>(&world);
    let built_in = host.boards.iter().map(|board| (board, true));
    let created = boards.iter().map(|(_, versioned)| (&versioned.object, false));
    let all: BTreeMap<String, (Board, bool)> = built_in
        .chain(created)
        .map(|(board, built_in)| (board.board_id.clone(), (board.clone(), built_in)))
        .collect();
    let view = world.view();
    let own = blocking(move || Ok(host.board_of(&view, &machine.board())))
        .await?
        .map(|board| board.board_id);
    let show = |(board, built_in): (Board, bool)| BoardSummary {
        is_host: own.as_ref() == Some(&board.board_id),
        board_id: board.board_id,
        name: board.name,
        matches: board.matches,
        headers: board.headers,
        built_in,
    };
    Ok(Json(paging.of(all.into_iter(), show)?))
}

/// Get a board with its pins
#[utoipa::path(get, path = "/v1/boards/{board_id}", tag = "sensors",
    params(("board_id" = String, Path, description = "Board name", pattern = "^[a-z0-9_]{1,64}$")),
    responses((status = 200, description = "The board",
            headers(("etag" = String, description = "Revision; 0 for built-in ones"))),
        (status = 404, description = "No such board")))]
pub async fn board_fetch(
    _: Viewer,
    State(world): State<World>,
    State(host): State<Arc<PeripheralHost>>,
    Path(name): Path<String>,
) -> Result<(Tag, Json<BoardView>), Problem> {
    if let Some(board) = host.boards.iter().find(|board| board.board_id == name) {
        let view = BoardView { board: board.clone(), built_in: true, revision: None };
        return Ok((tag(0), Json(view)));
    }
    let boards = config_objects::objects::<Board>(&world);
    let id = Id::<Board>::named(&name);
    let versioned = boards.get(id).ok_or_else(|| missing("board", &name))?;
    Ok((tag(versioned.revision), Json(BoardView::of(id.uuid(), versioned))))
}

/// Create a board
#[utoipa::path(post, path = "/v1/boards", tag = "sensors",
    responses((status = 201, description = "The board",
            headers(("etag" = String, description = "Revision"))),
        (status = 409, description = "Name exists"),
        (status = 413, description = "Longer than 64 KiB"),
        (status = 415, description = "Neither JSON nor TOML")))]
pub async fn board_create(
    _: Admin,
    State(world): State<World>,
    Definition(board): Definition<Board>,
) -> Result<(StatusCode, Tag, Json<BoardView>), Problem> {
    let id = Id::<Board>::named(&board.board_id).uuid();
    let (tag, view) = config_objects::put(&world, id, board, Expected::Absent).await?;
    Ok((StatusCode::CREATED, tag, view))
}
