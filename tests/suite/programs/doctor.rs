//! `suite doctor`: its verdicts on the reference server, on servers that contradict an assumption, and on wrong
//! settings.

use std::collections::BTreeMap;

use futures_util::TryStreamExt as _;
use sdk_core::{Error, Suite};
use sdk_reference_server::{
    App, Assumption, Builder, ClientSpec, Operation, ReferenceServer, Transport,
};
use serde_json::Value;
use tokio::task::spawn_blocking;

use crate::programs::{output, suite};
use crate::samples::{draft, kick_off};

type Environment = BTreeMap<String, String>;

/// The exit status and the report of an examination.
type Examined = (i32, Value);

async fn server(change: impl FnOnce(Builder) -> Builder) -> (ReferenceServer, Environment) {
    let server = ReferenceServer::builder().transport(Transport::Hyper);
    let server = change(server.wall_clock()).start().await;
    let environment = server.environment().into_iter().collect();
    (server, environment)
}

/// Runs the program with only this environment, while the test's server answers.
async fn examine(environment: &Environment) -> Examined {
    let environment = environment.clone();
    let run = move || {
        let mut doctor = suite();
        doctor.args(["doctor", "--output", "json"]);
        output(doctor.envs(environment))
    };
    let output = spawn_blocking(run).await.unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code().unwrap(), report)
}

fn verdicts<'a>(report: &'a Value) -> BTreeMap<&'a str, &'a str> {
    let rows = report["assumptions"].as_array().unwrap().iter();
    let text = |value: &'a Value| value.as_str().unwrap();
    rows.map(|row| (text(&row["id"]), text(&row["verdict"])))
        .collect()
}

fn find<'a>(report: &'a Value, id: &str) -> &'a Value {
    let rows = report["assumptions"].as_array().unwrap();
    rows.iter().find(|row| row["id"] == id).unwrap()
}

/// Returns the environment with the settings that a report proposes.
fn with_settings(report: &Value, mut environment: Environment) -> Environment {
    for (name, value) in report["settings"].as_object().unwrap() {
        environment.insert(name.clone(), value.as_str().unwrap().to_owned());
    }
    environment
}

/// Reads a list by item, and sends a command of each application with keys.
async fn works(environment: Environment) -> Result<(), Error> {
    let suite = Suite::builder().variables(environment).build()?;
    let crm = sdk_crm::Client::new(&suite)?;
    let people: Vec<_> = crm.people().list().items().try_collect().await?;
    assert!(!people.is_empty());
    kick_off(&sdk_calendar::Client::new(&suite)?).await?;
    let accounting = sdk_accounting::Client::new(&suite)?;
    let page = accounting.counterparties().list().await?.to_value()?;
    let page = page.as_object().unwrap();
    let records = page.values().find_map(Value::as_array).unwrap();
    let counterparty = records[0]["publicReference"].as_str().unwrap();
    let drafts = accounting.invoice_drafts();
    drafts.create(&draft(counterparty, 1)).await?;
    Ok(())
}

#[tokio::test]
async fn the_reference_server_confirms_all_assumptions() {
    let (server, environment) = server(|it| it).await;

    let (status, report) = examine(&environment).await;

    assert_eq!(status, 0, "{report:#}");
    let verdicts = verdicts(&report);
    for (id, verdict) in &verdicts {
        // Only the server that contradicts this assumption sends an empty cursor.
        let is_seen = *id != "A53" && Assumption::all().any(|it| it.id() == *id);
        let expected = if is_seen { "confirmed" } else { "not seen" };
        assert_eq!(*verdict, expected, "{id}");
    }
    let all = include_str!("../../../specs/ASSUMPTIONS.md");
    assert_eq!(verdicts.len(), all.matches("\n## A").count());
    let unexplained = "no response showed it";
    assert!(!report.to_string().contains(unexplained), "{report:#}");
    // The service description is outside the contract, and the server doesn't count this request.
    let (seen, sent) = (server.requests(), server.requests().len() + 1);
    assert_eq!(report["requests"], sent);
    assert!(sent <= usize::try_from(report["atMost"].as_u64().unwrap()).unwrap());
    let exchanges = server.requests_for(Operation::ExchangeToken).len();
    let reads = seen.iter().filter(|it| it.method == "GET").count();
    assert_eq!(reads + exchanges, seen.len(), "reads only");
}

/// If these assumptions are false, the SDK gets no token until a setting changes.
const OF_TOKENS: [&str; 5] = ["A02", "A03", "A04", "A05", "A43"];

/// If these assumptions are false, no setting helps: the token or the list is in another field.
const INCURABLE: [&str; 2] = ["A05", "A07"];

/// Assumptions that are contradicted together. One contradiction must not hide another.
const TOGETHER: &str = "A02 A03 A04 A43; A02 A43; A04 A43; A03 A43; A02 A04; A05 A43; A07 A44; A06 A71; A08 A09; A12 A75; A55 A72";

