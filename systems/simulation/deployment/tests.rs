use groundwave_engine::{Engine, Recorded, Refusal};
use groundwave_model::radio::{Environment, Role};
use groundwave_model::sample::station;
use groundwave_model::terrain::{Flat, GeoPoint};

use super::*;
use crate::site::{AddNode, NodeId, RemoveNode, UpdateNode};
use crate::{WorldView, world};

fn engine() -> Engine<WorldView> {
    let ground = Flat { elevation_msl_m: 0.0 };
    world(std::sync::Arc::new(ground)).build(1, 1_000_000).unwrap()
}

fn does<C: Recorded>(engine: &mut Engine<WorldView>, command: C) -> Result<C::Reply, Refusal> {
    let reply = engine.handle().submit(command).unwrap();
    engine.tick(Some(7_000)).unwrap();
    reply.wait()
}

fn outline(name: &str) -> Outline {
    Outline {
        name: name.to_owned(),
        center: None,
        region: None,
        environment: Environment::default(),
    }
}

fn create(engine: &mut Engine<WorldView>, name: &str) -> DeploymentId {
    let deployment = DeploymentId::named(name);
    let outline = outline(name);
    let command = CreateDeployment { deployment, outline };
    does(engine, command).unwrap();
    deployment
}

fn add(name: &str, deployment: Option<DeploymentId>) -> AddNode {
    AddNode {
        node: NodeId::named(name),
        name: name.to_owned(),
        role: Role::Relay,
        position: GeoPoint::new(57.0, 11.0).unwrap(),
        station: station(),
        deployment,
    }
}

fn square() -> Region {
    let corner = |lat, lon| GeoPoint::new(lat, lon).unwrap();
    let ring = vec![
        corner(57.0, 11.0),
        corner(57.0, 12.0),
        corner(58.0, 12.0),
        corner(58.0, 11.0),
        corner(57.0, 11.0),
    ];
    Region::new(vec![ring]).unwrap()
}

#[test]
fn planned_nodes_live_and_go_with_their_deployment_and_have_no_links() {
    let mut engine = engine();
    let (one, other) = (create(&mut engine, "one"), create(&mut engine, "other"));
    for name in ["a", "b", "c"] {
        does(&mut engine, add(name, Some(one))).unwrap();
    }
    does(&mut engine, add("d", Some(other))).unwrap();
    does(&mut engine, add("live", None)).unwrap();
    let view = engine.view();
    assert_eq!((view.plan.nodes.len(), view.plan.node_count(one)), (4, 3));
    assert_eq!((view.nodes.len(), view.links.len()), (1, 0));
    let node = &view.plan.nodes[&NodeId::named("a")];
    assert_eq!((node.deployment, node.stamps.created_ns), (one, 7_000));

    does(&mut engine, DeleteDeployment { deployment: one }).unwrap();
    let view = engine.view();
    let names: Vec<_> = view.plan.nodes_of(other).map(|n| n.name.clone()).collect();
    assert_eq!((view.plan.nodes.len(), names), (1, vec!["d".to_owned()]));
    assert_eq!(view.plan.nodes_of(one).count(), 0);
    let refusal = does(&mut engine, RemoveNode { node: NodeId::named("a") });
    assert!(matches!(refusal, Err(Refusal::NotFound { .. })));
}

#[test]
fn a_node_in_a_deployment_that_is_not_there_is_refused() {
    let mut engine = engine();
    let nowhere = DeploymentId::named("nowhere");
    let refused = does(&mut engine, add("a", Some(nowhere))).unwrap_err();
    assert_eq!(refused, Refusal::NotFound { kind: "deployment", id: nowhere.to_string() });
    assert!(engine.view().plan.nodes.is_empty());
}

