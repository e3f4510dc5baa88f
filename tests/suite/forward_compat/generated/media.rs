//! Media types other than JSON, and bodies that may be left out.

use sdk_core::codegen::{Bytes, Call, Draft};
use sdk_core::testing::ScriptedTransport;
use sdk_core::{ErrorKind, ExactReplay, Operation, PreparedCommand, SendPrepared};

use super::notes::{EXPORT, PATCH, PUT, PUT_TEXT, client, draft_of, list};
use crate::support::{assert_unsent, stored};

const MERGE_PATCH: &str = "application/merge-patch+json";
const TEXT: &str = "text/plain; charset=utf-8";

fn text_of(call: &Call, body: Option<&'static str>) -> Draft {
    let draft = call.endpoint().put("/notes/7/text");
    draft.json_if(body.map(Bytes::from))
}

/// What each attempt was sent as, and asked for.
fn sent(transport: &ScriptedTransport) -> Vec<[Option<String>; 2]> {
    let of = |request: &http::Request<Bytes>| {
        ["content-type", "accept"].map(|name| {
            let value = request.headers().get(name)?;
            Some(value.to_str().unwrap().to_owned())
        })
    };
    transport.requests().iter().map(of).collect()
}

#[tokio::test]
async fn every_attempt_has_its_media_types_also_from_the_stored_form() {
    let rows: [(&'static Operation, &str); 3] = [
        (&PUT, "application/json"),
        (&PATCH, MERGE_PATCH),
        (&PUT_TEXT, TEXT),
    ];
    for (operation, media_type) in rows {
        let transport = ScriptedTransport::new()
            .lost()
            .status(204)
            .lost()
            .status(204);
        let api = client(&transport);
        let mut call = Call::new(&api, operation);
        call.change(|options| options.with_exact_replay(ExactReplay::Allowed));
        let draft = || match operation.id {
            "putText" => Ok(text_of(&call, Some("Ä is no JSON"))),
            _ => Ok(draft_of(&call)),
        };
        let prepared = stored(&call.clone().prepare(draft()).unwrap());

        call.clone().command::<()>(draft()).await.unwrap();
        SendPrepared::new(&api, &prepared)
            .typed::<()>()
            .await
            .unwrap();

        let expected = [media_type, "application/json"].map(|text| Some(text.to_owned()));
        assert_eq!(sent(&transport), vec![expected; 4]);
        let bodies: Vec<_> = transport
            .requests()
            .into_iter()
            .map(http::Request::into_body)
            .collect();
        assert_eq!(bodies, vec![Bytes::from(prepared.body().to_owned()); 4]);
    }
    let transport = ScriptedTransport::new().json(200, "a;b");
    let call = Call::new(&client(&transport), &EXPORT);
    let draft = call.endpoint().get("/notes/export");
    let csv = call.send::<Bytes>(Ok(draft)).await.unwrap();
    assert_eq!(&**csv, b"a;b");
    let accept = sent(&transport)[0].clone();
    assert_eq!(accept, [None, EXPORT.accept.map(str::to_owned)]);
}

#[tokio::test]
async fn only_a_body_that_may_be_left_out_is_missing_from_a_stored_command() {
    let transport = ScriptedTransport::new().status(204);
    let api = client(&transport);
    let call = Call::new(&api, &PUT_TEXT);
    let draft = text_of(&call, None);
    let prepared = call.prepare(Ok(draft)).unwrap();
    SendPrepared::new(&api, &prepared)
        .typed::<()>()
        .await
        .unwrap();
    assert_eq!(sent(&transport)[0][0], None);
    assert!(transport.requests()[0].body().is_empty());

    // As if somebody had emptied it.
    let call = Call::new(&api, &PUT);
    let draft = call.endpoint().put("/notes/7");
    let emptied: PreparedCommand = call.prepare(Ok(draft)).unwrap();
    let error = SendPrepared::new(&api, &emptied).await.unwrap_err();
    assert_unsent(
        &error,
        ErrorKind::PreparedCommand,
        &["its body is not JSON"],
    );
}

#[test]
#[should_panic(expected = "a media type is a header")]
fn a_media_type_that_is_no_header_does_not_compile_in_a_static() {
    let mut operation = list();
    operation.media_type = Some("text/\nplain");
    let _ = operation.checked();
}
