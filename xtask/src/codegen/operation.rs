//! Reads one operation of a spec and holds it to the conventions.

use serde_yaml_ng::Value;

use super::document::{Document, Map, RawBody, RawOperation, RawResponse, RawSchema};
use super::resolve::{component_name, used};
use super::schema::{Property, Schemas, Shape, Use};
use super::spec::{Auth, Body, Method, Operation, Place, Replay, Statuses};
use super::{Result, names};
use crate::{assumptions, at};

/// The header that the runtime adds to keyed commands by itself.
pub(super) const KEY_HEADER: &str = "Idempotency-Key";

/// Reads one operation.
pub(crate) struct Reader<'a> {
    pub(crate) document: &'a Document,
    pub(crate) tree: &'a Value,
    pub(crate) schemas: &'a Schemas,
    pub(crate) method: Method,
    pub(crate) path: &'a str,
    pub(crate) raw: &'a RawOperation,
}

impl Reader<'_> {
    pub(crate) fn read(&self) -> Result<Operation> {
        let raw = self.raw;
        if !names::is_camel(&raw.operation_id) {
            return Err("its id must be in camel case".into());
        }
        let [group] = raw.tags.as_slice() else {
            return Err("it needs exactly one tag".into());
        };
        let name = raw.sdk_method.as_ref().ok_or("it needs `x-sdk-method`")?;
        for part in [group, name] {
            if !names::is_snake(part) {
                return Err(format!("`{part}` must be in snake case and no keyword"));
            }
        }
        let name_only = match raw.provenance.as_deref() {
            Some("documented") => false,
            Some("name-only") => true,
            _ => return Err("it needs `x-provenance: documented` or `name-only`".into()),
        };
        if raw.summary.is_empty() {
            return Err("it needs a `summary`".into());
        }
        let (description, source) = raw
            .description
            .split_once("Source: ")
            .ok_or("its description needs a line `Source: ...`")?;
        let (auth, scopes) = self.security()?;
        let (parameters, keyed) = self.parameters()?;
        let responses = self.responses()?;
        let (reply, schema_version) = self.reply(&responses)?;
        let body = raw.request_body.as_ref();
        let operation = Operation {
            id: raw.operation_id.clone(),
            method: self.method,
            path: self.path.to_owned(),
            group: group.clone(),
            name: name.clone(),
            summary: raw.summary.trim().to_owned(),
            description: description.trim().to_owned(),
            source: source.trim().trim_end_matches('.').replace('\n', " "),
            auth,
            scopes,
            name_only,
            assumptions: assumptions::of_operation(self.tree, self.path, self.method),
            parameters,
            keyed,
            replay: self.replay(&reply),
            body: body.map(|body| self.body(body)).transpose()?,
            reply,
            schema_version,
            from_schema: raw.from_schema,
            statuses: statuses(&responses)?,
            exclusive: raw.exclusive.clone(),
            ordered: raw.ordered.clone(),
        };
        self.check(&operation)?;
        Ok(operation)
    }

    fn security(&self) -> Result<(Auth, Vec<String>)> {
        let alternatives = self.raw.security.as_ref();
        let alternatives =
            alternatives.ok_or("it needs `security`; `[]` where none is required")?;
        let (mut auth, mut scopes) = (Auth::Public, Vec::new());
        for alternative in alternatives {
            let mut schemes = alternative.iter();
            match (schemes.next(), schemes.next()) {
                (Some((scheme, required)), None) if scheme == "suiteToken" && required.len() <= 1 => {
                    auth = Auth::Bearer;
                    scopes.extend(required.iter().cloned());
                }
                (Some((scheme, _)), None) if scheme == "clientBasic" => auth = Auth::Client,
                _ => return Err("each alternative of `security` is `suiteToken` with at most one scope, or `clientBasic`".into()),
            }
        }
        Ok((auth, scopes))
    }

    fn body(&self, raw: &RawBody) -> Result<Body> {
        let mut contents = raw.content.iter();
        let form = match (contents.next(), contents.next()) {
            (Some((media, _)), None) if media == "application/json" => false,
            (Some((media, _)), None) if media == "application/x-www-form-urlencoded" => true,
            _ => return Err("a body is JSON or a form, and only one of them".into()),
        };
        if !raw.required {
            return Err("a body must be required: whether one may be left out decides what the method looks like".into());
        }
        let value = self.used(&raw.content[0].schema).map_err(at("body"))?;
        if !matches!(value.shape, Shape::Named(_) | Shape::Value) {
            return Err("a body is an object with a named schema, or any JSON value".into());
        }
        Ok(Body {
            description: raw.description.trim().to_owned(),
            form,
            value,
        })
    }

    /// The responses by their statuses, references followed.
    fn responses(&self) -> Result<Vec<(&str, &RawResponse)>> {
        let known = &self.document.components.responses;
        let mut responses = Vec::new();
        for (status, raw) in &self.raw.responses {
            responses.push((&**status, resolve(raw, raw.reference.as_deref(), known)?));
        }
        Ok(responses)
    }

    /// The one success schema, and the `schemaVersion` that it must carry.
    fn reply(&self, responses: &[(&str, &RawResponse)]) -> Result<(Use, Option<String>)> {
        let mut schemas: Vec<&RawSchema> = Vec::new();
        for (status, raw) in responses
            .iter()
            .filter(|(status, _)| status.starts_with('2'))
        {
            let content = raw.content.get("application/json");
            let content = content.filter(|_| raw.content.len() == 1);
            let other = || format!("response {status}: it needs JSON content and no other");
            schemas.push(&content.ok_or_else(other)?.schema);
        }
        let first = *schemas.first().ok_or("it needs a 2xx response")?;
        if schemas.iter().any(|schema| *schema != first) {
            return Err("its 2xx responses must have the same schema".into());
        }
        let reference = first.reference.as_deref();
        let name = reference.ok_or("the schema of its reply must be a component")?;
        let component = self.schemas.components.get(component_name(name));
        let version = component.and_then(|component| component.schema_version.clone());
        Ok((self.used(first)?, version))
    }

    /// How a reply says that it is the stored result of an earlier command.
    fn replay(&self, reply: &Use) -> Replay {
        if let Some(status) = self.raw.replay_status {
            return Replay::Status(status);
        }
        let is_replayed = |member: &Property| {
            member.name == "replayed" && member.required && member.value.shape == Shape::Boolean
        };
        if self.schemas.members(&reply.shape).iter().any(is_replayed) {
            Replay::Member
        } else {
            Replay::NotShown
        }
    }

    pub(super) fn used(&self, schema: &RawSchema) -> Result<Use> {
        used(&self.document.components.schemas, schema)
    }

    /// The rules that concern several parts of an operation.
    fn check(&self, operation: &Operation) -> Result<()> {
        let parameters = operation.parameters.iter();
        let in_path = parameters.filter(|it| it.place == Place::Path).count();
        if in_path != self.path.matches('{').count() || !self.path.starts_with('/') {
            return Err(
                "its path must begin with `/`, and each `{name}` in it needs a path parameter"
                    .into(),
            );
        }
        if (self.method == Method::Get) == operation.body.is_some() {
            return Err("a GET takes no body and a POST takes one".into());
        }
        if operation.keyed && self.method == Method::Get {
            return Err(format!("a GET takes no `{KEY_HEADER}`"));
        }
        if let Replay::Status(status) = operation.replay {
            let documented = &operation.statuses.documented;
            if !operation.is_command() || !documented.iter().any(|(known, _)| *known == status) {
                return Err(
                    "`x-replay-status` is one of the documented statuses of a command".into(),
                );
            }
        }
        if operation.is_list() && operation.reply.shape != Shape::Page {
            return Err("an operation with a `cursor` replies with an `x-page` schema".into());
        }
        let is_time = |name: &String| {
            let parameter = operation.parameter(name);
            parameter.is_some_and(|parameter| parameter.value.shape == Shape::Timestamp)
        };
        let mut ordered = operation.ordered.iter();
        if !ordered.all(|(first, last)| is_time(first) && is_time(last)) {
            return Err("`x-ordered` names parameters of the format `date-time`".into());
        }
        for (left, right) in operation.exclusive.iter().chain(&operation.ordered) {
            for name in [left, right] {
                if operation
                    .parameter(name)
                    .is_none_or(|parameter| parameter.required)
                {
                    return Err(format!(
                        "`{name}` of `x-mutually-exclusive` or `x-ordered` is not an optional parameter"
                    ));
                }
            }
        }
        Ok(())
    }
}

fn statuses(responses: &[(&str, &RawResponse)]) -> Result<Statuses> {
    let mut statuses = Statuses::default();
    for (status, raw) in responses {
        let meaning = raw.description.trim().replace('\n', " ");
        if *status == "default" {
            statuses.otherwise = Some(meaning);
        } else {
            let number = status.parse();
            let number = number.map_err(|_| format!("response `{status}` is not a status"))?;
            statuses.documented.push((number, meaning));
        }
    }
    Ok(statuses)
}

/// The element itself, or the component that it refers to.
pub(super) fn resolve<'a, T>(
    element: &'a T,
    reference: Option<&str>,
    components: &'a Map<T>,
) -> Result<&'a T> {
    match reference {
        None => Ok(element),
        Some(reference) => components
            .get(component_name(reference))
            .ok_or_else(|| format!("`{reference}` refers to nothing")),
    }
}