#[test]
fn updates_change_what_they_name_and_nothing_else() {
    let mut engine = engine();
    let deployment = create(&mut engine, "one");
    let nothing = UpdateDeployment {
        deployment,
        name: None,
        center: None,
        region: None,
        clear_region: false,
        environment: None,
    };
    let center = GeoPoint::new(57.5, 11.5).unwrap();
    let update =
        UpdateDeployment { region: Some(square()), center: Some(center), ..nothing.clone() };
    does(&mut engine, update).unwrap();
    let update = UpdateDeployment { name: Some("two".to_owned()), ..nothing.clone() };
    does(&mut engine, update).unwrap();
    let outline = engine.view().plan.deployments[&deployment].outline.clone();
    assert_eq!((outline.name.as_str(), outline.center), ("two", Some(center)));
    assert_eq!(outline.region, Some(square()));
    let both = UpdateDeployment { region: Some(square()), clear_region: true, ..nothing.clone() };
    assert!(matches!(does(&mut engine, both), Err(Refusal::Invalid { .. })));
    let clear = UpdateDeployment { clear_region: true, ..nothing };
    does(&mut engine, clear).unwrap();
    let outline = engine.view().plan.deployments[&deployment].outline.clone();
    assert_eq!((outline.region, outline.center), (None, Some(center)));
}

#[test]
fn a_refused_node_update_changes_nothing() {
    let mut engine = engine();
    let deployment = create(&mut engine, "one");
    does(&mut engine, add("a", Some(deployment))).unwrap();
    let before = engine.view().plan.nodes[&NodeId::named("a")].clone();
    let update = UpdateNode {
        name: Some("b".to_owned()),
        height_agl_m: Some(-1.0),
        ..UpdateNode::of(NodeId::named("a"))
    };
    assert!(matches!(
        does(&mut engine, update),
        Err(Refusal::Invalid { key, .. }) if key == "height_agl_m"
    ));
    assert_eq!(engine.view().plan.nodes[&NodeId::named("a")], before);
}

#[test]
fn templates_have_names_of_their_own() {
    let mut engine = engine();
    let template = |id: &str, name: &str| CreateTemplate {
        template: TemplateId::named(id),
        content: Template {
            name: name.to_owned(),
            description: String::new(),
            role: Role::Relay,
            station: station(),
        },
    };
    does(&mut engine, template("1", "mast")).unwrap();
    let twice = does(&mut engine, template("2", "mast"));
    assert!(matches!(twice, Err(Refusal::Conflict { .. })));
    let template_id = TemplateId::named("1");
    does(&mut engine, DeleteTemplate { template: template_id }).unwrap();
    does(&mut engine, template("2", "mast")).unwrap();
    assert_eq!(engine.view().plan.templates.len(), 1);
}

#[test]
fn regions_are_geojson_polygons() {
    let text = serde_json::to_string(&square()).unwrap();
    assert!(text.starts_with(r#"{"type":"Polygon","coordinates":[[[11.0,57.0],[12.0,57.0]"#));
    assert_eq!(serde_json::from_str::<Region>(&text).unwrap(), square());
    let bad = [
        (r#"{"type":"Polygon","coordinates":[]}"#, "0 rings"),
        (r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[0,0]]]}"#, "3 positions"),
        (
            r#"{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,91],[0,0]]]}"#,
            "position 2 in ring 0",
        ),
        (r#"{"type":"Point","coordinates":[0,0]}"#, "Polygon"),
    ];
    for (text, says) in bad {
        let refused = serde_json::from_str::<Region>(text).unwrap_err();
        assert!(refused.to_string().contains(says), "{text}: {refused}");
    }
    let open = r#"{"type":"Polygon","coordinates":[[[11,57],[12,57],[12,58],[11,58]]]}"#;
    assert_eq!(serde_json::from_str::<Region>(open).unwrap(), square());
    let inside = GeoPoint::new(57.5, 11.5).unwrap();
    let outside = GeoPoint::new(57.5, 12.5).unwrap();
    assert!(square().contains(inside) && !square().contains(outside));
}
