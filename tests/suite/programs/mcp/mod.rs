//! `suite mcp`: an agent proposes writes, and a person approves them.

mod approvals;
mod attacks;
mod decisions;
mod kills;
mod protocol;
mod review;
mod scopes;
mod tampered;
mod tools;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use sdk_reference_server::{ClientSpec, ReferenceServer, Transport};
use serde_json::{Value, json};

use super::{Folder, environment, output, suite};
use crate::peer::{self, Peer, Step};

/// The protocol of a client that begins with `initialize`, and the protocol without it.
const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

/// A server, and the store of an agent and an approver.
struct Stage {
    server: ReferenceServer,
    folder: Folder,
    /// The credentials, by default of the server's own client.
    agent: (String, String),
    approver: (String, String),
}

impl Stage {
    async fn new() -> Self {
        let server = ReferenceServer::builder().transport(Transport::Hyper);
        let server = server.start().await;
        let own = [server.client_id(), server.client_secret()].map(str::to_owned);
        Self {
            agent: own.clone().into(),
            approver: own.into(),
            server,
            folder: Folder::new("mcp"),
        }
    }

    /// Gives the agent its own credential with these scopes.
    fn with_agent(mut self, scopes: &[&str]) -> Self {
        self.agent = self.client("agent", scopes);
        self
    }

    /// Gives the approver its own credential with these scopes.
    fn with_approver(mut self, scopes: &[&str]) -> Self {
        self.approver = self.client("approver", scopes);
        self
    }

    fn client(&self, id: &str, scopes: &[&str]) -> (String, String) {
        let (id, secret) = (id.to_owned(), format!("{id}-secret"));
        let client = ClientSpec::new(&id, &secret);
        self.server
            .add_client(client.scopes(scopes.iter().copied()));
        (id, secret)
    }

    fn store(&self) -> PathBuf {
        self.folder.file("approvals.sqlite")
    }

    fn database(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.store()).unwrap()
    }

    /// Returns a command of the approver, such as `mcp approvals list`.
    fn command(&self, line: &str) -> Command {
        let mut command = suite();
        command.args(line.split_whitespace());
        command.envs(self.server.environment());
        command.env("SUITE_CLIENT_ID", &self.approver.0);
        command.env("SUITE_CLIENT_SECRET", &self.approver.1);
        command.env("SUITE_APPROVALS", self.store());
        command
    }

    fn approvals(&self, line: &str) -> Output {
        output(&mut self.command(&format!("mcp approvals {line}")))
    }

    /// Registers the approver.
    fn register(&self) {
        register(self.command("mcp approvals run"));
    }

    fn agent(&self, line: &str) -> Agent {
        self.agent_with(line, MODERN)
    }

    fn agent_with(&self, line: &str, protocol: &'static str) -> Agent {
        Agent::start(self.agent_command(line), protocol)
    }

    fn agent_command(&self, line: &str) -> Command {
        let mut command = self.command(&format!("mcp {line}"));
        command.env("SUITE_CLIENT_ID", &self.agent.0);
        command.env("SUITE_CLIENT_SECRET", &self.agent.1);
        command
    }
}

/// A process of the approver. It is killed if a test fails, because it would run until a signal.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs `suite mcp approvals run`, which registers the approver when it starts, and ends it.
fn register(mut run: Command) {
    let mut run = run.stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(run.stderr.take().unwrap()).lines();
    let mut lines = lines.map(Result::unwrap);
    let is_early = |line: &String| !line.starts_with("Sending approved writes");
    let before: Vec<_> = lines.by_ref().take_while(is_early).collect();
    let stop = Command::new("kill").arg(run.id().to_string()).status();
    assert!(stop.unwrap().success());
    assert!(run.wait().unwrap().success(), "{before:?}");
}

/// Returns a command against a scripted peer, whose store is in this folder.
fn at_peer(peer: &Peer, folder: &Folder, line: &str) -> Command {
    let mut command = suite();
    command.args(line.split_whitespace());
    command.envs(environment(peer));
    command.env("SUITE_APPROVALS", folder.file("approvals.sqlite"));
    command
}

