//! Rows 32 and 41: texts that are broken, cut off or disguised, and what becomes of the call that they are an answer to.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sdk_core::{ClientAuthentication, ClientCredentials, Effect, ErrorKind, one_line};
use serde_json::{Value, json};

use super::hostile::{KEY, SECRET, TOKEN, suite_of};
use super::print_error;
use crate::faults::fixtures::{created, get_person};
use crate::peer::{Peer, always, json as reply_of, reply, script};
use crate::samples::event;
use crate::support::{Clients, Events, assert_failed, key};

#[tokio::test]
async fn fault_32_an_unfinished_escape_ends_no_committed_command_with_a_panic() {
    let (events, _guard) = Events::here();
    for text in [
        "\\u{e",
        "\\u{",
        "\\u{}",
        "\\u{110000}",
        "\\u{110000",
        "\\u{e€",
        "\\ud800",
        "\\u00e",
        "\\u",
        "\\U0011",
        "\\UFFFFFFFF",
        "\\x",
        "\\x4",
        "\\x4é",
        "\\",
        "\\é",
        "\\777",
        "%",
        "%4",
        "%é",
        "=",
        "=é",
        "&#",
        "&#x1",
        "&#99999999999;",
        "&é;",
    ] {
        for text in [text.to_owned(), format!("ab{text}é{text} end{text}")] {
            let seen: String = text.chars().filter(char::is_ascii).collect();
            let refused = json!({"error": {"code": text, "message": text, "requestId": text}});
            let mut other: Value = serde_json::from_slice(created().text()).unwrap();
            other["schemaVersion"] = json!(text);
            let steps = [
                created()
                    .header("x-request-id", &*seen)
                    .header("x-other", &*seen),
                reply_of(201, &other).header("x-request-id", &*seen),
                reply_of(409, &refused).header("x-other", &*seen),
                reply(400).body(text.clone()).header("x-other", &*seen),
                reply(201).body(text.clone()),
                reply_of(201, &json!([text])),
            ];
            let peer = Peer::start(steps);
            let calendar = suite_of(&peer).calendar();
            let event = event("Kick-off");
            let call = || calendar.events().command(&event).idempotency_key(key(KEY));

            let receipt = call().await.unwrap();
            assert_eq!(receipt.is_committed(), Some(true));
            assert_eq!(receipt.request_id(), Some(&*seen));
            let other = call().await.unwrap_err();
            assert_eq!(other.kind(), ErrorKind::SchemaVersion, "{other}");
            let conflict = call().await.unwrap_err();
            assert_eq!(conflict.kind(), ErrorKind::Conflict, "{conflict}");
            assert_eq!(conflict.message(), one_line(&text));
            assert_eq!(conflict.code(), Some(&*one_line(&text)));
            assert_eq!(conflict.request_id(), Some(&*one_line(&text)));
            assert_eq!(conflict.headers().unwrap()["x-other"], *seen);
            assert_eq!(call().await.unwrap_err().kind(), ErrorKind::Rejected);
            for _ in 0..2 {
                let unreadable = call().await.unwrap_err();
                assert_failed(&unreadable, ErrorKind::Decode, Effect::Unknown);
                assert!(unreadable.command().is_some());
            }

            let requests = peer.requests();
            assert_eq!(requests.len(), 6, "{text}");
            assert!(requests.iter().all(|seen| seen.key() == Some(KEY)));
        }
    }
    assert!(events.text().contains("suite.request_id"));

    // Nor does the exchange before it.
    let refusal = json!({"error": "\\u{", "error_description": "\\u{e"});
    let refusal = reply_of(400, &refusal).header("x-request-id", "\\u{");
    let peer = Peer::start(script([]).tokens_always(refusal));
    let crm = suite_of(&peer).crm();
    let error = get_person(&crm).await.unwrap_err();
    assert_eq!(error.code(), Some("\\u{"));
    assert_eq!(error.request_id(), Some("\\u{"));
    assert!(peer.requests().is_empty());
}

