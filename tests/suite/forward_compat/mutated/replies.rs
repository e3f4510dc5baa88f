//! All responses: everything that a later contract version may send decodes and is written back unchanged.

use fastrand::Rng;
use sdk_core::Error;
use sdk_reference_server::Operation;
use serde::Serialize;
use serde::de::DeserializeOwned;
use suite_proof::json::Json;

use super::schema;
use crate::contract::operations::{Answer, Calls, Visitor, visit_all};
use crate::contract::setup::Setup;

/// The number of mutations of each response that are decoded, and the number that are sent over a connection.
const MUTATIONS: u64 = 40;
const OVER_THE_WIRE: u64 = 2;

/// Mutates the responses of all operations and counts them.
struct Mutating(usize);

impl Visitor for Mutating {
    async fn visit<A: Answer>(
        &mut self,
        setup: &Setup,
        calls: Calls<impl IntoFuture<Output = Result<A, Error>> + Clone>,
    ) {
        let (operation, call) = (calls.operation, calls.plain);
        let recorded = call.clone().await.unwrap().response();
        let shape = schema::of_reply(operation);
        let recorded = read(std::str::from_utf8(recorded.bytes()).unwrap());
        holds::<A::Value>(&recorded, "as recorded");

        for seed in 0..MUTATIONS {
            let mutated = recorded.mutated(&shape, &mut Rng::with_seed(seed));
            let about = format!("{} with seed {seed}", operation.id());
            holds::<A::Value>(&mutated, &about);
            if seed < OVER_THE_WIRE {
                let fault = setup.server.fault(operation).times(1);
                fault.body(mutated.to_string(), "application/json");
                let received = call.clone().await.unwrap().response();
                let text = serde_json::to_string(&*received).unwrap();
                assert_eq!(received.bytes(), &mutated.to_string(), "{about}");
                assert_eq!(read(&text).sorted(), mutated.sorted(), "{about}");
            }
        }
        self.0 += 1;
    }
}

fn read(text: &str) -> Json {
    Json::read(text).unwrap()
}

/// Checks that a value is unchanged after decoding, encoding and decoding.
fn holds<T: Serialize + DeserializeOwned>(value: &Json, about: &str) {
    let text = value.to_string();
    let decoded: T =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{about}: {error}\n{text}"));
    let written = serde_json::to_string(&decoded).unwrap();
    assert_eq!(read(&written).sorted(), value.sorted(), "{about}");
    let again: T = serde_json::from_str(&written).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), written, "{about}");
}

#[tokio::test]
async fn mutated_responses_decode_and_are_written_back_unchanged() {
    let mut mutating = Mutating(0);
    visit_all(&Setup::start().await, &mut mutating).await;
    assert_eq!(mutating.0, Operation::ALL.len());
}
