//! The doctor: what it says of the reference server, of each world that contradicts it, and of what is set up wrongly.

use std::collections::{BTreeMap, BTreeSet};
use std::process::{Command, Output};

use sdk_reference_server::{
    App, Assumption, Builder, ClientSpec, Operation, ReferenceServer, Transport,
};
use serde_json::Value;

use crate::programs::{output, program};

type Environment = BTreeMap<String, String>;

async fn server(change: impl FnOnce(Builder) -> Builder) -> (ReferenceServer, Environment) {
    let server = ReferenceServer::builder().transport(Transport::Hyper);
    let server = change(server.wall_clock()).start().await;
    let environment = server.environment().into_iter().collect();
    (server, environment)
}

/// A program in this environment alone.
fn run(name: &str, arguments: &[&str], environment: &Environment) -> Output {
    let mut command = Command::new(program(name));
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy();
        if name.starts_with("SUITE_") || name.to_ascii_lowercase().ends_with("_proxy") {
            command.env_remove(&*name);
        }
    }
    output(command.args(arguments).envs(environment))
}

struct Examined {
    status: i32,
    report: Value,
    text: String,
}

fn examine(environment: &Environment) -> Examined {
    let output = run("doctor", &["--json"], environment);
    let text = String::from_utf8(output.stdout).unwrap();
    Examined {
        status: output.status.code().unwrap(),
        report: serde_json::from_str(&text).unwrap(),
        text,
    }
}

impl Examined {
    fn verdicts(&self) -> BTreeMap<&str, &str> {
        let rows = self.report["assumptions"].as_array().unwrap();
        let text = |row: &'_ Value, name| row[name].as_str().unwrap().to_owned().leak() as &str;
        rows.iter()
            .map(|row| (text(row, "id"), text(row, "verdict")))
            .collect()
    }

