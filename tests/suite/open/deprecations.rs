use std::time::{Duration, UNIX_EPOCH};

use sdk_core::Method;
use sdk_reference_server::{Operation, ReferenceServer};

use crate::faults::fixtures::{PERSON, get_person, person};
use crate::observe::{Diary, Panics};
use crate::peer::reply;
use crate::samples::kick_off;
use crate::support::{Clients, Events, assert_says, builder_for};
use crate::transport::service::Scripted;

const LIST: &str = "crm.listPeople (GET /api/crm/v1/people) is announced";
const GET: &str = "crm.getPerson (GET /api/crm/v1/people/{reference}) is announced";
const SUNSET: &str = "Sat, 06 Nov 2094 08:49:37 GMT";

#[tokio::test]
async fn the_end_of_an_operation_is_told_once_and_its_latest_announcement_reported() {
    let (events, _guard) = Events::here();
    let (server, diary) = (ReferenceServer::start().await, Diary::default());
    let faults = r#"{"faults":[{"operation":"listPeople","when":{"times":2},"then":{"headers":{
        "deprecation":"@1688169599","link":"<https://docs.suite.test/end?key=1#a>; rel=\"deprecation\""}}}]}"#;
    server.load_faults(faults).unwrap();
    let gone = server.fault(Operation::GetPerson).status(410);
    gone.header("sunset", SUNSET);
    let builder = builder_for(&server).label("acme").observer(Panics);
    let suite = builder.observer(diary.clone()).suite();
    let crm = suite.crm();

    for _ in 0..2 {
        assert_eq!(get_person(&crm).await.unwrap_err().status(), Some(410));
        crm.people().list().await.unwrap();
    }
    let list = "as deprecated from 2023-06-30T23:59:59Z on: see https://docs.suite.test/end";
    let list = format!("{LIST} {list}");
    let get = format!("{GET} to end on 2094-11-06T08:49:37Z");
    let told = [&get, &list].map(|it| format!("deprecated at acme: {it}"));
    assert_eq!(diary.lines(&["deprecated"]), told);
    // The latest counts, and a reply without one takes nothing back.
    let later = server.fault(Operation::ListPeople).times(1);
    let later = later.header("sunset", SUNSET);
    later.header("deprecation", "@4102444800");
    crm.people().list().await.unwrap();
    crm.people().list().await.unwrap();
    assert_eq!(diary.lines(&["deprecated"]), told);
    for said in [&get, &list] {
        let lines = events.lines("WARN", &["is announced", said, "installation=\"acme\""]);
        assert_eq!(lines.len(), 1, "{}", events.text());
    }

    let report = crm.check_contract().await.unwrap();

    let list = get.replace(
        GET,
        &format!("{LIST} as deprecated from 2100-01-01T00:00:00Z on and"),
    );
    // What an earlier one said and the latest does not is not lost.
    let list = format!("{list}: see https://docs.suite.test/end");
    assert_eq!(report.findings, [list, get]);
    let ids = report.deprecations.iter().map(|it| it.operation.id);
    assert_eq!(ids.collect::<Vec<_>>(), ["listPeople", "getPerson"]);
    let since = UNIX_EPOCH + Duration::from_secs(4_102_444_800);
    assert_eq!(report.deprecations[0].since, Some(since));
    assert_eq!(report.deprecations[1].since, None);
    assert!(!report.is_as_expected());
    // Each of its own application and suite.
    let others = builder_for(&server).crm().check_contract().await.unwrap();
    assert!(others.is_as_expected(), "{others}");
    let calendar = suite.calendar();
    let silent = calendar.check_contract().await.unwrap();
    assert_eq!((silent.findings.len(), silent.deprecations.len()), (1, 0));
    let announced = server.fault(Operation::SubmitEventCommand);
    announced.header("deprecation", "@0");
    kick_off(&calendar).await.unwrap();
    let report = calendar.check_contract().await.unwrap();
    assert_eq!((report.findings.len(), report.deprecations.len()), (2, 1));
    assert_says(&report, &["as deprecated from 1970-01-01T00:00:00Z on"]);
}

