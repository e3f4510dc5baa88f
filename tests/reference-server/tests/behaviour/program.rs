//! The program: its options, its announcement and its shutdown.

use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStderr, ChildStdout, Command, Output, Stdio};

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::peer::{connect, raw, rows};

const PROGRAM: &str = env!("CARGO_BIN_EXE_suite-reference-server");

/// A running program, which stops when the test ends.
struct Running {
    child: Child,
    announced: Vec<String>,
    out: Lines<BufReader<ChildStdout>>,
    err: Lines<BufReader<ChildStderr>>,
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
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut err = BufReader::new(child.stderr.take().unwrap()).lines();
        let lines: &mut dyn Iterator<Item = _> = if options.contains(&"json") {
            &mut err
        } else {
            &mut out
        };
        let mut announced = Vec::new();
        for line in lines.map_while(Result::ok) {
            let ready = line.starts_with("# ready");
            announced.push(line);
            if ready {
                break;
            }
        }
        Running {
            child,
            announced,
            out,
            err,
        }
    }

    #[cfg(unix)]
    fn terminate(&self) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").arg(id).status().unwrap().success());
    }

    fn line(&mut self) -> String {
        self.out.next().unwrap().unwrap()
    }

    fn find(&self, start: &str) -> String {
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
    let path = format!("{}/{name}.json", env!("CARGO_TARGET_TMPDIR"));
    std::fs::write(&path, json).unwrap();
    path
}

async fn read(url: String) -> Value {
    let text = reqwest::get(url).await.unwrap().text().await.unwrap();
    serde_json::from_str(&text).unwrap()
}

#[tokio::test]
async fn it_prints_its_addresses_and_serves_as_configured() {
    let faults = fault_file(
        "faults",
        r#"{"faults": [{"operation": "getHealth", "when": {"times": 1}, "then": {"status": 503, "retryAfter": 3}}]}"#,
    );
    let options = "--contradict=a46,A09 --contradict A85 --people=7 --organizations 3 --opportunities 4 --tasks 5 \
                   --intake-submissions 6 --seed 9 --token-lifetime 30 --cors http://a.test,http://b.test --faults";
    let options: Vec<_> = options.split(' ').chain([&*faults]).collect();
    let program = Running::start(&options);
    assert_eq!(program.find("# ready: "), "7 people, seed 9");
    let control = program.find("# control: ");
    let crm = program.find("export SUITE_CRM_URL=");

    assert_eq!(read(format!("{control}-/health")).await["status"], "ready");
    let state = read(format!("{control}-/state")).await;
    assert_eq!(state["tokenLifetimeSeconds"], 30.0);
    let sizes = "people organizations opportunities tasks intakeSubmissions seed";
    let sizes = sizes
        .split(' ')
        .map(|name| state["data"][name].as_u64().unwrap());
    assert_eq!(sizes.collect::<Vec<_>>(), [7, 3, 4, 5, 6, 9]);
    for (status, retry_after) in [(503, Some("3")), (200, None)] {
        let health = reqwest::Client::new().get(format!("{crm}/api/health"));
        let sent = health.header("origin", "http://b.test").send().await;
        let health = sent.unwrap();
        let header = |name| Some(health.headers().get(name)?.to_str().unwrap());
        assert_eq!(
            (health.status().as_u16(), header("retry-after")),
            (status, retry_after)
        );
        assert_eq!(header("access-control-allow-origin"), Some("http://b.test"));
    }
    let meta = read(format!("{crm}/api/crm/v1/meta")).await;
    assert_eq!(meta["apiVersion"], "3.0.0");
    let spec = reqwest::get(format!("{crm}/openapi.yaml")).await.unwrap();
    assert_eq!(spec.status(), 401);
    let page = reqwest::get(program.find("# status page: ")).await.unwrap();
    assert!(page.text().await.unwrap().contains("exchangeToken"));
}

#[cfg(unix)]
#[tokio::test]
async fn it_stops_cleanly_on_a_signal() {
    let mut program = Running::start(&["--log", "text"]);
    let crm = program.find("export SUITE_CRM_URL=");
    // These log lines are more than a pipe can buffer without a reader.
    let path = format!("{crm}/{}", "x".repeat(8_000));
    let http = reqwest::Client::new();
    for _ in 0..200 {
        http.get(&path).send().await.unwrap();
    }
    drop(http);
    // The server is already reading the body of this request.
    let mut open = connect(&crm).await;
    let head = "POST /open HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\ncontent-length: 2\r\n\r\n";
    open.write_all(head.as_bytes()).await.unwrap();
    let mut continues = [0; 25];
    open.read_exact(&mut continues).await.unwrap();
    assert!(continues.starts_with(b"HTTP/1.1 100 "));

    program.terminate();

    let stopping = program.err.next().unwrap().unwrap();
    assert!(stopping.contains("stopping"), "{stopping}");
    open.write_all(b"{}").await.unwrap();
    let mut reply = String::new();
    open.read_to_string(&mut reply).await.unwrap();
    assert!(reply.starts_with("HTTP/1.1 404 "), "{reply}");
    // The log loses no line.
    assert_eq!(program.out.by_ref().map_while(Result::ok).count(), 201);
    assert!(program.child.wait().unwrap().success());
}

