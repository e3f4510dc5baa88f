//! Rows 41 and 90: texts that are encoded, cut off or made to be searched for long.

use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use sdk_core::{ClientAuthentication, ClientCredentials, ErrorKind, one_line};
use serde_json::{Value, json};

use super::hostile::{SECRET, TOKEN, suite_of};
use super::print_error;
use crate::fixtures::get_person;
use crate::peer::{Peer, always, json as reply_of, script};
use crate::support::Clients;

/// What a server may make of a text without being asked to.
fn encodings(secret: &str) -> Vec<String> {
    let spread = |text: &str, between: &str| {
        let letters: Vec<String> = text.chars().map(String::from).collect();
        letters.join(between)
    };
    let bytes = |write: fn(u8) -> String| secret.bytes().map(write).collect::<String>();
    let ascii: String = Value::from(secret)
        .to_string()
        .encode_utf16()
        .map(|unit| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
            _ => format!("\\u{unit:04x}"),
        })
        .collect();
    let mut forms = vec![
        bytes(|byte| format!("{byte:02x}")),
        bytes(|byte| format!("{byte:02X}")),
        ascii,
        STANDARD.encode(secret),
        URL_SAFE.encode(format!("a{secret}")),
        URL_SAFE.encode(format!("ab{secret}")),
        spread(&STANDARD.encode(secret), "\u{200b}"),
        String::from_utf8_lossy(&secret.as_bytes()[..secret.len() - 1]).into_owned(),
    ];
    let begin: String = secret.chars().take(12).collect();
    for between in "\u{200b}\u{200d}\u{2060}\u{ad}\u{feff}\u{180e}\u{e0020}".chars() {
        let between = between.to_string();
        forms.extend([secret, &begin].map(|text| spread(text, &between)));
    }
    forms
}

/// The secret as encoders of HTML, and of JSON within HTML, write it.
fn escapes(secret: &str) -> Vec<String> {
    let markup = |[and, less, greater]: [&str; 3]| {
        let text = secret.replace('&', and).replace('<', less);
        text.replace('>', greater)
    };
    let html = markup(["&amp;", "&lt;", "&gt;"]);
    let pairs = [
        ("\"", "'"),
        ("&quot;", "'"),
        ("&quot;", "&#39;"),
        ("&quot;", "&#039;"),
        ("&quot;", "&#x27;"),
        ("&quot;", "&apos;"),
        ("&#34;", "&#39;"),
        ("&#x22;", "&#x27;"),
    ];
    let quoted = |(double, single)| html.replace('"', double).replace('\'', single);
    let json = markup(["\\u0026", "\\u003c", "\\u003e"]);
    let mut forms = pairs.map(quoted).to_vec();
    forms.push(json.replace('"', "\\\""));
    forms.push(json.replace('"', "\\u0022").replace('\'', "\\u0027"));
    forms.retain(|form| form != secret);
    forms
}

/// Beginnings, middles and ends that are long enough to be found.
fn pieces(secret: &str) -> Vec<String> {
    let letters: Vec<char> = secret.chars().collect();
    let text = |piece: &[char]| piece.iter().collect::<String>();
    let (count, half) = (letters.len(), letters.len() / 2);
    let middle = half.min(9);
    vec![
        format!("{}…", text(&letters[..12])),
        format!("{}...", text(&letters[..count - 2])),
        text(&letters[count - 12..]),
        format!("…{}…", text(&letters[half - middle..half + middle])),
        format!("{}****", STANDARD.encode(text(&letters[..12]))),
        text(&letters[..12]).to_uppercase(),
    ]
}

#[tokio::test]
async fn fault_41_encoded_and_cut_off_echoes_are_redacted() {
    for secret in [
        SECRET,
        TOKEN,
        "Zürich-17-Straße-München",
        "aé1bü2cñ3dö4eå5fø6",
        "пароль-Ключ-77-für",
        "日本語の秘密のパスワード九八七",
        r#"q"7<b>&'ük9"z2>'&w8"#,
    ] {
        let mut echoes = encodings(secret);
        echoes.extend(escapes(secret));
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

                let redacted = "[redacted: it repeats a confidential value]";
                assert!(error.message().ends_with(redacted), "{echo}: {error}");
                let code = error.code().unwrap();
                assert!(code.starts_with("[redacted"), "{echo}: {error}");
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

#[tokio::test]
async fn fault_90_a_response_that_is_made_to_be_searched_for_long_outlasts_no_deadline() {
    let mut body = json!({"error": "invalid_client", "message": "abababa~".repeat(512)});
    for field in 0..32 {
        body[format!("token{field}")] = json!("ab".repeat(3_000));
    }
    // As many different secrets, none of which has anything in common with another.
    let mut other = body.clone();
    for field in 0..32 {
        let secret = (0..600).map(|at| format!("{:010}", (field * 600 + at) * 7_919));
        other[format!("token{field}")] = json!(secret.collect::<String>());
    }
    for body in [body, other] {
        assert!(body.to_string().len() > 196_000);
        let headers = |step, at| {
            let name = format!("x-echo-{at}");
            crate::peer::Step::header(step, &name, "abababa~".repeat(100))
        };
        let refusal = (0..20).fold(reply_of(400, &body), headers);
        let peer = Peer::start(script([]).tokens_always(refusal));
        let suite = suite_of(&peer).deadline(Duration::from_secs(2));
        let platform = suite.platform();
        let form = sdk_platform::types::TokenForm::new().client_secret(SECRET);
        let started = Instant::now();

        let error = platform.oauth().token(&form).await.unwrap_err();

        assert!(started.elapsed() < Duration::from_secs(2));
        assert_eq!(error.kind(), ErrorKind::Rejected);
        // It has a secret's letters, but no 12 of them in a row.
        assert!(error.message().starts_with("abababa~"), "{error}");
    }
}
