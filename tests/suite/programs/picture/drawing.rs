//! Draws the picture as SVG, in colors for light and dark pages.
//!
//! The SVG has no blank lines and no indentation, because either would end it where Markdown includes it.

use std::fmt::Write as _;
use std::time::Duration;

use super::{Attempt, Lane};

/// The width of a lane, and the space between the two lanes.
const LANE: u32 = 405;
const GAP: u32 = 10;
/// The positions of the lifelines of the service and of Accounting within a lane.
const SERVICE: u32 = 76;
const ACCOUNTING: u32 = 304;
/// The ends of the arrows between them, and the middle.
const LEFT: u32 = SERVICE + 3;
const RIGHT: u32 = ACCOUNTING - 3;
const MIDDLE: u32 = u32::midpoint(SERVICE, ACCOUNTING);
/// The start of the time axis, and the vertical distance of a request in transit.
const TOP: u32 = 118;
const WAY: u32 = 26;

const STYLE: &str = "\
#lost-reply{--paper:#fff;--ink:#1f2937;--soft:#5b6472;--rule:#d5dae1;--good:#0b6b47;--bad:#b42318;--go:#1d5fa8;\
font-family:system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;font-size:13px}
@media (prefers-color-scheme:dark){#lost-reply{--paper:#15191f;--ink:#e6e9ee;--soft:#a3acb9;--rule:#3a424e;--good:#4cc38a;\
--bad:#ff8a7a;--go:#7ab7ff}}
#lost-reply .paper{fill:var(--paper);stroke:var(--rule)}
#lost-reply text{fill:var(--ink)}
#lost-reply .soft{fill:var(--soft)}
#lost-reply .good{fill:var(--good)}
#lost-reply .bad{fill:var(--bad)}
#lost-reply .bold{font-weight:600}
#lost-reply .title{font-size:17px;font-weight:600}
#lost-reply .end{text-anchor:end}
#lost-reply .mid{text-anchor:middle}
#lost-reply .life{stroke:var(--rule);stroke-width:2}
#lost-reply .way{stroke:var(--go);stroke-width:1.8;fill:none}
#lost-reply .back{stroke:var(--good);stroke-width:1.8;stroke-dasharray:5 3;fill:none}
#lost-reply .lost{stroke:var(--bad);stroke-width:1.8;stroke-dasharray:5 3;fill:none}
#lost-reply .head,#lost-reply .cross{stroke-dasharray:none}
#lost-reply .wait{stroke:var(--soft);stroke-width:5}";

pub(super) fn svg(lanes: &[Lane]) -> String {
    let longest = lanes.iter().filter_map(|lane| lane.attempts.last());
    let longest = longest
        .map(|attempt| at(attempt.ended))
        .max()
        .unwrap_or(TOP);
    let height = longest + 74;
    let width = LANE * 2 + GAP;
    let mut svg = format!(
        "<svg id=\"lost-reply\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         role=\"img\" aria-labelledby=\"lost-reply-title lost-reply-desc\">\n\
         <title id=\"lost-reply-title\">A lost reply</title>\n<desc id=\"lost-reply-desc\">{}</desc>\n\
         <style>\n{STYLE}\n</style>\n",
        lanes.iter().map(described).collect::<Vec<_>>().join(" ")
    );
    for (lane, left) in lanes.iter().zip((0..).step_by((LANE + GAP) as usize)) {
        let _ = writeln!(svg, "<g transform=\"translate({left} 0)\">");
        draw(&mut svg, lane, height);
        svg += "</g>\n";
    }
    svg + "</svg>\n"
}

fn described(lane: &Lane) -> String {
    let (Some(first), Some(last)) = (lane.attempts.first(), lane.attempts.last()) else {
        return String::new();
    };
    let key = if keeps_its_key(lane) {
        "the same"
    } else {
        "another"
    };
    format!(
        "{}: the first attempt drafts an invoice, and its reply is lost after {}. The second attempt, {} later, carries \
         {key} key and is answered with {}. {}.",
        lane.title,
        milliseconds(first.ended),
        milliseconds(last.began.saturating_sub(first.ended)),
        last.status.unwrap_or_default(),
        result(lane),
    )
}

fn keeps_its_key(lane: &Lane) -> bool {
    lane.attempts
        .windows(2)
        .all(|pair| pair[0].key == pair[1].key)
}

fn result(lane: &Lane) -> String {
    match lane.attempts.last().map_or(0, |last| last.commits) {
        1 if lane.replayed => "1 invoice, and a receipt that says replayed".to_owned(),
        1 => "1 invoice".to_owned(),
        more => format!("{more} invoices, and the service knows of 1"),
    }
}

fn draw(svg: &mut String, lane: &Lane, height: u32) {
    let (bottom, inside) = (height - 1, height - 54);
    let habit = if keeps_its_key(lane) {
        "One key for the command, on every attempt"
    } else {
        "A retry loop that makes a key for each attempt"
    };
    let verdict = if lane.attempts.last().is_some_and(|last| last.commits == 1) {
        "bold good"
    } else {
        "bold bad"
    };
    let _ = writeln!(
        svg,
        "<rect class=\"paper\" x=\".5\" y=\".5\" width=\"{}\" height=\"{bottom}\" rx=\"8\"/>",
        LANE - 1
    );
    text(svg, "title", (20, 32), lane.title);
    text(svg, "soft", (20, 53), habit);
    for (name, x) in [("your service", SERVICE), ("Accounting", ACCOUNTING)] {
        text(svg, "mid", (x, 88), name);
        path(svg, "life", &format!("M{x} 97V{inside}"));
    }
    let mut before: Option<&Attempt> = None;
    for attempt in &lane.attempts {
        if let Some(before) = before {
            wait(svg, before, attempt);
        }
        request(svg, attempt, before.map_or(0, |before| before.commits));
        reply(svg, attempt);
        before = Some(attempt);
    }
    text(svg, verdict, (20, height - 22), &result(lane));
}

/// Draws a request and its result. `known` is the number of earlier commits.
fn request(svg: &mut String, attempt: &Attempt, known: u64) {
    let from = at(attempt.began);
    let arrives = from + WAY;
    moment(svg, attempt.began);
    let way = format!("M{LEFT} {from}L{RIGHT} {arrives}m-11 -6l11 6l-12 4");
    path(svg, "way", &way);
    let key = attempt.key.get(..6).unwrap_or(&attempt.key);
    text(svg, "mid", (MIDDLE, from + 2), &format!("POST, key {key}…"));
    let (class, done) = match attempt.commits {
        commits if commits == known => ("good", "stored result".to_owned()),
        1 => ("bold", "invoice 1".to_owned()),
        commits => ("bold bad", format!("invoice {commits}")),
    };
    text(svg, class, (ACCOUNTING + 8, arrives + 5), &done);
}

fn reply(svg: &mut String, attempt: &Attempt) {
    let to = at(attempt.ended);
    let (leaves, half) = (to - WAY, to - WAY / 2);
    moment(svg, attempt.ended);
    if let Some(status) = attempt.status {
        path(svg, "back", &format!("M{RIGHT} {leaves}L{LEFT} {to}"));
        let head = format!("M{} {}l-11 7l12 3", LEFT + 11, to - 7);
        path(svg, "back head", &head);
        text(svg, "mid good", (MIDDLE, half + 20), &status.to_string());
    } else {
        path(svg, "lost", &format!("M{RIGHT} {leaves}L{MIDDLE} {half}"));
        let cross = format!("M{} {}l12 12m0 -12l-12 12", MIDDLE - 6, half - 6);
        path(svg, "lost cross", &cross);
        text(svg, "mid bad", (MIDDLE, half + 22), "reply lost");
    }
}

/// Draws the delay between two attempts.
fn wait(svg: &mut String, before: &Attempt, next: &Attempt) {
    let (from, to) = (at(before.ended), at(next.began));
    path(svg, "wait", &format!("M{SERVICE} {from}V{to}"));
    let waits = format!(
        "waits {}",
        milliseconds(next.began.saturating_sub(before.ended))
    );
    text(
        svg,
        "soft",
        (SERVICE + 10, u32::midpoint(from, to) + 5),
        &waits,
    );
}

/// Draws a time next to the lifeline of the service.
fn moment(svg: &mut String, moment: Duration) {
    let place = (SERVICE - 10, at(moment) + 5);
    text(svg, "end soft", place, &milliseconds(moment));
}

fn text(svg: &mut String, class: &str, (x, y): (u32, u32), text: &str) {
    let _ = writeln!(
        svg,
        "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{text}</text>"
    );
}

fn path(svg: &mut String, class: &str, way: &str) {
    let _ = writeln!(svg, "<path class=\"{class}\" d=\"{way}\"/>");
}

/// Returns the position of a time: one pixel per millisecond.
fn at(moment: Duration) -> u32 {
    TOP + u32::try_from(moment.as_millis()).unwrap_or(u32::MAX / 2)
}

fn milliseconds(time: Duration) -> String {
    format!("{} ms", time.as_millis())
}
