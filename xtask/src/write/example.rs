//! The example of an operation, which is compiled with the docs of its crate.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::Result;
use crate::model::{Body, Kind, Operation, Property, Schemas, Spec, Ty};

use super::rust;

/// How many optional members an example of a body sets, to show how it is done.
const SHOWN: usize = 2;

/// How deep an example writes objects out: a required member may contain its own type.
const DEPTH: usize = 4;

/// What an example needs besides its lines.
struct Context<'a> {
    schemas: &'a Schemas,
    package: String,
    /// Types out of the `types` module.
    types: BTreeSet<String>,
    /// Values that the reader has: arguments of the hidden function around the example.
    given: Vec<(String, String)>,
    depth: usize,
}

impl Context<'_> {
    /// A value that the reader has, by a name that no other one has.
    fn give(&mut self, name: &str, ty: impl Into<String>) -> String {
        let taken = |name: &str| self.given.iter().any(|(given, _)| given == name);
        let mut free = name.to_owned();
        while taken(&free) {
            free = format!("other_{free}");
        }
        self.given.push((free.clone(), ty.into()));
        free
    }
}

/// Writes the example as a code block.
pub(super) fn write(spec: &Spec, operation: &Operation) -> Result<String> {
    let (client, package) = (spec.app.name, spec.app.crate_name());
    let mut context = Context {
        schemas: &spec.schemas,
        package: package.clone(),
        types: BTreeSet::new(),
        given: vec![(client.to_owned(), format!("{package}::Client"))],
        depth: 0,
    };
    let mut arguments = Vec::new();
    for parameter in operation.parameters.iter().filter(|it| it.required) {
        let ty = &parameter.value.ty;
        arguments.push(value(ty, &parameter.field, &mut context)?);
    }
    let mut lines = Vec::new();
    let mut optional = String::new();
    if let Some(body) = &operation.body {
        let argument = body_value(body, &mut lines, &mut context)?;
        if body.required {
            arguments.push(argument);
        } else {
            optional = format!(".body({argument})");
        }
    }
    let call = format!(
        "{client}.{}().{}({}){optional}",
        operation.group,
        operation.name,
        arguments.join(", ")
    );
    let limit = operation.parameter("limit").filter(|it| !it.required);
    let limited = match limit.map(|limit| (&limit.value.ty, &limit.field)) {
        Some((Ty::Count { max, .. }, field)) => format!("{call}.{field}({max})"),
        _ => call.clone(),
    };
    if operation.is_list() {
        lines.extend([
            format!("let page = {limited}.await?;"),
            "println!(\"{} on this page\", page.items()?.len());\n".to_owned(),
        ]);
        if let Some(members) = members(operation) {
            lines.push(format!(
                "let members = page.members::<{members}>()?;\nprintln!(\"{{members:?}}\");\n"
            ));
            context.types.insert(members.clone());
        }
        let shown = if is_record(operation) {
            "{item}"
        } else {
            "{item:?}"
        };
        lines.extend([
            "// Or all of them: pages are fetched as they are needed.".to_owned(),
            format!("let mut items = {call}.items();"),
            format!(
                "while let Some(item) = items.try_next().await? {{\n    println!(\"{shown}\");\n}}"
            ),
        ]);
    } else {
        let name = if operation.is_command() {
            "receipt"
        } else {
            "response"
        };
        lines.extend([
            format!("let {name} = {limited}.await?;"),
            format!("println!(\"{{{name}:?}}\");"),
        ]);
    }
    let mut given = Vec::new();
    for (name, ty) in &context.given {
        given.push(format!("{name}: {ty}"));
    }
    let types: Vec<&str> = context.types.iter().map(String::as_str).collect();
    let imports = match types.as_slice() {
        [] => String::new(),
        [only] => format!("use {package}::types::{only};\n\n"),
        several => format!("use {package}::types::{{{}}};\n\n", several.join(", ")),
    };
    Ok(format!(
        "```no_run\n# async fn example({}) -> Result<(), sdk_core::Error> {{\n\
         {imports}{}\n# Ok(())\n# }}\n```",
        given.join(", "),
        lines.join("\n")
    ))
}

/// The component of the further members of a page.
fn members(operation: &Operation) -> Option<&String> {
    match operation.reply.ty()? {
        Ty::Page { members, .. } => members.as_ref(),
        _ => None,
    }
}

/// Whether the items of a list can be printed as they are.
fn is_record(operation: &Operation) -> bool {
    let items = operation.reply.ty().and_then(Ty::inner);
    matches!(items, Some(Ty::Value | Ty::Record))
}

