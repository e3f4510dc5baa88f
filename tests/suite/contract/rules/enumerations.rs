//! Filters that take one of a few values, and two that exclude each other.

use sdk_crm::types::IntakeState;
use sdk_reference_server::App;

use crate::contract::both::Both;
use crate::contract::listing::Listing;

/// A list, the name of its filter, the values that it has, and the call with one of them.
type Filter<'f> = (&'f str, &'f str, &'f str, &'f dyn Fn(String) -> Listing);

#[tokio::test]
async fn a_filter_takes_the_values_that_the_contract_shows_and_no_others() {
    let both = Both::sides_of(App::Crm).await;
    let crm = &both.world.crm;
    let filters: [Filter<'_>; 6] = [
        (
            "people",
            "status",
            "active inactive suppressed archived",
            &|value| crm.people().list().status(value.into()).into_future(),
        ),
        (
            "organizations",
            "status",
            "active inactive archived",
            &|value| {
                crm.organizations()
                    .list()
                    .status(value.into())
                    .into_future()
            },
        ),
        (
            "opportunities",
            "stage",
            "new review_needed exploring qualified solution_shaping proposal_or_decision won deferred \
             closed_not_proceeding",
            &|value| crm.opportunities().list().stage(value.into()).into_future(),
        ),
        (
            "tasks",
            "status",
            "open in_progress waiting completed cancelled",
            &|value| crm.tasks().list().status(value.into()).into_future(),
        ),
        ("tasks", "owner", "mine all", &|value| {
            crm.tasks().list().owner(value.into()).into_future()
        }),
        (
            "intake-submissions",
            "state",
            "pending final all",
            &|value| crm.intake().list().state(value.into()).into_future(),
        ),
    ];
    for (list, name, values, call) in filters {
        let target = |value: &str| format!("/api/crm/v1/{list}?{name}={value}");
        let known = values.replace(' ', ", ");
        let why = format!("`{name}` must be one of {known}: got \"odd\"");
        both.refuse(call("odd".to_owned()), &why, &target("odd"))
            .await;
        for value in values.split(' ') {
            both.accept(call(value.to_owned()), &target(value)).await;
        }
    }
}

#[tokio::test]
async fn status_and_state_of_submissions_exclude_each_other() {
    let both = Both::sides_of(App::Crm).await;
    let list = both.world.crm.intake().list();

    let call = list.status("received").state(IntakeState::All);
    let why = "`status` must not be set together with `state`: got both";
    let target = "/api/crm/v1/intake-submissions?status=received&state=all";
    both.refuse(call, why, target).await;
}
