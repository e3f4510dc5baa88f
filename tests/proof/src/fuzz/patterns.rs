//! References, keys and path segments. A second implementation of the contract's patterns agrees, and values are sent
//! unchanged.

use percent_encoding::percent_decode_str;
use sdk_accounting::types::CounterpartyReference;
use sdk_core::{Error, IdempotencyKey};
use sdk_crm::types::{
    ActorReference, IntakeReference, OpportunityReference, OrganizationReference, PersonReference,
};

use super::stage::{is_tidy, on, reply};

pub(super) fn run(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let of_hex = |byte| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
    let hex = |prefix: &str| is(text, prefix, of_hex);
    agrees(text.parse::<PersonReference>(), hex("PER-"));
    agrees(text.parse::<OrganizationReference>(), hex("ORG-"));
    agrees(text.parse::<OpportunityReference>(), hex("OP-"));
    agrees(text.parse::<ActorReference>(), hex("ACR-"));
    agrees(text.parse::<IntakeReference>(), hex("IN-"));
    let of_upper = |byte| matches!(byte, b'0'..=b'9' | b'A'..=b'Z');
    let upper = is(text, "FCP-", of_upper);
    agrees(text.parse::<CounterpartyReference>(), upper);
    let of_key = |byte: u8| matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b':' | b'-');
    let is_key = (16..=160).contains(&text.len()) && text.bytes().all(of_key);
    agrees(text.parse::<IdempotencyKey>(), is_key);
    on(vec![reply(200, "{}")], async |stage| {
        let owned = stage.crm.opportunities().list().owner(text).send().await;
        let is_owner = text == "none" || hex("ACR-");
        let rejected = owned.is_err_and(|error| error.is_invalid_input());
        assert_eq!(rejected, !is_owner);
        let person = stage.crm.people().get(text).await;
        assert_eq!(person.is_ok(), hex("PER-"));
        let sent = stage.script().seen.len();
        assert_eq!(sent, usize::from(is_owner) + usize::from(hex("PER-")));
        match stage.platform.publications().get("crm", text, "a").await {
            Ok(_) => {
                let script = stage.script();
                let path: Vec<&str> = script.seen[sent].uri().path().split('/').collect();
                assert_eq!(path.len(), 7, "{path:?}");
                let decoded = percent_decode_str(path[5]).decode_utf8();
                assert_eq!(decoded.as_deref(), Ok(text));
                assert!(!text.contains(['/', '\\', ';', '\n']) && !["", ".", ".."].contains(&text));
            }
            Err(error) => {
                is_tidy(&error);
                assert!(error.is_invalid_input());
                assert_eq!(stage.script().seen.len(), sent);
            }
        }
    });
}

fn is(text: &str, prefix: &str, of: impl Fn(u8) -> bool) -> bool {
    text.strip_prefix(prefix)
        .is_some_and(|rest| rest.len() == 12 && rest.bytes().all(of))
}

fn agrees<T>(parsed: Result<T, Error>, matches: bool) {
    assert_eq!(parsed.is_ok(), matches);
    if let Err(error) = parsed {
        is_tidy(&error);
    }
}
