//! Draws the stages with their open counts and their flow, and the outcomes below them.

use indicatif::HumanCount;
use jiff::tz::TimeZone;
use sdk_core::one_line;
use sdk_crm::Timestamp;
use sdk_crm::types::{CloseReasonCount, Funnel, FunnelStage};

use Font::{Bold, Plain};

const INK: &str = "#1f2937";
const SOFT: &str = "#6b7280";
const RULE: &str = "#e5e7eb";
const BAND: &str = "#f8fafc";
const OPEN: &str = "#2563af";
const BETWEEN: &str = "#d6e4f5";
const ENTERED: &str = "#168076";
const LEFT: &str = "#d97728";
const WON: &str = "#228b54";
const DEFERRED: &str = "#ca9e29";
const CLOSED: &str = "#94a3b8";
const PAPER: &str = "#ffffff";

const WIDTH: i32 = 1_100;
const MARGIN: i32 = 40;
/// The x coordinates of the end of stage names and of the centers of the two panels.
const NAMES: i32 = 250;
const FUNNEL: i32 = 470;
const FLOW: i32 = 870;
const FIRST_ROW: i32 = 160;
const OUTCOMES: i32 = 210;
const REASONS: usize = 5;

pub(crate) fn svg(funnel: &Funnel) -> String {
    let stages = &funnel.stages;
    // The contract allows 40 stages. Many stages are drawn closer together.
    let row = if stages.len() > 12 { 36 } else { 50 };
    let below = FIRST_ROW + row * i32::try_from(stages.len().max(1)).unwrap_or(1);
    let mut svg = Svg::new(WIDTH, below + OUTCOMES);
    heading(&mut svg, funnel);
    if stages.is_empty() {
        let (text, at) = ("No stages were reported.", (WIDTH / 2, FIRST_ROW + row / 2));
        svg.text(text, at, MIDDLE, Plain(15, SOFT));
    }
    for (_, top) in rows(stages, row).step_by(2) {
        svg.rect((MARGIN, top), (WIDTH - MARGIN, top + row), BAND);
    }
    open(&mut svg, stages, row);
    flow(&mut svg, stages, row);
    outcomes(&mut svg, funnel, below + 40);
    let backfilled = match funnel.provenance.backfilled_opening_events {
        Some(events @ 1..) => format!(" {} opening events were backfilled.", count(events)),
        _ => String::new(),
    };
    let source = format!("Source: CRM, {}.{backfilled}", funnel.schema_version);
    let bottom = below + OUTCOMES - 24;
    svg.text(&source, (MARGIN, bottom), START, Plain(11, SOFT));
    svg.0 + "</g>\n</svg>\n"
}

fn heading(svg: &mut Svg, funnel: &Funnel) {
    svg.text("Pipeline funnel", (MARGIN, 44), START, Bold(29, INK));
    let as_of = match &funnel.provenance.counts_opportunities_created_before {
        Some(at) => format!("created before {}", date(at)),
        None => "as of now".to_owned(),
    };
    let window = match (&funnel.window.from, &funnel.window.to) {
        (Some(from), Some(to)) => format!("from {} to {}", date(from), date(to)),
        (Some(from), None) => format!("since {}", date(from)),
        (None, Some(to)) => format!("until {}", date(to)),
        (None, None) => "over a window that was not reported".to_owned(),
    };
    let when = format!("Opportunities {as_of}. Flow {window}.");
    svg.text(&when, (MARGIN, 80), START, Plain(15, SOFT));
    let y = FIRST_ROW - 24;
    svg.text("Open now", (FUNNEL, y), MIDDLE, Bold(14, OPEN));
    svg.text("Left in the window", (FLOW - 14, y), END, Bold(14, LEFT));
    let entered = "Entered in the window";
    svg.text(entered, (FLOW + 14, y), START, Bold(14, ENTERED));
    let (left, right) = ((MARGIN, FIRST_ROW - 2), (WIDTH - MARGIN, FIRST_ROW - 1));
    svg.rect(left, right, RULE);
}

fn rows(stages: &[FunnelStage], row: i32) -> impl Iterator<Item = (&FunnelStage, i32)> {
    let tops = (0..).map(move |at| FIRST_ROW + row * at);
    stages.iter().zip(tops)
}

