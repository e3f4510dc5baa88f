//! Lists as query parameters, media types other than JSON, and optional bodies.

use sdk_core::codegen::{Bytes, Call, Check, Draft, ListStyle};
use sdk_core::testing::ScriptedTransport;
use sdk_core::{Date, Effect, ErrorKind, ExactReplay, RawJson, SendPrepared};

use super::notes::{EXPORT, LIST, PATCH, PUT, PUT_TEXT, client, draft_of, list};
use crate::support::{assert_failed, assert_says, assert_unsent, stored};

const STYLES: [ListStyle; 2] = [ListStyle::Repeated, ListStyle::Comma];

/// Returns the query of a list with this request.
async fn query(request: impl FnOnce(Draft) -> Draft) -> String {
    let transport = ScriptedTransport::new().json(200, "[]");
    let call = Call::new(&client(&transport), &LIST);
    let draft = request(call.endpoint().get("/notes"));
    call.send::<RawJson>(Ok(draft)).await.unwrap();
    let uri = transport.requests()[0].uri().clone();
    uri.query().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn each_style_writes_its_items_escaped() {
    for (style, several) in STYLES.into_iter().zip([
        "q=x&tag+s=a&tag+s=b%26c%3D%C3%BC&tag+s=1%2B1",
        "q=x&tag+s=a,b%26c%3D%C3%BC,1%2B1",
    ]) {
        for (values, expected) in [
            (Some(&["a", "b&c=ü", "1+1"][..]), several),
            (Some(&["one"]), "q=x&tag+s=one"),
            // An empty list differs from one empty item.
            (Some(&[]), "q=x"),
            (None, "q=x"),
            (Some(&[""]), "q=x&tag+s="),
        ] {
            let list = |draft: Draft| draft.query("q", Some("x")).list("tag s", values, style);
            assert_eq!(query(list).await, expected, "{style:?}");
        }
    }
    let days = [Date::from("2026-01-02"), Date::from("2026-01-03")];
    let query = query(|draft| draft.list("on", Some(&days), ListStyle::Comma)).await;
    assert_eq!(query, "on=2026-01-02,2026-01-03");
}

#[test]
fn a_list_has_an_allowed_number_of_items_without_separators() {
    let [repeated, comma] = STYLES;
    let splits =
        |item| format!("`tags` must have no empty items and no ',' within an item: got {item}");
    let counts = |found| format!("`tags` must have 1 to 2 items: got {found}");
    for (values, style, rule) in [
        (Some(&["a", "a.b c|d"][..]), comma, None),
        (Some(&["a,b", "a b|c"]), repeated, None),
        (Some(&["", "a"]), repeated, None),
        (None, comma, None),
        (None, repeated, None),
        (Some(&["a", "a,b"]), comma, Some(splits("\"a,b\""))),
        (Some(&["a", ""]), comma, Some(splits("\"\""))),
        (Some(&["", ""]), comma, Some(splits("\"\""))),
        (Some(&[""]), comma, Some(splits("\"\""))),
        (Some(&[]), repeated, Some(counts("0 items"))),
        (Some(&["a", "b", "c"]), repeated, Some(counts("3 items"))),
    ] {
        let checked = Check::new(&LIST).list("tags", values, style, 1, 2);
        let Some(rule) = rule else {
            checked.unwrap();
            continue;
        };
        let error = checked.unwrap_err();
        assert_failed(&error, ErrorKind::InvalidInput, Effect::NotSent);
        assert_says(&error, &[&rule]);
    }
    for (least, rule) in [(1, "at least 1 item:"), (2, "at least 2 items:")] {
        let error = Check::new(&LIST).items("tags", 0, least, usize::MAX);
        let words = ["`tags` must have", rule, "got 0 items"];
        assert_says(&error.unwrap_err(), &words);
    }
}

/// Returns the media types of each request: of its body, and of the accepted response.
fn media_types(transport: &ScriptedTransport) -> Vec<[Option<String>; 2]> {
    let of = |request: &http::Request<Bytes>| {
        let text = |name| Some(request.headers().get(name)?.to_str().unwrap().to_owned());
        ["content-type", "accept"].map(text)
    };
    transport.requests().iter().map(of).collect()
}

#[tokio::test]
async fn every_attempt_has_its_media_types_even_from_the_stored_form() {
    for (operation, media_type, body) in [
        (&PUT, "application/json", "{}"),
        (&PATCH, "application/merge-patch+json", "{}"),
        (&PUT_TEXT, "text/plain; charset=utf-8", "Ä is no JSON"),
    ] {
        let script = ScriptedTransport::new().lost().status(204);
        let transport = script.lost().status(204);
        let api = client(&transport);
        let mut call = Call::new(&api, operation);
        call.change(|options| options.with_exact_replay(ExactReplay::Allowed));
        let draft = || Ok(draft_of(&call, Some(body)));
        let prepared = stored(&call.clone().prepare(draft()).unwrap());

        call.clone().command::<()>(draft()).await.unwrap();
        let again = SendPrepared::new(&api, &prepared).typed::<()>();
        again.await.unwrap();

        let expected = [media_type, "application/json"].map(|text| Some(text.to_owned()));
        assert_eq!(media_types(&transport), vec![expected; 4]);
        for request in transport.requests() {
            assert_eq!(request.body(), body, "{media_type}");
        }
    }
    let transport = ScriptedTransport::new().json(200, "a;b");
    let call = Call::new(&client(&transport), &EXPORT);
    let draft = draft_of(&call, None);
    call.send::<Bytes>(Ok(draft)).await.unwrap();
    let accepted = EXPORT.accept.map(str::to_owned);
    assert_eq!(media_types(&transport), [[None, accepted]]);
}

#[tokio::test]
async fn a_stored_command_needs_a_body_unless_it_is_optional() {
    let transport = ScriptedTransport::new().status(204);
    let api = client(&transport);
    let bare = |operation| {
        let call = Call::new(&api, operation);
        let draft = draft_of(&call, None);
        SendPrepared::new(&api, &call.prepare(Ok(draft)).unwrap()).typed::<()>()
    };
    bare(&PUT_TEXT).await.unwrap();
    assert_eq!(media_types(&transport)[0][0], None);
    assert!(transport.requests()[0].body().is_empty());

    // The stored form lost its body.
    let error = bare(&PUT).await.unwrap_err();
    let words = ["its body is not JSON"];
    assert_unsent(&error, ErrorKind::PreparedCommand, &words);
}

#[test]
#[should_panic(expected = "a media type must be a valid header value")]
fn a_media_type_that_is_not_a_header_value_does_not_compile() {
    let mut operation = list();
    operation.media_type = Some("text/\nplain");
    let _ = operation.checked();
}
