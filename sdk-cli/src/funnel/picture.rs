//! The picture: stages with what is open in them and what came and went, and the outcomes below.

use std::fmt::Write as _;

use sdk_crm::types::{Funnel, FunnelStage};

use crate::labels::{MISSING, count, date, short, window, words};
use crate::outcomes;
use crate::pen::{
    BAND, BETWEEN, CLOSED, ENTERED, Failure, INK, LEFT, OPEN, PAPER, Pen, RULE, SOFT, Type,
};

const WIDTH: i32 = 1_100;
pub(crate) const MARGIN: i32 = 40;
/// Where the names of stages end, and where the two panels have their middle.
const NAMES: i32 = 250;
const FUNNEL: i32 = 470;
const FLOW: i32 = 870;
/// The longest half of a bar.
const HALF_FUNNEL: i32 = 180;
const HALF_FLOW: i32 = 130;
const FIRST_ROW: i32 = 160;
const OUTCOMES: i32 = 210;

/// Draws a funnel.
pub(crate) fn svg(funnel: &Funnel) -> Result<String, Failure> {
    let stages = &funnel.stages;
    // Up to 40 stages may come; many of them are drawn closer together.
    let row = if stages.len() > 12 { 36 } else { 50 };
    let body = row * i32::try_from(stages.len().max(1)).unwrap_or(1);
    let below = FIRST_ROW + body;
    let height = below + OUTCOMES;

    let mut svg = String::new();
    let pen = Pen::new(&mut svg, (WIDTH.unsigned_abs(), height.unsigned_abs()))?;
    heading(&pen, funnel)?;
    if stages.is_empty() {
        let (middle, style) = (FIRST_ROW + row / 2, Type::of(18, SOFT).centred());
        pen.text("No stages were reported.", (WIDTH / 2, middle), style)?;
    } else {
        for (_, top) in rows(stages, row).step_by(2) {
            pen.rectangle((MARGIN, top), (WIDTH - MARGIN, top + row), BAND)?;
        }
        open(&pen, stages, row)?;
        flow(&pen, stages, row)?;
    }
    outcomes::draw(&pen, funnel, below + 40)?;
    footer(&pen, funnel, height - 24)?;
    pen.done()?;
    Ok(svg)
}

fn heading(pen: &Pen<'_>, funnel: &Funnel) -> Result<(), Failure> {
    pen.text("Pipeline funnel", (MARGIN, 44), Type::of(36, INK).bold())?;
    let as_of = match &funnel.provenance.counts_opportunities_created_before {
        Some(at) => format!("Opportunities created before {}", date(at)),
        None => "Opportunities as of now".to_owned(),
    };
    let flow = window(funnel.window.from.as_ref(), funnel.window.to.as_ref());
    let when = format!("{as_of}. {flow}.");
    pen.text(&when, (MARGIN, 80), Type::of(18, SOFT))?;

    let head = |color| Type::of(17, color).bold();
    for (text, x, style) in [
        ("Open now", FUNNEL, head(OPEN).centred()),
        ("Left in the window", FLOW - 14, head(LEFT).ending()),
        ("Entered in the window", FLOW + 14, head(ENTERED)),
    ] {
        pen.text(text, (x, FIRST_ROW - 24), style)?;
    }
    let (left, right) = ((MARGIN, FIRST_ROW - 2), (WIDTH - MARGIN, FIRST_ROW - 1));
    pen.rectangle(left, right, RULE)
}

/// The stages with the upper ends of their rows.
fn rows(stages: &[FunnelStage], row: i32) -> impl Iterator<Item = (&FunnelStage, i32)> {
    let tops = (0..).map(move |at| FIRST_ROW + row * at);
    stages.iter().zip(tops)
}

/// How long the bar of a value is.
pub(crate) fn length(value: i64, most: i64, longest: i32) -> i32 {
    let share = i128::from(longest) * i128::from(value.clamp(0, most)) / i128::from(most);
    // What is there can be seen.
    i32::try_from(share)
        .unwrap_or(longest)
        .max(i32::from(value > 0) * 2)
}