/// Returns a token for all applications with these scopes.
fn token_with(scopes: &str) -> Step {
    let token = json!({"access_token": "token-8c41e07b", "token_type": "Bearer", "expires_in": 300, "scope": scopes});
    peer::json(200, &token)
}

/// A client of the protocol, and the agent's process. Each line of the process must be a message of the protocol.
struct Agent {
    child: Child,
    input: ChildStdin,
    messages: Receiver<Value>,
    protocol: &'static str,
    requests: u64,
    /// The notifications that arrived while the client waited for a response.
    notifications: Vec<Value>,
}

impl Agent {
    fn start(mut command: Command, protocol: &'static str) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let (sender, messages) = channel();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        std::thread::spawn(move || {
            for line in lines {
                let line = line.unwrap();
                let message: Value = serde_json::from_str(&line).expect(&line);
                assert_eq!(message["jsonrpc"], "2.0", "{line}");
                let _ = sender.send(message);
            }
        });
        let mut agent = Self {
            input: child.stdin.take().unwrap(),
            child,
            messages,
            protocol,
            requests: 0,
            notifications: Vec::new(),
        };
        if protocol == LEGACY {
            let client = json!({"name": "test", "version": "1"});
            let hello =
                json!({"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": client});
            agent.request("initialize", hello);
            agent.write(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        }
        agent
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    /// Sends a request without waiting for the response, and returns its ID.
    fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.requests += 1;
        if self.protocol == MODERN {
            let key = |name: &str| format!("io.modelcontextprotocol/{name}");
            params["_meta"] = json!({
                key("protocolVersion"): MODERN, key("clientCapabilities"): {},
                key("clientInfo"): {"name": "test", "version": "1"},
            });
        }
        let id = self.requests;
        self.write(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    fn next(&self) -> Value {
        self.messages.recv_timeout(Duration::from_secs(30)).unwrap()
    }

    /// Returns the result, or the error of the protocol.
    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        loop {
            let mut message = self.next();
            if message["id"] != id {
                self.notifications.push(message);
            } else if message.get("error").is_some() {
                return message["error"].take();
            } else {
                return message["result"].take();
            }
        }
    }

    fn tools(&mut self) -> Vec<Value> {
        let tools = self.request("tools/list", json!({}))["tools"].take();
        serde_json::from_value(tools).unwrap()
    }

    /// Returns the sorted names of the offered tools.
    fn names(&mut self) -> Vec<String> {
        let tools = self.tools();
        let names = tools
            .iter()
            .map(|it| it["name"].as_str().unwrap().to_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// Calls a tool, and returns its strings, or the message of its failure.
    fn call(&mut self, tool: &str, arguments: Value) -> Result<Vec<String>, String> {
        let mut params = json!({"name": tool});
        params["arguments"] = arguments;
        let result = self.request("tools/call", params);
        let content = result["content"].as_array();
        let content = content.unwrap_or_else(|| panic!("{result}"));
        let texts = content
            .iter()
            .map(|it| it["text"].as_str().unwrap().to_owned());
        let texts: Vec<String> = texts.collect();
        if result["isError"] == true {
            Err(texts.concat())
        } else {
            Ok(texts)
        }
    }

    /// Proposes a write, and returns its status.
    fn propose(&mut self, tool: &str, arguments: Value) -> Value {
        let texts = self.call(tool, arguments).unwrap();
        serde_json::from_str(&texts[0]).unwrap()
    }

    /// Closes standard input, and returns the exit status and the messages of the process.
    fn end(self) -> (Option<i32>, String) {
        let Self {
            mut child, input, ..
        } = self;
        drop(input);
        let mut messages = String::new();
        let mut stderr = child.stderr.take().unwrap();
        stderr.read_to_string(&mut messages).unwrap();
        (child.wait().unwrap().code(), messages)
    }
}

/// Returns the arguments of an event with this title.
fn event(title: &str) -> Value {
    json!({"body": {
        "operation": "create", "collectionReference": "team", "title": title, "timezone": "UTC",
        "startsAt": "2026-12-01T09:00:00Z", "endsAt": "2026-12-01T10:00:00Z",
    }})
}

/// The tool that proposes an event.
const EVENT: &str = "calendar_events_command";
