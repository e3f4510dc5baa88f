//! Cursors and sequences of pages: a walk ends, asks for each cursor as it came, and delivers what came.

use url::form_urlencoded;

use super::stage::{is_sound, on, reply};
use super::tree::Tree;

/// Each line is a page, or the cursor of an empty one; the last one comes again and again.
pub(super) fn run(data: &[u8]) {
    let page = |line: &[u8]| {
        if line.starts_with(b"{") {
            line.to_vec()
        } else {
            let cursor = String::from_utf8_lossy(line);
            serde_json::json!({"items": [{}], "nextCursor": cursor})
                .to_string()
                .into_bytes()
        }
    };
    let pages: Vec<Vec<u8>> = data
        .split(|byte| *byte == b'\n')
        .take(64)
        .map(page)
        .collect();
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
        assert!(
            script.seen.len() <= pages.len() + 1,
            "{} requests",
            script.seen.len()
        );
        assert_eq!(walk.checkpoint().delivered(), items as u64);
        let mut expected: Option<String> = None;
        for (at, request) in script.seen.iter().enumerate() {
            let query = request.uri().query().unwrap_or_default();
            let cursor =
                form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "cursor");
            assert_eq!(cursor.map(|(_, value)| value.into_owned()), expected);
            let came = pages
                .get(at)
                .or(pages.last())
                .and_then(|it| Tree::read(str::from_utf8(it).ok()?));
            expected = came
                .as_ref()
                .and_then(|it| Some(it.member("nextCursor")?.text()?.to_owned()));
        }
        match ended {
            // Only what says so is the end of a list.
            None => assert!(expected.is_none_or(|cursor| cursor.is_empty())),
            Some(error) => is_sound(&error),
        }
    });
}