/// What is handed in as a body; it has lines of its own if it is written out.
fn body_value(body: &Body, lines: &mut Vec<String>, context: &mut Context<'_>) -> Result<String> {
    let ty = &body.value.ty;
    let written = match ty {
        Ty::Named(name) => object(name, SHOWN, context)?,
        Ty::Array { items, .. } if items.name().is_some() => {
            format!("[{}]", value(items, "item", context)?)
        }
        _ => return Ok(context.give("body", "sdk_core::RawJson")),
    };
    lines.push(format!("let body = {written};"));
    Ok("&body".to_owned())
}

/// A value of a type: written out where the spec says enough, and otherwise one that the reader has.
fn value(ty: &Ty, name: &str, context: &mut Context<'_>) -> Result<String> {
    match ty {
        Ty::Text { .. } => return Ok(context.give(name, "&str")),
        Ty::Integer { min, .. } => return Ok(min.unwrap_or(1).to_string()),
        Ty::Count { min, .. } => return Ok(min.to_string()),
        Ty::Boolean => return Ok("true".into()),
        Ty::Nullable(_) => return Ok("None".into()),
        Ty::Array { items, .. } if !is_open(items) => {
            return Ok(format!("[{}]", value(items, name, context)?));
        }
        Ty::Map(values) if !is_open(values) => {
            let value = value(values, name, context)?;
            return Ok(format!("[(\"name\", {value})]"));
        }
        Ty::Named(component) => match context.schemas.kind(ty) {
            Some(Kind::Reference(pattern)) => {
                return Ok(format!("{:?}", pattern.sample()));
            }
            Some(Kind::Enum { values, .. }) => {
                if let Some(first) = values.first() {
                    context.types.insert(component.clone());
                    return Ok(format!("{component}::{}", first.variant));
                }
            }
            Some(Kind::Struct(_) | Kind::Union { .. }) if context.depth < DEPTH => {
                return object(component, 0, context);
            }
            _ => {}
        },
        _ => {}
    }
    let ty = path(ty, context);
    Ok(context.give(name, ty))
}

fn is_open(ty: &Ty) -> bool {
    matches!(ty, Ty::Value | Ty::Record)
}

/// A type with the path that it has outside of its crate.
fn path(ty: &Ty, context: &Context<'_>) -> String {
    match ty {
        Ty::Nullable(inner) => format!("Option<{}>", path(inner, context)),
        Ty::Array { items, .. } => format!("Vec<{}>", path(items, context)),
        Ty::Map(values) => format!(
            "std::collections::BTreeMap<String, {}>",
            path(values, context)
        ),
        _ if rust::is_copied(ty) || context.schemas.is_text(ty) => context.schemas.rust(ty),
        Ty::Named(name) => format!("{}::types::{name}", context.package),
        _ => format!("sdk_core::{}", context.schemas.rust(ty)),
    }
}

/// An expression that makes an object with its required members and some optional ones, or a union of its first variant.
fn object(name: &str, optional: usize, context: &mut Context<'_>) -> Result<String> {
    let schemas = context.schemas;
    context.types.insert(name.to_owned());
    context.depth += 1;
    let text = match schemas.kind(&Ty::Named(name.to_owned())) {
        Some(Kind::Struct(members)) => structure(name, members, optional, context)?,
        Some(Kind::Union { variants, .. }) => {
            let variant = variants.first().ok_or("a union without variants")?;
            let value = object(&variant.component, optional, context)?;
            let boxed = rust::is_boxed(schemas, name, &variant.component);
            let value = if boxed {
                format!("Box::new({value})")
            } else {
                value
            };
            format!("{name}::{}({value})", variant.name)
        }
        _ => return Err(format!("schema `{name}` is no object")),
    };
    context.depth -= 1;
    Ok(text)
}

fn structure(
    name: &str,
    members: &[Property],
    optional: usize,
    context: &mut Context<'_>,
) -> Result<String> {
    let schemas = context.schemas;
    let stated = |member: &&Property| schemas.constant(&member.value.ty).is_none();
    let (required, others): (Vec<_>, Vec<_>) = members
        .iter()
        .filter(stated)
        .partition(|member| member.required);
    let mut arguments = Vec::new();
    for member in required {
        let collects = matches!(member.value.ty, Ty::Array { .. } | Ty::Map(_));
        arguments.push(if member.value.nullable && collects {
            "None".to_owned()
        } else {
            let value = value(&member.value.ty, &member.field, context)?;
            if member.value.nullable {
                format!("Some({value}.into())")
            } else {
                value
            }
        });
    }
    let mut text = format!("{name}::new({})", arguments.join(", "));
    let telling = |member: &&Property| match schemas.kind(&member.value.ty) {
        Some(kind) => matches!(kind, Kind::Enum { .. } | Kind::Reference(_)),
        None => matches!(member.value.ty, Ty::Text { .. }),
    };
    for member in others.into_iter().filter(telling).take(optional) {
        let value = value(&member.value.ty, &member.field, context)?;
        let _ = write!(text, "\n    .{}({value})", member.field);
    }
    Ok(text)
}
