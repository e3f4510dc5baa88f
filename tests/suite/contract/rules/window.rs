//! The window of the funnel: two date-times, in order.

use jiff::{SignedDuration, Timestamp};
use sdk_reference_server::App;

use crate::contract::both::Both;

#[tokio::test]
async fn the_window_does_not_end_before_it_starts() {
    let both = Both::sides_of(App::Crm).await;
    let at = |text: &str| text.parse::<Timestamp>().unwrap();
    let funnel = |from, to| both.world.crm.funnel().get().from(at(from)).to(at(to));
    let target = |from, to| format!("/api/crm/v1/funnel?from={from}&to={to}");
    let (earlier, later) = ("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z");

    let why = format!("`from` must not be after `to`: got {later}, after {earlier}");
    both.refuse(funnel(later, earlier), &why, &target(later, earlier))
        .await;
    for (from, to) in [(earlier, later), (earlier, earlier)] {
        let funnel = both.accept(funnel(from, to), &target(from, to)).await;
        assert_eq!(funnel.window.from, Some(at(from)));
        assert_eq!(funnel.window.to, Some(at(to)));
    }
}

/// In the SDK an instant is a type, which nothing else fits.
#[tokio::test]
async fn the_ends_of_the_window_are_date_times() {
    let both = Both::sides_of(App::Crm).await;
    for end in ["from", "to"] {
        for text in [
            "",
            "yesterday",
            "2026-01-15",
            "2026-01-15T09:00:00",
            "1768467600",
        ] {
            let target = format!("/api/crm/v1/funnel?{end}={text}");
            assert_eq!(both.bypass.get(&target).await.status, 400, "{target}");
        }
    }
}

#[tokio::test]
async fn an_instant_survives_the_way_to_the_server_to_the_nanosecond() {
    let both = Both::sides_of(App::Crm).await;
    let to = both.world.server.now() + SignedDuration::from_nanos(123_456_789);

    let funnel = both.world.crm.funnel().get().to(to).await.unwrap();

    assert_eq!(funnel.window.to, Some(to));
}
