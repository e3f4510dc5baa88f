//! Fields with an undocumented type. A type other than the assumed type is not an error (assumptions A05 and A10).

use sdk_core::testing;
use sdk_crm::Timestamp;
use sdk_crm::operations::{GET_PRESENTATION, GET_TODAY};
use sdk_crm::types::{AttentionQueue, FunnelStage, Presentation, ViewKind};
use serde_json::{Value, json};

use crate::support::{Events, assert_says};

fn presentation() -> Value {
    json!({
        "schemaVersion": "suite-crm-presentation.v1",
        "appId": "crm",
        "navigation": {"label": {"de": "Kunden", "en": "Customers"}, "sections": [{"icon": 7, "order": 1}]},
        "views": [{"id": 12, "kind": "list"}, {"id": "people", "kind": ["list"]}],
        "actions": [{"label": true, "fields": [{"key": 1.50}]}],
    })
}

#[test]
fn another_type_than_assumed_is_preserved_and_reported_once_for_a_response() {
    let (events, _guard) = Events::here();
    let reply = testing::response(&GET_PRESENTATION, 200).json(&presentation());

    let found = reply.build::<Presentation>().unwrap();

    assert_eq!(found.navigation.label, None);
    let label = found.navigation.extra.get("label").unwrap();
    assert_eq!(label.to_value().unwrap()["de"], "Kunden");
    let views = found.views.iter();
    let views: Vec<_> = views.map(|it| (it.id.as_deref(), &it.kind)).collect();
    let expected = [(None, &Some(ViewKind::List)), (Some("people"), &None)];
    assert_eq!(views, expected);
    assert_eq!(serde_json::to_value(&*found).unwrap(), presentation());
    let warnings = events.lines("WARN", &["do not match their assumed type"]);
    assert_eq!(warnings.len(), 1);
    let phrase = r#"object="ActionField" field="key" count=6"#;
    assert_says(&warnings[0], &[phrase]);
}

#[test]
fn a_number_out_of_range_is_preserved_and_reported_and_every_instant_is_accepted() {
    let (events, _guard) = Events::here();
    // One of the instants is in a required field.
    let body = concat!(
        r#"{"schemaVersion":"suite-crm-today.v1","generatedAt":"9999-12-31T23:59:60Z","workspace":"w","counts":{},"#,
        r#""attention":[{"dueAt":"9999-12-31T23:59:59.999+14:00","recordVersion":18446744073709551616},"#,
        r#"{"dueAt":"2026-01-15t09:00:00.123456789012z","recordVersion":-9223372036854775809},"#,
        r#"{"dueAt":"2026-01-15 09:00:00Z"},{"dueAt":null}],"recentChanges":[]}"#,
    );
    let reply = testing::response(&GET_TODAY, 200).body(body);

    let today = reply.build::<AttentionQueue>().unwrap();

    assert_eq!(today.generated_at.as_str(), "9999-12-31T23:59:60Z");
    let due = today.attention.iter().map(|item| item.due_at.as_ref());
    let due: Vec<_> = due.map(|due| due.map(Timestamp::as_str)).collect();
    let late = Some("9999-12-31T23:59:59.999+14:00");
    let fine = Some("2026-01-15t09:00:00.123456789012z");
    assert_eq!(due, [late, fine, Some("2026-01-15 09:00:00Z"), None]);
    let item = &today.attention[0];
    assert_eq!(item.record_version, None);
    let preserved = item.extra.get("recordVersion").unwrap();
    assert_eq!(preserved.as_str(), "18446744073709551616");
    assert_eq!(serde_json::to_string(&*today).unwrap(), body);
    let warnings = events.lines("WARN", &[]);
    assert_eq!(warnings.len(), 1, "only one warning");
    let words = ["do not match their assumed type, or exceed it"];
    assert_says(&warnings[0], &words);
    assert_says(&warnings[0], &[r#"field="recordVersion" count=2"#]);
}

#[test]
fn a_documented_type_is_not_assumed() {
    let stage = |text: &str| serde_json::from_str::<FunnelStage>(text);

    let odd = stage(r#"{"stage": 3, "currency": {"code": "EUR"}}"#).unwrap();
    assert_eq!((odd.stage, odd.currency), (None, None));

    // Reading the count as absent would misreport the response.
    assert!(stage(r#"{"openCount": "3"}"#).is_err());
}

#[test]
fn a_token_response_may_have_a_string_lifetime_and_a_list_of_scopes() {
    let text = r#"{"access_token":"t","expires_in":"300","scope":["a","b"]}"#;

    let token: sdk_platform::types::TokenResponse = serde_json::from_str(text).unwrap();

    assert_eq!((token.expires_in, &token.scope), (None, &None));
    assert_eq!(token.extra.get("expires_in").unwrap().as_str(), "\"300\"");
    assert_eq!(serde_json::to_string(&token).unwrap(), text);
}
