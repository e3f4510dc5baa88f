//! References have the form that the contract gives for their kind: when they are parsed, when they are sent, and
//! when the server reads them.

use sdk_core::Error;
use sdk_crm::types::{
    ActorReference, IntakeReference, OpportunityReference, OrganizationReference, PersonReference,
};
use sdk_reference_server::App;

use crate::contract::both::{Both, assert_refused_locally};

/// Texts that are close to a reference with this prefix.
fn nearly(prefix: &str) -> [String; 5] {
    [
        format!("{prefix}0123456789A"),
        format!("{prefix}0123456789ABC"),
        format!("{prefix}0123456789ab"),
        format!("{prefix}0123456789AG"),
        format!("XX{prefix}0123456789AB"),
    ]
}

fn why(name: &str, prefix: &str, text: &str) -> String {
    format!("`{name}` must match ^{prefix}[A-F0-9]{{12}}$: got {text:?}")
}

#[tokio::test]
async fn the_path_of_a_submission_has_its_reference() {
    let both = Both::sides_of(App::Crm).await;
    for text in nearly("IN-") {
        let call = both.world.crm.intake().get(&*text);
        let target = format!("/api/crm/v1/intake-submissions/{text}");
        both.refuse(call, &why("reference", "IN-", &text), &target)
            .await;
    }
}

#[tokio::test]
async fn the_path_of_a_person_has_their_reference() {
    let both = Both::sides_of(App::Crm).await;
    for text in nearly("PER-") {
        let call = both.world.crm.people().get(&*text);
        let target = format!("/api/crm/v1/people/{text}");
        both.refuse(call, &why("reference", "PER-", &text), &target)
            .await;
    }
}

#[tokio::test]
async fn the_path_of_a_timeline_has_the_persons_reference() {
    let both = Both::sides_of(App::Crm).await;
    for text in nearly("PER-") {
        let call = both.world.crm.people().timeline(&*text);
        let target = format!("/api/crm/v1/people/{text}/timeline");
        both.refuse(call, &why("reference", "PER-", &text), &target)
            .await;
    }
}

#[tokio::test]
async fn the_path_of_an_organization_has_its_reference() {
    let both = Both::sides_of(App::Crm).await;
    for text in nearly("ORG-") {
        let call = both.world.crm.organizations().get(&*text);
        let target = format!("/api/crm/v1/organizations/{text}");
        both.refuse(call, &why("reference", "ORG-", &text), &target)
            .await;
    }
}

#[tokio::test]
async fn the_path_of_an_opportunity_has_its_reference() {
    let both = Both::sides_of(App::Crm).await;
    for text in nearly("OP-") {
        let call = both.world.crm.opportunities().get(&*text);
        let target = format!("/api/crm/v1/opportunities/{text}");
        both.refuse(call, &why("reference", "OP-", &text), &target)
            .await;
    }
}

#[tokio::test]
async fn the_owner_of_opportunities_is_none_or_an_actor() {
    let both = Both::sides_of(App::Crm).await;
    let list = |owner: &str| both.world.crm.opportunities().list().owner(owner);
    let target = |owner: &str| format!("/api/crm/v1/opportunities?owner={owner}");

    let others = ["", "None", "nobody", "mine", "PER-0123456789AB"];
    for owner in nearly("ACR-").iter().map(String::as_str).chain(others) {
        let why = format!("`owner` must match ^(none|ACR-[A-F0-9]{{12}})$: got {owner:?}");
        both.refuse(list(owner), &why, &target(owner)).await;
    }
    let actor = both.world.server.sample_actor();
    for owner in ["none", "ACR-FFFFFFFFFFFF", &*actor] {
        both.accept(list(owner), &target(owner)).await;
    }
}

#[tokio::test]
async fn a_reference_that_would_leave_its_path_is_not_sent() {
    let both = Both::sides_of(App::Crm).await;
    for text in [
        "",
        ".",
        "..",
        "%2e%2e",
        "../organizations",
        "PER-0123456789AB/timeline",
        "?q=an",
    ] {
        let call = both.world.crm.people().get(text);
        both.sdk_refuses(call, &why("reference", "PER-", text))
            .await;
    }
}

#[test]
fn a_reference_is_parsed_strictly() {
    fn refused(result: Result<impl Sized, Error>, name: &str, prefix: &str, text: &str) {
        let Err(error) = result else {
            panic!("{name} takes {text}");
        };
        assert_refused_locally(&error, &why(name, prefix, text));
    }

    for text in nearly("IN-") {
        refused(
            text.parse::<IntakeReference>(),
            "IntakeReference",
            "IN-",
            &text,
        );
    }
    for text in nearly("PER-") {
        refused(
            text.parse::<PersonReference>(),
            "PersonReference",
            "PER-",
            &text,
        );
    }
    for text in nearly("ORG-") {
        refused(
            text.parse::<OrganizationReference>(),
            "OrganizationReference",
            "ORG-",
            &text,
        );
    }
    for text in nearly("OP-") {
        refused(
            text.parse::<OpportunityReference>(),
            "OpportunityReference",
            "OP-",
            &text,
        );
    }
    for text in nearly("ACR-") {
        refused(
            text.parse::<ActorReference>(),
            "ActorReference",
            "ACR-",
            &text,
        );
    }
    assert!("PER-0123456789AB".parse::<PersonReference>().is_ok());
}
