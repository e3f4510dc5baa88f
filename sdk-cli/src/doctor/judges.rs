//! Judges each assumption by the responses.

use std::collections::BTreeSet;

use sdk_core::App;
use serde_json::Value;

use super::facts::{Evidence, Facts, Seen, Token, contradicted, judged, records, unclear};
use super::findings;
use super::reads::{BARE, NAME_ONLY, PUBLICATIONS};
use super::shape::{kind, named};
use crate::catalog::operations;

/// Lists whose `items` field is an assumption.
const WRAPPED: &str = "listApps, getActors, search, listFinancialCounterparties, listInvoices";
const PAGES: &str =
    "listOpportunities, listPeople, listOrganizations, listTasks, listIntakeSubmissions";
/// A rejection of each application whose error bodies are undocumented.
const REJECTIONS: [&str; 3] = [
    "an unknown person",
    "the Calendar",
    "Accounting without a token",
];
const CURSORS: [&str; 2] = [
    "a cursor with another limit",
    "a cursor with another filter",
];
const CLAIMS: &str = "iss sub aud scope iat exp exp_ms jti client_id actor entitlements";

/// Returns the evidence on an assumption by its ID. The module `shape` also judges fields whose schema has the ID.
pub(super) fn judge(id: &str, facts: &Facts) -> Vec<Evidence> {
    let tokens = |judge: fn(&Facts, &Token) -> Option<Evidence>| {
        let tokens = facts.tokens.iter();
        tokens.filter_map(|it| judge(facts, it)).collect()
    };
    let both = |names: [&str; 2], judge: fn(&Seen, &Seen) -> Option<bool>| {
        let [first, second] = names.map(|name| facts.get(name).filter(|it| it.is_telling()));
        let seen = first.zip(second).into_iter();
        let evidence = seen.filter_map(|(first, second)| {
            let text = format!("{}, {}", first.outline(), second.outline());
            Some(judged(judge(first, second)?, text))
        });
        evidence.collect()
    };
    let unseen = |reason: &str| vec![unclear(reason)];
    match id {
        "A01" => Vec::from_iter(operation_ids(facts)),
        "A02" => tokens(issuer),
        "A03" => tokens(token_form),
        "A04" => each(facts, ["no credential"], |seen, _| {
            seen.is_rejection().then_some(true)
        }),
        "A05" => tokens(token_fields),
        "A06" => each(facts, ["an unknown grant type"], token_error),
        "A08" => name_only_tokens(facts),
        "A09" => each(facts, NAME_ONLY.map(|it| it.id), any_json),
        "A12" => both(["a window", "a reversed window"], |usual, reversed| {
            // If the usual window fails, the operation may reject every value.
            usual.is_success().then_some(reversed.status == 400)
        }),
        "A41" => tokens(lifetime),
        "A43" => tokens(audience),
        "A44" => Vec::from_iter(request_ids(facts)),
        "A46" => Vec::from_iter(contract_version(facts)),
        "A53" => vec![empty_cursor(facts)],
        "A55" => each(facts, REJECTIONS, error_code),
        "A70" => tokens(claims),
        "A71" => each(facts, ["an unknown audience"], unknown_audience),
        "A72" => each(facts, REJECTIONS, error_body),
        "A74" => both(
            ["an unknown parameter", "an unknown path"],
            |parameter, path| Some(parameter.is_success() && path.status == 404),
        ),
        "A75" => both(CURSORS, |limit, filter| {
            Some(limit.is_success() && filter.status == 400)
        }),
        "A76" => undocumented_fields(facts),
        "A82" => each(facts, NAME_ONLY.map(|it| it.id), |seen, body| {
            seen.success().map(|_| body.is_object())
        }),
        "A83" => publications(facts),
        "A85" => each(facts, ["openapiPath"], |seen, _| {
            let is_telling = seen.is_telling() || matches!(seen.status, 401 | 403);
            is_telling.then(|| seen.is_success())
        }),
        "A40" | "A45" | "A51" | "A52" | "A77" | "A78" | "A79" | "A80" | "A81" | "A84" => {
            unseen("it concerns commands, and the doctor sends none")
        }
        "A42" => unseen("the doctor doesn't provoke these statuses"),
        "A50" => unseen("the doctor can't provoke these statuses"),
        "A54" => unseen("it concerns commands that are a day old"),
        "A73" => unseen("no response names the claim on which it depends"),
        "A86" => unseen("the doctor doesn't know the history behind the figures"),
        _ => Vec::new(),
    }
}

