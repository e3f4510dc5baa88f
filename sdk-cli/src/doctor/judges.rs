//! The judgments of the table: each function says which facts show its assumption.

use std::collections::BTreeSet;

use sdk_core::{App, Provenance};
use serde_json::Value;

use super::assumptions::Evidence;
use super::facts::{Facts, Seen, Token, records};
use super::shape::{kind, named};
use super::{headers, reads};
use crate::catalog::operations;

const CLAIMS: &str = "iss sub aud scope iat exp exp_ms jti client_id actor entitlements";
/// Lists that have `items` by assumption only.
const WRAPPED: &str = "listApps getActors search listFinancialCounterparties listInvoices";
const PAGES: &str =
    "listOpportunities listPeople listOrganizations listTasks listIntakeSubmissions";

pub(super) fn judged(holds: bool, text: impl Into<String>) -> Evidence {
    Evidence {
        holds: Some(holds),
        text: text.into(),
        remedy: None,
    }
}

/// A contradiction with a better remedy than that of the table.
pub(super) fn contradicted(text: String, remedy: impl Into<String>) -> Evidence {
    Evidence {
        remedy: Some(remedy.into()),
        ..judged(false, text)
    }
}

/// The reason why there is no verdict.
fn unclear(text: impl Into<String>) -> Evidence {
    Evidence {
        holds: None,
        ..judged(false, text)
    }
}

pub(super) fn operation_ids(facts: &Facts) -> Option<Evidence> {
    let closed = facts.get("openapiPath with a token");
    let seen = closed.or(facts.get("openapiPath"))?;
    let document: Value = serde_yaml_ng::from_slice(&seen.body).ok()?;
    let (mut same, mut others) = (0, Vec::new());
    for operation in operations(App::Accounting) {
        let method = operation.method.as_str().to_ascii_lowercase();
        match document["paths"][operation.route][method.as_str()]["operationId"].as_str() {
            Some(id) if id == operation.id => same += 1,
            Some(_) => others.push(operation.id),
            None => {}
        }
    }
    match others.first() {
        Some(first) => {
            let more = others.len() - 1;
            let text = format!("{first} and {more} more have other IDs in the description");
            Some(judged(false, text))
        }
        None if same > 1 => {
            let text = format!("{same} IDs are the same in the description");
            Some(judged(true, text))
        }
        None => None,
    }
}

/// The tokens of applications that reject a call without one, and accept theirs. If any was rejected, none shows anything.
fn accepted(facts: &Facts) -> impl Iterator<Item = &Token> {
    let protected = facts.responses.iter().filter(|it| it.needs_token());
    let any_rejected = protected
        .clone()
        .any(|it| it.with_token && it.status == 401);
    facts.tokens.iter().filter(move |token| {
        let mut of_app = protected.clone().filter(|it| it.app == token.app);
        let demands = of_app.clone().any(|it| !it.with_token && it.status == 401);
        let accepts = of_app.any(|it| it.with_token && it.success().is_some());
        !any_rejected && demands && accepts
    })
}

pub(super) fn issuer(facts: &Facts) -> Vec<Evidence> {
    let tokens = accepted(facts).filter(|it| it.is_by_platform && it.app != App::Platform);
    let text = |it: &Token| format!("{} demands a token, and accepts the Platform's", it.app);
    tokens.map(|it| judged(true, text(it))).collect()
}

pub(super) fn audience(facts: &Facts) -> Vec<Evidence> {
    let is_for = |it: &&Token| it.answer.is_for(&it.audience) == Some(true);
    let tokens = accepted(facts).filter(|it| it.is_by_origin).filter(is_for);
    let text = |it: &Token| format!("{} demands a token, and accepts one for its origin", it.app);
    tokens.map(|it| judged(true, text(it))).collect()
}

