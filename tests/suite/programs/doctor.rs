//! The doctor: its verdicts on the reference server, on each server that contradicts an assumption, and on wrong settings.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Duration;

use sdk_core::{Error, Suite};
use sdk_reference_server::{
    App, Assumption, Builder, ClientSpec, Operation, ReferenceServer, Transport,
};
use serde_json::Value;

use crate::programs::{output, program};
use crate::samples::kick_off;
use crate::support::Clients as _;

/// The files of the doctor, called without a process. What it shows to people is dropped.
#[path = "../../../examples"]
#[allow(dead_code)]
mod examples {
    #[path = "doctor"]
    pub(super) mod doctor {
        pub(super) use super::{line, out};
        pub(crate) mod contact;
        pub(crate) mod examination;
        mod exchange;
        mod reads;
        mod register;
        mod report;
        mod shape;
        mod token;
    }
    #[path = "support/line.rs"]
    mod line;
    mod out {
        macro_rules! drop_line {
            ($($line:tt)*) => { drop(format!($($line)*)) };
        }
        pub(crate) use drop_line as note;
    }
}
use examples::doctor::contact::{MOST, Meter};
use examples::doctor::examination::examine;

type Environment = BTreeMap<String, String>;

/// The exit status of an examination, and its report.
type Examined = (i32, Value);

async fn server(change: impl FnOnce(Builder) -> Builder) -> (ReferenceServer, Environment) {
    let server = ReferenceServer::builder().transport(Transport::Hyper);
    let server = change(server.wall_clock()).start().await;
    let environment = server.environment().into_iter().collect();
    (server, environment)
}

async fn call(environment: &Environment) -> Examined {
    let meter = Meter::default();
    let report = examine(environment.clone(), false, meter.clone()).await;
    let text = report.json(meter.sent(), MOST, Duration::ZERO);
    (report.status().into(), serde_json::from_str(&text).unwrap())
}

/// [`call`] as a process, in this environment alone.
fn start(environment: &Environment) -> Examined {
    let mut doctor = Command::new(program("doctor"));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("SUITE_") || name.to_ascii_lowercase().ends_with("_proxy") {
            doctor.env_remove(&*name);
        }
    }
    let output = output(doctor.arg("--json").envs(environment));
    let report = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code().unwrap(), report)
}

/// The verdict on each assumption.
fn verdicts(report: &Value) -> BTreeMap<&str, &str> {
    let rows = report["assumptions"].as_array().unwrap().iter();
    rows.map(|row| {
        (
            row["id"].as_str().unwrap(),
            row["verdict"].as_str().unwrap(),
        )
    })
    .collect()
}

/// Whether calls of all applications succeed with the settings that a report proposes, a list by item among them.
async fn cures(report: &Value, mut environment: Environment) -> bool {
    for (name, value) in report["settings"].as_object().unwrap() {
        environment.insert(name.clone(), value.as_str().unwrap().to_owned());
    }
    let suite = Suite::builder().variables(environment).build().unwrap();
    let calls = async {
        suite.platform().organization().get().await?;
        suite.crm().today().get().await?;
        let mut people = suite.crm().people().list().items();
        while people.try_next().await?.is_some() {}
        kick_off(&suite.calendar()).await?;
        suite.accounting().counterparties().list().await?;
        Ok::<(), Error>(())
    };
    calls.await.is_ok()
}

#[tokio::test]
async fn the_reference_server_is_what_the_sdk_assumes() {
    let (server, environment) = server(|it| it).await;

    let (status, report) = call(&environment).await;

    assert_eq!(status, 0, "{report:#}");
    let verdicts = verdicts(&report);
    for (id, verdict) in &verdicts {
        // An empty cursor comes only from the server that contradicts its assumption.
        let is_seen = *id != "A53" && Assumption::all().any(|it| it.id() == *id);
        let expected = if is_seen { "confirmed" } else { "not seen" };
        assert_eq!(*verdict, expected, "{id}");
    }
    let all = include_str!("../../../specs/ASSUMPTIONS.md");
    assert_eq!(verdicts.len(), all.matches("\n## A").count());
    let unexplained = "nothing came that shows it";
    let unexplained = report.to_string().matches(unexplained).count();
    assert_eq!(unexplained, 1, "each other has a reason");
    // The description is beside the contract, and is not counted there.
    let (seen, sent) = (server.requests(), server.requests().len() + 1);
    assert_eq!(report["requests"], sent);
    assert!(sent <= MOST);
    let exchanges = server.requests_for(Operation::ExchangeToken).len();
    let reads = seen.iter().filter(|it| it.method == "GET").count();
    assert_eq!(reads + exchanges, seen.len(), "reads only");
}