fn each<'a>(
    facts: &Facts,
    names: impl IntoIterator<Item = &'a str>,
    judge: fn(&Seen, &Value) -> Option<bool>,
) -> Vec<Evidence> {
    let seen = names.into_iter().filter_map(|name| facts.get(name));
    let evidence = seen.filter_map(|seen| {
        let body = seen.json();
        let fields = body.as_ref().map_or("no JSON".to_owned(), named);
        let holds = judge(seen, &body.unwrap_or_default())?;
        let text = format!("{} with {fields}", seen.outline());
        Some(judged(holds, text))
    });
    evidence.collect()
}

// The following functions judge a single response. `None` means that it is no evidence.

fn token_error(seen: &Seen, body: &Value) -> Option<bool> {
    let is_known = body["error"].is_string() || body["error"]["code"].is_string();
    seen.is_rejection().then_some(is_known)
}

fn unknown_audience(seen: &Seen, _: &Value) -> Option<bool> {
    let is_telling = seen.is_rejection() || seen.token().is_some();
    is_telling.then(|| seen.code() == Some("invalid_target"))
}

fn any_json(seen: &Seen, _: &Value) -> Option<bool> {
    let holds = seen.status == 200 && seen.json().is_some();
    seen.is_telling().then_some(holds)
}

/// Judges the `items` field of a list. An empty list is no evidence.
fn items(seen: &Seen, body: &Value) -> Option<bool> {
    let has_records = seen.is_success() && !records(body).is_empty();
    has_records.then(|| body["items"].is_array())
}

/// Judges the body of a rejection. A body that isn't an object may come from a gateway.
fn error_code(seen: &Seen, body: &Value) -> Option<bool> {
    let inner = body.get("error").filter(|it| it.is_object());
    let inner = inner.unwrap_or(body);
    let has_message = inner["message"].is_string() || inner["error_description"].is_string();
    let is_own = seen.is_rejection() && body.is_object();
    is_own.then(|| inner["code"].is_string() && has_message)
}

fn error_body(seen: &Seen, body: &Value) -> Option<bool> {
    let fields = body.as_object().filter(|_| seen.is_rejection())?;
    Some(fields.keys().eq(["code", "message"]))
}

// The following functions judge a token.

/// Whether an application rejects a call without a token, and accepts this token. If any application rejected its
/// token, there is no evidence.
fn is_accepted(facts: &Facts, token: &Token) -> bool {
    let protected = || facts.responses.iter().filter(|it| it.needs_token());
    let of_app = || protected().filter(|it| it.app == token.app);
    let is_rejected = protected().any(|it| it.with_token && it.status == 401);
    let demands = of_app().any(|it| !it.with_token && it.status == 401);
    !is_rejected && demands && of_app().any(|it| it.with_token && it.success().is_some())
}

fn issuer(facts: &Facts, token: &Token) -> Option<Evidence> {
    let is_judged = token.is_by_platform && token.app != App::Platform;
    let text = format!("{} requires a token, and accepts the Platform's", token.app);
    (is_judged && is_accepted(facts, token)).then(|| judged(true, text))
}

fn audience(facts: &Facts, token: &Token) -> Option<Evidence> {
    let is_judged = token.is_by_origin && token.response.is_for(&token.audience) == Some(true);
    let app = token.app;
    let text = format!("{app} requires a token, and accepts a token for its origin");
    (is_judged && is_accepted(facts, token)).then(|| judged(true, text))
}