/// Draws the names of the stages, and their open counts as bars that form a funnel.
fn open(svg: &mut Svg, stages: &[FunnelStage], row: i32) {
    let half_bar = scale(stages.iter().map(|stage| stage.open_count), 180);
    let mut above: Option<(i32, i32)> = None;
    for (stage, top) in rows(stages, row) {
        let (from, to, middle) = (top + 6, top + row - 6, top + row / 2);
        let name = words(stage.stage.as_deref(), 28);
        svg.text(&name, (NAMES, middle), END, Plain(15, INK));
        let text = shown(stage.open_count);
        if stage.open_count.is_none() {
            svg.text(&text, (FUNNEL, middle), MIDDLE, Plain(12, SOFT));
            above = None;
            continue;
        }
        let half = half_bar(stage.open_count);
        if let Some((bottom, wide)) = above {
            let corners = [(-wide, bottom), (wide, bottom), (half, from), (-half, from)];
            svg.polygon(corners.map(|(x, y)| (FUNNEL + x, y)), BETWEEN);
        }
        svg.rect((FUNNEL - half, from), (FUNNEL + half, to), OPEN);
        // A number that doesn't fit into its bar is next to the bar.
        let needed = 10 * i32::try_from(text.len()).unwrap_or(i32::MAX / 10) + 12;
        let (x, anchor, font) = match half {
            0 => (FUNNEL, MIDDLE, Plain(15, SOFT)),
            half if 2 * half >= needed => (FUNNEL, MIDDLE, Bold(15, PAPER)),
            half => (FUNNEL + half + 10, START, Bold(15, INK)),
        };
        svg.text(&text, (x, middle), anchor, font);
        above = Some((to, half));
    }
}

/// Draws the numbers of opportunities that left and entered each stage within the window.
fn flow(svg: &mut Svg, stages: &[FunnelStage], row: i32) {
    let counts = |stage: &FunnelStage| [stage.exited_in_window, stage.entered_in_window];
    let bar = scale(stages.iter().flat_map(counts), 130);
    for (stage, top) in rows(stages, row) {
        let (from, to, middle) = (top + 12, top + row - 12, top + row / 2);
        let [left, entered] = counts(stage);
        let (near, far) = (FLOW - 1, FLOW - 1 - bar(left));
        svg.rect((far, from), (near, to), LEFT);
        svg.text(&shown(left), (far - 9, middle), END, flow_font(left));
        let (near, far) = (FLOW + 1, FLOW + 1 + bar(entered));
        svg.rect((near, from), (far, to), ENTERED);
        svg.text(
            &shown(entered),
            (far + 9, middle),
            START,
            flow_font(entered),
        );
        svg.rect((FLOW, top), (FLOW + 1, top + row), CLOSED);
    }
}

fn flow_font(value: Option<i64>) -> Font {
    match value {
        None => Plain(12, SOFT),
        Some(0) => Plain(14, SOFT),
        Some(_) => Plain(14, INK),
    }
}

fn outcomes(svg: &mut Svg, funnel: &Funnel, top: i32) {
    let outcomes = &funnel.outcomes;
    svg.text("Outcomes", (MARGIN, top), START, Bold(17, INK));
    let closed = outcomes.closed_not_proceeding;
    let tiles = [
        ("Won", outcomes.won, WON),
        ("Deferred", outcomes.deferred, DEFERRED),
        ("Closed, not proceeding", closed, CLOSED),
    ];
    for ((name, value, color), left) in tiles.into_iter().zip((MARGIN..).step_by(195)) {
        svg.rect((left, top + 24), (left + 180, top + 108), BAND);
        svg.rect((left, top + 24), (left + 5, top + 108), color);
        let font = value.map_or(Plain(15, SOFT), |_| Bold(29, INK));
        svg.text(&shown(value), (left + 20, top + 55), START, font);
        svg.text(name, (left + 20, top + 90), START, Plain(12, SOFT));
    }
    if let Some(reasons @ [_, ..]) = outcomes.by_close_reason.as_deref() {
        close_reasons(svg, reasons, top);
    }
}

fn close_reasons(svg: &mut Svg, reasons: &[CloseReasonCount], top: i32) {
    let (names, bars) = (840, 855);
    svg.text("By reason of closing", (names, top), END, Bold(14, INK));
    let bar = scale(reasons.iter().map(|reason| reason.count), 150);
    let mut sorted: Vec<_> = reasons.iter().collect();
    sorted.sort_by_key(|reason| std::cmp::Reverse(reason.count));
    for (reason, y) in sorted.iter().take(REASONS).zip((top + 32..).step_by(19)) {
        let name = words(reason.reason_code.as_deref(), 24);
        svg.text(&name, (names, y), END, Plain(12, INK));
        let end = bars + bar(reason.count);
        svg.rect((bars, y - 5), (end, y + 6), CLOSED);
        svg.text(&shown(reason.count), (end + 8, y), START, Plain(12, INK));
    }
    if let Some(more @ 1..) = sorted.len().checked_sub(REASONS) {
        let text = format!("and {more} more");
        svg.text(&text, (names, top + 127), END, Plain(11, SOFT));
    }
}

