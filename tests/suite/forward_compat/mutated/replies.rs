//! The property of all replies: whatever a later version of a contract may send decodes, and is written back as it came.

use sdk_core::Error;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::arbitrary::Random;
use super::json::Json;
use super::mutation::{mutate, normal};
use super::schema::Schema;
use crate::contract::operations::{Answer, Calls, Visitor, visit_all};
use crate::contract::world::World;

/// How many mutations of each reply are decoded, and how many of these come over the wire.
const MUTATIONS: u64 = 40;
const OVER_THE_WIRE: u64 = 2;

/// Mutates the replies of all operations, and counts them.
struct Mutating(usize);

impl Visitor for Mutating {
    async fn visit<A: Answer>(
        &mut self,
        world: &World,
        calls: Calls<impl IntoFuture<Output = Result<A, Error>> + Clone>,
    ) {
        let (operation, call) = (calls.operation, calls.plain);
        let recorded = call.clone().await.unwrap().response();
        let schema = Schema::of_reply(operation);
        let recorded = Json::parse(std::str::from_utf8(recorded.bytes()).unwrap());
        holds::<A::Value>(&recorded, schema, "as recorded");

        for seed in 0..MUTATIONS {
            let mutated = mutate(&recorded, schema, &mut Random::seeded(seed));
            let about = format!("{} with seed {seed}", operation.id());
            holds::<A::Value>(&mutated, schema, &about);
            if seed < OVER_THE_WIRE {
                let fault = world.server.fault(operation).times(1);
                fault.body(mutated.to_string(), "application/json");
                let received = call.clone().await.unwrap().response();
                let text = serde_json::to_string(&*received).unwrap();
                assert_eq!(received.bytes(), &mutated.to_string(), "{about}");
                assert_same(&Json::parse(&text), &mutated, schema, &about);
            }
        }
        self.0 += 1;
    }
}

fn assert_same(value: &Json, expected: &Json, schema: Schema, about: &str) {
    let (value, expected) = (normal(value, Some(schema)), normal(expected, Some(schema)));
    assert_eq!(value, expected, "{about}");
}

/// Decoded, written, and decoded again, a value is what it was.
fn holds<T: Serialize + DeserializeOwned>(value: &Json, schema: Schema, about: &str) {
    let text = value.to_string();
    let decoded: T =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{about}: {error}\n{text}"));
    let written = serde_json::to_string(&decoded).unwrap();
    assert_same(&Json::parse(&written), value, schema, about);
    let again: T = serde_json::from_str(&written).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), written, "{about}");
}

#[tokio::test]
async fn fault_33_mutated_replies_decode_and_are_written_back_as_they_came() {
    let mut mutating = Mutating(0);
    visit_all(&World::start().await, &mut mutating).await;
    let operations = [
        sdk_crm::Client::operations(),
        sdk_calendar::Client::operations(),
        sdk_accounting::Client::operations(),
        sdk_platform::Client::operations(),
    ];
    assert_eq!(mutating.0, operations.concat().len());
}
