//! Secrets in a request body, and a service that echoes them.

use sdk_core::codegen::{Body, Call, Check, Draft, Validate};
use sdk_core::testing::ScriptedTransport;
use sdk_core::{Error, JsonBody, Members, Secret, SendPrepared};
use serde_json::json;

use super::notes::{PUT, client};
use crate::support::stored;

const PIN: &str = "correct-horse-7";

/// A body with a secret, which its field name reveals.
#[derive(Clone, PartialEq)]
struct Lock {
    pin: Secret,
    extra: Members,
}

sdk_core::json_object!(Lock { pin: required "pinSecret" });

impl Validate for Lock {
    fn validate(&self, _check: &Check<'_>) -> Result<(), Error> {
        Ok(())
    }
}

fn assert_redacted(error: &Error) {
    let printed = format!("{error} {error:#?} {:?}", error.attempt_log());
    let got = [error.code(), error.request_id()].map(Option::unwrap_or_default);
    assert!(!(printed + &got.concat()).contains("horse"), "{error}");
    assert!(error.to_string().contains("[redacted"), "{error}");
}

#[tokio::test]
async fn a_secret_in_a_request_body_is_redacted_from_the_response() {
    let (pin, extra) = (PIN.into(), Members::new());
    let lock = vec![Lock { pin, extra }];
    let typed = Body::json(&PUT, &lock);
    let raw = JsonBody::from(json!({"lock": {"doorPassword": PIN}}));
    let named = Body::raw(&raw);
    for body in [&typed, &named] {
        // The echo is in a message, a code or an excerpt, or where a number is expected.
        for (status, echo) in [
            (
                400,
                format!(r#"{{"code":"no {PIN}","message":"bad pin {PIN}"}}"#),
            ),
            (200, format!("pin {PIN}")),
            (200, format!("{PIN:?}")),
        ] {
            let reply = http::Response::builder().status(status);
            let reply = reply.header("x-request-id", PIN).body(echo.clone());
            let reply = reply.unwrap();
            let transport = ScriptedTransport::new().answer(reply.clone()).answer(reply);
            let api = client(&transport);
            let call = Call::new(&api, &PUT);
            let draft = || -> Result<Draft, Error> {
                Ok(call.endpoint().put("/notes/7").json(body.bytes()?))
            };
            assert!(!format!("{:?} {body:?}", draft()).contains("horse"));

            let error = call.clone().command::<i64>(draft()).await.unwrap_err();
            assert_redacted(&error);
            assert_eq!(error.body(), Some(echo.as_bytes()));

            let command = stored(&call.clone().prepare(draft()).unwrap());
            let again = SendPrepared::new(&api, &command).typed::<i64>();
            assert_redacted(&again.await.unwrap_err());
        }
    }
    let sent = serde_json::from_slice::<Vec<Lock>>(&typed.bytes().unwrap()).unwrap();
    assert!(sent == lock);
}
