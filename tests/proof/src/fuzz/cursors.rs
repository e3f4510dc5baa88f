//! Cursors, sequences of pages, and checkpoints. Every list ends, sends each cursor unchanged, and delivers all
//! received items.

use std::collections::HashSet;

use sdk_core::Checkpoint;
use serde::Deserialize;
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::stage::{is_sound, is_tidy, on, reply};
use crate::json::Json;

/// A page without anything to reject.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Plain {
    items: Vec<Map<String, Value>>,
    #[serde(deserialize_with = "Option::deserialize")]
    next_cursor: Option<String>,
}

/// Returns the number of items up to the last page, if all pages are plain and the cursors lead to the end.
fn plain(pages: &[Vec<u8>]) -> Option<usize> {
    let (mut items, mut cursors) = (0, HashSet::new());
    for page in pages {
        let page: Plain = serde_json::from_slice(page).ok()?;
        items += page.items.len();
        match page.next_cursor.filter(|cursor| !cursor.is_empty()) {
            // A longer cursor might not fit into a URL.
            Some(cursor) if cursor.len() <= 4_000 && cursors.insert(cursor.clone()) => {}
            Some(_) => return None,
            None => return Some(items),
        }
    }
    None
}

/// Each line is a page, or the cursor of a page with one empty item. The last page is repeated.
pub(super) fn run(data: &[u8]) {
    let page = |line: &[u8]| {
        if line.starts_with(b"{") {
            line.to_vec()
        } else {
            let cursor = String::from_utf8_lossy(line);
            let page = serde_json::json!({"items": [{}], "nextCursor": cursor});
            page.to_string().into_bytes()
        }
    };
    let lines = data.split(|byte| *byte == b'\n').take(64);
    let pages: Vec<Vec<u8>> = lines.map(page).collect();
    let answers = pages.iter().map(|page| reply(200, page.clone())).collect();
    on(answers, async |stage| {
        let mut list = stage.crm.people().list().limit(7).pages();
        let mut items = 0;
        let ended = loop {
            match list.try_next().await {
                Ok(Some(page)) => items += page.items.as_ref().map_or(0, Vec::len),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        let script = stage.script();
        let requests = script.seen.len();
        assert!(requests <= pages.len() + 1, "{requests} requests");
        assert_eq!(list.checkpoint().delivered(), items as u64);
        let mut expected: Option<String> = None;
        for (at, request) in script.seen.iter().enumerate() {
            let query = request.uri().query().unwrap_or_default();
            let mut query = form_urlencoded::parse(query.as_bytes());
            let cursor = query.find(|(name, _)| name == "cursor");
            assert_eq!(cursor.map(|(_, value)| value.into_owned()), expected);
            let came = pages.get(at).or(pages.last());
            let came = came.and_then(|it| Json::read(str::from_utf8(it).ok()?));
            expected = came.and_then(|it| Some(it.field("nextCursor")?.text()?.to_owned()));
        }
        if let Some(sum) = plain(&pages) {
            assert!(ended.is_none() && items == sum, "{items}/{sum}: {ended:?}");
        }
        match ended {
            // A list ends only if the last page says so.
            None => assert!(expected.is_none_or(|cursor| cursor.is_empty())),
            Some(error) => is_sound(&error),
        }
    });
}

/// Stored checkpoints. A parsed checkpoint is written back equal, and only the same list can resume from it.
pub(super) fn checkpoint(data: &[u8]) {
    let Ok(checkpoint) = serde_json::from_slice::<Checkpoint>(data) else {
        return;
    };
    let written = serde_json::to_string(&checkpoint).expect("it is JSON");
    assert_eq!(
        serde_json::from_str::<Checkpoint>(&written).expect("as written"),
        checkpoint
    );
    let stored: Value = serde_json::from_str(&written).expect("as written");
    on(
        vec![reply(200, r#"{"items": [], "nextCursor": null}"#)],
        async |stage| {
            let list = || stage.crm.people().list().q("Ann").pages();
            let own = serde_json::to_value(list().checkpoint()).expect("it is JSON");
            let number = |name: &str| stored[name].as_u64().expect("a number");
            let cursor = stored["cursor"].as_str();
            let same = ["version", "application", "operation", "filters", "audience"];
            let fits = same.iter().all(|name| own[name] == stored[name])
                && number("skip") <= number("delivered")
                && number("delivered") <= 1 << 53
                && cursor.is_none_or(|cursor| cursor.len() <= 64 << 10);
            let mut resumed = list().resume(checkpoint.clone());
            let first = resumed.try_next().await;
            let sent = stage.script().seen.len();
            match first {
                Ok(page) => {
                    assert!(fits, "another list resumed: {written}");
                    let has_more = !checkpoint.is_finished();
                    assert_eq!((page.is_some(), sent), (has_more, usize::from(has_more)));
                }
                Err(error) => {
                    is_tidy(&error);
                    assert!(sent == usize::from(fits && sent > 0), "{error}");
                    let too_long = cursor.is_some_and(|it| it.len() > 15_000);
                    assert!(!fits || sent == 1 || too_long, "{error}");
                    assert_eq!(resumed.checkpoint(), checkpoint);
                }
            }
            let script = stage.script();
            if let (Some(asked), Some(cursor)) = (script.seen.first(), cursor) {
                let asked = asked.uri().query().unwrap_or_default();
                let mut pairs = form_urlencoded::parse(asked.as_bytes());
                let is_asked = pairs.any(|pair| pair == ("cursor".into(), cursor.into()));
                assert!(is_asked, "{asked}");
            }
        },
    );
}