fn token_form(facts: &Facts, token: &Token) -> Option<Evidence> {
    if token.response.is_for(&token.audience) == Some(false) {
        let text = "the audience of the token differs from the requested audience";
        return Some(judged(false, format!("{}: {text}", token.app)));
    }
    let (seen, scope) = (facts.get("one scope")?, facts.scope);
    let has_token = seen.token().is_some();
    if has_token && seen.json()?["scope"] == scope {
        let text = format!("all fields are read: a request for only {scope} returns only {scope}");
        Some(judged(true, text))
    } else if has_token {
        let text = "returns a token, but the response doesn't confirm the scope";
        Some(unclear(format!("a request for only {scope} {text}")))
    } else {
        let text = format!("the client may lack {scope}, so a request for it is no evidence");
        (seen.code() == Some("invalid_scope")).then(|| unclear(text))
    }
}

fn token_fields(_: &Facts, token: &Token) -> Option<Evidence> {
    let body = token.response.json()?;
    let names = named(&body);
    if token.response.token_field()? != "access_token" {
        let remedy = "write your own `TokenSource`, which reads the token from the other field";
        let text = format!("the response has no access_token, but {names}");
        return Some(contradicted(text, remedy));
    }
    let is = |name, wanted| body.get(name).is_none_or(|it| kind(it) == wanted);
    let bearer = body["token_type"].as_str().unwrap_or("bearer");
    let fits = is("token_type", "string") && is("scope", "string") && is("expires_in", "integer");
    if fits && bearer.eq_ignore_ascii_case("bearer") {
        return Some(judged(true, format!("the response has {names}")));
    }
    let but = "a type differs from the assumption, or token_type isn't bearer";
    Some(judged(false, format!("the response has {names}: {but}")))
}

fn lifetime(_: &Facts, token: &Token) -> Option<Evidence> {
    let claims = token.response.part(1).unwrap_or_default();
    let ends = claims["exp"].as_i64().zip(claims["iat"].as_i64());
    let lives = ends.map(|(ends, issued)| ends.saturating_sub(issued));
    let announced = token.response.json()?["expires_in"].as_i64();
    let most = announced.into_iter().chain(lives).max()?;
    let text = format!("the lifetime is {most} s, of which the SDK uses at most 300 s");
    Some(judged((1..=300).contains(&most), text))
}

fn claims(_: &Facts, token: &Token) -> Option<Evidence> {
    token.response.token()?;
    let parts = token.response.part(0).zip(token.response.part(1));
    let Some((header, claims)) = parts else {
        return Some(judged(false, "the token is not a readable JWT"));
    };
    let is_signed = header["alg"] == "HS256" || header["alg"] == "ES256";
    let has_all = CLAIMS.split(' ').all(|name| !claims[name].is_null());
    let text = format!("header {}; claims {}", named(&header), named(&claims));
    Some(judged(is_signed && has_all, text))
}

// The following functions judge all facts.

fn operation_ids(facts: &Facts) -> Option<Evidence> {
    let seen = facts
        .get("openapiPath with a token")
        .or(facts.get("openapiPath"));
    let body = seen.map_or(&[][..], |it| &it.body);
    let document: Value = serde_yaml_ng::from_slice(body).unwrap_or_default();
    let (mut same, mut others) = (0, Vec::new());
    for operation in operations(App::Accounting) {
        let method = operation.method.as_str().to_ascii_lowercase();
        match document["paths"][operation.route][method.as_str()]["operationId"].as_str() {
            Some(id) if id == operation.id => same += 1,
            Some(_) => others.push(operation.id),
            None => {}
        }
    }
    let text = format!("{same} IDs are the same in the OpenAPI document");
    match &others[..] {
        [first, more @ ..] => {
            let more = more.len();
            let text = format!("{first} and {more} more have other IDs in the OpenAPI document");
            Some(judged(false, text))
        }
        [] => (same > 1).then(|| judged(true, text)),
    }
}

