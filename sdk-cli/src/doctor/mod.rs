//! `suite doctor`: checks the SDK's assumptions against an installation.
//!
//! It gets a token for each application, sends a fixed list of reads, and judges each assumption by all responses.

mod exchange;
mod facts;
mod findings;
mod judges;
mod reader;
mod reads;
mod report;
mod shape;
mod token;

use std::process::ExitCode;
use std::time::Duration;

use sdk_core::{
    App, Error, Method, MissingScopes, RetryPolicy, SchemaPolicy, Suite, SuiteBuilder, TokenPolicy,
};
use url::Url;

use crate::catalog::{self, operations, with_client};
use crate::context::{Context, Variables};
use crate::output::{self, Failure, Format};
use exchange::Exchange;
use reader::Reader;
use report::{MOST, Report};

const USER_AGENT: &str = "suite-doctor";
const SET: &str = "set the variables that the message names";

/// An application with an address, and its origin.
type AppOrigin = (App, String);

/// Runs the doctor. The exit status is 0 if it found no problem, 1 if it found a problem, and 2 if the SDK doesn't work
/// with this configuration.
pub(crate) async fn run(context: &Context) -> Result<ExitCode, Failure> {
    output::note(format_args!(
        "The doctor only reads. It sends at most {MOST} requests, including token requests, and retries none."
    ));
    let report = examine(context).await;
    match context.format() {
        Format::Table => output::put(report.text()),
        Format::Json => output::put(format_args!("{:#}", report.json())),
        Format::Jsonl => output::put(report.json()),
    }
    Ok(ExitCode::from(report.status()))
}

async fn examine(context: &Context) -> Report {
    let mut report = Report::new(context.prefix());
    let variables = context.variables();
    credential(&mut report, variables);
    #[cfg(feature = "mcp")]
    approvals(&mut report, context).await;
    // This runs the same checks as a service does.
    if let Err(error) = context.builder().build() {
        report.failure(error.to_string(), SET);
        return report;
    }
    let origins = origins(&mut report, variables);
    let exchange = Exchange::new(variables.clone(), &report);
    let mut reader = Reader::new(report);
    match exchange {
        Ok(exchange) => tokens(&mut reader, context, exchange, &origins).await,
        Err(error) => {
            let remedy = "check SUITE_CORE_URL and SUITE_TOKEN_URL";
            reader.report.failure(error, remedy);
        }
    }
    for (index, (name, reads)) in reads::steps().into_iter().enumerate() {
        // The first step needs no token.
        if index > 0 && reader.facts.tokens.is_empty() {
            break;
        }
        reader.step(name, &reads).await;
        if index == 0 {
            reader.contracts().await;
        }
    }
    let Reader {
        mut report, facts, ..
    } = reader;
    findings::headers(&mut report, &facts);
    report.judge(&facts, judges::judge);
    report
}

/// Registers the secret for redaction, and adds a finding on white space around the credential.
fn credential(report: &mut Report, variables: &Variables) {
    for name in ["SUITE_CLIENT_ID", "SUITE_CLIENT_SECRET"] {
        let value = variables.get(name).map_or("", String::as_str);
        if name == "SUITE_CLIENT_SECRET" {
            report.secrets.hide(value);
        }
        if value.trim() != value {
            let remedy = format!("remove it from {name} (`$(cat file)` removes line ends)");
            report.problem(format!("{name} begins or ends with white space"), remedy);
        }
    }
}

/// Reports how the right to approve an agent's writes is protected.
#[cfg(feature = "mcp")]
async fn approvals(report: &mut Report, context: &Context) {
    match crate::mcp::protection(context).await {
        Ok(None) => {}
        Ok(Some((protection, true))) => {
            report.ok(format!("protection of approvals: {protection}"));
        }
        Ok(Some((protection, false))) => report.problem(
            format!("protection of approvals: {protection}"),
            "give the agent a credential with read scopes only",
        ),
        Err(failure) => report.note(failure.to_string()),
    }
}

fn origins(report: &mut Report, variables: &Variables) -> Vec<AppOrigin> {
    let mut origins = Vec::new();
    for app in App::all() {
        let name = app.url_variable();
        let Some(url) = variables.get(name) else {
            let remedy = format!("if your service uses it, set {name} to its routed origin");
            report.problem(format!("{app} has no address, so it is skipped"), remedy);
            continue;
        };
        let origin = Url::parse(url.trim()).map(|url| url.origin().ascii_serialization());
        let origin = origin.unwrap_or_default();
        report.ok(format!("{app} is at {origin}"));
        origins.push((app, origin));
    }
    origins
}

/// Gets a token for each application, and creates the suite for the reads.
async fn tokens(
    reader: &mut Reader,
    context: &Context,
    mut exchange: Exchange,
    origins: &[AppOrigin],
) {
    reader.report.step("token");
    for origin in origins {
        if !token::first(reader, &mut exchange, origin).await {
            break;
        }
    }
    let served = reader.facts.tokens.iter();
    let served: Vec<_> = served.map(|it| (it.app, it.audience.clone())).collect();
    let crm = served.iter().find(|(app, _)| *app == App::Crm);
    if let Some((app, audience)) = crm.or(served.first()) {
        token::probe(reader, &exchange, *app, audience).await;
    }
    reader.report.step("scopes");
    // The doctor requests the tokens of its calls itself, to redact them. It also checks the SDK's own request.
    let meter = reader.report.meter.clone();
    let builder = || once(context.builder_with(&exchange.variables), &meter);
    let known = builder().token_source(exchange.clone()).build();
    let (Ok(own), Ok(known)) = (builder().build(), known) else {
        return;
    };
    for (app, _) in origins {
        // A client checks more settings than a suite.
        if let Err(error) = catalog::raw_call(&known, *app, (Method::Get, "/")) {
            reader.report.failure(error.to_string(), SET);
            continue;
        }
        reader.apps.insert(*app);
        if served.iter().any(|(it, _)| it == app) {
            let missing = missing_scopes(&own, *app).await;
            findings::scopes(&mut reader.report, *app, missing);
        }
    }
    reader.suite = Some(known);
}

async fn missing_scopes(suite: &Suite, app: App) -> Result<MissingScopes, Error> {
    let all = operations(app);
    with_client!(app, suite, |client| client.missing_scopes(all).await)
}

/// Limits each call to one counted request and a short deadline.
fn once(builder: SuiteBuilder, meter: &report::Meter) -> SuiteBuilder {
    let mut tokens = TokenPolicy::default();
    tokens.attempts = 1;
    let builder = builder.user_agent(USER_AGENT).observer(meter.clone());
    let builder = builder.retry(RetryPolicy::none()).token_policy(tokens);
    let builder = builder.schema_policy(SchemaPolicy::Warn);
    builder
        .timeout(Duration::from_secs(10))
        .deadline(Duration::from_secs(15))
}
