//! The three parts of a publication's path have no documented form, and each is one segment all the same.

use sdk_reference_server::{App, Operation};

use crate::contract::both::Both;
use crate::support::assert_refused_with;

const RULE: &str = "must be a single path segment: not empty, not `.` or `..`, without slashes, semicolons or \
     control characters";

#[tokio::test]
async fn fault_56_what_is_no_segment_is_not_sent() {
    let both = Both::sides_of(App::Platform).await;
    let publications = both.world.platform.publications();
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
        // Each layer takes another pass, and no server has as many.
        &format!("%{}", "25".repeat(20)),
    ];

    for text in not_segments {
        let why = |name: &str| format!("`{name}` {RULE}: got {}", shown(text));
        both.sdk_refuses(publications.get(text, "organization", "1"), &why("appId"))
            .await;
        both.sdk_refuses(publications.get("crm", text, "1"), &why("resourceType"))
            .await;
        both.sdk_refuses(
            publications.get("crm", "organization", text),
            &why("sourceRecordId"),
        )
        .await;
    }
}

fn shown(text: &str) -> String {
    format!("{text:?}")
}

#[tokio::test]
async fn a_path_with_another_number_of_segments_is_no_publication() {
    let both = Both::sides_of(App::Platform).await;

    for path in [
        "crm/organization",
        "crm/organization/",
        "crm/organization/a/b",
        "//1",
    ] {
        let target = format!("/platform/v1/publications/{path}");
        assert_eq!(both.bypass.get(&target).await.status, 404, "{target}");
    }
}

#[tokio::test]
async fn what_a_segment_may_hold_arrives_as_it_was() {
    let both = Both::sides_of(App::Platform).await;
    let publications = both.world.platform.publications();

    let error = publications
        .get("crm", "organization", "50 %?&#ü")
        .await
        .unwrap_err();

    assert_refused_with(&error, 404);
    let path = both.world.last(Operation::GetPublication).path;
    let record = path.rsplit('/').next().unwrap();
    assert_eq!(record, "50%20%25%3F&%23%C3%BC");
}
