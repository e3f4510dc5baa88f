//! The parameters of lists and of the search: page size, search string, cursor, and mutually exclusive filters.

use sdk_core::{Pages, Record};
use sdk_crm::types::IntakeState;
use sdk_reference_server::Operation;

use super::refuses;
use crate::contract::lists::{first, lists};
use crate::contract::setup::Setup;
use crate::support::assert_refused_with;

#[tokio::test]
async fn a_page_has_1_to_50_records_and_200_on_the_timeline() {
    let setup = Setup::in_memory();
    let search = |limit| setup.crm.search().query("an").limit(limit);
    let why = |most, limit| format!("`limit` must be from 1 to {most}: got {limit}");

    for (operation, _, most, list) in lists(&setup) {
        for limit in [0, most + 1, u32::MAX] {
            refuses(&setup, first(list(limit)), &why(most, limit)).await;
        }
        for limit in [1, most] {
            let page = first(list(limit)).await.unwrap();
            let length = page.items().unwrap().len();
            assert_eq!(length, limit as usize, "{operation:?}");
        }
    }
    for limit in [0, 51, u32::MAX] {
        refuses(&setup, search(limit), &why(50, limit)).await;
    }
    for limit in [1, 50] {
        let hits = search(limit).await.unwrap().to_value().unwrap();
        assert_eq!(hits["items"].as_array().unwrap().len(), limit as usize);
    }
}

fn searched(setup: &Setup, q: &str) -> [Pages<Record>; 4] {
    let crm = &setup.crm;
    [
        crm.people().list().q(q).pages(),
        crm.organizations().list().q(q).pages(),
        crm.opportunities().list().q(q).pages(),
        crm.tasks().list().q(q).pages(),
    ]
}

#[tokio::test]
async fn a_search_string_has_2_to_100_characters() {
    let setup = Setup::in_memory();
    // The limit counts characters, not bytes. Each of these characters has two bytes.
    let text = |length| "é".repeat(length);

    for length in [0, 1, 101] {
        let plural = if length == 1 { "" } else { "s" };
        let why = format!("`q` must have 2 to 100 characters: got {length} character{plural}");
        for list in searched(&setup, &text(length)) {
            refuses(&setup, first(list), &why).await;
        }
        refuses(&setup, setup.crm.search().query(text(length)), &why).await;
    }
    for length in [2, 100] {
        for list in searched(&setup, &text(length)) {
            let page = first(list).await.unwrap();
            assert!(
                page.items().unwrap().is_empty(),
                "no record contains this string"
            );
        }
        setup.crm.search().query(text(length)).await.unwrap();
        let query = setup.last_query(Operation::Search);
        assert_eq!(query, format!("q={}", "%C3%A9".repeat(length)));
    }
}

#[tokio::test]
async fn the_cursor_of_the_intake_list_has_20_to_500_characters() {
    let setup = Setup::in_memory();
    let list = |length| setup.crm.intake().list().cursor("x".repeat(length));

    for length in [0, 19, 501] {
        let why = format!("`cursor` must have 20 to 500 characters: got {length} characters");
        refuses(&setup, list(length), &why).await;
    }
    // If the length is right, only the server can tell that it didn't issue the cursor.
    for length in [20, 500] {
        let error = list(length).await.unwrap_err();
        assert_refused_with(&error, 400);
    }
}

#[tokio::test]
async fn status_and_state_of_submissions_exclude_each_other() {
    let setup = Setup::in_memory();
    let list = setup.crm.intake().list().status("received");
    let why = "`status` must not be set together with `state`: got both";
    refuses(&setup, list.state(IntakeState::All), why).await;
}
