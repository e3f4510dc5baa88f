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
                assert_eq!(
                    (page.is_some(), sent),
                    (
                        !checkpoint.is_finished(),
                        usize::from(!checkpoint.is_finished())
                    )
                );
            }
            Err(error) => {
                is_tidy(&error);
                assert!(sent == usize::from(fits && sent > 0), "{error}");
                assert!(
                    !fits || sent == 1 || cursor.is_some_and(|it| it.len() > 15_000),
                    "{error}"
                );
                assert_eq!(resumed.checkpoint(), checkpoint);
            }
        }
        let asked = stage
            .script()
            .seen
            .first()
            .map(|it| it.uri().query().unwrap_or_default().to_owned());
        if let (Some(asked), Some(cursor)) = (asked, cursor) {
            let mut pairs = url::form_urlencoded::parse(asked.as_bytes());
            assert!(
                pairs.any(|pair| pair == ("cursor".into(), cursor.into())),
                "{asked}"
            );
        }
    });
}
