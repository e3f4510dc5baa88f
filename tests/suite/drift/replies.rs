//! The property of all replies: whatever a later version of a contract may send decodes, and is written back as it came.

use sdk_core::Error;
use sdk_reference_server::App;
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

/// Mutates the replies of the operations of an application.
struct Mutating {
    app: App,
    operations: usize,
}

impl Visitor for Mutating {
    async fn visit<A: Answer>(
        &mut self,
        world: &World,
        calls: Calls<impl IntoFuture<Output = Result<A, Error>> + Clone>,
    ) {
        let (operation, call) = (calls.operation, calls.plain);
        if operation.app() != self.app {
            return;
        }
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
        self.operations += 1;
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

async fn hold_for(app: App, table: &[&sdk_core::Operation]) {
    let mut mutating = Mutating { app, operations: 0 };
    visit_all(&World::start().await, &mut mutating).await;
    assert_eq!(mutating.operations, table.len());
}

#[tokio::test]
async fn fault_33_mutated_replies_of_the_crm_decode_and_are_written_back_as_they_came() {
    hold_for(App::Crm, sdk_crm::Client::operations()).await;
}

#[tokio::test]
async fn fault_33_mutated_replies_of_the_calendar_decode_and_are_written_back_as_they_came() {
    hold_for(App::Calendar, sdk_calendar::Client::operations()).await;
}

#[tokio::test]
async fn fault_33_mutated_replies_of_accounting_decode_and_are_written_back_as_they_came() {
    hold_for(App::Accounting, sdk_accounting::Client::operations()).await;
}

#[tokio::test]
async fn fault_33_mutated_replies_of_the_platform_decode_and_are_written_back_as_they_came() {
    hold_for(App::Platform, sdk_platform::Client::operations()).await;
}
