//! Where to build next, over HTTP.

use axum::extract::State;
use groundwave_http::{Json, JsonBody, Origin, Path, Problem};
use groundwave_model::mesh::{Member, MeshLink, links_of};
use groundwave_model::radio::Station;
use groundwave_model::sweep::Step;
use groundwave_model::terrain::{GeoPoint, PathGround, Terrain};
use groundwave_simulation::coverage::placement::{
    CANDIDATES_MAX, PlacementRequest, ServedCells, high_ground, place,
};
use groundwave_simulation::coverage::{CoverageRequest, Grid, Sampling};
use groundwave_simulation::link::{Inputs, coverage_radius_m};
use groundwave_simulation::site::NodeId;
use uuid::Uuid;

use super::Planner;
use super::analysis_cache::Basis;
use super::coverage::{ReceiverPlace, receiver};
use super::mesh::{inputs, member};
use super::wire::PACKET_BYTES;
use super::wire::coverage::Bounds;
use super::wire::place::point;
use super::wire::placement::{COUNT_MAX, PlacedSite, PlacementAdvice, PlacementQuestion};
use super::wire::radio::default_station;
use crate::problems::mesh_problem;

/// Most cells along the longer side of the area.
const SIDE_CELLS: f64 = 96.0;

/// Blocks along a side of the area, each with one candidate, where none are given.
const BLOCKS: u32 = 8;

/// Find sites to build next
///
/// Greedy choice among given points or high ground: each site adds the largest area that neither the
/// nodes of the deployment nor the sites before it cover.
#[utoipa::path(post, path = "/api/v1/deployments/{id}/placement", tag = "analysis",
    params(("id" = Uuid, Path, description = "Deployment id")),
    responses(
        (status = 200, description = "Sites, the one that adds most first"),
        (status = 404, description = "No such deployment"),
        (status = 429, description = "Too many analyses of this client wait"),
        (status = 503, description = "Too many analyses wait")))]
pub async fn placement(
    State(planner): State<Planner>,
    Origin(client): Origin,
    Path(id): Path<Uuid>,
    JsonBody(asked): JsonBody<PlacementQuestion>,
) -> Result<Json<PlacementAdvice>, Problem> {
    let deployment = planner.deployment(id)?;
    let basis = planner.basis(&deployment);
    let search = Search::new(basis, asked, &*planner.terrain.current())?;
    let source = planner.served();
    let found = planner.analyse_queued(client, move |terrain| search.run(terrain, &*source));
    Ok(Json(found.await?))
}

/// A site that may be built, with its links to the nodes.
struct Candidate {
    position: GeoPoint,
    links: usize,
    best: Option<(NodeId, f64)>,
    grounds: Vec<PathGround>,
}

/// Checked inputs of a request.
struct Search {
    basis: Basis,
    asked: PlacementQuestion,
    grid: Grid,
    given: Option<Vec<GeoPoint>>,
    station: Station,
    receiver: Station,
}

impl Search {
    fn new(basis: Basis, asked: PlacementQuestion, terrain: &dyn Terrain) -> Result<Self, Problem> {
        if !(1..=COUNT_MAX).contains(&asked.count) {
            let what = format!("`count` is {}, allowed is [1, {COUNT_MAX}]", asked.count);
            return Err(Problem::bad_request(what));
        }
        if !(0.0..=100.0).contains(&asked.link_margin_db) {
            let found = asked.link_margin_db;
            let what = format!("`link_margin_db` is {found}, allowed is [0, 100]");
            return Err(Problem::bad_request(what));
        }
        let given = asked
            .candidates
            .clone()
            .map(|points| {
                let points = points.into_iter().map(GeoPoint::try_from);
                points.collect::<Result<Vec<_>, _>>()
            })
            .transpose()?;
        let count = given.as_ref().map_or(1, Vec::len);
        if !(1..=CANDIDATES_MAX).contains(&count) {
            let what =
                format!("`candidates` has {count} points, allowed are 1 to {CANDIDATES_MAX}");
            return Err(Problem::bad_request(what));
        }
        let mut station = default_station();
        station.height_agl_m = asked.height_agl_m;
        let config = asked.radio.clone().unwrap_or_default();
        (station.radio, station.antenna) = config.resolve(&station)?;
        station.validate()?;
        let place = ReceiverPlace {
            height_agl_m: asked.rx_height_agl_m,
            surroundings: asked.rx_surroundings,
            indoor: asked.rx_indoor,
        };
        let receiver = receiver(asked.receiver.clone(), place, &station)?;
        Ok(Self { basis, grid: grid(asked.bounds, terrain)?, asked, given, station, receiver })
    }

