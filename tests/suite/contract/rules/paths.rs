//! Values in a path. A reference must match the contract's pattern for its kind, both when it is parsed and when it is
//! sent. The three parts of a publication's path have no documented pattern, but each must be one path segment.

use std::str::FromStr;

use sdk_core::Error;
use sdk_crm::types::{
    ActorReference, IntakeReference, OpportunityReference, OrganizationReference, PersonReference,
};

use super::{assert_refused_locally, refuses};
use crate::contract::setup::Setup;

/// Returns strings that resemble a reference with this prefix, and strings that would escape a path.
fn others(prefix: &str) -> Vec<String> {
    let near = [
        format!("{prefix}0123456789A"),
        format!("{prefix}0123456789ABC"),
        format!("{prefix}0123456789ab"),
        format!("{prefix}0123456789AG"),
        format!("XX{prefix}0123456789AB"),
        format!("{prefix}0123456789AB/timeline"),
    ];
    let leaving = [
        "",
        ".",
        "..",
        "%2e%2e",
        "../organizations",
        "?q=an",
        "a\r\nb",
    ];
    near.into_iter().chain(leaving.map(str::to_owned)).collect()
}

fn why(name: &str, prefix: &str, text: &str) -> String {
    format!("`{name}` must match ^{prefix}[A-F0-9]{{12}}$: got {text:?}")
}

/// Checks that a call takes only references with this prefix.
async fn takes<T, C: IntoFuture<Output = Result<T, Error>>>(
    setup: &Setup,
    prefix: &str,
    call: impl Fn(String) -> C,
) {
    for text in others(prefix) {
        let why = why("reference", prefix, &text);
        refuses(setup, call(text), &why).await;
    }
}

#[tokio::test]
async fn fault_31_a_path_takes_references_of_its_kind() {
    let setup = Setup::in_memory();
    let crm = &setup.crm;
    takes(&setup, "IN-", |text| crm.intake().get(text)).await;
    takes(&setup, "PER-", |text| crm.people().get(text)).await;
    takes(&setup, "PER-", |text| crm.people().timeline(text)).await;
    takes(&setup, "ORG-", |text| crm.organizations().get(text)).await;
    takes(&setup, "OP-", |text| crm.opportunities().get(text)).await;
}

fn is_parsed_strictly<T: FromStr<Err = Error>>(name: &str, prefix: &str) {
    for text in others(prefix) {
        let Err(error) = text.parse::<T>() else {
            panic!("{name} takes {text}");
        };
        assert_refused_locally(&error, &why(name, prefix, &text));
    }
    assert!(format!("{prefix}0123456789AB").parse::<T>().is_ok());
}

#[test]
fn a_reference_is_parsed_strictly() {
    is_parsed_strictly::<IntakeReference>("IntakeReference", "IN-");
    is_parsed_strictly::<PersonReference>("PersonReference", "PER-");
    is_parsed_strictly::<OrganizationReference>("OrganizationReference", "ORG-");
    is_parsed_strictly::<OpportunityReference>("OpportunityReference", "OP-");
    is_parsed_strictly::<ActorReference>("ActorReference", "ACR-");
}

/// The accepted values are tested in `contract::filters`.
#[tokio::test]
async fn the_owner_of_opportunities_is_none_or_an_actor() {
    let setup = Setup::in_memory();
    let more = ["None", "nobody", "mine", "PER-0123456789AB"];
    for owner in others("ACR-").iter().map(String::as_str).chain(more) {
        let why = format!("`owner` must match ^(none|ACR-[A-F0-9]{{12}})$: got {owner:?}");
        let list = setup.crm.opportunities().list().owner(owner);
        refuses(&setup, list, &why).await;
    }
}

#[tokio::test]
async fn fault_56_a_string_that_is_not_one_segment_is_not_sent() {
    let setup = Setup::in_memory();
    let publications = setup.platform.publications();
    let not_segments = [
        "",
        ".",
        "..",
        "%2e%2E",
        "a/b",
        "a%2Fb",
        "..\\b",
        "a\nb",
        "%00",
        "..;",
        "a;b=c",
        "a%3bb",
        "%252e%252e",
        "%2525252f",
        // Each layer needs another decoding pass, and no server makes so many.
        &format!("%{}", "25".repeat(20)),
    ];

    for text in not_segments {
        for (name, call) in [
            ("appId", publications.get(text, "organization", "1")),
            ("resourceType", publications.get("crm", text, "1")),
            (
                "sourceRecordId",
                publications.get("crm", "organization", text),
            ),
        ] {
            let rule = "must be a single path segment: not empty, not `.` or `..`, without slashes, semicolons or \
                        control characters";
            refuses(&setup, call, &format!("`{name}` {rule}: got {text:?}")).await;
        }
    }
}
