//! The example in the docs of an operation, which the tests of its crate compile.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::model::{Body, Kind, Operation, Property, Schemas, Spec, Ty};

use super::checks::has_rules;
use super::rust;

/// The number of optional fields that an example of a body sets.
const SHOWN: usize = 2;

/// The maximum depth of objects in an example, because a required field may contain its own type.
const DEPTH: usize = 4;

struct Context<'a> {
    schemas: &'a Schemas,
    package: String,
    /// Types of the `types` module.
    types: BTreeSet<String>,
    /// Arguments of the hidden function around the example, which represent the values of the reader.
    arguments: Vec<(String, String)>,
    depth: usize,
}

pub(super) fn write(spec: &Spec, operation: &Operation) -> String {
    let (client, package) = (spec.app.name, spec.app.crate_name());
    let mut context = Context {
        schemas: &spec.schemas,
        types: BTreeSet::new(),
        arguments: vec![(client.to_owned(), format!("{package}::Client"))],
        package,
        depth: 0,
    };
    let mut arguments = Vec::new();
    for parameter in operation.parameters.iter().filter(|it| it.required) {
        arguments.push(context.value(&parameter.value.ty, &parameter.field));
    }
    let (mut lines, mut optional) = (Vec::new(), String::new());
    if let Some(body) = &operation.body {
        let argument = match context.body(body) {
            Some(written) => {
                lines.push(format!("let body = {written};"));
                "&body".to_owned()
            }
            None => context.give("body", "sdk_core::RawJson"),
        };
        if body.required {
            arguments.push(argument);
        } else {
            optional = format!(".body({argument})");
        }
    }
    let (group, name, arguments) = (&operation.group, &operation.name, arguments.join(", "));
    let call = format!("{client}.{group}().{name}({arguments}){optional}");
    let limit = operation.parameter("limit").filter(|it| !it.required);
    let limited = match limit.map(|limit| (&limit.value.ty, &limit.field)) {
        Some((Ty::Count { max, .. }, field)) => format!("{call}.{field}({max})"),
        _ => call.clone(),
    };
    match operation.reply.ty() {
        Some(Ty::Page { items, members }) if operation.is_list() => {
            lines.push(format!("let page = {limited}.await?;"));
            lines.push("println!(\"{} on this page\", page.items()?.len());\n".to_owned());
            if let Some(members) = members {
                lines.push(format!(
                    "let members = page.members::<{members}>()?;\nprintln!(\"{{members:?}}\");\n"
                ));
                context.types.insert(members.clone());
            }
            let shown = if is_open(items) { "{item}" } else { "{item:?}" };
            lines.push(format!(
                "// To read all items, use the stream, which fetches pages as needed.\n\
                 let mut items = {call}.items();\n\
                 while let Some(item) = items.try_next().await? {{\n    println!(\"{shown}\");\n}}"
            ));
        }
        _ => {
            let name = operation.output();
            lines.push(format!("let {name} = {limited}.await?;"));
            lines.push(format!("println!(\"{{{name}:?}}\");"));
        }
    }
    let hidden = context
        .arguments
        .iter()
        .map(|(name, ty)| format!("{name}: {ty}"));
    let hidden: Vec<String> = hidden.collect();
    let package = &context.package;
    let types: Vec<&str> = context.types.iter().map(String::as_str).collect();
    let imports = match types.as_slice() {
        [] => String::new(),
        [only] => format!("use {package}::types::{only};\n\n"),
        several => format!("use {package}::types::{{{}}};\n\n", several.join(", ")),
    };
    format!(
        "```no_run\n# async fn example({}) -> Result<(), sdk_core::Error> {{\n\
         {imports}{}\n# Ok(())\n# }}\n```",
        hidden.join(", "),
        lines.join("\n")
    )
}