/// Returns the lengths of bars for these values.
fn scale(values: impl Iterator<Item = Option<i64>>, longest: i32) -> impl Fn(Option<i64>) -> i32 {
    let most = values.flatten().max().unwrap_or(0).max(1);
    move |value| {
        let value = value.unwrap_or(0).clamp(0, most);
        let share = i128::from(longest) * i128::from(value) / i128::from(most);
        // Small values remain visible.
        let shortest = i32::from(value > 0) * 2;
        i32::try_from(share).unwrap_or(longest).max(shortest)
    }
}

/// Formats a number with separators: 12345 becomes "12,345".
fn count(number: i64) -> String {
    let sign = if number < 0 { "−" } else { "" };
    format!("{sign}{}", HumanCount(number.unsigned_abs()))
}

fn shown(value: Option<i64>) -> String {
    value.map_or_else(|| "not reported".to_owned(), count)
}

/// Formats a code as words: `proposal_or_decision` becomes "Proposal or decision". Long names end with an ellipsis.
fn words(code: Option<&str>, most: usize) -> String {
    let text = code.unwrap_or_default().replace(['_', '-'], " ");
    let mut letters = text.trim().chars();
    let Some(first) = letters.next() else {
        return "(no name)".to_owned();
    };
    let words: Vec<char> = first.to_uppercase().chain(letters).collect();
    match words.get(..most - 1) {
        Some(start) if words.len() > most => start.iter().chain(&['…']).collect(),
        _ => words.iter().collect(),
    }
}

/// Formats a date such as "15 January 2026", with the time in UTC unless it is midnight. A time that jiff can't
/// represent stays unchanged.
fn date(at: &Timestamp) -> String {
    let Ok(instant) = at.to_string().parse::<jiff::Timestamp>() else {
        return at.to_string();
    };
    let at = instant.to_zoned(TimeZone::UTC);
    let is_midnight = at.hour() == 0 && at.minute() == 0;
    let time = if is_midnight { "" } else { ", %H:%M UTC" };
    at.strftime(&format!("%-d %B %Y{time}")).to_string()
}

#[derive(Clone, Copy)]
enum Font {
    Plain(i32, &'static str),
    Bold(i32, &'static str),
}

/// The part of a string that is at its point.
const START: &str = "start";
const MIDDLE: &str = "middle";
const END: &str = "end";

/// An SVG picture. Points are in pixels from the upper left corner.
struct Svg(String);

impl Svg {
    fn new(width: i32, height: i32) -> Self {
        let mut svg = Self(r#"<svg xmlns="http://www.w3.org/2000/svg" "#.to_owned());
        let size = format!(r#"width="{width}" height="{height}""#);
        svg.add(&format!(r#"{size} viewBox="0 0 {width} {height}">"#));
        svg.add("<title>Pipeline funnel</title>");
        svg.add(r#"<g font-family="Helvetica, Arial, sans-serif">"#);
        svg.rect((0, 0), (width, height), PAPER);
        svg
    }

    fn add(&mut self, element: &str) {
        self.0.push_str(element);
        self.0.push('\n');
    }

    fn rect(&mut self, (left, top): (i32, i32), (right, bottom): (i32, i32), color: &str) {
        let (width, height) = (right - left, bottom - top);
        let size = format!(r#"width="{width}" height="{height}""#);
        self.add(&format!(
            r#"<rect x="{left}" y="{top}" {size} fill="{color}"/>"#
        ));
    }

    fn polygon<const N: usize>(&mut self, points: [(i32, i32); N], color: &str) {
        let points = points.map(|(x, y)| format!("{x},{y}")).join(" ");
        self.add(&format!(r#"<polygon points="{points}" fill="{color}"/>"#));
    }

    /// Draws a string whose vertical middle is at the point.
    fn text(&mut self, text: &str, (x, y): (i32, i32), anchor: &str, font: Font) {
        let (weight, size, color) = match font {
            Plain(size, color) => ("normal", size, color),
            Bold(size, color) => ("bold", size, color),
        };
        // The baseline is half the height of a capital letter below the middle.
        let (base, text) = (y + size * 7 / 20, escaped(text));
        let font = format!(r#"font-size="{size}" font-weight="{weight}" fill="{color}""#);
        let at = format!(r#"x="{x}" y="{base}" text-anchor="{anchor}""#);
        self.add(&format!("<text {at} {font}>{text}</text>"));
    }
}

/// Escapes a string for XML, and removes control characters, which XML can't contain.
fn escaped(text: &str) -> String {
    let text = one_line(text).replace(['\u{fffe}', '\u{ffff}'], "");
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}