    fn run(
        &self,
        terrain: &dyn Terrain,
        source: &dyn ServedCells,
    ) -> Result<PlacementAdvice, Problem> {
        let high = || high_ground(terrain, &self.grid, BLOCKS);
        let points = match &self.given {
            Some(points) => points.clone(),
            None => high().into_iter().map(|(at, _)| at).collect(),
        };
        let all = points.len();
        let linked = points.into_iter().map(|at| self.candidate(terrain, at));
        let mut candidates = linked.collect::<Result<Vec<_>, _>>()?;
        candidates.retain(|site| !self.asked.require_link || site.links > 0);
        let nodes = self.basis.nodes.iter();
        let existing: Vec<_> =
            nodes.map(|node| self.request(terrain, node.position, &node.station)).collect();
        let sites: Vec<_> = candidates
            .iter()
            .map(|site| self.request(terrain, site.position, &self.station))
            .collect();
        let request = PlacementRequest {
            grid: &self.grid,
            existing: &existing,
            candidates: &sites,
            count: self.asked.count as usize,
            margin_db: self.asked.link_margin_db,
        };
        let found = place(&request, terrain, source);
        if let Some(reason) = &found.fallback {
            tracing::warn!(%reason, "engine of the placement: cpu");
        }
        let site = |step: &Step| {
            let site = &candidates[usize::from(step.site)];
            let covered_area_km2 = found.covered_km2 + step.covered;
            PlacedSite {
                lat: site.position.lat_deg(),
                lon: site.position.lon_deg(),
                elevation_msl_m: terrain.elevation_msl_m(site.position),
                added_area_km2: step.gain,
                covered_area_km2,
                covered_percent: 100.0 * covered_area_km2 / found.known_km2,
                links: site.links,
                ground: site.grounds.iter().copied().collect(),
                best_node_id: site.best.map(|(id, _)| id.uuid()),
                best_link_margin_db: site.best.map(|(_, margin_db)| margin_db),
            }
        };
        let grounds = |step: &Step| &candidates[usize::from(step.site)].grounds;
        Ok(PlacementAdvice {
            candidates: candidates.len(),
            without_link: all - candidates.len(),
            known_area_km2: found.known_km2,
            covered_area_km2: found.covered_km2,
            // The sum of no numbers is -0.
            upper_bound_km2: found.choice.upper_bound + 0.0,
            ground: (found.choice.steps.iter().flat_map(grounds).copied())
                .chain((found.known_km2 <= 0.0).then_some(PathGround::Unknown))
                .collect(),
            sites: found.choice.steps.iter().map(site).collect(),
        })
    }

    fn request(&self, terrain: &dyn Terrain, at: GeoPoint, station: &Station) -> CoverageRequest {
        CoverageRequest {
            position: at,
            transmitter: station.clone(),
            receiver: self.receiver.clone(),
            environment: self.basis.environment.clone(),
            packet_octets: PACKET_BYTES,
            sampling: Sampling::Posts,
            radius_m: coverage_radius_m(terrain, at, [station, &self.receiver]),
        }
    }

    /// A site at a point, with its links to the nodes that close in both directions over ground that is not
    /// unknown.
    fn candidate(&self, terrain: &dyn Terrain, at: GeoPoint) -> Result<Candidate, Problem> {
        let own = NodeId::new(Uuid::nil());
        let mut members: Vec<_> = self.basis.nodes.iter().map(member).collect();
        members.push(Member { id: own, position: at, station: &self.station });
        let inputs: Inputs<'_> = inputs(terrain, &self.basis.environment);
        let links = links_of(&inputs, &members, own).map_err(mesh_problem)?;
        let usable = |link: &&MeshLink| {
            let budget = &link.budget;
            let closes = [budget.forward, budget.backward].iter().all(|way| way.closes());
            closes && link.is_over_known_ground()
        };
        let usable: Vec<_> = links.iter().filter(usable).collect();
        let margin = |link: &&MeshLink| {
            let budget = &link.budget;
            let worse = budget.forward.link_margin_db.min(budget.backward.link_margin_db);
            // The nil id is the lowest: the node is the other end.
            (link.ends.b(), worse)
        };
        let best = usable.iter().map(margin).max_by(|a, b| a.1.total_cmp(&b.1));
        let grounds = links.iter().map(|link| link.budget.ground).collect();
        Ok(Candidate { position: at, links: usable.len(), best, grounds })
    }
}

/// About square cells over an area, no finer than the posts of the terrain in its middle.
fn grid(bounds: Bounds, terrain: &dyn Terrain) -> Result<Grid, Problem> {
    let Bounds { south, west, north, east } = bounds;
    let (_, _) = (point(south, west)?, point(north, east)?);
    if south >= north {
        let what = format!("`bounds.south` is {south}, allowed is below `bounds.north`, {north}");
        return Err(Problem::bad_request(what));
    }
    let (height_deg, width_deg) = (north - south, bounds.width_deg());
    let squeeze = f64::midpoint(south, north).to_radians().cos().max(0.01);
    let middle = point(f64::midpoint(south, north), west)?;
    let posts_deg = terrain.resolution_arcsec(middle).unwrap_or(0.0) / 3600.0;
    let cell_deg = (height_deg.max(width_deg * squeeze) / SIDE_CELLS).max(posts_deg);
    let rows = (height_deg / cell_deg).round().clamp(1.0, SIDE_CELLS);
    let columns = (width_deg * squeeze / cell_deg).round().clamp(1.0, SIDE_CELLS);
    let sizes = [height_deg / rows, width_deg / columns];
    let grid = Grid::new([north, west], sizes, [rows as u32, columns as u32]);
    grid.map_err(|bad| Problem::bad_request(bad.to_string()))
}