pub(super) fn token_form(facts: &Facts) -> Vec<Evidence> {
    let mut all = Vec::new();
    for token in &facts.tokens {
        if token.answer.is_for(&token.audience) == Some(false) {
            let text = "the token is for another audience than was requested";
            all.push(judged(false, format!("{}: {text}", token.app)));
        }
    }
    let Some(answer) = facts.probes.get("one scope") else {
        return all;
    };
    let (is_token, scope) = (answer.token().is_some(), facts.scope);
    if is_token && answer.json["scope"] == scope {
        let text = format!("all fields are read: a request for {scope} alone gets just that");
        all.push(judged(true, text));
    } else if is_token {
        let text = "gets a token, but no statement that it has no other";
        all.push(unclear(format!("a request for {scope} alone {text}")));
    } else if answer.code() == "invalid_scope" {
        let text = format!("the client may not have {scope}, so a request for it shows nothing");
        all.push(unclear(text));
    }
    all
}

pub(super) fn client_authentication(facts: &Facts) -> Option<Evidence> {
    let rejected = facts.probes.get("no credential")?.is_rejection();
    rejected.then(|| judged(true, "a credential is needed, and accepted as it is sent"))
}

pub(super) fn token_fields(facts: &Facts) -> Vec<Evidence> {
    let evidence = facts.tokens.iter().map(|token| {
        let json = &token.answer.json;
        let names = named(json);
        if token.answer.field() != Some("access_token") {
            let remedy = "write your own `TokenSource`, which reads the token from the other field";
            return contradicted(format!("no access_token, but {names}"), remedy);
        }
        let is = |name, wanted| json.get(name).is_none_or(|it| kind(it) == wanted);
        let bearer = json["token_type"].as_str().unwrap_or("bearer");
        let fits = is("token_type", "string") && is("scope", "string");
        if fits && is("expires_in", "integer") && bearer.eq_ignore_ascii_case("bearer") {
            return judged(true, format!("the response has {names}"));
        }
        judged(
            false,
            format!("the response has {names}: not as assumed, or not for bearers"),
        )
    });
    evidence.collect()
}

pub(super) fn token_errors(facts: &Facts) -> Option<Evidence> {
    let answer = facts.probes.get("an unknown grant type");
    let answer = answer.filter(|it| it.is_rejection())?;
    let error = &answer.json["error"];
    let (status, names) = (answer.status, named(&answer.json));
    let text = format!("an unknown grant type gets {status}, {names}");
    Some(judged(error.is_string() || error["code"].is_string(), text))
}

pub(super) fn unknown_audience(facts: &Facts) -> Option<Evidence> {
    let answer = facts.probes.get("an unknown audience");
    let answer = answer.filter(|it| it.is_rejection() || it.token().is_some())?;
    let text = format!("an unknown audience gets {}", answer.told());
    Some(judged(answer.code() == "invalid_target", text))
}

pub(super) fn lifetime(facts: &Facts) -> Vec<Evidence> {
    let evidence = facts.tokens.iter().filter_map(|token| {
        let claims = token.answer.part(1).unwrap_or_default();
        let [issued, ends] = ["iat", "exp"].map(|name| claims[name].as_i64());
        let lives = ends
            .zip(issued)
            .map(|(ends, issued)| ends.saturating_sub(issued));
        let announced = token.answer.json["expires_in"].as_i64();
        let most = announced.into_iter().chain(lives).max()?;
        let text = format!("announced: {most} s, of which the SDK uses at most 300");
        Some(judged((1..=300).contains(&most), text))
    });
    evidence.collect()
}

pub(super) fn claims(facts: &Facts) -> Vec<Evidence> {
    let evidence = facts.tokens.iter().map(|token| {
        let (Some(header), Some(claims)) = (token.answer.part(0), token.answer.part(1)) else {
            return judged(false, "the token is no JWT that can be read");
        };
        let is_signed = header["alg"] == "HS256" || header["alg"] == "ES256";
        let has_all = CLAIMS.split(' ').all(|name| !claims[name].is_null());
        let text = format!("header {}; claims {}", named(&header), named(&claims));
        judged(is_signed && has_all, text)
    });
    evidence.collect()
}

/// The operations that are known by name only, with their responses.
fn name_only(facts: &Facts) -> impl Iterator<Item = (&'static str, &Seen)> {
    let with_token = facts.responses.iter().filter(|it| it.with_token);
    let known = with_token.filter_map(|it| Some((it.operation?, it)));
    let named = known.filter(|(operation, _)| operation.provenance == Provenance::NameOnly);
    named.map(|(operation, seen)| (operation.id, seen))
}

