//! Programs that the README and the guide show. Pages contain the other files of this folder letter for letter, which
//! `.ci/docs.py` checks. The tests here run them.

#![allow(unreachable_pub)] // the recipes are written for a user's crate

mod company_proxy;
mod control_time;
mod crash;
mod memory;
mod scripted;

use std::path::Path;
use std::process::Command;

use sdk_core::{Effect, ErrorKind};

use crate::fixtures::{Given, add_person, get_person, person};
use crate::peer::proxy::Proxy;
use crate::peer::{Peer, Reserved, always};
use crate::programs::{output, program};
use crate::support::{Clients as _, assert_says, builder_at};

#[test]
fn a_main_that_returns_an_error_prints_one_readable_line() {
    let mut tour = Command::new(program("tour"));
    tour.env_clear().env("SUITE_CRM_URL", "https://crm.test");
    let tour = output(&mut tour);
    assert_eq!(
        String::from_utf8(tour.stderr).unwrap(),
        "Error: missing environment variables: SUITE_CORE_URL, SUITE_CLIENT_ID, SUITE_CLIENT_SECRET\n"
    );
    assert_eq!(tour.status.code(), Some(1));
}

#[tokio::test]
async fn the_recipe_for_a_proxy_and_a_company_ca_connects_through_both() {
    let ca =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference-server/tests/tls/cert.pem");
    let settings = || builder_at("https://suite.test").token_source(Given);
    let application = Peer::start(always(person()));
    let tls = Proxy::tls(&application.url(), &["h2"]);
    let proxy = Proxy::tunnel(tls.address);

    let suite = company_proxy::behind_proxy(settings(), &proxy.url(), &ca).unwrap();
    get_person(&suite.crm()).await.unwrap();
    assert!(proxy.seen().concat().starts_with("CONNECT suite.test:443 "));
    assert_eq!(tls.seen(), ["suite.test h2"]);
    assert_eq!(application.requests().len(), 1);

    let down = Reserved::new();
    let suite = company_proxy::behind_proxy(settings(), &down.url(), &ca).unwrap();
    let error = add_person(&suite.crm()).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.effect()),
        (ErrorKind::Connect, Effect::NotSent)
    );
    let address = down.url().replace("http://", "");
    assert_says(&error, &["a proxy of the HTTP client (tried ", &address]);
}

#[test]
fn the_readme_contains_the_output_of_the_tour() {
    let tour = output(&mut Command::new(program("tour"))).stdout;
    let printed = String::from_utf8(tour).unwrap();
    let readme = include_str!("../../../../README.md");
    let (_, shown) = readme.split_once("\n```text\n").unwrap();
    let (shown, _) = shown.split_once("```").unwrap();
    assert!(printed.contains(shown), "{printed}");
}