    fn cured(&self, environment: &Environment) -> Environment {
        let settings = self.report["settings"].as_object().unwrap();
        let settings = settings
            .iter()
            .map(|(name, value)| (name.clone(), value.as_str().unwrap().to_owned()));
        environment.clone().into_iter().chain(settings).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reference_server_is_what_the_sdk_assumes() {
    let (server, environment) = server(|it| it).await;

    let examined = examine(&environment);

    assert_eq!(examined.status, 0, "{}", examined.text);
    let verdicts = examined.verdicts();
    let contradictable: BTreeSet<&str> = Assumption::all().map(Assumption::id).collect();
    for (id, verdict) in &verdicts {
        // An empty cursor comes in its own world only.
        let seen = contradictable.contains(id) && *id != "A53";
        assert_eq!(
            *verdict,
            if seen { "confirmed" } else { "not seen" },
            "{id}"
        );
    }
    let register = include_str!("../../../specs/ASSUMPTIONS.md");
    assert_eq!(verdicts.len(), register.matches("\n## A").count());
    let reason = "nothing came that shows it";
    let unseen = examined.report["assumptions"].as_array().unwrap().iter();
    let unexplained: Vec<&Value> = unseen.filter(|row| row["evidence"] == reason).collect();
    assert_eq!(
        unexplained.len(),
        1,
        "each other has a reason: {unexplained:?}"
    );
    let (sent, most) = (&examined.report["requests"], &examined.report["atMost"]);
    assert!(sent.as_u64() <= most.as_u64());
    let seen = server.requests();
    // The description is beside the contract, and is not counted there.
    assert_eq!(seen.len() as u64 + 1, sent.as_u64().unwrap());
    let exchanges = server.requests_for(Operation::ExchangeToken).len();
    let reads = seen.iter().filter(|it| it.method == "GET").count();
    assert_eq!(reads + exchanges, seen.len(), "reads only");
}

/// The worlds in which the token endpoint wants something else.
const TOKENLESS: [Assumption; 5] = [
    Assumption::A02,
    Assumption::A03,
    Assumption::A04,
    Assumption::A05,
    Assumption::A43,
];

/// What the tour cannot do in a contradicted world, whatever is set.
const CLOSED: [(Assumption, &str); 2] = [
    (
        Assumption::A05,
        "no setting takes the token from another member: a `TokenSource` does",
    ),
    (
        Assumption::A07,
        "its walk by item needs `items`: by page it goes on",
    ),
];

#[tokio::test(flavor = "multi_thread")]
async fn each_contradiction_is_seen_alone_and_its_cure_lets_the_tour_run() {
    let (_server, environment) = server(|it| it).await;
    let plain = examine(&environment);
    for assumption in Assumption::all() {
        let (_server, environment) = server(|it| it.contradict(assumption)).await;

        let examined = examine(&environment);

        let mut expected = plain.verdicts();
        expected.insert(assumption.id(), "contradicted");
        assert_eq!(
            examined.verdicts(),
            expected,
            "{assumption}: {}",
            examined.text
        );
        // As it is set up, the SDK gets no token there.
        let status = if TOKENLESS.contains(&assumption) {
            2
        } else {
            1
        };
        assert_eq!(examined.status, status, "{assumption}");
        let tour = run("tour", &[], &examined.cured(&environment));
        let why = CLOSED.iter().find(|(it, _)| *it == assumption);
        let said = String::from_utf8_lossy(&tour.stderr);
        assert_eq!(tour.status.success(), why.is_none(), "{assumption}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_way_to_a_token_may_take_several_settings() {
    // A token in another member is no matter of settings.
    let by_settings = TOKENLESS.into_iter().filter(|it| *it != Assumption::A05);
    for one in by_settings.clone() {
        for other in by_settings.clone().filter(|other| other.id() > one.id()) {
            let (_server, environment) = server(|it| it.contradict(one).contradict(other)).await;

            let examined = examine(&environment);

            let verdicts = examined.verdicts();
            let both = [verdicts[one.id()], verdicts[other.id()]];
            assert_eq!(
                both, ["contradicted"; 2],
                "{one}, {other}: {}",
                examined.text
            );
            assert!(
                run("tour", &[], &examined.cured(&environment))
                    .status
                    .success()
            );
        }
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
    for line in WRONG.lines().filter(|line| !line.starts_with('#')) {
        let [wrong, status, found, cure] = *line.split(" | ").collect::<Vec<_>>() else {
            panic!("{line}")
        };
        let lacks = wrong.strip_prefix("client ").map(lacking);
        let (server, mut environment) = server(|it| match lacks {
            Some(client) => it.client(client),
            None => it,
        })
        .await;
        if let Some(fault) = wrong.strip_prefix("fault ") {
            let faults = format!("{{\"faults\": [{fault}]}}");
            server.load_faults(&faults).unwrap();
        }
        for (name, value) in wrong.split(' ').filter_map(|word| word.split_once('=')) {
            let value = value.replace("{tls}", &server.core_url().replace("http", "https"));
            let value = value.replace("{platform}", &server.core_url());
            let value = value.replace("{crm}", &server.crm_url());
            let value = value.replace("{accounting}", &server.accounting_url());
            environment.insert(name.to_owned(), value.clone());
            environment.retain(|own, _| own != name || !value.is_empty());
        }

        let examined = examine(&environment);

        let text = &examined.text;
        let findings = examined.report["findings"].as_array().unwrap();
        let cure = cure.trim_start_matches('-');
        let has = |it: &Value, name, text| it[name].as_str().unwrap_or_default().contains(text);
        let told = |it: &Value| has(it, "found", found) && has(it, "cure", cure);
        assert!(findings.iter().any(told), "{line}: {text}");
        assert_eq!(examined.status.to_string(), status, "{line}: {text}");
        let secret = server.client_secret();
        // Nor is what a server wrote.
        let is_shown = text.contains(secret) || text.contains("Jane");
        assert!(!is_shown, "{line}: {text}");
    }
}
