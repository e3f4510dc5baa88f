//! Deprecation headers cause one warning.

use sdk_core::Method;
use sdk_reference_server::Operation;

use crate::fixtures::{PERSON, get_person, in_memory, person, reaching};
use crate::peer::{Peer, always, reply};
use crate::support::{Clients, Events, crm_at};

const ANNOUNCED: &str = "the application announced the end of this operation";

#[tokio::test]
async fn a_deprecated_operation_is_an_event_once_per_operation_and_suite() {
    let (events, _guard) = Events::here();
    let (server, _) = in_memory();
    let listing = server.fault(Operation::ListPeople);
    listing.header("deprecation", "@1688169599");
    let gone = server.fault(Operation::GetPerson).status(410);
    gone.header("sunset", "Sat, 06 Nov 2094 08:49:37 GMT");
    let phrase = |operation: &str| {
        let operation = format!("operation=\"{operation}\"");
        events.lines("WARN", &[ANNOUNCED, &operation, "application=\"crm\""])
    };

    for suites in 1..=2 {
        let crm = reaching(&server).label("acme").crm();
        for _ in 0..2 {
            assert_eq!(get_person(&crm).await.unwrap_err().status(), Some(410));
            crm.people().list().await.unwrap();
        }
        for operation in ["getPerson", "listPeople"] {
            let lines = phrase(operation);
            assert_eq!(lines.len(), suites, "{}", events.text());
            assert!(lines[0].contains("installation=\"acme\""), "{lines:?}");
        }
        // A contract report doesn't include deprecations.
        let report = crm.check_contract().await.unwrap();
        assert!(report.is_as_expected(), "{report}");
    }
}

#[tokio::test]
async fn a_false_deprecation_header_announces_nothing_and_any_other_value_does() {
    for (value, count) in [("?0", 0), ("false", 0), ("true", 1), ("@1é", 1), ("", 1)] {
        let (events, _guard) = Events::here();
        let peer = Peer::start(always(person().header("deprecation", value)));
        get_person(&crm_at(&peer)).await.unwrap();
        let lines = events.lines("WARN", &[ANNOUNCED]);
        assert_eq!(lines.len(), count, "{value}");
    }
}

#[tokio::test]
async fn paths_without_an_operation_count_as_one_read_and_one_command() {
    let (events, _guard) = Events::here();
    let peer = Peer::start(always(reply(404).header("deprecation", "@0")));
    let crm = crm_at(&peer);
    for method in [Method::Post, Method::Get, Method::Put] {
        for path in ["/api/a", "/api/b"] {
            crm.raw_call((method, path)).await.unwrap_err();
        }
    }
    let known = crm.raw_call(&sdk_crm::operations::GET_PERSON);
    known.path("reference", PERSON).await.unwrap_err();

    let lines = events.lines("WARN", &[ANNOUNCED]);
    assert_eq!(lines.len(), 3, "{lines:?}");
}
