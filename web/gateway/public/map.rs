//! Public map as a page without scripts.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use groundwave_files::wall::wall_ns;
use groundwave_http::Problem;
use maud::{DOCTYPE, Markup, html};

use super::meshviewer::{Meshviewer, MeshviewerNode, meshviewer, public_headers};
use super::permit;
use crate::access::Anonymous;
use crate::services::world::World;
use crate::settings::Settings;

/// Width and height of the picture, px.
const SIZE_PX: (f64, f64) = (960.0, 640.0);
/// Margin around the nodes, px.
const MARGIN_PX: f64 = 60.0;
/// Minimum extent of the map, degrees of latitude: one node is not magnified without bound.
const EXTENT_MINIMUM_DEG: f64 = 0.002;
const ONLINE: &str = "#14733c";
const OFFLINE: &str = "#b3261e";

/// Places of nodes in the picture, px, by node id.
fn places(nodes: &[MeshviewerNode]) -> BTreeMap<&str, (f64, f64)> {
    let located = nodes.iter().filter_map(|node| Some((node.node_id.as_str(), node.location?)));
    let located: Vec<_> = located.collect();
    let Some((_, first)) = located.first() else {
        return BTreeMap::new();
    };
    let scale = libm::cos(first.latitude.to_radians()).max(0.01);
    // East of the first node, across 180° too, in degrees of latitude.
    let east = |longitude: f64| {
        let offset_deg = (longitude - first.longitude + 540.0).rem_euclid(360.0) - 180.0;
        offset_deg * scale
    };
    let points: Vec<_> =
        located.iter().map(|(id, place)| (*id, east(place.longitude), place.latitude)).collect();
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        })
    };
    let (west, east) = range(&mut points.iter().map(|point| point.1));
    let (south, north) = range(&mut points.iter().map(|point| point.2));
    let (width, height) = (SIZE_PX.0 - 2.0 * MARGIN_PX, SIZE_PX.1 - 2.0 * MARGIN_PX);
    let extent = |span_deg: f64, span_px: f64| span_px / span_deg.max(EXTENT_MINIMUM_DEG);
    let px_per_deg = extent(east - west, width).min(extent(north - south, height));
    let middle = ((west + east) / 2.0, (south + north) / 2.0);
    let place = |x: f64, y: f64| {
        (
            SIZE_PX.0 / 2.0 + (x - middle.0) * px_per_deg,
            SIZE_PX.1 / 2.0 - (y - middle.1) * px_per_deg,
        )
    };
    points.into_iter().map(|(id, x, y)| (id, place(x, y))).collect()
}

const fn color(node: &MeshviewerNode) -> &'static str {
    match node.is_online {
        true => ONLINE,
        false => OFFLINE,
    }
}

const fn state(node: &MeshviewerNode) -> &'static str {
    match node.is_online {
        true => "online",
        false => "offline",
    }
}

/// The map as SVG: links in grey, wider where they are better; nodes green where they are online.
fn picture(mesh: &Meshviewer) -> Markup {
    let places = places(&mesh.nodes);
    let px = |value: f64| format!("{value:.1}");
    let lines = mesh.links.iter().filter_map(|link| {
        let (a, b) = (places.get(link.source.as_str())?, places.get(link.target.as_str())?);
        let width = 1.0 + 3.0 * link.source_tq.min(link.target_tq);
        Some((*a, *b, width))
    });
    let nodes =
        mesh.nodes.iter().filter_map(|node| Some((node, *places.get(node.node_id.as_str())?)));
    html! {
        svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Map of the mesh" width="100%"
            viewBox=(format!("0 0 {} {}", SIZE_PX.0, SIZE_PX.1)) font-family="sans-serif" font-size="12" {
            rect width=(SIZE_PX.0) height=(SIZE_PX.1) fill="#f4f4f0" {}
            @for (a, b, width) in lines {
                line x1=(px(a.0)) y1=(px(a.1)) x2=(px(b.0)) y2=(px(b.1)) stroke="#8a8a8a" stroke-width=(px(width)) {}
            }
            @for (node, (x, y)) in nodes {
                circle cx=(px(x)) cy=(px(y)) r="6" fill=(color(node)) stroke="#ffffff" {
                    title { (node.hostname) ": " (state(node)) }
                }
                text x=(px(x + 9.0)) y=(px(y + 4.0)) fill="#222222" { (node.hostname) }
            }
        }
    }
}

