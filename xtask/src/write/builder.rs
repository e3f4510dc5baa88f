//! The request builder of one operation, with its fields, its setters, and the methods that check, build and send the request.

use std::fmt::Write as _;

use crate::model::{Body, Operation, Parameter, Place, Schemas, Ty};
use crate::names;

use super::checks::{self, has_rules};
use super::docs;
use super::rust::{self, Argument};
use super::text::comment;

/// The options of every call.
const CALL: &str = "
/// Limits each attempt, from the first byte sent to the last byte read.
pub fn timeout(self, timeout: std::time::Duration) -> Self {
    self.with(|options| options.with_timeout(timeout))
}

/// Limits the whole call, including the token request, all attempts and the delays between them.
pub fn deadline(self, deadline: std::time::Duration) -> Self {
    self.with(|options| options.with_deadline(deadline))
}

/// Sets the retry policy of the call.
pub fn retry(self, policy: RetryPolicy) -> Self {
    self.with(|options| options.with_retry(policy))
}

/// Sets the policy for a response with an unexpected `schemaVersion`.
pub fn schema_policy(self, policy: SchemaPolicy) -> Self {
    self.with(|options| options.with_schema_policy(policy))
}

/// Adds a header. The call fails locally if the SDK sets this header itself.
pub fn header(self, name: &str, value: &str) -> Self {
    self.with(|options| options.with_header(name, value))
}

/// Adds a query parameter that this version does not know yet, without checking its value. The call fails locally
/// if it already has the parameter. A name that you add twice is sent twice.
pub fn query(self, name: impl Into<String>, value: impl Into<String>) -> Self {
    self.with(|options| options.with_query(name, value))
}

/// Sends the call without a token, for an operation that needs none, such as a readiness probe.
pub fn without_token(self) -> Self {
    self.with(CallOptions::without_token)
}
";

/// The options of a command without a documented key.
const COMMAND: &str = "
/// Sets whether the SDK may retry this command after an ambiguous failure. See
/// [`ExactReplay`](sdk_core::ExactReplay).
pub fn exact_replay(self, replay: ExactReplay) -> Self {
    self.with(|options| options.with_exact_replay(replay))
}

/// Sends an `Idempotency-Key` although the contract documents none. Use it only if you know that the server
/// accepts one. The SDK can then retry the command, unless `exact_replay` forbids it. The call fails locally if
/// the key is malformed.
pub fn idempotency_key(self, key: impl IntoKey) -> Self {
    self.with(|options| options.with_idempotency_key(key))
}
";

/// The option of a command with a documented key.
const KEYED: &str = "
/// Sets the `Idempotency-Key`. Without it, the command gets a random key, which every attempt reuses and the
/// receipt returns. The call fails locally if the key is malformed.
pub fn idempotency_key(self, key: impl IntoKey) -> Self {
    self.with(|options| options.with_idempotency_key(key))
}
";

const WITH: &str = "
fn with(mut self, change: impl FnOnce(CallOptions) -> CallOptions) -> Self {
    self.call.change(change);
    self
}
";

pub(super) struct Builder<'a> {
    pub(super) schemas: &'a Schemas,
    pub(super) operation: &'a Operation,
}