fn name_only_tokens(facts: &Facts) -> Vec<Evidence> {
    let with_token = NAME_ONLY.iter().filter_map(|it| facts.get(it.id));
    let evidence = with_token.filter_map(|with| {
        let is_bare = |it: &&Seen| it.name == BARE && it.label() == with.name;
        let bare = facts.responses.iter().find(is_bare)?;
        let text = format!("{}, {} without a token", with.outline(), bare.status);
        if bare.is_success() {
            let remedy = "`without_token()` on the call saves the token request";
            return Some(contradicted(text, remedy));
        }
        let holds = bare.status == 401 && with.is_success();
        holds.then(|| judged(true, text))
    });
    evidence.collect()
}

fn request_ids(facts: &Facts) -> Option<Evidence> {
    // Other responses may come from a gateway.
    let is_own = |it: &&Seen| it.needs_token() && (it.is_success() || it.is_rejection());
    let (mut ids, mut nameless) = (BTreeSet::new(), None);
    for seen in facts.responses.iter().filter(is_own) {
        match seen.headers.get("x-request-id").filter(|id| !id.is_empty()) {
            Some(id) => drop(ids.insert(id.as_bytes())),
            None => nameless = nameless.or(Some(seen.label())),
        }
    }
    let count = ids.len();
    let text = match nameless {
        Some(nameless) => format!("{nameless} has no x-request-id; {count} responses have it"),
        None => format!("{count} responses of protected operations have different IDs"),
    };
    let other = findings::counts(facts, findings::REQUEST_IDS).next();
    match (nameless, other) {
        (None, _) if count < 2 => None,
        (Some(_), Some((name, _))) => {
            let remedy = format!("read `headers().get(\"{name}\")` of responses and errors");
            Some(contradicted(text, remedy))
        }
        _ => Some(judged(nameless.is_none(), text)),
    }
}

fn contract_version(facts: &Facts) -> Option<Evidence> {
    let metadata = facts.metadata(App::Crm);
    let contract = facts.contracts.get(&App::Crm)?;
    let holds = contract.served.is_some() && contract.status.is_some();
    let text = format!("the CRM's metadata has {}", named(&metadata));
    (!metadata.is_null()).then(|| judged(holds, text))
}

fn empty_cursor(facts: &Facts) -> Evidence {
    let [one, all] = ["listPeople", "all people"].map(|name| facts.success(name));
    if one.is_null() || all.is_null() {
        return unclear("no page had an empty cursor");
    }
    let (one, all) = (records(&one).len(), records(&all).len());
    let text = format!("a page of {one} ends with an empty cursor, and a page of 50 has {all}");
    judged(all <= one, text)
}

fn undocumented_fields(facts: &Facts) -> Vec<Evidence> {
    let mut all = each(facts, WRAPPED.split(", "), items);
    let records = PAGES.split(", ").filter_map(|id| {
        let page = facts.success(id);
        let record = records(&page).first()?;
        let is_versioned = kind(&record["recordVersion"]) == "integer";
        let text = format!("a record of {id} has {}", named(record));
        Some(judged(
            is_versioned && record["publicReference"].is_string(),
            text,
        ))
    });
    all.extend(records);
    all
}

fn publications(facts: &Facts) -> Vec<Evidence> {
    let evidence = PUBLICATIONS.iter().filter_map(|(one, many, _)| {
        let seen = facts.get(one)?;
        let text = format!("{one} gets {}", seen.status);
        if seen.success().is_some() {
            Some(judged(true, text))
        } else if facts.get(many).is_some_and(Seen::is_success) {
            Some(judged(false, format!("{text}, but {many} exists")))
        } else {
            let text = format!("{text}; this record may not be published");
            (seen.status == 404).then(|| unclear(text))
        }
    });
    evidence.collect()
}