fn page(mesh: &Meshviewer) -> Markup {
    let online = mesh.nodes.iter().filter(|node| node.is_online).count();
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width";
                meta http-equiv="refresh" content="60";
                title { "Mesh map" }
            }
            body {
                h1 { "Mesh map" }
                p { (online) " of " (mesh.nodes.len()) " nodes online, " (mesh.links.len()) " links, "
                    time datetime=(mesh.timestamp) { (mesh.timestamp) } ". "
                    a href="/meshviewer.json" { "meshviewer.json" } }
                (picture(mesh))
                table {
                    thead { tr { th { "Node" } th { "State" } th { "Last heartbeat" } } }
                    tbody {
                        @for node in &mesh.nodes {
                            tr { td { (node.hostname) } td { (state(node)) } td { (node.lastseen) } }
                        }
                    }
                }
            }
        }
    }
}

/// Get the public map
#[utoipa::path(get, path = "/map", tag = "system",
    responses((status = 200, description = "A page without scripts; it loads itself again each minute", content((String = "text/html"))),
        (status = 404, description = "No public map")))]
pub async fn public_map(
    _: Anonymous,
    State(world): State<World>,
    State(settings): State<Arc<Settings>>,
) -> Result<Response, Problem> {
    permit(&settings)?;
    let page = page(&meshviewer(&world.view(), wall_ns()));
    let headers = [
        (header::CONTENT_TYPE, "text/html; charset=utf-8"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors *; base-uri 'none'"),
    ];
    Ok((public_headers(), headers, page.into_string().into_bytes()).into_response())
}

#[cfg(test)]
mod tests {
    use super::super::meshviewer::MeshviewerLocation;
    use super::*;

    fn node(id: &str, latitude: f64, longitude: f64) -> MeshviewerNode {
        MeshviewerNode {
            node_id: id.to_owned(),
            hostname: format!("<{id}>"),
            firstseen: String::new(),
            lastseen: String::new(),
            is_online: true,
            is_gateway: false,
            clients: 0,
            location: Some(MeshviewerLocation { latitude, longitude }),
            model: None,
            firmware: None,
        }
    }

    #[test]
    fn places_are_within_the_picture_also_across_the_antimeridian() {
        let nodes = [node("a", -17.0, 179.9), node("b", -17.1, -179.9), node("c", -16.9, 180.0)];
        let places = places(&nodes);
        let within =
            |value: f64, size: f64| (MARGIN_PX - 1e-6..=size - MARGIN_PX + 1e-6).contains(&value);
        for (x, y) in places.values() {
            assert!(within(*x, SIZE_PX.0) && within(*y, SIZE_PX.1), "{x} {y}");
        }
        assert!(places["a"].0 < places["c"].0 && places["c"].0 < places["b"].0);
        assert!(places["c"].1 < places["a"].1 && places["a"].1 < places["b"].1);
    }

    #[test]
    fn names_are_escaped_and_an_empty_mesh_is_a_page() {
        let mesh = |nodes| Meshviewer { timestamp: String::new(), nodes, links: Vec::new() };
        let text = page(&mesh(vec![node("a", 1.0, 2.0)])).into_string();
        assert!(text.contains("&lt;a&gt;") && !text.contains("<a>"));
        assert!(page(&mesh(Vec::new())).into_string().contains("0 of 0 nodes online"));
    }
}
