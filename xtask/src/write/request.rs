//! The methods of a request builder that check, build and send the request.

use std::fmt::Write as _;

use crate::model::{Body, Kind, Parameter, Place, Ty};
use crate::names;

use super::builder::Builder;
use super::rust::limit;
use super::{calls, checks, rust};

impl Builder<'_> {
    /// The method that checks the parameters and builds the request.
    pub(super) fn request(&self) -> String {
        let operation = self.operation;
        let mut checks = String::new();
        for parameter in &operation.parameters {
            checks += &self.check(parameter);
        }
        let field = |name: &str| match operation.parameter(name) {
            Some(parameter) => parameter.field.clone(),
            None => names::snake(name),
        };
        for (left, right) in &operation.exclusive {
            let set = |name| format!("({name:?}, self.{}.is_some())", field(name));
            let (left, right) = (set(left), set(right));
            let _ = writeln!(checks, "check.exclusive(&[{left}, {right}])?;");
        }
        if !checks.is_empty() {
            checks.insert_str(0, "let check = self.call.check();\n");
        }
        let mut arguments = vec!["self.call.endpoint()".to_owned()];
        for parameter in calls::arguments(operation) {
            arguments.push(match &*parameter.name {
                "cursor" if operation.is_list() => "cursor".to_owned(),
                _ => rust::borrow(&self.spec.schemas, parameter),
            });
        }
        arguments.extend(operation.body.as_ref().map(|body: &Body| {
            if body.required {
                "self.body.bytes()?".to_owned()
            } else {
                "self.body.as_ref().map(Body::bytes).transpose()?".to_owned()
            }
        }));
        let cursor = if operation.is_list() {
            ", cursor: Option<&str>"
        } else {
            ""
        };
        format!(
            "fn request(&self{cursor}) -> Result<Draft, Error> {{\n{checks}Ok(calls::{}({}))\n}}\n\n",
            names::snake(&operation.id),
            arguments.join(", ")
        )
    }

    fn check(&self, parameter: &Parameter) -> String {
        let Parameter {
            name,
            field,
            required,
            value,
            ..
        } = parameter;
        let borrowed = rust::borrow(&self.spec.schemas, parameter);
        // What is checked, as an `Option` of what the call borrows.
        let optional = match (self.operation.is_list() && name == "cursor", required) {
            (true, _) => "cursor".to_owned(),
            (false, true) => format!("Some({borrowed})"),
            (false, false) => borrowed,
        };
        let segment = |place: String| match parameter.place {
            Place::Path => format!("check.segment({name:?}, {place})?;\n"),
            _ => String::new(),
        };
        match &value.ty {
            Ty::Text { min, max, .. } => {
                let mut checks = segment(format!("&self.{field}"));
                if (min, max) != (&None, &None) {
                    let (min, max) = (min.unwrap_or(0), limit("usize", *max));
                    let _ = writeln!(checks, "check.length({name:?}, {optional}, {min}, {max})?;");
                }
                checks
            }
            Ty::Integer {
                min: None,
                max: None,
            } => String::new(),
            Ty::Count { min, max } => {
                format!("check.range({name:?}, {optional}, {min}, {max})?;\n")
            }
            Ty::Integer { min, max } => {
                let min = min.map_or("i64::MIN".to_owned(), |min| min.to_string());
                let max = limit("i64", *max);
                format!(
                    "if let Some({field}) = {optional} {{\ncheck.integer({name:?}, {field}, {min}, {max})?;\n}}\n"
                )
            }
            Ty::Array { items, min, max } => {
                let (style, min) = (calls::style(parameter), min.unwrap_or(0));
                let max = limit("usize", *max);
                let list = format!(
                    "check.list({name:?}, {optional}, ListStyle::{style}, {min}, {max})?;\n"
                );
                let each = self.items(name, items);
                if each.is_empty() {
                    list
                } else {
                    format!("{list}for item in {optional}.into_iter().flatten() {{\n{each}}}\n")
                }
            }
            Ty::Timestamp | Ty::Date => {
                format!("check.rfc3339({name:?}, {optional})?;\n")
            }
            _ => self.check_named(parameter, &optional),
        }
    }

    /// The checks of a parameter whose schema has a name.
    fn check_named(&self, parameter: &Parameter, optional: &str) -> String {
        let Parameter {
            name,
            field,
            required,
            ..
        } = parameter;
        let ty = self.spec.schemas.rust(&parameter.value.ty);
        let segment = |place: String| match parameter.place {
            Place::Path => format!("check.segment({name:?}, {place})?;\n"),
            _ => String::new(),
        };
        match self.spec.schemas.kind(&parameter.value.ty) {
            Some(Kind::Enum { closed, .. }) => {
                let text = if *required {
                    format!("Some(self.{field}.as_str())")
                } else {
                    format!("self.{field}.as_ref().map({ty}::as_str)")
                };
                let known = if *closed {
                    format!("check.known({name:?}, {text}, {ty}::KNOWN)?;\n")
                } else {
                    String::new()
                };
                known + &segment(format!("self.{field}.as_str()"))
            }
            Some(Kind::Reference(pattern)) if *required => {
                let sample = pattern.sample();
                // One that admits `..` could climb the path.
                let is_safe = sample.starts_with(|first: char| first.is_ascii_alphanumeric());
                let reference =
                    format!("check.pattern({name:?}, self.{field}.as_str(), &{ty}::FORM)?;\n");
                if is_safe {
                    reference
                } else {
                    reference + &segment(format!("self.{field}.as_str()"))
                }
            }
            Some(Kind::Reference(_)) => {
                format!(
                    "if let Some({field}) = &self.{field} {{\n\
                         check.pattern({name:?}, {field}.as_str(), &{ty}::FORM)?;\n}}\n"
                )
            }
            Some(Kind::Constant(constant)) => {
                format!("check.known({name:?}, {optional}, &[{constant:?}])?;\n")
                    + &segment(format!("&self.{field}"))
            }
            _ => String::new(),
        }
    }

    /// The checks of each item of a list.
    fn items(&self, name: &str, items: &Ty) -> String {
        checks::item(&self.spec.schemas, items, name)
    }

    /// The method that puts the documented headers among the options, with which they are sent and stored; none if there
    /// are none.
    fn headers(&self) -> Option<String> {
        let mut lines = String::new();
        let headers = |parameter: &&Parameter| parameter.place == Place::Header;
        for parameter in self.operation.parameters.iter().filter(headers) {
            let Parameter {
                name,
                field,
                required,
                value,
                ..
            } = parameter;
            let schemas = &self.spec.schemas;
            let text = |text: String, borrow: &str| match &value.ty {
                ty if schemas.is_text(ty) => format!("{borrow}{text}"),
                ty if rust::is_copied(ty) => format!("&{text}.to_string()"),
                _ => format!("{text}.as_str()"),
            };
            let set = |value| format!("self.call.set_header({name:?}, {value});\n");
            if *required {
                lines += &set(text(format!("self.{field}"), "&"));
            } else {
                let set = set(text(field.clone(), ""));
                let _ = write!(lines, "if let Some({field}) = &self.{field} {{\n{set}}}\n");
            }
        }
        (!lines.is_empty()).then(|| format!("fn headers(mut self) -> Self {{\n{lines}self\n}}\n\n"))
    }

    /// The methods that send it.
    pub(super) fn sending(&self) -> String {
        let reply = self.reply();
        let headers = self.headers();
        let (with, this) = match headers {
            Some(_) => ("let this = self.headers();\n", "this"),
            None => ("", "self"),
        };
        // `send` is for callers who like to name it; `.await` does without its future around the other one.
        let wrapper = self.wrapper();
        let methods = |docs: &str, cursor: &str, method: &str| {
            format!(
                "/// {docs}\npub async fn send(self) -> Result<{wrapper}<{reply}>, Error> {{\n\
                 self.sending().await\n}}\n\n\
                 fn sending(self) -> impl Future<Output = Result<{wrapper}<{reply}>, Error>> + Send + 'static {{\n\
                 {with}let request = {this}.request({cursor});\n{this}.call.{method}(request)\n}}\n"
            )
        };
        let sending = if let Some(item) = self.item() {
            let cursor = format!("{this}.cursor.as_deref()");
            methods("Gets one page.", &cursor, "send")
                + &format!(
                    "\n/// All pages from here on, fetched one by one as they are asked for.\n\
                     pub fn pages(self) -> Pages<{item}> {{\n\
                     {with}let (call, cursor) = ({this}.call.clone(), {this}.cursor.clone());\n\
                     Pages::new(call, cursor, move |cursor| {this}.request(cursor))\n}}\n\n\
                     /// All items from here on; their pages are fetched as they are needed.\n\
                     pub fn items(self) -> Items<{item}> {{\nself.pages().items()\n}}\n"
                )
        } else if self.operation.is_command() {
            methods("Sends the command.", "", "command")
                + &format!(
                    "\n/// Makes a command of it that can be stored, and sent later, also by another process.\n\
                     pub fn prepare(self) -> Result<PreparedCommand, Error> {{\n\
                     {with}let request = {this}.request();\n{this}.call.prepare(request)\n}}\n"
                )
        } else {
            methods("Sends the request.", "", "send")
        };
        headers.unwrap_or_default() + &sending
    }
}
