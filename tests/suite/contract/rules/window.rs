//! The window of the funnel: two date-times in order.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::SignedDuration;
use sdk_crm::Timestamp;
use sdk_reference_server::Operation;

use super::refuses;
use crate::contract::setup::Setup;
use crate::support::{assert_refused_with, assert_says};

fn why(end: &str, text: &str) -> String {
    let form = "an RFC 3339 date-time, such as 2026-01-15T09:00:00Z";
    format!("`{end}` must be {form}: got {text:?}")
}

/// The service checks the order, because the rule is an assumption, and compares instants, not strings.
#[tokio::test]
async fn the_service_rejects_a_window_that_ends_before_it_starts() {
    let setup = Setup::in_memory();
    let (earlier, later) = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z");
    let east = "2026-01-01T09:00:00+10:00";
    for (from, to, in_order) in [
        (earlier, later, true),
        (earlier, earlier, true),
        (later, earlier, false),
        (east, earlier, true),
        (earlier, east, false),
    ] {
        let result = setup.crm.funnel().get().from(from).to(to).await;

        let encoded = |text: &str| text.replace(':', "%3A").replace('+', "%2B");
        let query = setup.last_query(Operation::GetFunnel);
        let expected = format!("from={}&to={}", encoded(from), encoded(to));
        assert_eq!(query, expected, "sent unchanged");
        assert_eq!(result.is_ok(), in_order, "{from} {to}");
        match result {
            Ok(funnel) => {
                assert_eq!(funnel.window.from, Some(from.into()));
                assert_eq!(funnel.window.to, Some(to.into()));
            }
            Err(error) => {
                assert_refused_with(&error, 400);
                assert_eq!(error.attempts(), 1);
                assert_says(&error, &["from: must not be after to"]);
            }
        }
    }
}

/// The bound can have any type that the caller uses.
#[tokio::test]
async fn a_bound_reaches_the_server_with_nanosecond_precision() {
    let setup = Setup::in_memory();
    let to = setup.server.now() + SignedDuration::from_nanos(123_456_789);
    let timestamp = Timestamp::from(to);
    let funnel = || setup.crm.funnel().get();

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
    for text in ["", "2026-01-15T09:00:00"] {
        refuses(&setup, funnel().from(text), &why("from", text)).await;
        refuses(&setup, funnel().to(text), &why("to", text)).await;
    }
    let late = UNIX_EPOCH + Duration::from_secs(253_402_300_800);
    let why = why("to", "10000-01-01T00:00:00Z");
    refuses(&setup, funnel().to(late), &why).await;
}