#[tokio::test]
async fn fault_87_it_warns_about_public_addresses_and_rejects_foreign_hosts() {
    let options =
        "--allow-host suite.test --read-timeout 0.1 --host 0.0.0.0 --control-host 0.0.0.0";
    let options: Vec<&str> = options.split(' ').collect();
    for (given, warnings) in [(4, 0), (6, 1), (8, 2)] {
        let mut program = Running::start(&options[..given]);
        for url in [program.find("# status page: "), program.find("# control: ")] {
            for (host, status) in [("suite.test:80", 200), ("evil.test", 403)] {
                let request = reqwest::Client::new().get(&url).header("host", host);
                let got = request.send().await.unwrap().status();
                assert_eq!(got, status, "{url} {host}");
            }
            // An incomplete head.
            raw(url, "GET / HTTP/1.1\r\nhost: local").await;
        }
        program.child.kill().unwrap();
        let err: String = program.err.by_ref().map_while(Result::ok).collect();
        assert_eq!(err.matches("warning: 0.0.0.0").count(), warnings, "{err}");
    }
}

#[tokio::test]
async fn options_and_variables_set_the_clock_and_the_addresses() {
    let (url, now) = ("https://crm.test:8443/crm", "2031-07-01T12:00:00Z");
    let variables = [
        ("REFERENCE_CLOCK", now),
        ("REFERENCE_FROZEN", "true"),
        ("REFERENCE_CRM_URL", url),
        ("REFERENCE_CRM_AUDIENCE", "of another"),
        ("REFERENCE_SIGNING", "hs256"),
    ];
    let deals = concat!(
        "calendar=",
        env!("CARGO_MANIFEST_DIR"),
        "/tests/behaviour/deals.yaml"
    );
    let options = "--host localhost --signing es256 --contract";
    let options = options
        .split(' ')
        .chain([deals, "--crm-audience", "it's $(here)"]);
    let program = Running::with(&variables, &options.collect::<Vec<_>>());
    assert_eq!(program.find("export SUITE_CRM_URL="), url);
    // The value is quoted for a shell.
    let audience = program.find("export SUITE_CRM_AUDIENCE=");
    assert_eq!(audience, r"'it'\''s $(here)'");
    let page = program.find("export SUITE_CALENDAR_URL=") + "/openapi.yaml";
    let served = reqwest::get(page).await.unwrap().text().await.unwrap();
    assert!(served.contains("/deals"), "{served}");
    assert!(program.find("# crm listens at ").starts_with("127.0.0.1:"));
    let core = program.find("export SUITE_CORE_URL=");
    assert!(core.starts_with("http://localhost:"));
    let keys = read(format!("{core}/.well-known/jwks.json")).await;
    assert_eq!(keys["keys"][0]["alg"], "ES256");
    let clock = |program: &Running| read(program.find("# control: ") + "-/clock");
    assert_eq!(clock(&program).await["now"], now);

    let usual = Running::start(&[]);
    let now = clock(&usual).await["now"].as_str().unwrap().parse();
    let late = Timestamp::now().duration_since(now.unwrap());
    assert!(late.as_secs().abs() < 60, "{late}");
}

#[test]
fn it_asks_a_running_server_whether_it_is_ready() {
    let asked = |address: &str| {
        let (_, port) = address.trim_end_matches('/').rsplit_once(':').unwrap();
        let options = format!("--control-host 0.0.0.0 --control-port {port} --health");
        let asked = run(&options.split(' ').collect::<Vec<_>>());
        (
            asked.status.code(),
            String::from_utf8(asked.stderr).unwrap(),
        )
    };
    let mut program = Running::start(&[]);
    let control = program.find("# control: ");
    assert_eq!(asked(&control), (Some(0), String::new()));
    let (code, err) = asked(&program.find("export SUITE_CRM_URL="));
    assert!(
        code == Some(1) && err.contains("answered \"HTTP/1.1 404 "),
        "{err}"
    );

    program.child.kill().unwrap();
    program.child.wait().unwrap();
    let (code, err) = asked(&control);
    assert!(
        code == Some(1) && err.contains(&format!("{control}-/health: ")),
        "{err}"
    );
}

#[test]
fn it_explains_its_options() {
    let version = concat!("suite-reference-server ", env!("CARGO_PKG_VERSION"), "\n");
    let parts = "--port-base --control-port --tasks --token-lifetime --allow-host --cors --read-timeout --faults --contradict \
                 --crm-audience REFERENCE_CRM_URL /-/health";
    for option in ["--help", "-h", "--version", "-V"] {
        let output = run(&[option]);
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success());
        if option.to_lowercase().contains('v') {
            assert_eq!(text, version, "{option}");
        } else {
            assert!(
                parts.split(' ').all(|part| text.contains(part)),
                "{option}: {text}"
            );
        }
    }
}

