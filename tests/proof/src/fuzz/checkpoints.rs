//! Stored checkpoints: what is read is written back, and only a walk of the same list resumes.

use sdk_core::Checkpoint;
use serde_json::Value;

use super::stage::{is_tidy, on, reply};

const PAGE: &str = r#"{"items": [], "nextCursor": null}"#;

pub(super) fn run(data: &[u8]) {
    let Ok(checkpoint) = serde_json::from_slice::<Checkpoint>(data) else {
        return;
    };
    let written = serde_json::to_string(&checkpoint).expect("it is JSON");
    assert_eq!(
        serde_json::from_str::<Checkpoint>(&written).expect("as written"),
        checkpoint
    );
    let said: Value = serde_json::from_str(&written).expect("as written");
    on(vec![reply(200, PAGE)], async |stage| {
        let walk = || stage.crm.people().list().q("Ann").pages();
        let own = serde_json::to_value(walk().checkpoint()).expect("it is JSON");
        let number = |name: &str| said[name].as_u64().expect("a number");
        let cursor = said["cursor"].as_str();
        let same = ["version", "application", "operation", "filters", "audience"];
        let fits = same.iter().all(|name| own[name] == said[name])
            && number("skip") <= number("delivered")
            && number("delivered") <= 1 << 53
            && cursor.is_none_or(|cursor| cursor.len() <= 64 << 10);
        let mut resumed = walk().resume(checkpoint.clone());
        let first = resumed.try_next().await;
        let sent = stage.script().seen.len();
        match first {
            Ok(page) => {
                assert!(fits, "another walk resumed: {written}");
                let goes_on = !checkpoint.is_finished();
                assert_eq!((page.is_some(), sent), (goes_on, usize::from(goes_on)));
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
            let mut pairs = url::form_urlencoded::parse(asked.as_bytes());
            let is_asked = pairs.any(|pair| pair == ("cursor".into(), cursor.into()));
            assert!(is_asked, "{asked}");
        }
    });
}
