//! No operation goes untested.

use std::collections::BTreeMap;

use sdk_core::{App, Provenance};
use sdk_reference_server::Operation;

use super::case::{row, table};
use super::operations;

/// A case of `COVERED` is a test, and fails unless the server saw its operation succeed or fail: see `case`.
#[test]
fn every_operation_of_the_tables_has_a_case_that_succeeds_and_one_that_fails() {
    let mut cases: BTreeMap<&str, usize> = BTreeMap::new();
    for operation in operations::COVERED.iter().copied().flatten() {
        *cases.entry(operation.id()).or_default() += 1;
    }

    let without: Vec<&str> = table()
        .map(|row| row.id)
        .filter(|id| !cases.contains_key(id))
        .collect();
    assert!(without.is_empty(), "operations without a case: {without:?}");
    let twice: Vec<_> = cases.iter().filter(|(_, count)| **count > 1).collect();
    assert!(twice.is_empty(), "operations with two cases: {twice:?}");
    assert_eq!(cases.len(), table().count(), "a case for no operation");
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

#[test]
fn the_tables_have_what_the_contract_counts() {
    let of = |app| table().filter(|row| row.application == app).count();
    let name_only = table().filter(|row| row.provenance == Provenance::NameOnly);

    assert_eq!(App::ALL.map(of), [20, 4, 10, 4]);
    assert_eq!(name_only.count(), 9);
    assert_eq!(table().filter(|row| row.cursor).count(), 6);
}