pub(super) fn name_only_tokens(facts: &Facts) -> Vec<Evidence> {
    let evidence = name_only(facts).filter_map(|(id, with)| {
        let mut without = facts.responses.iter().filter(|it| !it.with_token);
        let without = without.find(|it| it.label() == id)?;
        let (status, bare) = (with.status, without.status);
        let text = format!("{id} gets {status} with a token, {bare} without");
        if without.is_success() {
            let remedy = "`without_token()` on the call saves the token request";
            return Some(contradicted(text, remedy));
        }
        (bare == 401 && with.is_success()).then(|| judged(true, text))
    });
    evidence.collect()
}

/// The status and the JSON type of a response.
fn outline(seen: &Seen) -> String {
    let body = seen.json();
    let body = body.as_ref().map_or("no JSON", kind);
    format!("{} gets {} with {body}", seen.label(), seen.status)
}

pub(super) fn name_only_messages(facts: &Facts) -> Vec<Evidence> {
    let telling = name_only(facts).filter(|(_, seen)| seen.is_telling());
    let holds = |seen: &Seen| seen.status == 200 && seen.json().is_some();
    telling
        .map(|(_, seen)| judged(holds(seen), outline(seen)))
        .collect()
}

pub(super) fn name_only_bodies(facts: &Facts) -> Vec<Evidence> {
    let bodies = name_only(facts).filter_map(|(_, seen)| Some((seen, seen.success()?)));
    bodies
        .map(|(seen, body)| judged(body.is_object(), outline(seen)))
        .collect()
}

pub(super) fn unusable_values(facts: &Facts) -> Option<Evidence> {
    // Otherwise the funnel rejects every window.
    facts.success("a window")?;
    let status = facts.telling("a reversed window")?.status;
    let text = format!("a window that ends before it begins gets {status}");
    Some(judged(status == 400, text))
}

pub(super) fn request_ids(facts: &Facts) -> Option<Evidence> {
    // A gateway may answer instead of the application.
    let is_own = |it: &&Seen| it.needs_token() && (it.is_success() || it.is_rejection());
    let (mut ids, mut nameless) = (BTreeSet::new(), None);
    for seen in facts.responses.iter().filter(is_own) {
        match seen.headers.get("x-request-id").filter(|id| !id.is_empty()) {
            Some(id) => drop(ids.insert(id.as_bytes())),
            None => nameless = nameless.or(Some(seen.label())),
        }
    }
    let count = ids.len();
    let Some(nameless) = nameless else {
        let text = format!("{count} responses of protected operations have one each");
        return (count > 1).then(|| judged(true, text));
    };
    let text = format!("{nameless} has no x-request-id; {count} responses have");
    let Some(other) = headers::counts(facts, headers::REQUEST_IDS).next() else {
        return Some(judged(false, text));
    };
    let remedy = format!(
        "read `headers().get(\"{}\")` of responses and errors",
        other.0
    );
    Some(contradicted(text, remedy))
}

pub(super) fn contract_version(facts: &Facts) -> Option<Evidence> {
    let contract = facts.contracts.get(&App::Crm)?;
    let metadata = facts.metadata(App::Crm)?;
    let text = format!("the CRM's metadata has {}", named(&metadata));
    Some(judged(
        contract.served.is_some() && contract.status.is_some(),
        text,
    ))
}

pub(super) fn empty_cursor(facts: &Facts) -> Option<Evidence> {
    let Some(all) = facts.success("all people") else {
        return Some(unclear("no page had an empty cursor"));
    };
    let (one, all) = (
        records(&facts.success("listPeople")?).len(),
        records(&all).len(),
    );
    let text = format!("a page of {one} ends with an empty cursor, one of 50 has {all}");
    Some(judged(all <= one, text))
}

/// The bodies of rejections whose form is undocumented. Something else than JSON may come from a gateway.
fn rejections(facts: &Facts) -> impl Iterator<Item = (&Seen, Value)> {
    let names = [
        "an unknown person",
        "the Calendar",
        "Accounting without a token",
    ];
    let rejected = names.into_iter().filter_map(|name| facts.get(name));
    let rejected = rejected.filter(|it| it.is_rejection());
    rejected.filter_map(|it| Some((it, it.json().filter(Value::is_object)?)))
}

