//! The program: its options, its announcement, its end.

use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

const PROGRAM: &str = env!("CARGO_BIN_EXE_suite-reference-server");

/// A file that is neither a certificate nor a key.
const TEXT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");

/// A running program; it ends with the test.
struct Running {
    child: Child,
    announced: Vec<String>,
    more: Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn start(options: &[&str]) -> Running {
        Running::with(&[], options)
    }

    fn with(variables: &[(&str, &str)], options: &[&str]) -> Running {
        let mut child = Command::new(PROGRAM)
            .envs(variables.iter().copied())
            .args(["--port-base", "0"])
            .args(options)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut more = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut announced = Vec::new();
        for line in more.by_ref().map_while(Result::ok) {
            let ready = line.starts_with("# ready");
            announced.push(line);
            if ready {
                break;
            }
        }
        Running {
            child,
            announced,
            more,
        }
    }

    fn terminate(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(id).status().unwrap().success());
    }

    /// Waits for its end, and returns what it said to people.
    fn ended(&mut self) -> String {
        assert!(self.child.wait().unwrap().success());
        let mut said = String::new();
        let mut to_people = self.child.stderr.take().unwrap();
        to_people.read_to_string(&mut said).unwrap();
        said
    }

    /// The next line after the announcement.
    fn line(&mut self) -> String {
        self.more.next().unwrap().unwrap()
    }

    fn said(&self, start: &str) -> String {
        let line = self
            .announced
            .iter()
            .find_map(|line| line.strip_prefix(start));
        line.unwrap_or_else(|| panic!("{start}: {:?}", self.announced))
            .to_owned()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn run(options: &[&str]) -> Output {
    Command::new(PROGRAM).args(options).output().unwrap()
}

fn fault_file(name: &str, json: &str) -> String {
    let path = std::env::temp_dir().join(format!("{name}-{}.json", std::process::id()));
    std::fs::File::create(&path)
        .unwrap()
        .write_all(json.as_bytes())
        .unwrap();
    path.to_str().unwrap().to_owned()
}

async fn json(url: String) -> Value {
    let text = reqwest::get(url).await.unwrap().text().await.unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn it_says_where_it_is_and_serves_what_was_asked_for() {
    let faults = fault_file(
        "faults",
        r#"{"faults": [{"operation": "getHealth", "when": {"times": 1}, "then": {"status": 503, "retryAfter": 3}}]}"#,
    );
    let program = Running::start(&[
        "--contradict=a46,A09",
        "--contradict",
        "A85",
        "--people=7",
        "--organizations",
        "3",
        "--opportunities",
        "4",
        "--tasks",
        "5",
        "--intake-submissions",
        "6",
        "--seed",
        "9",
        "--token-lifetime",
        "30",
        "--faults",
        &faults,
    ]);
    let _ = std::fs::remove_file(faults);
    assert_eq!(program.said("# ready: "), "7 people, seed 9");
    let control = program.said("# control: ");
    let crm = program.said("export SUITE_CRM_URL=");

    assert_eq!(json(format!("{control}-/ready")).await["status"], "ready");
    let state = json(format!("{control}-/state")).await;
    assert_eq!(state["tokenLifetimeSeconds"], 30.0);
    let sizes = [
        "people",
        "organizations",
        "opportunities",
        "tasks",
        "intakeSubmissions",
        "seed",
    ];
    assert_eq!(
        sizes.map(|name| state["data"][name].as_u64().unwrap()),
        [7, 3, 4, 5, 6, 9]
    );
    let health = reqwest::get(format!("{crm}/api/health")).await.unwrap();
    assert_eq!(
        (health.status().as_u16(), &health.headers()["retry-after"]),
        (503, &"3".parse().unwrap())
    );
    assert_eq!(
        reqwest::get(format!("{crm}/api/health"))
            .await
            .unwrap()
            .status(),
        200
    );
    let meta = json(format!("{crm}/api/crm/v1/meta")).await;
    assert_eq!(meta["apiVersion"], "3.0.0");
    let spec = reqwest::get(format!("{crm}/openapi.yaml")).await.unwrap();
    assert_eq!(spec.status(), 401);
    let page = reqwest::get(program.said("# status page: ")).await.unwrap();
    assert!(page.text().await.unwrap().contains("exchangeToken"));
}

#[cfg(unix)]
#[tokio::test]
async fn it_ends_in_order_when_it_is_told_to() {
    let mut program = Running::start(&["--log", "text"]);
    for _ in 0..20 {
        // More than the pipe takes before somebody reads.
        let path = "/".to_owned() + &"x".repeat(8_000);
        let url = program.said("export SUITE_CRM_URL=") + &path;
        reqwest::get(url).await.unwrap();
    }

    program.terminate();

    // No line of the log is lost.
    assert_eq!(program.more.by_ref().map_while(Result::ok).count(), 20);
    let said = program.ended();
    assert!(said.contains("stopping"), "{said}");
}

#[tokio::test]
async fn fault_87_it_warns_when_others_reach_it_and_turns_strangers_away() {
    let options =
        "--allow-host suite.test --read-timeout 0.1 --host 0.0.0.0 --control-host 0.0.0.0";
    let options: Vec<&str> = options.split(' ').collect();
    for (given, warnings) in [(4, 0), (6, 1), (8, 2)] {
        let mut program = Running::start(&options[..given]);
        for url in [program.said("# status page: "), program.said("# control: ")] {
            for (host, status) in [
                ("localhost", 200),
                ("suite.test:80", 200),
                ("evil.test", 403),
            ] {
                let request = reqwest::Client::new().get(&url).header("host", host);
                assert_eq!(
                    request.send().await.unwrap().status(),
                    status,
                    "{url} {host}"
                );
            }
            let address = url.split('/').nth(2).unwrap();
            let mut slow = std::net::TcpStream::connect(address).unwrap();
            slow.write_all(b"GET / HTTP/1.1\r\nhost: local").unwrap();
            let patience = std::time::Duration::from_secs(20);
            slow.set_read_timeout(Some(patience)).unwrap();
            let open = |error: &std::io::Error| error.kind() == std::io::ErrorKind::WouldBlock;
            let end = slow.read_to_end(&mut Vec::new());
            assert!(!end.as_ref().is_err_and(open), "{url} waits for good");
        }
        program.child.kill().unwrap();
        let mut said = String::new();
        let mut stderr = program.child.stderr.take().unwrap();
        stderr.read_to_string(&mut said).unwrap();
        assert_eq!(said.matches("warning: 0.0.0.0").count(), warnings, "{said}");
    }
}

#[tokio::test]
async fn options_and_variables_say_when_and_where_it_is() {
    let (url, now) = ("https://crm.test:8443/crm", "2031-07-01T12:00:00Z");
    let variables = [
        ("REFERENCE_CLOCK", now),
        ("REFERENCE_FROZEN", "true"),
        ("REFERENCE_CRM_URL", url),
        ("REFERENCE_CRM_AUDIENCE", "of another"),
        ("REFERENCE_SIGNING", "hs256"),
    ];
    let options = "--host localhost --signing es256 --crm-audience crm";
    let options: Vec<&str> = options.split(' ').collect();
    let program = Running::with(&variables, &options);
    assert_eq!(program.said("export SUITE_CRM_URL="), url);
    assert_eq!(program.said("export SUITE_CRM_AUDIENCE="), "crm");
    assert!(program.said("# crm listens at ").starts_with("127.0.0.1:"));
    let core = program.said("export SUITE_CORE_URL=");
    assert!(core.starts_with("http://localhost:"));
    let keys = json(format!("{core}/.well-known/jwks.json")).await;
    assert_eq!(keys["keys"][0]["alg"], "ES256");
    let clock = |program: &Running| json(program.said("# control: ") + "-/clock");
    assert_eq!(clock(&program).await["now"], now);

    let usual = Running::start(&[]);
    let told = clock(&usual).await["now"].as_str().unwrap().parse();
    let late = Timestamp::now().duration_since(told.unwrap());
    assert!(late.as_secs().abs() < 60, "{late}");
}

#[test]
fn it_explains_its_options() {
    let help = run(&["--help"]);
    let text = String::from_utf8(help.stdout).unwrap();
    assert!(help.status.success());
    for option in [
        "--port-base",
        "--control-port",
        "--tasks",
        "--token-lifetime",
        "--allow-host",
        "--read-timeout",
        "--faults",
        "--contradict",
        "--crm-audience",
        "REFERENCE_CRM_URL",
        "/-/ready",
    ] {
        assert!(text.contains(option), "{option}");
    }
}

#[test]
fn a_mistake_is_one_clear_line() {
    let wrong = fault_file("wrong", r#"{"faults": [{"then": {"stauts": 503}}]}"#);
    for (options, code, part) in [
        (&["--peopel", "3"][..], 2, "unknown option --peopel"),
        (&["--people", "many"], 2, "--people"),
        (&["--people"], 2, "--people needs a value"),
        (&["--port-base", "65533"], 2, "five ports"),
        (
            &["--contradict", "a07,A7"],
            2,
            "--contradict: \"A7\" cannot be contradicted, only A01, A02, ",
        ),
        (&["--token-lifetime", "301"], 1, "--token-lifetime: must be"),
        (&["--read-timeout", "86401"], 1, "--read-timeout: must be"),
        (&["--read-timeout", "0"], 1, "--read-timeout: must be"),
        (&["--workers", "0"], 1, "--workers: must be"),
        (&["--port-base=0", "--crm-url=x"], 1, "--crm-url: must be"),
        (
            &["--port-base=0", "--crm-url=http://x:99999"],
            1,
            "--crm-url: must be",
        ),
        (
            &["--port-base=0", "--crm-url=http://x/../y"],
            1,
            "--crm-url: must be",
        ),
        (
            &["--port-base=0", "--crm-url=http://*"],
            1,
            "--crm-url: must be",
        ),
        (
            &["--port-base=0", "--crm-audience="],
            1,
            "must not be empty",
        ),
        (
            &["--contract", "deals.yaml"],
            2,
            "--contract: must be an application and a file",
        ),
        (
            &["--port-base=0", "--core-url=http://a@b"],
            1,
            "--core-url: ",
        ),
        (
            &["--port-base=0", "--public-host=a b"],
            1,
            "--public-host: ",
        ),
        (
            &["--port-base=0", "--crm-audience=a", "--core-audience=a"],
            1,
            "platform and crm have the same audience",
        ),
        (&["--clock", "noon"], 2, "--clock: invalid"),
        (&["--signing", "none"], 2, "--signing: must be hs256 or"),
        (&["--platform-url", "x"], 2, "unknown option --platform-url"),
        (&["--tls-cert", "x"], 1, "belong together"),
        (
            &["--tls-cert", PROGRAM, "--tls-key", "/nowhere"],
            1,
            "--tls-key /nowhere: ",
        ),
        (
            &["--tls-cert", TEXT, "--tls-key", TEXT],
            1,
            concat!(
                "--tls-cert ",
                env!("CARGO_MANIFEST_DIR"),
                "/Cargo.toml: no certificate"
            ),
        ),
        (
            &["--port-base", "0", "--faults", "/nowhere.json"],
            1,
            "/nowhere.json",
        ),
        (
            &["--port-base", "0", "--faults", &wrong],
            1,
            "line 1: fault 1: then.stauts: unknown field `stauts`",
        ),
    ] {
        let output = run(options);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{options:?}");
        assert!(
            said.contains(part) && !said.contains("panicked"),
            "{options:?}: {said}"
        );
    }
    let _ = std::fs::remove_file(wrong);
}

#[tokio::test]
async fn nobody_has_to_read_the_log() {
    let mut program = Running::start(&["--log", "json"]);
    let http = reqwest::Client::new();
    let path = program.said("export SUITE_CRM_URL=") + "/" + &"x".repeat(8_000);
    for _ in 0..100 {
        let sent = http.get(&path).timeout(Duration::from_secs(20)).send();
        assert_eq!(sent.await.unwrap().status(), 404);
    }
    // Nor does it keep the program from ending.
    #[cfg(unix)]
    {
        program.terminate();
        program.ended();
    }
}

#[tokio::test]
async fn what_it_prints_is_safe_in_a_shell_and_a_contract_is_served() {
    let deals = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/behaviour/deals.yaml");
    let contract = format!("crm={deals}");
    let program = Running::start(&["--crm-audience", "it's $(here)", "--contract", &contract]);

    assert_eq!(
        program.said("export SUITE_CRM_AUDIENCE="),
        r"'it'\''s $(here)'"
    );
    let page = program.said("export SUITE_CRM_URL=") + "/openapi.yaml";
    let served = reqwest::get(page).await.unwrap().text().await.unwrap();
    assert!(served.contains("/deals"), "{served}");
}

#[tokio::test]
async fn it_logs_each_request_on_a_line_without_secrets() {
    let faults = fault_file(
        "logged",
        r#"{"faults": [{"operation": "getCrmMetadata", "then": {"status": 503}}]}"#,
    );
    let http = reqwest::Client::new();
    for format in ["text", "json"] {
        let mut program = Running::start(&["--log", format, "--faults", &faults]);
        for path in ["/api/health?q=s3cret", "/api/crm/v1/meta", "/nowhere"] {
            let url = program.said("export SUITE_CRM_URL=") + path;
            http.get(url).bearer_auth("t0ken").send().await.unwrap();
        }
        let form = "grant_type=client_credentials&client_id=reference%0Aclient&client_secret=reference-secret";
        let exchange = http.post(program.said("export SUITE_CORE_URL=") + "/oauth/token");
        let exchange = exchange.header("content-type", "application/x-www-form-urlencoded");
        exchange.body(form).send().await.unwrap();
        let lines: Vec<String> = (0..4).map(|_| program.line()).collect();
        let all = lines.concat();
        assert!(
            !all.contains("s3cret") && !all.contains("t0ken") && !all.contains("reference-secret")
        );
        let second = [
            "2",
            "crm",
            "getCrmMetadata",
            "GET",
            "/api/crm/v1/meta",
            "503",
            "-",
        ];
        if format == "text" {
            let words: Vec<&str> = lines[1].split(' ').collect();
            assert_eq!((&words[1..8], words[9]), (&second[..], "[1]"), "{all}");
            assert!(lines[2].contains(" 3 crm - GET /nowhere 404 - "), "{all}");
            assert!(lines[3].contains(r" 401 reference\nclient "), "{all}");
        } else {
            let [second, last] =
                [1, 3].map(|place| serde_json::from_str::<Value>(&lines[place]).unwrap());
            assert_eq!(
                (&second["status"], &second["faults"][0]),
                (&503.into(), &1.into())
            );
            assert_eq!(last["client"], "reference\nclient");
        }
    }
    let _ = std::fs::remove_file(faults);
    assert!(
        String::from_utf8_lossy(&run(&["--log", "xml"]).stderr).contains("neither text nor json")
    );
    let version = format!("suite-reference-server {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(
        String::from_utf8_lossy(&run(&["--version"]).stdout),
        version
    );
}