/// What a report says of a reply with these headers.
async fn said(headers: &str) -> String {
    let lines = headers.lines().map(|line| line.split_once(": ").unwrap());
    let step = lines.fold(person(), |step, (name, value)| step.header(name, value));
    let crm = Scripted::always(step).suite().crm();
    get_person(&crm).await.unwrap();
    let report = crm.check_contract().await.unwrap();
    report.findings.last().unwrap().replace(GET, "")
}

#[tokio::test]
async fn a_draft_s_no_announces_nothing() {
    for no in ["?0", "false"] {
        let reply = person().header("deprecation", no);
        let crm = Scripted::always(reply).suite().crm();
        get_person(&crm).await.unwrap();
        let report = crm.check_contract().await.unwrap();
        assert!(report.deprecations.is_empty(), "{no}");
    }
}

#[tokio::test]
async fn what_a_server_announces_is_not_believed() {
    let odd =
        "true||1688169599|@|@+1|@1.5|@1e99|@253402300800|@-62135596801|@99999999999999999999|@1é";
    let many = "1\ndeprecation: ".repeat(1_000);
    for dateless in odd.split('|').chain([SUNSET, &many, "\nsunset: soon"]) {
        let said = said(&format!("deprecation: {dateless}")).await;
        assert_eq!(said, " to end, without a readable date");
    }
    for (date, shown) in [
        (" @-1 ; a=b ", "1969-12-31T23:59:59Z"),
        ("@1x\ndeprecation: @0", "1970-01-01T00:00:00Z"),
        ("@253402300799", "9999-12-31T23:59:59Z"),
        ("@-62135596800", "0001-01-01T00:00:00Z"),
    ] {
        let said = said(&format!("deprecation: {date}")).await;
        assert_eq!(said, format!(" as deprecated from {shown} on"));
    }
    let of = |length| format!("<https://a.test/{}>; rel=sunset", "x".repeat(length));
    let cut = format!("{} => : see https://a.test/{}…", of(3_000), "x".repeat(285));
    for row in [
        &*format!("{} => ", of(1 << 20)),
        &cut,
        "<javascript:alert(1)>; rel=sunset => ",
        "</end>; rel=sunset, <>;;;,,<<>>\"\"=\" => ",
        "<https://u:p@a.test/>; rel=sunset => ",
        "<https://a.test/>; rel=sunsets, <https://b.test/> => ",
        "<https://a.test/>; rel=sunset; rel=next => : see https://a.test/",
        "<https://a.test/,;\t\u{202e}>;a=\"<,;\";Rel=\"b SUNSET\" => : see https://a.test/,;%E2%80%AE",
        "<https://a.test/>; rel=sunset,<https://b.test/>;rel=deprecation => : see https://b.test/",
    ] {
        let (link, shown) = row.split_once(" => ").unwrap();
        let said = said(&format!("sunset: {SUNSET}\nlink: {link}")).await;
        assert_eq!(said, format!(" to end on 2094-11-06T08:49:37Z{shown}"));
    }
}

#[tokio::test]
async fn paths_without_an_operation_count_as_one_read_and_one_command() {
    let gone = reply(404).header("deprecation", "@0");
    let diary = Diary::default();
    let crm = Scripted::always(gone).suite().observer(diary.clone()).crm();
    for method in [Method::Post, Method::Get, Method::Put] {
        for path in ["/api/a", "/api/b"] {
            crm.raw_call((method, path)).await.unwrap_err();
        }
    }
    let known = crm.raw_call(&sdk_crm::operations::GET_PERSON);
    known.path("reference", PERSON).await.unwrap_err();

    let operations = ["a command of crm on a path", "a read of crm on a path", GET];
    let told = diary.lines(&["deprecated: "]);
    assert_eq!(told.len(), 3, "{told:?}");
    for (told, operation) in told.iter().zip(operations) {
        assert_says(
            told,
            &[operation, "as deprecated from 1970-01-01T00:00:00Z on"],
        );
    }
}
