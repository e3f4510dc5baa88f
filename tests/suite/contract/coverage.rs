//! No operation goes untested, and the two sides know the same ones.

use std::collections::BTreeMap;

use sdk_core::Provenance;
use sdk_reference_server::Operation;

use super::case::{row, table};
use super::operations::COVERED;

/// What the contract documents, and every operation may fail with for reasons of its own: see `contract::every`.
const COMMON: [u16; 3] = [401, 403, 503];

#[test]
fn every_operation_has_one_scenario() {
    let mut scenarios: BTreeMap<&str, (&str, bool)> = BTreeMap::new();
    for (module, operations) in COVERED {
        for (operation, fails) in *operations {
            let twice = scenarios.insert(operation.id(), (module, *fails));
            assert_eq!(twice, None, "{} has two scenarios", operation.id());
        }
    }
    for row in table() {
        let Some((module, fails)) = scenarios.get(row.id) else {
            panic!("{row} has no scenario: add one in tests/suite/contract/operations/");
        };
        let particular = |status: &&u16| **status >= 400 && !COMMON.contains(*status);
        if let Some(status) = row.statuses.iter().find(particular) {
            assert!(
                fails,
                "{row} may fail with {status}: add that to its scenario in `{module}`"
            );
        }
        let by_name = row.provenance == Provenance::NameOnly;
        assert_eq!(
            *module == "name_only",
            by_name,
            "{row} stands in `{module}`"
        );
    }
}

#[test]
fn the_tables_of_the_clients_are_those_of_the_server() {
    assert_eq!(table().count(), Operation::ALL.len());
    for operation in Operation::ALL {
        let row = row(operation);
        assert_eq!(row.application.name(), operation.app().id(), "{row}");
        assert_eq!(row.method.as_str(), operation.method(), "{row}");
        assert_eq!(row.route, operation.path(), "{row}");
        assert_eq!(row.scopes, operation.scopes(), "{row}");
        assert_eq!(row.authenticated, operation.auth(), "{row}");
    }
}
