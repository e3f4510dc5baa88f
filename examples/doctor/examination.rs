//! The examination, from the settings to the last read.

use std::time::Duration;

use sdk_core::{App, RetryPolicy, SchemaPolicy, Suite, SuiteBuilder, TokenPolicy};

use super::contact::{Contact, Meter, operations};
use super::exchange::{Exchange, Variables};
use super::report::Report;
use super::token::Outcome;
use super::{reads, token};

/// The settings, then the token, then the reads.
pub(crate) async fn examine(variables: Variables, from_process: bool, meter: Meter) -> Report {
    let mut report = Report::new();
    let secret = variables.get("SUITE_CLIENT_SECRET").map(String::as_str);
    report.secrets.hide(secret.unwrap_or_default());
    for name in ["SUITE_CLIENT_ID", "SUITE_CLIENT_SECRET"] {
        let value = variables.get(name).map_or("", String::as_str);
        if value.trim() != value {
            let cure = format!("set {name} without it (`$(cat file)` drops the end of a line)");
            report.problem(format!("{name} begins or ends with white space"), cure);
        }
    }
    // The same checks as those of a service, whatever is wrong at once.
    let builder = Suite::builder();
    let builder = if from_process {
        builder.environment()
    } else {
        builder.variables(variables.clone())
    };
    let checked = builder.build();
    if let Err(error) = checked {
        report.failure(error.to_string(), "as the sentence says");
        return report;
    }
    let secrets = report.secrets.clone();
    let mut contact = Contact::new(report, meter);
    let mut apps = Vec::new();
    for app in App::all() {
        let name = app.url_variable();
        let Some(url) = variables.get(name) else {
            let cure = format!("set {name} to its routed origin, if the service uses it");
            contact.problem(format!("{app} has no address and is left out"), cure);
            continue;
        };
        let origin = url::Url::parse(url).map(|url| url.origin().ascii_serialization());
        let origin = origin.unwrap_or_default();
        contact.ok(format!("{app} is at {origin}"));
        apps.push((app, origin));
    }
    let has_tokens = match Exchange::new(variables, contact.meter.clone(), secrets) {
        Ok(exchange) => tokens(&mut contact, exchange, &apps).await,
        Err(why) => {
            contact.failure(why, "check SUITE_CORE_URL and SUITE_TOKEN_URL");
            false
        }
    };
    let description = reads::open(&mut contact).await;
    if has_tokens {
        reads::platform(&mut contact).await;
        let [person, organization] = reads::crm(&mut contact).await;
        reads::calendar(&mut contact).await;
        let counterparty = reads::accounting(&mut contact, description).await;
        reads::publications(&mut contact, [person, organization, counterparty]).await;
        contact.step("token");
        contact.tell_tokens();
    }
    contact.tell_headers();
    contact.into_report()
}

/// The token of each application, and the clients that all further calls use. Returns whether there is any token.
async fn tokens(contact: &mut Contact, mut exchange: Exchange, apps: &[(App, String)]) -> bool {
    contact.step("token");
    let mut served = Vec::new();
    for (app, origin) in apps {
        match token::first(contact, &mut exchange, *app, origin).await {
            Outcome::Token => served.push((*app, origin)),
            Outcome::Refused => {}
            Outcome::Hopeless => break,
        }
    }
    let crm = served.iter().find(|(app, _)| *app == App::Crm);
    if let Some((app, origin)) = crm.or(served.first()) {
        token::probe(contact, &exchange, *app, origin).await;
    }
    contact.step("scopes");
    // The tokens of the calls are known here, so that none is ever shown; the SDK's own exchange is tried beside them.
    let own = suite(contact, &exchange.variables).build();
    let known = suite(contact, &exchange.variables)
        .token_source(exchange.clone())
        .build();
    let (Ok(own), Ok(known)) = (own, known) else {
        return false;
    };
    macro_rules! client {
        ($app:ident $field:ident $client:ty) => {
            if apps.iter().any(|(app, _)| *app == App::$app) {
                match <$client>::new(&known) {
                    Ok(client) => contact.clients.$field = Some(client),
                    Err(error) => contact.failure(error.to_string(), "as the sentence says"),
                }
                let is_served = served.iter().any(|(app, _)| *app == App::$app);
                if let Some(client) = <$client>::new(&own).ok().filter(|_| is_served) {
                    let missing = client.missing_scopes(operations(App::$app)).await;
                    reads::opened(contact, App::$app, missing);
                }
            }
        };
    }
    client!(Platform platform sdk_platform::Client);
    client!(Crm crm sdk_crm::Client);
    client!(Calendar calendar sdk_calendar::Client);
    client!(Accounting accounting sdk_accounting::Client);
    !served.is_empty()
}

/// A suite whose calls are sent once.
fn suite(contact: &Contact, variables: &Variables) -> SuiteBuilder {
    let mut tokens = TokenPolicy::default();
    tokens.attempts = 1;
    Suite::builder()
        .user_agent("suite-doctor")
        .retry(RetryPolicy::none())
        .token_policy(tokens)
        .schema_policy(SchemaPolicy::Warn)
        .timeout(Duration::from_secs(10))
        .deadline(Duration::from_secs(15))
        .observer(contact.meter.clone())
        .variables(variables.clone())
}
