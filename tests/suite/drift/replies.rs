//! The property of all replies: whatever a later version of a contract may send decodes, and is written back as it came.

use std::collections::BTreeSet;

use sdk_accounting::types::{ImportMode, ImportRunCreate, InvoiceDraftCreate, TaxAmount};
use sdk_calendar::types::{EventCommand, EventOperation};
use sdk_core::{Error, Receipt, Response};
use sdk_platform::types::TokenRequest;
use sdk_reference_server::{Operation, ReferenceServer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::json;

use super::arbitrary::Random;
use super::json::Json;
use super::mutation::{mutate, normal};
use super::schema::Schema;
use crate::support::suite_for;

/// How many mutations of each reply are decoded, and how many of these come over the wire.
const MUTATIONS: u64 = 40;
const OVER_THE_WIRE: u64 = 2;

/// What a call gives: a response, or a receipt that has one.
trait Answer {
    type Value: Serialize + DeserializeOwned;

    fn response(self) -> Response<Self::Value>;
}

impl<T: Serialize + DeserializeOwned> Answer for Response<T> {
    type Value = T;

    fn response(self) -> Response<T> {
        self
    }
}

impl<T: Serialize + DeserializeOwned> Answer for Receipt<T> {
    type Value = T;

    fn response(self) -> Response<T> {
        self.into_response()
    }
}

/// A server, and the operations whose replies were mutated.
struct World {
    server: ReferenceServer,
    done: BTreeSet<Operation>,
    decoded: u64,
    over_the_wire: u64,
}

impl World {
    async fn start() -> World {
        World {
            server: ReferenceServer::start().await,
            done: BTreeSet::new(),
            decoded: 0,
            over_the_wire: 0,
        }
    }

    /// Records the reply to a call, and checks the property.
    async fn check<A: Answer>(
        &mut self,
        operation: Operation,
        call: impl IntoFuture<Output = Result<A, Error>> + Clone,
    ) {
        let recorded = call.clone().await.unwrap().response();
        assert_eq!(recorded.api_operation().id, operation.id());
        let schema = Schema::of_reply(operation);
        let recorded = Json::parse(std::str::from_utf8(recorded.bytes()).unwrap());
        holds::<A::Value>(&recorded, schema, &recorded, "as recorded");

        for seed in 0..MUTATIONS {
            let mutated = mutate(&recorded, schema, &mut Random::seeded(seed));
            let about = format!("{} with seed {seed}", operation.id());
            holds::<A::Value>(&mutated, schema, &mutated, &about);
            self.decoded += 1;
            if seed < OVER_THE_WIRE {
                self.server
                    .fault(operation)
                    .times(1)
                    .body(mutated.to_string(), "application/json");
                let received = call.clone().await.unwrap().response();
                let text = serde_json::to_string(&*received).unwrap();
                assert_eq!(received.bytes(), &mutated.to_string(), "{about}");
                assert_eq!(
                    normal(&Json::parse(&text), Some(schema)),
                    normal(&mutated, Some(schema)),
                    "{about}"
                );
                self.over_the_wire += 1;
            }
        }
        assert!(self.done.insert(operation), "{} twice", operation.id());
    }
}

/// Decoded, written, and decoded again, a value is the expected one.
fn holds<T: Serialize + DeserializeOwned>(
    value: &Json,
    schema: Schema,
    expected: &Json,
    about: &str,
) {
    let text = value.to_string();
    let decoded: T =
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{about}: {error}\n{text}"));
    let written = serde_json::to_string(&decoded).unwrap();
    assert_eq!(
        normal(&Json::parse(&written), Some(schema)),
        normal(expected, Some(schema)),
        "{about}"
    );
    let again: T = serde_json::from_str(&written).unwrap();
    assert_eq!(serde_json::to_string(&again).unwrap(), written, "{about}");
}

#[tokio::test]
async fn fault_33_mutated_replies_of_the_crm_decode_and_are_written_back_as_they_came() {
    let mut world = World::start().await;
    let crm = sdk_crm::Client::new(&suite_for(&world.server)).unwrap();
    let (person, organization) = (
        world.server.sample_person(),
        world.server.sample_organization(),
    );
    let (opportunity, intake) = (
        world.server.sample_opportunity(),
        world.server.sample_intake_submission(),
    );
    let command = json!({"commandType": "task.create", "payload": {"title": "Call back"}});
    let review = json!({"submissionReference": intake, "decision": "accept"});

    world
        .check(Operation::GetHealth, crm.service().health())
        .await;
    world
        .check(Operation::GetReadiness, crm.service().ready())
        .await;
    world
        .check(Operation::GetCrmMetadata, crm.service().meta())
        .await;
    world.check(Operation::GetToday, crm.today().get()).await;
    world
        .check(Operation::ListIntakeSubmissions, crm.intake().list())
        .await;
    world
        .check(Operation::GetIntakeSubmission, crm.intake().get(&*intake))
        .await;
    world
        .check(Operation::ListPeople, crm.people().list())
        .await;
    world
        .check(Operation::GetPerson, crm.people().get(&*person))
        .await;
    world
        .check(
            Operation::GetPersonTimeline,
            crm.people().timeline(&*person),
        )
        .await;
    world
        .check(Operation::ListOrganizations, crm.organizations().list())
        .await;
    world
        .check(
            Operation::GetOrganization,
            crm.organizations().get(&*organization),
        )
        .await;
    world
        .check(Operation::ListOpportunities, crm.opportunities().list())
        .await;
    world
        .check(
            Operation::GetOpportunity,
            crm.opportunities().get(&*opportunity),
        )
        .await;
    world.check(Operation::ListTasks, crm.tasks().list()).await;
    world
        .check(Operation::Search, crm.search().query("an"))
        .await;
    world.check(Operation::GetFunnel, crm.funnel().get()).await;
    world.check(Operation::GetActors, crm.actors().list()).await;
    world
        .check(Operation::GetPresentation, crm.presentation().get())
        .await;
    world
        .check(Operation::SubmitCommand, crm.commands().submit(command))
        .await;
    world
        .check(
            Operation::ReviewIntakeSubmission,
            crm.intake().review(review),
        )
        .await;
    covers_all_of(sdk_crm::Client::operations(), &world);
}

#[tokio::test]
async fn fault_33_mutated_replies_of_the_calendar_decode_and_are_written_back_as_they_came() {
    let mut world = World::start().await;
    let calendar = sdk_calendar::Client::new(&suite_for(&world.server)).unwrap();
    let event = EventCommand::new()
        .operation(EventOperation::Create)
        .collection_reference("team")
        .title("Kick-off")
        .starts_at("2026-02-02T09:00:00Z".parse().unwrap())
        .ends_at("2026-02-02T10:00:00Z".parse().unwrap())
        .timezone("UTC");

    world
        .check(
            Operation::SubmitEventCommand,
            calendar.events().command(&event),
        )
        .await;
    world
        .check(
            Operation::RespondAttendance,
            calendar.attendance().respond(json!({})),
        )
        .await;
    world
        .check(
            Operation::ChangeRecurrence,
            calendar.recurrence().change(json!({})),
        )
        .await;
    world
        .check(Operation::ManageHold, calendar.holds().manage(json!({})))
        .await;
    covers_all_of(sdk_calendar::Client::operations(), &world);
}

#[tokio::test]
async fn fault_33_mutated_replies_of_accounting_decode_and_are_written_back_as_they_came() {
    let mut world = World::start().await;
    let accounting = sdk_accounting::Client::new(&suite_for(&world.server)).unwrap();
    let tax = TaxAmount::new()
        .currency("EUR")
        .minor_units("1900")
        .scale(2);
    let counterparty = world.server.sample_counterparty();
    let draft = InvoiceDraftCreate::new(
        &*counterparty,
        tax,
        [json!({"description": "Workshop"}).into()],
    );
    let (source, coverage) = (json!({"name": "legacy"}), json!({"from": "2026-01-01"}));
    let import = ImportRunCreate::new(
        "adapter",
        "1.0.0",
        source,
        ImportMode::OpeningBalances,
        coverage,
    );

    world
        .check(
            Operation::GetAccountingMetadata,
            accounting.service().meta(),
        )
        .await;
    world
        .check(
            Operation::GetAccountingReadiness,
            accounting.service().ready(),
        )
        .await;
    world
        .check(Operation::GetAccountingActor, accounting.actor().get())
        .await;
    world
        .check(
            Operation::GetAccountingOverview,
            accounting.overview().get(),
        )
        .await;
    world
        .check(
            Operation::ListFinancialCounterparties,
            accounting.counterparties().list(),
        )
        .await;
    world
        .check(
            Operation::CreateFinancialCounterparty,
            accounting.counterparties().create(json!({})),
        )
        .await;
    world
        .check(Operation::ListInvoices, accounting.invoices().list())
        .await;
    world
        .check(
            Operation::CreateInvoiceDraft,
            accounting.invoice_drafts().create(&draft),
        )
        .await;
    world
        .check(
            Operation::CreateImportRun,
            accounting.import_runs().create(&import),
        )
        .await;
    world
        .check(
            Operation::CreateApprovalIntent,
            accounting.approval_intents().create(json!({})),
        )
        .await;
    covers_all_of(sdk_accounting::Client::operations(), &world);
}

#[tokio::test]
async fn fault_33_mutated_replies_of_the_platform_decode_and_are_written_back_as_they_came() {
    let mut world = World::start().await;
    let platform = sdk_platform::Client::new(&suite_for(&world.server)).unwrap();
    let (app, kind, record) = world.server.sample_publication();
    let exchange = TokenRequest::new()
        .client_id(world.server.client_id())
        .client_secret(world.server.client_secret());

    world
        .check(Operation::ExchangeToken, platform.oauth().token(&exchange))
        .await;
    world
        .check(Operation::ListApps, platform.apps().list())
        .await;
    world
        .check(
            Operation::GetOrganizationContext,
            platform.organization().get(),
        )
        .await;
    world
        .check(
            Operation::GetPublication,
            platform.publications().get(app, kind, record),
        )
        .await;
    covers_all_of(sdk_platform::Client::operations(), &world);
}

fn covers_all_of(table: &[&sdk_core::Operation], world: &World) {
    let done: BTreeSet<&str> = world.done.iter().map(|operation| operation.id()).collect();
    assert_eq!(
        table.iter().map(|row| row.id).collect::<BTreeSet<_>>(),
        done
    );
    println!(
        "{}: {} operations, {} mutated replies decoded and written back as they came, {} of them over the wire",
        table[0].application,
        done.len(),
        world.decoded,
        world.over_the_wire
    );
}
