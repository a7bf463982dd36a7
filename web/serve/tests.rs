//! Tests of daemons started in this process.

use axum::http::{Method, StatusCode};
use clap::Parser;
use groundwave_http::client::Client;

use super::server::{Server, ServerConfig};

#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    config: ServerConfig,
}

#[test]
fn a_server_starts_from_its_configuration_answers_and_stops() {
    let folder = tempfile::tempdir().unwrap();
    let db = folder.path().join("plan.db").display().to_string();
    let arguments = ["serve", "planning", "--bind", "127.0.0.1:0", "--db", &db];
    let config = Arguments::parse_from(arguments).config;
    let server = Server::start(&config).unwrap();
    let address = server.planning_address().unwrap().to_string();
    let stop = server.stop_token();
    let running = std::thread::spawn(move || server.run());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let (status, _) = runtime.block_on(async {
        let mut client = Client::tcp(&address).await.unwrap();
        client.ask(Method::GET, "/openapi.json", None).await.unwrap()
    });
    assert_eq!(status, StatusCode::OK);
    stop.cancel();
    running.join().unwrap().unwrap();
    // The store is free again.
    let again = Server::start(&config).unwrap();
    again.stop_token().cancel();
    again.run().unwrap();
}

#[test]
fn option_of_a_service_that_is_not_served_is_refused() {
    for (line, refusal) in [
        ("serve gateway", None),
        ("serve gateway --db a.db --record b.gwlog --offline", None),
        ("serve --bind 127.0.0.1:1 --gateway-bind 127.0.0.1:2", None),
        (
            "serve gateway --bind 127.0.0.1:1",
            Some("invalid --bind: found the gateway alone, allowed with the planning service"),
        ),
        (
            "serve gateway --replay a.gwlog",
            Some("invalid --replay: found the gateway alone, allowed with the planning service"),
        ),
        (
            "serve planning --gateway-bind 127.0.0.1:1",
            Some(
                "invalid --gateway-bind: found the planning service alone, allowed with the \
                 gateway",
            ),
        ),
    ] {
        let config = Arguments::parse_from(line.split(' ')).config;
        let failure = config.refuse_unserved().err();
        let text = failure.map(|failure| failure.message().to_owned());
        assert_eq!(text.as_deref(), refusal, "{line}");
    }
}
