//! What became of the opportunities: three numbers, and the reasons of closing.

use sdk_crm::types::{CloseReasonCount, Funnel};

use crate::labels::{MISSING, count, short, words};
use crate::pen::{BAND, CLOSED, DEFERRED, Failure, INK, Pen, SOFT, Type, WON};
use crate::picture::{MARGIN, length, most};

/// How many reasons of closing have room.
const REASONS: usize = 5;

/// Three numbers, and the reasons behind the last of them.
pub(crate) fn draw(pen: &Pen<'_>, funnel: &Funnel, top: i32) -> Result<(), Failure> {
    let outcomes = &funnel.outcomes;
    pen.text("Outcomes", (MARGIN, top), Type::of(21, INK).bold())?;
    let tiles = [
        ("Won", outcomes.won, WON),
        ("Deferred", outcomes.deferred, DEFERRED),
        (
            "Closed, not proceeding",
            outcomes.closed_not_proceeding,
            CLOSED,
        ),
    ];
    for ((name, value, color), left) in tiles.into_iter().zip((MARGIN..).step_by(195)) {
        pen.rectangle((left, top + 24), (left + 180, top + 108), BAND)?;
        pen.rectangle((left, top + 24), (left + 5, top + 108), color)?;
        let (text, style) = match value {
            Some(value) => (count(value), Type::of(36, INK).bold()),
            None => (MISSING.to_owned(), Type::of(18, SOFT)),
        };
        pen.text(&text, (left + 20, top + 55), style)?;
        pen.text(name, (left + 20, top + 90), Type::of(15, SOFT))?;
    }
    match outcomes.by_close_reason.as_deref() {
        None | Some([]) => Ok(()),
        Some(reasons) => close_reasons(pen, reasons, top),
    }
}

fn close_reasons(pen: &Pen<'_>, reasons: &[CloseReasonCount], top: i32) -> Result<(), Failure> {
    let (names, bars, longest) = (840, 855, 150);
    let title = Type::of(17, INK).bold().ending();
    pen.text("By reason of closing", (names, top), title)?;
    let most = most(reasons.iter().map(|reason| &reason.count));
    let mut sorted: Vec<_> = reasons.iter().collect();
    sorted.sort_by_key(|reason| std::cmp::Reverse(reason.count));
    for (reason, y) in sorted.iter().take(REASONS).zip((top + 32..).step_by(19)) {
        let name = short(&words(reason.reason_code.as_deref()), 24);
        pen.text(&name, (names, y), Type::of(15, INK).ending())?;
        let bar = reason.count.map_or(0, |count| length(count, most, longest));
        pen.rectangle((bars, y - 5), (bars + bar, y + 6), CLOSED)?;
        let text = reason.count.map_or_else(|| MISSING.to_owned(), count);
        pen.text(&text, (bars + bar + 8, y), Type::of(15, INK))?;
    }
    if let Some(more @ 1..) = sorted.len().checked_sub(REASONS) {
        let (text, y) = (format!("and {more} more"), top + 32 + 19 * 5);
        pen.text(&text, (names, y), Type::of(14, SOFT).ending())?;
    }
    Ok(())
}