/// Where these do not hold, the SDK gets no token until something is set.
const OF_TOKENS: [&str; 5] = ["A02", "A03", "A04", "A05", "A43"];

/// Where these do not hold, no setting lets all calls succeed: the token is in another field, or the items of a list are.
const INCURABLE: [&str; 2] = ["A05", "A07"];

#[tokio::test]
async fn each_contradiction_is_seen_alone_and_its_cure_lets_calls_succeed() {
    let (_server, environment) = server(|it| it).await;
    let (_, plain) = call(&environment).await;
    let is_curable = |it: &Assumption| !INCURABLE.contains(&it.id());
    let is_of_tokens = |it: &Assumption| OF_TOKENS.contains(&it.id());
    let mut worlds: Vec<_> = Assumption::all().map(|it| vec![it]).collect();
    // The way to a token may take several settings.
    let of_tokens = Assumption::all().filter(|it| is_of_tokens(it) && is_curable(it));
    worlds.push(of_tokens.collect());
    for world in worlds {
        let contradict = |it| {
            world
                .iter()
                .fold(it, |it: Builder, one| it.contradict(*one))
        };
        let (_server, environment) = server(contradict).await;

        let (status, report) = call(&environment).await;

        let mut expected = verdicts(&plain);
        expected.extend(world.iter().map(|it| (it.id(), "contradicted")));
        assert_eq!(verdicts(&report), expected, "{report:#}");
        let expected = if world.iter().any(is_of_tokens) { 2 } else { 1 };
        assert_eq!(status, expected, "{world:?}: {report:#}");
        let is_cured = cures(&report, environment).await;
        let expected = world.iter().all(is_curable);
        assert_eq!(is_cured, expected, "{world:?}: {report:#}");
    }
}

/// What is wrong with a set-up, one a line: `NAME=value` of a variable (none removes it), `client` with what it lacks, or
/// `fault` with its JSON; then the exit status, what is found, and a part of the cure.
const WRONG: &str = include_str!("doctor.txt");

fn lacking(what: &str) -> ClientSpec {
    let client = ClientSpec::new("reference-client", "reference-secret");
    match what {
        "scope" => client.without_scope("crm:people:read"),
        "entitlement" => client.apps([App::Platform, App::Calendar, App::Accounting]),
        _ => client.without_workspace(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_named_with_what_cures_it() {
    let mut ended = Vec::new();
    for line in WRONG.lines().filter(|line| !line.starts_with('#')) {
        let [wrong, expected, found, cure] = *line.split(" | ").collect::<Vec<_>>() else {
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

        // A proxy is a variable of the process. The other rows need none.
        let (status, report) = if wrong.contains("_proxy=") {
            ended.push(expected);
            start(&environment)
        } else {
            call(&environment).await
        };

        assert_eq!(status.to_string(), expected, "{line}: {report:#}");
        let findings = report["findings"].as_array().unwrap();
        let cure = cure.trim_start_matches('-');
        let has = |it: &Value, name, text| it[name].as_str().unwrap_or_default().contains(text);
        let told = |it: &Value| has(it, "found", found) && has(it, "cure", cure);
        assert!(findings.iter().any(told), "{line}: {report:#}");
        // Nor is what a server wrote.
        let is_shown = |text| report.to_string().contains(text);
        assert!(
            !is_shown(server.client_secret()) && !is_shown("Jane"),
            "{line}: {report:#}"
        );
    }
    assert_eq!(ended, ["2", "1", "0"], "each exit status of the program");
}