impl Builder<'_> {
    fn name(&self) -> String {
        names::pascal(&self.operation.id)
    }

    fn output(&self) -> String {
        let reply = rust::reply_type(self.schemas, &self.operation.reply);
        format!("{}<{reply}>", names::pascal(self.operation.output()))
    }

    fn argument(&self, parameter: &Parameter) -> Argument {
        rust::argument(self.schemas, &parameter.value.ty, false, &parameter.field)
    }

    fn body(&self, body: &Body) -> Argument {
        let operation = format!("&operations::{}", names::screaming(&self.operation.id));
        let (ty, value) = match &body.value.ty {
            Ty::Named(name) if body.form => {
                (format!("&{name}"), format!("Body::form({operation}, body)"))
            }
            ty @ Ty::Named(name) if has_rules(self.schemas, ty) => {
                (format!("&{name}"), format!("Body::json({operation}, body)"))
            }
            Ty::Array { items, min, max } if has_rules(self.schemas, items) => {
                let range = rust::range(*min, *max);
                let value = format!("Body::list({operation}, body, {range})");
                (format!("&[{}]", self.schemas.rust(items)), value)
            }
            _ => (
                "impl Into<JsonBody>".to_owned(),
                "Body::raw(&body.into())".to_owned(),
            ),
        };
        Argument { ty, value }
    }

    /// The method of the group that returns the builder, without its docs.
    pub(super) fn method(&self) -> String {
        let constant = names::screaming(&self.operation.id);
        let mut arguments = vec!["&self".to_owned()];
        let mut fields = vec![format!(
            "call: Call::new(&self.api, &operations::{constant})"
        )];
        let parameters = self.operation.parameters.iter();
        let parameters = parameters.map(|it| (&*it.field, it.required, self.argument(it)));
        let body = self.operation.body.iter();
        let body = body.map(|it| ("body", it.required, self.body(it)));
        for (field, required, argument) in parameters.chain(body) {
            if required {
                arguments.push(format!("{field}: {}", argument.ty));
                fields.push(argument.field(field));
            } else {
                fields.push(format!("{field}: None"));
            }
        }
        let (method, builder) = (&self.operation.name, self.name());
        format!(
            "{}pub fn {method}({}) -> {builder} {{\n{builder} {{ {} }}\n}}\n\n",
            docs::deprecated(self.operation.deprecated),
            arguments.join(", "),
            fields.join(", ")
        )
    }

    pub(super) fn write(&self, docs: &str) -> String {
        let (builder, mut code) = (self.name(), comment(docs));
        let _ = writeln!(
            code,
            "#[derive(Clone, Debug)]\n#[must_use = \"a request does nothing until it is sent: add `.await`\"]\npub struct {builder} {{\ncall: Call,"
        );
        let mut setters = String::new();
        for parameter in &self.operation.parameters {
            let ty = self.schemas.parameter(parameter);
            let _ = writeln!(code, "{}: {ty},", parameter.field);
            if !parameter.required {
                setters += &comment(&docs::parameter(parameter));
                setters += docs::deprecated(parameter.deprecated);
                setters += &self.argument(parameter).setter(&parameter.field);
            }
        }
        match &self.operation.body {
            Some(body) if body.required => code += "body: Body,\n",
            Some(body) => {
                code += "body: Option<Body>,\n";
                setters += &comment(&docs::body(body));
                setters += &self.body(body).setter("body");
            }
            None => {}
        }
        let _ = writeln!(code, "}}\n\nimpl {builder} {{\n{setters}");
        code += &self.request();
        code += &self.sending();
        code += &self.options();
        code += "}\n\n";
        code + &self.future()
    }

    /// The method that checks the parameters and builds the request.
    fn request(&self) -> String {
        let (operation, mut checks) = (self.operation, String::new());
        let is_cursor = |it: &Parameter| operation.is_list() && it.name == "cursor";
        for parameter in &operation.parameters {
            checks += &checks::parameter(self.schemas, parameter, is_cursor(parameter));
        }
        for (left, right) in &operation.exclusive {
            let set = |name: &str| {
                let field = operation.parameter(name).map_or(name, |it| &it.field);
                format!("({name:?}, self.{field}.is_some())")
            };
            let (left, right) = (set(left), set(right));
            let _ = writeln!(checks, "check.exclusive(&[{left}, {right}])?;");
        }
        if !checks.is_empty() {
            checks.insert_str(0, "let check = self.call.check();\n");
        }
        let (mut path, mut segments, mut rest) =
            (operation.path.clone(), String::new(), String::new());
        let mut parameters: Vec<&Parameter> = operation.parameters.iter().collect();
        // Path parameters in the order of the path, query parameters by name.
        parameters.sort_by_key(|it| (operation.path.find(&format!("{{{}}}", it.name)), &it.name));
        for parameter in parameters {
            let Parameter {
                name, field, style, ..
            } = parameter;
            let value = rust::optional(self.schemas, parameter, is_cursor(parameter));
            let _ = match (parameter.place, &parameter.value.ty) {
                (Place::Path, _) => {
                    path = path.replace(&format!("{{{name}}}"), "{}");
                    write!(segments, ", encode_segment(&self.{field})")
                }
                (Place::Query, Ty::Array { .. }) => {
                    write!(rest, ".list({name:?}, {value}, ListStyle::{style:?})")
                }
                (Place::Query, _) => write!(rest, ".query({name:?}, {value})"),
                (Place::Header, _) => Ok(()),
            };
        }
        let path = if segments.is_empty() {
            format!("{path:?}")
        } else {
            format!("&format!({path:?}{segments})")
        };
        if let Some(body) = &operation.body {
            let form = if body.form { "form" } else { "json" };
            let (method, bytes) = if body.required {
                (form.to_owned(), "self.body.bytes()?")
            } else {
                let bytes = "self.body.as_ref().map(Body::bytes).transpose()?";
                (format!("{form}_if"), bytes)
            };
            let _ = write!(rest, ".{method}({bytes})");
        }
        let cursor = operation.is_list().then_some(", cursor: Option<&str>");
        let cursor = cursor.unwrap_or_default();
        let method = operation.method.key();
        format!(
            "fn request(&self{cursor}) -> Result<Draft, Error> {{\n\
             {checks}Ok(self.call.endpoint().{method}({path}){rest})\n}}\n\n"
        )
    }

    /// The method that adds documented headers to the options of the call, which are sent and stored. May be empty.
    fn headers(&self) -> String {
        let mut lines = String::new();
        let parameters = self.operation.parameters.iter();
        for parameter in parameters.filter(|it| it.place == Place::Header) {
            let (field, ty) = (&parameter.field, &parameter.value.ty);
            let (value, borrow) = if parameter.required {
                (format!("self.{field}"), "&")
            } else {
                ("value".to_owned(), "")
            };
            let text = match ty {
                ty if self.schemas.is_text(ty) => format!("{borrow}{value}"),
                ty if rust::is_copied(ty) => format!("&{value}.to_string()"),
                _ => format!("{value}.as_str()"),
            };
            let set = format!("self.call.set_header({:?}, {text});\n", parameter.name);
            if parameter.required {
                lines += &set;
            } else {
                lines += &checks::if_set(field, &set);
            }
        }
        if lines.is_empty() {
            return lines;
        }
        format!("fn headers(mut self) -> Self {{\n{lines}self\n}}\n\n")
    }

    fn sending(&self) -> String {
        let (headers, output) = (self.headers(), self.output());
        let (with, this) = match headers.as_str() {
            "" => ("", "self"),
            _ => ("let this = self.headers();\n", "this"),
        };
        let items = match self.operation.reply.ty() {
            Some(Ty::Page { items, .. }) if self.operation.is_list() => {
                Some(self.schemas.rust(items))
            }
            _ => None,
        };
        let cursor = format!("{this}.cursor.as_deref()");
        let (docs, cursor, method, more) = if let Some(item) = items {
            let more = format!(
                "\n/// Returns a stream of this page and all following pages, which fetches each page when it is needed.\n\
                 pub fn pages(self) -> Pages<{item}> {{\n\
                 {with}let (call, cursor) = ({this}.call.clone(), {this}.cursor.clone());\n\
                 Pages::new(call, cursor, move |cursor| {this}.request(cursor))\n}}\n\n\
                 /// Returns a stream of all items from this page on, which fetches each page when it is needed.\n\
                 pub fn items(self) -> Items<{item}> {{\nself.pages().items()\n}}\n"
            );
            ("Gets one page.", &*cursor, "send", more)
        } else if self.operation.is_command() {
            let more = format!(
                "\n/// Returns a command that you can store and send later, also from another process.\n\
                 pub fn prepare(self) -> Result<PreparedCommand, Error> {{\n\
                 {with}let request = {this}.request();\n{this}.call.prepare(request)\n}}\n"
            );
            ("Sends the command.", "", "command", more)
        } else {
            ("Sends the request.", "", "send", String::new())
        };
        // `.await` calls `sending` directly, which saves the extra future of `send`.
        format!(
            "{headers}/// {docs}\npub async fn send(self) -> Result<{output}, Error> {{\nself.sending().await\n}}\n\n\
             fn sending(self) -> impl Future<Output = Result<{output}, Error>> + Send + 'static {{\n\
             {with}let request = {this}.request({cursor});\n{this}.call.{method}(request)\n}}\n{more}"
        )
    }

    fn options(&self) -> String {
        let own = match (self.operation.is_command(), self.operation.keyed) {
            (true, true) => KEYED,
            (true, false) => COMMAND,
            (false, _) => "",
        };
        [CALL, own, WITH].concat()
    }

    /// The impl that makes `.await` send it.
    fn future(&self) -> String {
        let (builder, output) = (self.name(), self.output());
        format!(
            "impl IntoFuture for {builder} {{\n\
             type Output = Result<{output}, Error>;\n\
             type IntoFuture = std::pin::Pin<Box<dyn Future<Output = Self::Output> + Send>>;\n\n\
             fn into_future(self) -> Self::IntoFuture {{\nBox::pin(self.sending())\n}}\n}}\n\n"
        )
    }
}