/// Options, the exit status, and a part of the error.
const MISTAKES: &str = r#"
    --peopel 3 | 2 | unknown option --peopel
    --people many | 2 | --people: invalid digit found in string: got "many"
    --people | 2 | --people needs a value
    --port-base 65533 | 2 | --port-base: must be at most 65531, for 5 ports: got 65533
    --contradict a07,A7 | 2 | --contradict: "A7" is not an assumption that can be contradicted; the choices are A01, A02,
    --token-lifetime 301 | 1 | --token-lifetime: must be
    --read-timeout 86401 | 1 | --read-timeout: must be
    --workers 100000 | 1 | --workers: must be 1 to 64: got 100000
    --recorded-requests 100001 | 2 | --recorded-requests: must be at most 100000: got 100001
    --data-limit 0 | 1 | --data-limit: must be from 1 to 1073741824 bytes: got 0
    --cors localhost:5173 | 1 | --cors: must be * or an origin: http:// or https://, a host and a port, if any, without a path: got "localhost:5173"
    --cors=*,http://a.test/ | 1 | without a path: got "http://a.test/"
    --crm-url=x | 1 | --crm-url: must be
    --crm-url=http://* | 1 | --crm-url: must be
    --platform-url x | 2 | unknown option --platform-url
    --public-host=a!b | 1 | --public-host:
    --crm-audience= | 1 | must not be empty
    --crm-audience=a --core-audience=a | 1 | platform and crm have the same audience
    --contract deals.yaml | 2 | --contract: must be an application and a file
    --clock noon | 2 | --clock: failed to parse
    --signing none | 2 | --signing: must be hs256 or es256: got "none"
    --log xml | 2 | --log: must be text or json: got "xml"
    --tls-cert {toml} | 1 | must be set together
    --tls-cert {toml} --tls-key {toml} | 1 | --tls-cert {toml}: no certificate
    --faults /nowhere.json | 2 | --faults /nowhere.json: No such file
    --faults {wrong} | 1 | --faults {wrong}: line 1: fault 1: then.stauts: unknown field `stauts`
    --data {toml} | 1 | --data {toml}: "#;

#[test]
fn a_wrong_option_is_one_clear_line() {
    let wrong = fault_file("wrong", r#"{"faults": [{"then": {"stauts": 503}}]}"#);
    // This file is neither a certificate nor JSON.
    let toml = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let table = MISTAKES.replace("{wrong}", &wrong).replace("{toml}", toml);
    for [options, code, part] in rows(&table) {
        let options = ["--port-base=0"].into_iter().chain(options.split(' '));
        let output = run(&options.collect::<Vec<_>>());
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), code.parse().ok(), "{part}: {err}");
        assert!(
            err.contains(part) && !err.contains("panicked"),
            "{part}: {err}"
        );
    }
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
        let crm = program.find("export SUITE_CRM_URL=");
        let get = |path: &str| http.get(format!("{crm}{path}")).bearer_auth("t0ken").send();
        for path in ["/api/health?q=s3cret", "/api/crm/v1/meta", "/nowhere"] {
            get(path).await.unwrap();
        }
        let form = "grant_type=client_credentials&client_id=reference%0Aclient&client_secret=reference-secret";
        let exchange = http.post(program.find("export SUITE_CORE_URL=") + "/oauth/token");
        let exchange = exchange.header("content-type", "application/x-www-form-urlencoded");
        exchange.body(form).send().await.unwrap();
        let lines: Vec<String> = (0..4).map(|_| program.line()).collect();
        let all = lines.concat();
        let secrets = ["s3cret", "t0ken", "reference-secret"];
        assert!(!secrets.iter().any(|secret| all.contains(secret)), "{all}");
        if format == "text" {
            let second = " 2 crm getCrmMetadata GET /api/crm/v1/meta 503 - ";
            assert!(lines[1].contains(second) && lines[1].ends_with(" [1]"));
            assert!(lines[2].contains(" 3 crm - GET /nowhere 404 - "), "{all}");
            assert!(lines[3].contains(r" 401 reference\nclient "), "{all}");
        } else {
            // Each line is JSON, including the first line.
            let lines = lines.iter().map(|line| serde_json::from_str(line).unwrap());
            let [first, second, _, last] =
                <[Value; 4]>::try_from(lines.collect::<Vec<_>>()).unwrap();
            assert_eq!(
                (&first["number"], &second["status"]),
                (&json!(1), &json!(503))
            );
            assert_eq!(
                (&second["faults"], &last["client"]),
                (&json!([1]), &json!("reference\nclient"))
            );
        }
        // If nothing reads the log, the server still responds and stops.
        let long = format!("/{}", "x".repeat(8_000));
        for _ in 0..100 {
            assert_eq!(get(&long).await.unwrap().status(), 404);
        }
        #[cfg(unix)]
        {
            program.terminate();
            assert!(program.child.wait().unwrap().success());
        }
    }
}
