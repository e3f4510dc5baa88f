//! References have the form that the contract gives for their kind: when they are parsed, when they are sent, and
//! when the server reads them.

use std::str::FromStr;

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

/// A path, in which `@` stands for the reference, takes no other text there.
async fn holds<T, C: IntoFuture<Output = Result<T, Error>>>(
    both: &Both,
    prefix: &str,
    path: &str,
    call: impl Fn(String) -> C,
) {
    for text in nearly(prefix) {
        let target = format!("/api/crm/v1/{}", path.replace('@', &text));
        let why = why("reference", prefix, &text);
        both.refuse(call(text), &why, &target).await;
    }
}

#[tokio::test]
async fn a_path_has_the_reference_of_what_it_is_about() {
    let both = Both::sides_of(App::Crm).await;
    let crm = &both.world.crm;
    let submissions = "intake-submissions/@";
    holds(&both, "IN-", submissions, |text| crm.intake().get(text)).await;
    holds(&both, "PER-", "people/@", |text| crm.people().get(text)).await;
    let timeline = |text| crm.people().timeline(text);
    holds(&both, "PER-", "people/@/timeline", timeline).await;
    let organization = |text| crm.organizations().get(text);
    holds(&both, "ORG-", "organizations/@", organization).await;
    let opportunity = |text| crm.opportunities().get(text);
    holds(&both, "OP-", "opportunities/@", opportunity).await;
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

fn refuses_nearly<T: FromStr<Err = Error>>(name: &str, prefix: &str) {
    for text in nearly(prefix) {
        let Err(error) = text.parse::<T>() else {
            panic!("{name} takes {text}");
        };
        assert_refused_locally(&error, &why(name, prefix, &text));
    }
}

#[test]
fn a_reference_is_parsed_strictly() {
    refuses_nearly::<IntakeReference>("IntakeReference", "IN-");
    refuses_nearly::<PersonReference>("PersonReference", "PER-");
    refuses_nearly::<OrganizationReference>("OrganizationReference", "ORG-");
    refuses_nearly::<OpportunityReference>("OpportunityReference", "OP-");
    refuses_nearly::<ActorReference>("ActorReference", "ACR-");
    assert!("PER-0123456789AB".parse::<PersonReference>().is_ok());
}
