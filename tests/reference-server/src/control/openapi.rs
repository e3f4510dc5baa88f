//! The `OpenAPI` document of the control endpoint, made of its routes and of the shapes of what they take and give.

use serde_json::{Map, Value, json};

use super::ROUTES;
use crate::call::Answer;
use crate::message::{Reply, Request};
use crate::suite::Suite;

/// The members of each object, and no others; `?` marks one that may be left out, `[…]` an array, `{…}` a map.
const SHAPES: &str = "\
Problem = error: text
Ready = status: text
Time = now: time
Advance = advanceSeconds: number
State = now: time, apps: {Address}, tokenUrl: text, tokenLifetimeSeconds: number, data: Sizes
Address = origin: text, audience: text
Sizes = seed: integer, people: integer, organizations: integer, opportunities: integer, tasks: integer, \
    intakeSubmissions: integer
Records = organizations?: [{any}], people?: [{any}], opportunities?: [{any}], tasks?: [{any}], intakeSubmissions?: \
    [{any}], counterparties?: [{any}]
References = organizations: [text], people: [text], opportunities: [text], tasks: [text], intakeSubmissions: \
    [text], counterparties: [text]
FaultFile = faults: [Fault]
Fault = operation?: text|null, when?: When, then: Then
When = skip?: integer, every?: integer, times?: integer, probability?: number, seed?: integer, path?: text, \
    client?: text, header?: WhenHeader, member?: WhenMember
WhenHeader = name: text, value?: text|null
WhenMember = pointer: text, value?: any
Then = delaySeconds?: number, status?: integer, replyAfterCommitWith?: integer, retryAfter?: any, headers?: \
    {text}, body?: Body, refuseConnection?: boolean, closeConnection?: boolean, loseReply?: boolean, stall?: boolean, \
    truncateBody?: boolean, breakBody?: boolean, dripBody?: Drip, revokeToken?: boolean, tokenLifetimeSeconds?: \
    number, tokenExpiresIn?: any, omitExpiresIn?: boolean, unknownEnum?: boolean, unknownMember?: boolean, \
    schemaSuffix?: text, cursorLoop?: integer
Body = text: text, mediaType?: text
Drip = bytes: integer, pauseSeconds: number
Faults = faults: [ActiveFault]
ActiveFault = id: integer, struck: integer, spent: boolean, operation: text|null, when: When, then: Then
FaultLog = strikes: [Strike]
Strike = at: time, fault: integer, operation: text, requestId: text, effects: Then
Tokens = lifetimeSeconds: number, issued: integer, expiresIn?: any, omitExpiresIn?: boolean, honestExpiresIn?: boolean
TokenSettings = lifetimeSeconds?: number, expiresIn?: any, omitExpiresIn?: boolean, honestExpiresIn?: boolean
Client = id: text, secret: text, scopes?: [text]|null, apps?: [text]|null, workspace?: boolean|null, actingFor?: \
    text|null
Added = id: text
Clients = clients: [ShownClient]
ShownClient = id: text, scopes: [text], apps: [text], workspace: boolean, actingFor: text
Counters = exchanges: integer, operations: {Counts}
Counts = attempts: integer, commits: integer
Requests = requests: [Seen]
Seen = number: integer, requestId: text, at: time, app: text, operation: text|null, servedFromSchema: boolean, \
    method: text, path: text, query: text|null, headers: [[text]], status: integer|null, body: text";

pub(super) fn document(_: &Suite, _: &Request, _: &str) -> Answer {
    let mut paths: Map<String, Value> = Map::new();
    for route in ROUTES {
        let media = |shape: &str| json!({"application/json": {"schema": schema(shape)}});
        let content = match route.gives {
            "" => json!({"application/yaml": {"schema": {"type": "string"}}}),
            shape => media(shape),
        };
        let mut operation = json!({
            "operationId": route.id.replace("::", "_").replace(' ', ""),
            "summary": route.summary,
            "responses": {
                route.status: {"description": "Done.", "content": content},
                "default": {"description": "Why not.", "content": media("Problem")},
            },
        });
        if !route.takes.is_empty() {
            let mut content = media(route.takes);
            let example: Option<Value> = serde_json::from_str(route.example).ok();
            content["application/json"]["example"] = json!(example);
            operation["requestBody"] = json!({"required": true, "content": content});
        }
        if route.path.ends_with("{id}") {
            let parameter = json!({"name": "id", "in": "path", "required": true});
            operation["parameters"] = json!([parameter]);
            operation["parameters"][0]["schema"] = schema("text");
        }
        let known = paths.entry(route.path).or_insert_with(|| json!({}));
        known[route.method.to_ascii_lowercase()] = operation;
    }
    let shapes = SHAPES.lines().filter_map(|line| line.split_once(" = "));
    let shapes = shapes.map(|(name, members)| (name.to_owned(), object(members)));
    let document = json!({
        "openapi": "3.1.0",
        "info": {"title": "Control of the reference server", "version": env!("CARGO_PKG_VERSION")},
        "paths": paths,
        "components": {"schemas": shapes.collect::<Map<_, _>>()},
    });
    let yaml = serde_yaml_ng::to_string(&document).expect("JSON can be YAML");
    Ok(Reply::text(200, "application/yaml", yaml))
}

fn object(members: &str) -> Value {
    let (mut required, mut properties) = (Vec::new(), Map::new());
    for (name, shape) in members.split(", ").filter_map(|one| one.split_once(": ")) {
        if name == name.trim_end_matches('?') {
            required.push(name);
        }
        properties.insert(name.trim_end_matches('?').to_owned(), schema(shape));
    }
    json!({"type": "object", "required": required, "properties": properties, "additionalProperties": false})
}

fn schema(shape: &str) -> Value {
    if let Some(shape) = shape.strip_suffix("|null") {
        let mut schema = schema(shape);
        schema["type"] = json!([schema["type"], "null"]);
        return schema;
    }
    let inside = |end| Some(schema(shape.get(1..)?.strip_suffix(end)?));
    match shape.as_bytes().first() {
        Some(b'[') => json!({"type": "array", "items": inside(']')}),
        Some(b'{') => json!({"type": "object", "additionalProperties": inside('}')}),
        Some(b'A'..=b'Z') => json!({"$ref": format!("#/components/schemas/{shape}")}),
        _ => match shape {
            "any" => json!({}),
            "text" => json!({"type": "string"}),
            "time" => json!({"type": "string", "format": "date-time"}),
            shape => json!({"type": shape}),
        },
    }
}