#[tokio::test]
async fn contradictions_are_found_and_the_proposed_settings_help() {
    let (_server, environment) = server(|it| it).await;
    let (_, plain) = examine(&environment).await;
    let alone = Assumption::all().map(|it| vec![it]);
    let together = TOGETHER.split("; ").map(|ids| {
        let all = ids.split(' ').map(|id| id.parse().unwrap());
        all.collect()
    });
    for contradicted in alone.chain(together) {
        let contradict = |it| {
            let all = contradicted.iter();
            all.fold(it, |it: Builder, one| it.contradict(*one))
        };
        let (_server, environment) = server(contradict).await;
        let any = |ids: &[&str]| contradicted.iter().any(|it| ids.contains(&it.id()));

        let (status, report) = examine(&environment).await;

        let mut expected = verdicts(&plain);
        expected.extend(contradicted.iter().map(|it| (it.id(), "contradicted")));
        assert_eq!(verdicts(&report), expected, "{report:#}");
        let expected = if any(&OF_TOKENS) { 2 } else { 1 };
        assert_eq!(status, expected, "{contradicted:?}: {report:#}");
        for assumption in &contradicted {
            let remedy = find(&report, assumption.id())["remedy"].as_str().unwrap();
            assert!(remedy.len() > 12, "{contradicted:?}: {remedy}");
        }

        let environment = with_settings(&report, environment);
        let (status, again) = examine(&environment).await;
        assert_eq!(status == 2, any(&["A05"]), "{contradicted:?}: {again:#}");
        let done = works(environment).await;
        assert_eq!(done.is_err(), any(&INCURABLE), "{contradicted:?}: {done:?}");
    }
}

#[tokio::test]
async fn a_contradiction_names_the_rejection_that_it_explains() {
    let contradict = |it: Builder| it.contradict(Assumption::A04).contradict(Assumption::A43);
    let (_server, environment) = server(contradict).await;

    let (_, report) = examine(&environment).await;

    let evidence = |id| find(&report, id)["evidence"].as_str().unwrap();
    assert!(evidence("A04").starts_with("crm: 401, invalid_client until"));
    assert!(evidence("A43").starts_with("crm: 400, invalid_target until"));
}

#[tokio::test]
async fn the_text_report_has_each_assumption_once() {
    let (_server, environment) = server(|it| it.contradict(Assumption::A12)).await;
    let run = move || {
        let mut doctor = suite();
        doctor.args(["doctor", "--output", "table"]);
        output(doctor.envs(environment))
    };

    let output = spawn_blocking(run).await.unwrap();

    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let all = include_str!("../../../specs/ASSUMPTIONS.md").lines();
    for id in all.filter_map(|line| line.strip_prefix("## ")?.split(' ').next()) {
        assert_eq!(text.matches(id).count(), 1, "{id}: {text}");
    }
    assert!(
        text.contains("remedy: There is no setting. Check such values"),
        "{text}"
    );
}

#[tokio::test]
async fn an_installation_has_its_own_variables_in_remedies() {
    let (_server, environment) = server(|it| it.contradict(Assumption::A04)).await;
    let prefixed = environment.into_iter();
    let prefixed = prefixed.map(|(name, value)| (format!("ACME_{name}"), value));
    let mut environment: Environment = prefixed.collect();
    let run = |environment: Environment| async {
        let run = || {
            let mut doctor = suite();
            doctor.args(["doctor", "--installation", "acme"]);
            output(doctor.envs(environment))
        };
        let output = spawn_blocking(run).await.unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report
    };

    let report = run(environment.clone()).await;
    environment = with_settings(&report, environment);
    let again = run(environment).await;

    assert!(report["settings"]["ACME_SUITE_TOKEN_AUTH_METHOD"].is_string());
    assert_eq!(report["worst"], "failure");
    assert_eq!(again["worst"], "note", "{again:#}");
}

/// Wrong setups, one per line: `NAME=value` of a variable (no value removes it), `client` with its missing rights, or
/// `fault` with its JSON. The exit status, the finding and a part of the remedy follow.
const WRONG: &str = include_str!("doctor.txt");

fn lacking(what: &str) -> ClientSpec {
    let client = ClientSpec::new("reference-client", "reference-secret");
    match what {
        "scope" => client.without_scope("crm:people:read"),
        "entitlement" => client.apps([App::Platform, App::Calendar, App::Accounting]),
        _ => client.without_workspace(),
    }
}

#[tokio::test]
async fn a_wrong_setup_is_named_with_its_remedy() {
    for line in WRONG.lines().filter(|line| !line.starts_with('#')) {
        let [wrong, expected, found, remedy] = *line.split(" | ").collect::<Vec<_>>() else {
            panic!("{line}")
        };
        let client = wrong.strip_prefix("client ").map(lacking);
        let (server, mut environment) =
            server(|it| client.into_iter().fold(it, Builder::client)).await;
        if let Some(fault) = wrong.strip_prefix("fault ") {
            let faults = format!("{{\"faults\": [{fault}]}}");
            server.load_faults(&faults).unwrap();
        }
        for (name, value) in wrong.split(' ').filter_map(|word| word.split_once('=')) {
            let value = value
                .replace("{tls}", &server.core_url().replace("http", "https"))
                .replace("{platform}", &server.core_url())
                .replace("{crm}", &server.crm_url())
                .replace("{accounting}", &server.accounting_url());
            environment.insert(name.to_owned(), value);
        }
        environment.retain(|_, value| !value.is_empty());

        let (status, report) = examine(&environment).await;

        assert_eq!(status.to_string(), expected, "{line}: {report:#}");
        let findings = report["findings"].as_array().unwrap();
        let remedy = remedy.trim_start_matches('-');
        let has = |it: &Value, name, text| it[name].as_str().unwrap_or_default().contains(text);
        let fits = |it: &Value| has(it, "found", found) && has(it, "remedy", remedy);
        assert!(findings.iter().any(fits), "{line}: {report:#}");
        // The report contains neither secrets nor a server's words.
        let is_shown = |text| report.to_string().contains(text);
        assert!(
            !is_shown(server.client_secret()) && !is_shown("Jane"),
            "{line}: {report:#}"
        );
    }
}