/// What a server may make of a text, none of which shows it as it is.
fn disguises(secret: &str) -> Vec<String> {
    let spread = |text: &str, between: &str| {
        let letters: Vec<String> = text.chars().map(String::from).collect();
        letters.join(between)
    };
    let bytes = |bytes: &[u8], write: fn(u8) -> String, between: &str| {
        let bytes: Vec<String> = bytes.iter().map(|byte| write(*byte)).collect();
        bytes.join(between)
    };
    let utf8 = secret.as_bytes();
    let mut forms = vec![
        bytes(utf8, |byte| format!("%{byte:02X}"), ""),
        bytes(utf8, |byte| format!("={byte:02X}"), ""),
        bytes(utf8, |byte| format!("\\x{byte:02x}"), ""),
        bytes(utf8, |byte| format!("\\{byte:03o}"), ""),
        bytes(utf8, |byte| format!("{byte:02x}"), ""),
        bytes(utf8, |byte| format!("{byte:02x}"), " "),
        bytes(utf8, |byte| format!("{byte:02X}"), ":"),
        bytes(utf8, |byte| format!("0x{byte:02x}"), ", "),
        bytes(utf8, |byte| byte.to_string(), ", "),
        // Only what is not ASCII is escaped.
        secret
            .chars()
            .map(|letter| {
                if letter.is_ascii() {
                    letter.to_string()
                } else {
                    bytes(
                        letter.to_string().as_bytes(),
                        |byte| format!("\\x{byte:02x}"),
                        "",
                    )
                }
            })
            .collect(),
        STANDARD.encode(secret),
        spread(&STANDARD.encode(secret), "\u{200b}"),
        spread(&bytes(utf8, |byte| format!("%{byte:02X}"), ""), "\u{2060}"),
        String::from_utf8_lossy(&utf8[..utf8.len() - 1]).into_owned(),
    ];
    let begin: String = secret.chars().take(12).collect();
    for between in "\u{200b}\u{200d}\u{2060}\u{ad}\u{feff}\u{180e}\u{e0020}".chars() {
        let between = between.to_string();
        forms.extend([secret, &begin].map(|text| spread(text, &between)));
    }
    // One byte for each letter, where that is possible.
    let latin: Result<Vec<u8>, _> = secret
        .chars()
        .map(|letter| u8::try_from(u32::from(letter)))
        .collect();
    if let Ok(latin) = latin {
        forms.push(bytes(&latin, |byte| format!("%{byte:02x}"), ""));
        // What is left when one encoding is taken for another.
        forms.push(utf8.iter().map(|byte| char::from(*byte)).collect());
        for lost in ["?", "\u{fffd}"] {
            forms.push(secret.replace(|letter: char| !letter.is_ascii(), lost));
        }
        forms.push(bytes(&latin, |byte| format!("\\x{byte:02X}"), ""));
        forms.push(bytes(&latin, |byte| format!("\\{byte:o}"), ""));
    }
    forms
}

/// Beginnings, middles and ends of at least eight letters and digits.
fn pieces(secret: &str) -> Vec<String> {
    let letters: Vec<char> = secret.chars().collect();
    let text = |piece: &[char]| piece.iter().collect::<String>();
    let (count, half) = (letters.len(), letters.len() / 2);
    vec![
        format!("{}…", text(&letters[..12])),
        format!("{}...", text(&letters[..count - 2])),
        text(&letters[count - 12..]),
        format!("…{}…", text(&letters[half - 6..half + 6])),
        format!("{}****", STANDARD.encode(text(&letters[..12]))),
        text(&letters[..12]).to_uppercase(),
    ]
}

#[tokio::test]
async fn fault_41_disguised_and_cut_off_echoes_are_withheld() {
    for secret in [
        SECRET,
        TOKEN,
        "Zürich-17-Straße-München",
        "aé1bü2cñ3dö4eå5fø6",
        "пароль-Ключ-77-für",
        "日本語の秘密のパスワード九八七",
    ] {
        let mut echoes = disguises(secret);
        echoes.extend(pieces(secret));
        for echo in echoes {
            let said = format!("not {echo}");
            let refused = json!({"code": said, "message": said, "requestId": echo});
            let refusal = json!({"error": said, "error_description": said});
            let from_application = always(reply_of(409, &refused));
            let from_endpoint = script([]).tokens_always(reply_of(400, &refusal));
            for (script, is_endpoint) in [(from_application, false), (from_endpoint, true)] {
                let peer = Peer::start(script);
                let credentials = ClientCredentials::new("client", secret);
                let credentials =
                    credentials.with_authentication(ClientAuthentication::RequestBody);
                let crm = suite_of(&peer).credentials(credentials).crm();

                let error = get_person(&crm).await.unwrap_err();

                let withheld = "[withheld: it repeats a confidential value]";
                assert!(error.message().ends_with(withheld), "{echo}: {error}");
                let code = error.code().unwrap();
                assert!(code.starts_with("[withheld"), "{echo}: {error}");
                let shown = print_error(&error).contains(&one_line(&echo));
                assert!(!shown, "{echo}: {error}");
                let seen = &peer.exchanges()[0];
                assert!(seen.text().contains("client_secret="), "{}", seen.text());
                assert_eq!(peer.requests().len(), usize::from(!is_endpoint));
            }
        }
    }
    // What has eight letters with none of a secret is left as it is.
    let plain = json!({"message": "Zürich has a%20conflict \\x"});
    let peer = Peer::start(always(reply_of(409, &plain)));
    let credentials = ClientCredentials::new("client", "Zürich-17-Straße");
    let crm = suite_of(&peer).credentials(credentials).crm();
    let error = get_person(&crm).await.unwrap_err();
    assert_eq!(error.message(), "Zürich has a%20conflict \\x");
}
