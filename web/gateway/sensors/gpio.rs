//! GPIO endpoints.

use std::sync::Arc;

use axum::extract::State;
use groundwave_gateway::fleet::CommandState;
use groundwave_host::gpio::{ChipReport, LineBias, LineDirection, LineReport, LineSetting};
use groundwave_http::json_body::StrictJson;
use groundwave_http::problem::FieldCode;
use groundwave_http::{Json, Path, Problem, Query};
use groundwave_sensor::Board;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::access::{Operator, Viewer};
use crate::services::host::Host;
use crate::services::kernel::absent;
use crate::services::peripherals::PeripheralHost;
use crate::services::world::{World, blocking};

/// Filter of GPIO lines.
#[derive(Debug, Default, Deserialize, JsonSchema, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct GpioQuery {
    /// Node id; absent for the gateway's own machine
    pub node_id: Option<Uuid>,
}

/// GPIO line with its pin.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GpioLineView {
    /// Line.
    #[serde(flatten)]
    pub line: LineReport,
    /// Pin of a header, `J8:11`, if the board is known.
    pub header_pin: Option<String>,
}

/// GPIO chip with its lines.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct GpioChipView {
    /// Name, such as `gpiochip0`.
    pub chip: String,
    /// Label of its driver.
    pub label: String,
    /// Lines.
    pub lines: Vec<GpioLineView>,
}

fn view_of(line: LineReport, label: &str, board: Option<&Board>) -> GpioLineView {
    let pin = board.and_then(|board| board.pin_of(label, line.offset));
    GpioLineView { header_pin: pin.map(|pin| format!("{}:{}", pin.header, pin.pin)), line }
}

fn chip_view(chip: ChipReport, board: Option<&Board>) -> GpioChipView {
    let lines = chip.lines.into_iter();
    GpioChipView {
        lines: lines.map(|line| view_of(line, &chip.label, board)).collect(),
        chip: chip.chip,
        label: chip.label,
    }
}

/// List GPIO lines
///
/// Those of a node are as it last reported them to the node command `gpio`.
#[utoipa::path(get, path = "/v1/gpio", tag = "sensors", params(GpioQuery),
    responses((status = 200, description = "Chips with their lines"),
        (status = 404, description = "No such node"),
        (status = 503, description = "No GPIO chip, or no report of the node")))]
pub async fn gpio_chips(
    _: Viewer,
    State(world): State<World>,
    State(host): State<Arc<PeripheralHost>>,
    State(machine): State<Arc<Host>>,
    Query(query): Query<GpioQuery>,
) -> Result<Json<Vec<GpioChipView>>, Problem> {
    if let Some(node_id) = query.node_id {
        let node = world.node(node_id)?;
        let last = node
            .commands
            .iter()
            .rev()
            .find(|one| one.kind == "gpio" && one.state == CommandState::Done)
            .and_then(|one| one.output.as_deref());
        let chips = last
            .and_then(|text| serde_json::from_str::<Vec<ChipReport>>(text).ok())
            .ok_or_else(|| {
                absent("the node has reported no GPIO lines: enqueue the node command `gpio`")
            })?
            .into_iter()
            .map(|chip| chip_view(chip, None));
        return Ok(Json(chips.collect()));
    }
    let view = world.view();
    let chips = blocking(move || {
        let board = host.board_of(&view, &machine.board());
        let chips = host.gpio()?.into_iter();
        Ok(chips.map(|chip| chip_view(chip, board.as_ref())).collect())
    });
    Ok(Json(chips.await?))
}

/// Get a GPIO line
#[utoipa::path(get, path = "/v1/gpio/{chip}/{offset}", tag = "sensors",
    params(("chip" = String, Path, description = "Name or label of the chip", pattern = "^[!-.0-~]{1,31}$"),
        ("offset" = u32, Path, description = "Offset of the line", minimum = 0, maximum = 65535)),
    responses((status = 200, description = "Present state"),
        (status = 404, description = "No such line"),
        (status = 503, description = "No GPIO chip")))]
pub async fn gpio_line(
    _: Viewer,
    State(world): State<World>,
    State(host): State<Arc<PeripheralHost>>,
    State(machine): State<Arc<Host>>,
    Path((chip, offset)): Path<(String, u32)>,
) -> Result<Json<GpioLineView>, Problem> {
    let view = world.view();
    let state = blocking(move || {
        let line = host.gpio_line(&chip, offset)?;
        let board = host.board_of(&view, &machine.board());
        Ok(view_of(line, &chip, board.as_ref()))
    });
    Ok(Json(state.await?))
}

/// Setting of a GPIO line.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GpioSetting {
    /// Direction.
    pub direction: LineDirection,
    /// 1 for the active level, 0 for the other one; required for outputs only.
    #[serde(default)]
    #[schemars(range(max = 1))]
    pub value: Option<u8>,
    /// Bias; that of the chip without it.
    #[serde(default)]
    pub bias: Option<LineBias>,
}

/// Set a GPIO line that `--gpio-line` allows
#[utoipa::path(put, path = "/v1/gpio/{chip}/{offset}", tag = "sensors",
    params(("chip" = String, Path, description = "Name or label of the chip", pattern = "^[!-.0-~]{1,31}$"),
        ("offset" = u32, Path, description = "Offset of the line", minimum = 0, maximum = 65535)),
    responses((status = 200, description = "State read back"),
        (status = 404, description = "No such line"),
        (status = 409, description = "Another consumer has the line"),
        (status = 503, description = "No GPIO chip")))]
pub async fn gpio_line_set(
    _: Operator,
    State(world): State<World>,
    State(host): State<Arc<PeripheralHost>>,
    State(machine): State<Arc<Host>>,
    Path((chip, offset)): Path<(String, u32)>,
    StrictJson(request): StrictJson<GpioSetting>,
) -> Result<Json<GpioLineView>, Problem> {
    let value = match (request.direction, request.value) {
        (LineDirection::Input, None) => None,
        (LineDirection::Output, Some(value @ 0..=1)) => Some(value == 1),
        (LineDirection::Output, other) => {
            let value = other.map_or("none".to_owned(), |value| value.to_string());
            let message = format!("invalid value: found {value}, allowed 0 or 1");
            return Err(Problem::field("/value", FieldCode::NotAllowed, message));
        }
        (LineDirection::Input, Some(_)) => {
            let message = "invalid value: an input has none";
            return Err(Problem::field("/value", FieldCode::NotAllowed, message));
        }
    };
    let setting = LineSetting { direction: request.direction, value, bias: request.bias };
    let view = world.view();
    let state = blocking(move || {
        let line = host.set_gpio(&chip, offset, setting)?;
        let board = host.board_of(&view, &machine.board());
        Ok(view_of(line, &chip, board.as_ref()))
    });
    Ok(Json(state.await?))
}