pub(super) fn error_codes(facts: &Facts) -> Vec<Evidence> {
    let evidence = rejections(facts).map(|(seen, body)| {
        let inner = body.get("error").filter(|it| it.is_object());
        let inner = inner.unwrap_or(&body);
        let has_message = inner["message"].is_string() || inner["error_description"].is_string();
        let text = format!("{}: a {} has {}", seen.app, seen.status, named(inner));
        judged(inner["code"].is_string() && has_message, text)
    });
    evidence.collect()
}

pub(super) fn error_bodies(facts: &Facts) -> Vec<Evidence> {
    let evidence = rejections(facts).map(|(seen, body)| {
        let names: Vec<&String> = body
            .as_object()
            .into_iter()
            .flatten()
            .map(|(name, _)| name)
            .collect();
        let text = format!("{}: an error body has {}", seen.app, named(&body));
        judged(names == ["code", "message"], text)
    });
    evidence.collect()
}

pub(super) fn unknown_requests(facts: &Facts) -> Option<Evidence> {
    let parameter = facts.telling("an unknown parameter")?;
    let (status, path) = (parameter.status, facts.telling("an unknown path")?.status);
    let text = format!("an unknown query parameter gets {status}, an unknown path {path}");
    Some(judged(parameter.is_success() && path == 404, text))
}

pub(super) fn cursors(facts: &Facts) -> Option<Evidence> {
    facts.success("listOpportunities")?;
    if reads::opportunity_cursor(facts).is_none() {
        return Some(unclear(
            "there is one page of opportunities, so there is no cursor to try",
        ));
    }
    let size = facts.telling("another page size")?;
    let (status, filter) = (size.status, facts.telling("another filter")?.status);
    let text = format!("a cursor gets {status} with another page size, {filter} with a filter");
    Some(judged(size.is_success() && filter == 400, text))
}

pub(super) fn undocumented_fields(facts: &Facts) -> Vec<Evidence> {
    let lists = WRAPPED
        .split(' ')
        .filter_map(|id| Some((id, facts.success(id)?)));
    // A list without records shows nothing.
    let lists = lists.filter(|(_, list)| !records(list).is_empty());
    let lists = lists.map(|(id, list)| {
        judged(
            list["items"].is_array(),
            format!("{id} has {}", named(&list)),
        )
    });
    let pages = PAGES
        .split(' ')
        .filter_map(|id| Some((id, facts.success(id)?)));
    let of_pages = pages.filter_map(|(id, page)| {
        let record = records(&page).first()?;
        let is_versioned = kind(&record["recordVersion"]) == "integer";
        let text = format!("a record of {id} has {}", named(record));
        Some(judged(
            is_versioned && record["publicReference"].is_string(),
            text,
        ))
    });
    lists.chain(of_pages).collect()
}

pub(super) fn publications(facts: &Facts) -> Vec<Evidence> {
    let types = [
        ("crm/person", "crm/people"),
        ("crm/organization", "crm/organizations"),
        ("accounting/counterparty", "accounting/counterparties"),
    ];
    let evidence = types.into_iter().filter_map(|(one, many)| {
        let seen = facts.get(one)?;
        let text = format!("{one} gets {}", seen.status);
        if seen.success().is_some() {
            Some(judged(true, text))
        } else if facts.get(many).is_some_and(Seen::is_success) {
            Some(judged(false, format!("{text}, {many} is there")))
        } else {
            let text = format!("{text}: perhaps this record is not published");
            (seen.status == 404).then(|| unclear(text))
        }
    });
    evidence.collect()
}

pub(super) fn own_description(facts: &Facts) -> Option<Evidence> {
    let Some(seen) = facts.get("openapiPath") else {
        let is_named = facts.metadata(App::Accounting)?["openapiPath"].is_string();
        return is_named.then(|| unclear("openapiPath is no plain path, or was not answered"));
    };
    let is_judged = seen.is_telling() || matches!(seen.status, 401 | 403);
    let text = format!("openapiPath without a token gets {}", seen.status);
    is_judged.then(|| judged(seen.is_success(), text))
}
