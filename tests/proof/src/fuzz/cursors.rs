//! Cursors and sequences of pages: a walk ends, asks for each cursor as it came, and delivers what came.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value};
use url::form_urlencoded;

use super::stage::{is_sound, on, reply};
use crate::json::Json;

/// A page that nobody has a reason to refuse.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Plain {
    items: Vec<Map<String, Value>>,
    #[serde(deserialize_with = "Option::deserialize")]
    next_cursor: Option<String>,
}

/// How many items the pages up to the last one have, if each is plain and leads to another one.
fn plain(pages: &[Vec<u8>]) -> Option<usize> {
    let (mut items, mut cursors) = (0, HashSet::new());
    for page in pages {
        let page: Plain = serde_json::from_slice(page).ok()?;
        items += page.items.len();
        match page.next_cursor.filter(|cursor| !cursor.is_empty()) {
            // A longer one may not fit into an address.
            Some(cursor) if cursor.len() <= 4_000 && cursors.insert(cursor.clone()) => {}
            Some(_) => return None,
            None => return Some(items),
        }
    }
    None
}

/// Each line is a page, or the cursor of an empty one; the last one comes again and again.
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
        let mut walk = stage.crm.people().list().limit(7).pages();
        let mut items = 0;
        let ended = loop {
            match walk.try_next().await {
                Ok(Some(page)) => items += page.items.as_ref().map_or(0, Vec::len),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        let script = stage.script();
        let requests = script.seen.len();
        assert!(requests <= pages.len() + 1, "{requests} requests");
        assert_eq!(walk.checkpoint().delivered(), items as u64);
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
            // Only what says so is the end of a list.
            None => assert!(expected.is_none_or(|cursor| cursor.is_empty())),
            Some(error) => is_sound(&error),
        }
    });
}