/// The largest of the values that came, at least 1.
pub(crate) fn most<'a>(values: impl Iterator<Item = &'a Option<i64>>) -> i64 {
    values.copied().flatten().max().unwrap_or(0).max(1)
}

/// The stages by name, and what is open in them: bars around a common middle, joined to a funnel.
fn open(pen: &Pen<'_>, stages: &[FunnelStage], row: i32) -> Result<(), Failure> {
    let most = most(stages.iter().map(|stage| &stage.open_count));
    let mut above: Option<(i32, i32)> = None;
    for (stage, top) in rows(stages, row) {
        let (from, to, middle) = (top + 6, top + row - 6, top + row / 2);
        let name = short(&words(stage.stage.as_deref()), 28);
        pen.text(&name, (NAMES, middle), Type::of(18, INK).ending())?;
        let Some(open) = stage.open_count else {
            pen.text(MISSING, (FUNNEL, middle), Type::of(15, SOFT).centred())?;
            above = None;
            continue;
        };
        let half = length(open, most, HALF_FUNNEL);
        if let Some((bottom, wide)) = above {
            let corners = [(-wide, bottom), (wide, bottom), (half, from), (-half, from)];
            let corners = corners.map(|(x, y)| (FUNNEL + x, y)).to_vec();
            pen.polygon(corners, BETWEEN)?;
        }
        pen.rectangle((FUNNEL - half, from), (FUNNEL + half, to), OPEN)?;
        // A number that does not fit into its bar stands beside it; where there is no bar, in its place.
        let text = count(open);
        let wide = 10 * i32::try_from(text.len()).unwrap_or(i32::MAX / 10) + 12;
        let (x, style) = match half {
            0 => (FUNNEL, Type::of(19, SOFT).centred()),
            half if 2 * half >= wide => (FUNNEL, Type::of(19, PAPER).bold().centred()),
            half => (FUNNEL + half + 10, Type::of(19, INK).bold()),
        };
        pen.text(&text, (x, middle), style)?;
        above = Some((to, half));
    }
    Ok(())
}

/// What left each stage and what entered it within the window.
fn flow(pen: &Pen<'_>, stages: &[FunnelStage], row: i32) -> Result<(), Failure> {
    let counts = stages
        .iter()
        .flat_map(|stage| [&stage.entered_in_window, &stage.exited_in_window]);
    let most = most(counts);
    for (stage, top) in rows(stages, row) {
        let (from, to, middle) = (top + 12, top + row - 12, top + row / 2);
        let sides = [
            (stage.exited_in_window, -1, LEFT, Type::of(17, INK).ending()),
            (stage.entered_in_window, 1, ENTERED, Type::of(17, INK)),
        ];
        for (value, side, color, style) in sides {
            let bar = value.map_or(0, |value| length(value, most, HALF_FLOW));
            if bar > 0 {
                let (near, far) = (FLOW + side, FLOW + side * (bar + 1));
                pen.rectangle((near.min(far), from), (near.max(far), to), color)?;
            }
            let (size, color) = match value {
                None => (15, SOFT),
                Some(0) => (style.size, SOFT),
                Some(_) => (style.size, style.color),
            };
            let style = Type {
                size,
                color,
                ..style
            };
            let text = value.map_or_else(|| MISSING.to_owned(), count);
            pen.text(&text, (FLOW + side * (bar + 10), middle), style)?;
        }
        pen.rectangle((FLOW, top), (FLOW + 1, top + row), CLOSED)?;
    }
    Ok(())
}

fn footer(pen: &Pen<'_>, funnel: &Funnel, y: i32) -> Result<(), Failure> {
    let mut text = format!("Source: CRM, {}.", funnel.schema_version);
    if let Some(events @ 1..) = funnel.provenance.backfilled_opening_events {
        let _ = write!(text, " {} opening events were backfilled.", count(events));
    }
    pen.text(&text, (MARGIN, y), Type::of(14, SOFT))
}
