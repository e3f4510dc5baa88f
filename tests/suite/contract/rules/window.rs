//! The window of the funnel: two date-times, in order. So are the ends of an event, and an invoice has dates.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::SignedDuration;
use sdk_accounting::types::{InvoiceDraftCreate, TaxAmount};
use sdk_calendar::types::EventCommand;
use sdk_crm::{Error, Timestamp};
use sdk_reference_server::App;
use serde_json::json;

use crate::contract::both::Both;
use crate::support::assert_says;

const INSTANT: &str = "be an RFC 3339 date-time, such as 2026-01-15T09:00:00Z";
const DATE: &str = "be an RFC 3339 date, such as 2026-01-15";

/// The service decides, since the order is an assumption.
fn assert_refused(error: &Error) {
    assert_eq!((error.status(), error.attempts()), (Some(400), 1));
    assert_says(error, &["from: must not be after to"]);
}

#[tokio::test]
async fn the_service_refuses_a_window_that_ends_before_it_starts() {
    let both = Both::sides_of(App::Crm).await;
    let funnel = |from, to| both.world.crm.funnel().get().from(from).to(to);
    let target = |from, to| format!("/api/crm/v1/funnel?from={from}&to={to}");
    let (earlier, later) = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z");

    assert_refused(&funnel(later, earlier).await.unwrap_err());
    for (from, to) in [(earlier, later), (earlier, earlier)] {
        let funnel = both.accept(funnel(from, to), &target(from, to)).await;
        assert_eq!(funnel.window.from, Some(from.into()));
        assert_eq!(funnel.window.to, Some(to.into()));
    }
}

/// The order is that of the instants, not that of their texts.
#[tokio::test]
async fn a_window_is_in_order_whatever_its_offsets() {
    let both = Both::sides_of(App::Crm).await;
    let funnel = |from, to| both.world.crm.funnel().get().from(from).to(to);
    let (east, west) = ("2026-01-01T09:00:00+10:00", "2026-01-01T00:00:00Z");

    assert_refused(&funnel(west, east).await.unwrap_err());
    let accepted = funnel(east, west).await.unwrap();

    assert_eq!(accepted.window.from, Some(east.into()));
    let query = both
        .world
        .last(sdk_reference_server::Operation::GetFunnel)
        .query;
    let expected = "from=2026-01-01T09%3A00%3A00%2B10%3A00&to=2026-01-01T00%3A00%3A00Z";
    assert_eq!(query.as_deref(), Some(expected), "as they were given");
}

#[tokio::test]
async fn the_ends_of_the_window_are_date_times() {
    let both = Both::sides_of(App::Crm).await;
    for end in ["from", "to"] {
        let funnel = |text: &str| match end {
            "from" => both.world.crm.funnel().get().from(text),
            _ => both.world.crm.funnel().get().to(text),
        };
        for text in [
            "",
            "yesterday",
            "2026-01-15",
            "2026-01-15T09:00:00",
            "1768467600",
        ] {
            let why = format!("`{end}` must {INSTANT}: got {text:?}");
            let target = format!("/api/crm/v1/funnel?{end}={text}");
            both.refuse(funnel(text), &why, &target).await;
        }
    }
}

#[tokio::test]
async fn the_times_of_a_command_are_held_to_their_notation() {
    let both = Both::sides_of(App::Crm).await;
    let text = "2026-02-30T09:00:00Z";
    for (member, command) in [
        ("startsAt", EventCommand::create().starts_at(text)),
        ("endsAt", EventCommand::create().ends_at(text)),
    ] {
        let why = format!("`{member}` must {INSTANT}: got {text:?}");
        both.sdk_refuses(both.world.calendar.events().command(&command), &why)
            .await;
    }
    let draft =
        || InvoiceDraftCreate::new("FCP-A0B1C2D3E4F5", TaxAmount::new(), [json!({}).into()]);
    for (member, draft) in [
        ("documentDate", draft().document_date(text)),
        ("dueDate", draft().due_date(text)),
    ] {
        let why = format!("`{member}` must {DATE}: got {text:?}");
        both.sdk_refuses(both.world.accounting.invoice_drafts().create(&draft), &why)
            .await;
    }
}

/// By whatever type a caller has it.
#[tokio::test]
async fn an_instant_survives_the_way_to_the_server_to_the_nanosecond() {
    let both = Both::sides_of(App::Crm).await;
    let to = both.world.server.now() + SignedDuration::from_nanos(123_456_789);
    let timestamp = Timestamp::from(to);
    let funnel = || both.world.crm.funnel().get();

    for call in [
        funnel().to(to),
        funnel().to(SystemTime::try_from(&timestamp).unwrap()),
        funnel().to(timestamp.as_str()),
        funnel().to(timestamp.to_string()),
        funnel().to(&timestamp),
        funnel().to(timestamp.clone()),
    ] {
        let funnel = call.await.unwrap();

        assert_eq!(funnel.window.to.as_ref(), Some(&timestamp));
    }
    let late = UNIX_EPOCH + Duration::from_secs(253_402_300_800);
    let why = format!("`to` must {INSTANT}: got \"10000-01-01T00:00:00Z\"");
    both.sdk_refuses(funnel().to(late), &why).await;
}
