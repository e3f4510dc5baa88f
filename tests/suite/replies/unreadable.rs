//! Rows 17, 57, 59 and 66: successes without the documented body. The error contains the path, the expected and the
//! received value, and the body.

use std::iter;

use sdk_core::{Effect, Error, ErrorKind, Members, RawJson, SchemaPolicy, Suite};

use crate::fixtures::{created, get_person, person};
use crate::peer::{Step, always, reply};
use crate::samples::kick_off;
use crate::support::{Clients, assert_says, assert_tried, run_script};

const TODAY: &str = concat!(
    r#"{"schemaVersion":"suite-crm-today.v1","generatedAt":"2026-01-15T09:00:00Z","workspace":"w","counts":{},"#,
    r#""attention":[{"title":"Call back","dueAt":null,"owner":null}],"recentChanges":[]}"#,
);

const PRESENTATION: &str = r#"{"schemaVersion":"suite-crm-presentation.v1","appId":"crm","navigation":{},"views":[],"actions":[]}"#;
const PAGE: &str = r#"{"items":[{}],"nextCursor":null}"#;
const OPPORTUNITIES: &str =
    r#"{"schemaVersion":"suite-crm-opportunities-page.v2","items":[],"nextCursor":null}"#;

/// A call, a part of its documented response, its replacement, and words of the error.
const ODD: &str = r#"
Today | {} | [] | at `counts`: expected an object, found an array of 2 bytes
Today | "counts":{}, | | at `counts`: required field is missing; the object has schemaVersion
Today | "recentChanges":[] | "recentChanges":{} | at `recentChanges`: expected an array, found an object of 2 bytes
Today | "2026-01-15T09:00:00Z" | null | at `generatedAt`: expected an RFC 3339 date-time, found null
Today | "w" | 7 | at `workspace`: expected a string, found 7
Today | {"title" | null,{"title" | at `attention[0]`: expected an object (AttentionItem), found null
Today | "dueAt":null | "dueAt":17 | at `attention[0].dueAt`: expected an RFC 3339 date-time, found 17
Today | "owner":null | "owner":"Ann" | at `attention[0].owner`: expected an object (AttentionOwner), found a string of 5 bytes
Today | "title": | "title":null,"title": | duplicate field `title`
Presentation | "crm" | "calendar" | at `appId`: expected the constant crm, found calendar
People | [{}] | [{"a":1},null] | at `items[1]`: expected an object, found null
People | {} | "Ann" | at `items[0]`: expected an object, found a string of 5 bytes
People | [{}] | "none" | at `items`: expected an array, found a string of 6 bytes
People | ,"nextCursor":null | | at `nextCursor`: required field is missing; the object has items
People | "nextCursor":null | "next_cursor":"c","total":9 | at `nextCursor`: required field is missing; the object has items, next_cursor, total
People | null | 7 | at `nextCursor`: expected a string, found 7
Tasks | null | {"at":1} | at `nextCursor`: expected a string, found an object of 8 bytes
Tasks | ,"nextCursor":null | | at `nextCursor`: required field is missing; the object has items
Opportunities | items | opportunities | it has only `schemaVersion`, `nextCursor`, `opportunities`
Event | succeeded | failed | at `outcome`: expected the constant succeeded, found failed
Event | "recordVersion":1 | "recordVersion":12345678901234567890 | at `recordVersion`: expected a 64-bit integer, found 12345678901234567890"#;

#[derive(Clone, Copy, Debug)]
enum Call {
    Today,
    Presentation,
    Person,
    People,
    Tasks,
    Opportunities,
    Event,
}

const CALLS: [Call; 7] = [
    Call::Today,
    Call::Presentation,
    Call::Person,
    Call::People,
    Call::Tasks,
    Call::Opportunities,
    Call::Event,
];

impl Call {
    /// Returns the documented response with another part.
    fn with(self, part: &str, other: &str) -> Step {
        let step = match self {
            Self::Today => reply(200).body(TODAY),
            Self::Presentation => reply(200).body(PRESENTATION),
            Self::Person => person(),
            Self::People | Self::Tasks => reply(200).body(PAGE),
            Self::Opportunities => reply(200).body(OPPORTUNITIES),
            Self::Event => created(),
        };
        let body = String::from_utf8(step.text().to_vec()).unwrap();
        assert!(body.contains(part), "{part} in {body}");
        step.body(body.replace(part, other))
    }

    async fn make(self, suite: &Suite) -> Result<(), Error> {
        let crm = suite.crm();
        match self {
            Self::Today => crm.today().get().await.map(drop),
            Self::Presentation => crm.presentation().get().await.map(drop),
            Self::Person => get_person(&crm).await.map(drop),
            Self::People => crm.people().list().items().try_next().await.map(drop),
            Self::Tasks => crm.tasks().list().await.map(drop),
            Self::Opportunities => crm.opportunities().list().await.map(drop),
            Self::Event => kick_off(&suite.calendar()).await.map(drop),
        }
    }

    /// Checks that a call with this response fails. The service received the call once, and may have applied it.
    async fn fails(self, step: Step, kind: ErrorKind, words: &[&str]) {
        let (status, body) = (step.status(), step.text().to_owned());
        let about = format!("{self:?} with {:.200}", String::from_utf8_lossy(&body));
        let step = step.header("x-request-id", "req-17");
        let run = run_script([step], async |suite| self.make(suite).await).await;
        assert!(run.result.is_err() && run.exchanges == 1, "{about}");
        let error = run.assert_failed(kind, Effect::Unknown, 1);
        assert_says(error, words);
        assert_eq!(error.status(), Some(status), "{about}");
        assert_eq!(error.body(), Some(&*body), "{about}");
        assert!(!error.is_retryable(), "{about}");
        let line = error.to_string();
        assert!(line.ends_with("(request req-17)"), "{line}");
        assert!(line.len() < 600 && line.lines().count() == 1, "{line}");
        // The error quotes no value of a record, because it may be personal data.
        let cause = std::error::Error::source(error).map(|cause| format!("{cause} {cause:?}"));
        let printed = format!("{line} {error:#?} {cause:?}");
        assert!(
            !printed.contains("Ann") && printed.len() < 2_000,
            "{printed}"
        );
        if let Some(command) = error.command() {
            assert_eq!(command.body(), run.requests[0].text());
            let key = error.idempotency_key().unwrap();
            assert_eq!(run.requests[0].key(), Some(key.as_str()), "{about}");
            assert_says(error, &["its effect is unknown"]);
        }
    }
}

#[tokio::test]
async fn fault_17_a_body_that_is_not_json_is_a_typed_error() {
    let html = format!("<html>{}</html>", "maintenance ".repeat(10_000));
    for call in CALLS {
        let html = reply(200).body(html.clone());
        call.fails(html, ErrorKind::Decode, &["<html>maintenance"])
            .await;
    }
}

#[tokio::test]
async fn fault_57_a_missing_documented_body_is_an_error() {
    for call in CALLS {
        for status in [200, 204] {
            call.fails(reply(status), ErrorKind::Decode, &["the body is empty"])
                .await;
        }
    }
}

#[tokio::test]
async fn fault_59_another_shape_or_type_is_an_error_with_its_path() {
    for row in ODD.trim().lines() {
        let [name, part, other, words] = row.split('|').map(str::trim).collect::<Vec<_>>()[..]
        else {
            panic!("{row}");
        };
        let named = |call: &&Call| format!("{call:?}") == name;
        let call = CALLS.iter().find(named).unwrap();
        call.fails(call.with(part, other), ErrorKind::Decode, &[words])
            .await;
    }
    for call in CALLS {
        let array = reply(200).body("[1, 2]");
        let words = ["expected an object", "found an array of 6 bytes"];
        call.fails(array, ErrorKind::Decode, &words).await;
    }
    // The contract doesn't document this page, so only a list needs its items.
    let call = Call::People;
    let people = call.with("items", "people");
    let words = ["no `items`", "`people`"];
    call.fails(people, ErrorKind::Pagination, &words).await;
}

#[tokio::test]
async fn fault_66_a_null_or_absent_schema_version_is_reported_like_another_version() {
    let documented = "\"schemaVersion\":\"suite-crm-opportunities-page.v2\",";
    let expected = "this SDK was built for suite-crm-opportunities-page.v2";
    for (version, phrase, is_text) in [
        ("", "no schemaVersion", true),
        (r#""schemaVersion":null,"#, "schemaVersion null", true),
        (r#""schemaVersion":2,"#, "schemaVersion 2", false),
        (
            r#""schemaVersion":"page.v3","#,
            "schemaVersion page.v3",
            true,
        ),
    ] {
        let call = Call::Opportunities;
        let page = || call.with(documented, version);
        let words = [phrase, expected];
        call.fails(page(), ErrorKind::SchemaVersion, &words).await;
        // A raw call of the operation checks the schema like a typed call.
        let run = run_script([page(), page(), page()], async |suite| {
            let crm = suite.crm();
            let raw = crm.raw_call(&sdk_crm::operations::LIST_OPPORTUNITIES);
            let error = raw.clone().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::SchemaVersion);
            raw.schema_policy(SchemaPolicy::Warn).await?;
            let list = crm.opportunities().list();
            list.schema_policy(SchemaPolicy::Warn).await
        });
        assert_eq!(run.await.result.is_ok(), is_text, "{phrase}");
    }
    let version = "\"schemaVersion\":\"suite-crm-today.v1\",";
    let long = format!("\"schemaVersion\":\"{}\",", "x".repeat(100_000));
    let null = "\"schemaVersion\":null,";
    for (other, phrase) in [("", "no schemaVersion"), (null, "null"), (&long, "xxx…")] {
        let step = Call::Today.with(version, other);
        let kind = ErrorKind::SchemaVersion;
        Call::Today.fails(step, kind, &[phrase]).await;
    }
    // If the rest doesn't decode either, a policy wouldn't help, so the error reports both problems.
    let odd = TODAY.replace("today.v1", "today.v2").replace("\"w\"", "{}");
    let words = [
        "suite-crm-today.v1",
        "suite-crm-today.v2",
        "at `workspace`",
        "found an object of 2 bytes",
    ];
    for policy in [SchemaPolicy::Refuse, SchemaPolicy::Warn] {
        let run = run_script([reply(200).body(&*odd)], async |suite| {
            suite.crm().today().get().schema_policy(policy).await
        });
        let run = run.await;
        let error = run.assert_failed(ErrorKind::SchemaVersion, Effect::Unknown, 1);
        assert_says(error, &words);
        assert_says(error, &["read it as raw JSON"]);
        assert!(!error.to_string().contains("SchemaPolicy::Warn"), "{error}");
    }
}

#[tokio::test]
async fn fault_66_a_body_that_is_not_json_has_no_schema_version() {
    let cut = r#"{"items": ["#;
    for body in [
        "{'items': []}",
        r#"{"items": [] "nextCursor": null}"#,
        r#"{"items": [}"#,
        r#"{"schemaVersion": "suite-crm-opportunities-page.v2", items: []}"#,
        r#"{"items": [], "nextCursor": null, "schemaVersion": "v3"} trailing"#,
        // The syntax error comes after a field with another type.
        r#"{"schemaVersion": 7, "items": [], oops}"#,
        r#"{"items": 7, "nextCursor": NaN}"#,
        cut,
    ] {
        let step = reply(200).header("content-type", "application/json");
        let run = run_script(always(step.body(body)), async |suite| {
            let crm = suite.crm();
            let list = || crm.opportunities().list();
            let raw = crm.raw_call(&sdk_crm::operations::LIST_OPPORTUNITIES);
            let lenient = list().schema_policy(SchemaPolicy::Warn);
            let mut items = list().items();
            let next = items.try_next().await.map(drop);
            Ok([
                list().await.map(drop),
                lenient.await.map(drop),
                raw.await.map(drop),
                next,
            ])
        });
        for result in run.await.result.unwrap() {
            let error = result.unwrap_err();
            let attempts = if body == cut { 3 } else { 1 };
            assert_tried(&error, ErrorKind::Decode, Effect::Unknown, attempts);
            let line = error.to_string();
            assert!(!line.contains("this SDK was built for"), "{body}: {line}");
            assert_eq!(error.is_retryable(), body == cut, "{line}");
            assert_eq!(error.body().unwrap(), body.as_bytes());
        }
    }
}

/// The SDK doesn't recurse into unknown values.
#[tokio::test]
async fn a_response_may_nest_at_any_depth() {
    const DEPTH: usize = 10_000;
    let deep = format!("{}1{}", "{\"a\":[".repeat(DEPTH), "]}".repeat(DEPTH));
    let (counts, title) = ("\"counts\":{}", "\"title\":\"Call back\"");
    let known = format!("\"counts\":{deep}");
    let unknown = format!("\"fromTheFuture\":{deep}");
    let script = [
        Call::Today.with(counts, &known),
        Call::Today.with(title, &unknown),
        Call::People.with("{}", &deep),
        reply(200).body(&*deep),
        reply(400).body(&*deep),
    ];
    let run = run_script(script, async |suite| {
        let crm = suite.crm();
        for nested in [&known, &unknown] {
            let today = crm.today().get().await?;
            assert!(serde_json::to_string(&*today).unwrap().contains(nested));
        }
        let people = crm.people().list().await?;
        assert_eq!(people.items().unwrap()[0].raw().as_str(), deep);
        assert_eq!(crm.search().query("an").await?.as_str(), deep);
        crm.today().get().await
    });
    assert_eq!(run.await.result.unwrap_err().kind(), ErrorKind::Rejected);
    let found = format!(
        "at `attention[0].title`: expected a string, found an object of {} bytes",
        deep.len()
    );
    let step = Call::Today.with("\"Call back\"", &deep);
    Call::Today.fails(step, ErrorKind::Decode, &[&found]).await;
}

/// A recursive schema of a vendor, with a field of an assumed type.
#[derive(Clone, Debug, PartialEq)]
struct Tree {
    child: Option<Box<Tree>>,
    extra: Members,
}

sdk_core::json_object!(Tree { child: assumed "child" });

#[test]
fn a_recursive_assumed_type_is_decoded_up_to_the_limit_of_serde_json() {
    // Beyond the limit, the value of the first field is preserved as raw JSON.
    for (depth, expected) in [(128, (128, 0)), (129, (0, 1)), (100_000, (0, 1))] {
        let text = format!("{}{{}}{}", r#"{"child":"#.repeat(depth), "}".repeat(depth));
        let tree: Tree = text.parse::<RawJson>().unwrap().decode().unwrap();
        assert_eq!(serde_json::to_string(&tree).unwrap(), text);
        let children = iter::successors(tree.child.as_ref(), |it| it.child.as_ref()).count();
        assert_eq!((children, tree.extra.len()), expected);
    }
}
