//! Row 41: secrets in the body of a request, and a service that repeats them.

use http::Response;
use sdk_core::codegen::{Body, Call, Check, Draft, Validate};
use sdk_core::testing::ScriptedTransport;
use sdk_core::{Error, JsonBody, Members, RawJson, Secret, SendPrepared};

use super::notes::{PUT, client};
use crate::support::stored;

const PIN: &str = "correct-horse-7";

/// A body with a secret, which its field's name tells.
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

/// Replies that repeat it in a message, a code, an id, an excerpt, and where a number is expected.
fn echoes() -> [Response<String>; 3] {
    let refusal = format!(r#"{{"code":"no {PIN}","message":"bad pin {PIN}"}}"#);
    [
        (400, refusal),
        (200, format!("pin {PIN}")),
        (200, format!("{PIN:?}")),
    ]
    .map(|(status, body)| {
        let reply = Response::builder().status(status);
        reply.header("x-request-id", PIN).body(body).unwrap()
    })
}

fn assert_redacted(error: &Error) {
    let printed = format!("{error} {error:?} {:?}", error.attempt_log());
    let told = [error.code(), error.request_id()].map(Option::unwrap_or_default);
    assert!(!(printed + &told.concat()).contains("horse"), "{error}");
    assert!(error.to_string().contains("[redacted"), "{error}");
}

#[tokio::test]
async fn fault_41_a_secret_in_a_body_is_redacted_from_what_comes_back() {
    let lock = vec![Lock {
        pin: PIN.into(),
        extra: Members::new(),
    }];
    let typed = Body::json(&PUT, &lock);
    let named = Body::raw(&JsonBody::from(
        format!(r#"{{"lock":{{"doorPassword":{PIN:?}}}}}"#)
            .parse::<RawJson>()
            .unwrap(),
    ));
    for body in [&typed, &named] {
        for reply in echoes() {
            let transport = ScriptedTransport::new().answer(reply.clone()).answer(reply);
            let call = Call::new(&client(&transport), &PUT);
            let draft = || -> Result<Draft, Error> {
                Ok(call.endpoint().put("/notes/7").json(body.bytes()?))
            };
            assert!(!format!("{:?} {body:?}", draft()).contains("horse"));

            let error = call.clone().command::<i64>(draft()).await.unwrap_err();
            assert_redacted(&error);
            assert!(
                error
                    .body()
                    .is_some_and(|body| body.windows(5).any(|it| it == b"horse"))
            );

            let command = stored(&call.clone().prepare(draft()).unwrap());
            let again = SendPrepared::new(&client(&transport), &command).typed::<i64>();
            assert_redacted(&again.await.unwrap_err());
        }
    }
    let sent = serde_json::from_slice::<Vec<Lock>>(&typed.bytes().unwrap()).unwrap();
    assert!(sent == lock);
}