impl Context<'_> {
    /// Adds an argument with a unique name.
    fn give(&mut self, name: &str, ty: impl Into<String>) -> String {
        let mut free = name.to_owned();
        while self.arguments.iter().any(|(known, _)| *known == free) {
            free = format!("other_{free}");
        }
        self.arguments.push((free.clone(), ty.into()));
        free
    }

    /// The expression of a body. `None` if the reader has the body as JSON.
    fn body(&mut self, body: &Body) -> Option<String> {
        match &body.value.ty {
            ty @ Ty::Named(name) if has_rules(self.schemas, ty) => self.object(name, SHOWN),
            Ty::Array { items, .. } if items.name().is_some() => {
                Some(format!("[{}]", self.value(items, "item")))
            }
            _ => None,
        }
    }

    /// The expression of a value, or an argument if the spec doesn't say enough.
    fn value(&mut self, ty: &Ty, name: &str) -> String {
        match ty {
            Ty::Text { .. } => self.give(name, "&str"),
            Ty::Integer { min, .. } => min.unwrap_or(1).to_string(),
            Ty::Count { min, .. } => min.to_string(),
            Ty::Boolean => "true".to_owned(),
            Ty::Nullable(_) => "None".to_owned(),
            Ty::Array { items, .. } => format!("[{}]", self.item(items, name)),
            Ty::Map(values) => format!("[(\"name\", {})]", self.item(values, name)),
            Ty::Named(component) => self.named(ty, component).unwrap_or_else(|| {
                let path = format!("{}::types::{component}", self.package);
                self.give(name, path)
            }),
            _ => self.give(name, format!("sdk_core::{}", self.schemas.rust(ty))),
        }
    }

    /// An item of a list or a value of a map. Inner lists and maps need their exact type, because they aren't converted.
    fn item(&mut self, ty: &Ty, name: &str) -> String {
        match ty {
            Ty::Array { .. } => "Vec::new()".to_owned(),
            Ty::Map(_) => "std::collections::BTreeMap::new()".to_owned(),
            ty => self.value(ty, name),
        }
    }

    fn named(&mut self, ty: &Ty, component: &str) -> Option<String> {
        match self.schemas.kind(ty)? {
            Kind::Reference(pattern) => Some(format!("{:?}", pattern.sample())),
            Kind::Constant(value) => Some(format!("{value:?}")),
            Kind::Enum { values, .. } => {
                self.types.insert(component.to_owned());
                Some(format!("{component}::{}", values.first()?.variant))
            }
            Kind::Struct(_) | Kind::Union { .. } if self.depth < DEPTH => self.object(component, 0),
            _ => None,
        }
    }

    /// The expression of an object with its required fields and some optional fields, or of the first variant of a union.
    fn object(&mut self, name: &str, optional: usize) -> Option<String> {
        let schemas = self.schemas;
        self.types.insert(name.to_owned());
        self.depth += 1;
        let text = match schemas.kind(&Ty::Named(name.to_owned()))? {
            Kind::Struct(fields) => self.structure(name, fields, optional),
            Kind::Union { variants, .. } => {
                let variant = variants.first()?;
                let mut value = self.object(&variant.component, optional)?;
                if rust::is_boxed(schemas, name, &variant.component) {
                    value = format!("Box::new({value})");
                }
                format!("{name}::{}({value})", variant.name)
            }
            _ => return None,
        };
        self.depth -= 1;
        Some(text)
    }

    fn structure(&mut self, name: &str, fields: &[Property], optional: usize) -> String {
        let schemas = self.schemas;
        let fields = fields.iter();
        let fields = fields.filter(|it| schemas.constant(&it.value.ty).is_none());
        let (required, others): (Vec<_>, Vec<_>) = fields.partition(|it| it.required);
        let mut arguments = Vec::new();
        for Property { field, value, .. } in required {
            arguments.push(if value.nullable {
                "None".to_owned()
            } else {
                self.value(&value.ty, field)
            });
        }
        let mut text = format!("{name}::new({})", arguments.join(", "));
        // rustdoc cuts longer lines.
        if text.len() > 85 {
            text = format!("{name}::new(\n    {},\n)", arguments.join(",\n    "));
        }
        let is_simple = |it: &&Property| match schemas.kind(&it.value.ty) {
            Some(kind) => matches!(kind, Kind::Enum { .. } | Kind::Reference(_)),
            None => matches!(it.value.ty, Ty::Text { .. }),
        };
        for Property { field, value, .. } in others.into_iter().filter(is_simple).take(optional) {
            let value = self.value(&value.ty, field);
            let _ = write!(text, "\n    .{field}({value})");
        }
        text
    }
}

fn is_open(ty: &Ty) -> bool {
    matches!(ty, Ty::Value | Ty::Record)
}
