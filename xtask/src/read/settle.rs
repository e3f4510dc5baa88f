//! The step after all schemas are read. Aliases are replaced by their types, lists become pages, and variants of unions get their
//! tags as constants. `directions` and `crosscheck` are the next steps.

use std::collections::{BTreeMap, BTreeSet};

use super::scalar::choices;
use crate::findings::{Findings, Weight};
use crate::model::{
    Component, Kind, Method, Operation, Parameter, Place, Property, Provenance, Reply, Schemas, Ty,
    Use,
};
use crate::names;
use crate::node::Node;

/// Completes all types of a document.
pub(super) fn settle(schemas: &mut Schemas, operations: &mut [Operation], findings: &mut Findings) {
    aliases(schemas, operations, findings);
    unions(schemas, findings);
    for operation in operations {
        operation.schema_version = version(schemas, &operation.reply);
        body(schemas, operation, findings);
        page(schemas, operation, findings);
    }
}

/// Replaces aliases by their types at every use.
fn aliases(schemas: &mut Schemas, operations: &mut [Operation], findings: &mut Findings) {
    let known = schemas.clone();
    let mut settle = |ty: &mut Ty, place: &str| {
        *ty = settled(&known, ty, 0).unwrap_or_else(|| {
            let rule = "a schema that contains itself without an object in between";
            findings.add(Weight::Raw, place, rule, "it is raw JSON");
            Ty::Value
        });
    };
    for component in schemas.components.values_mut() {
        match &mut component.kind {
            Kind::Struct(members) => {
                for member in members {
                    settle(&mut member.value.ty, &component.place);
                    member.value.keep_secret();
                }
            }
            Kind::Plain(ty) => settle(ty, &component.place),
            Kind::Union { variants, .. } => {
                for variant in variants {
                    let mut ty = Ty::Named(variant.component.clone());
                    settle(&mut ty, &component.place);
                    variant.component = ty.name().cloned().unwrap_or_default();
                }
            }
            _ => {}
        }
    }
    for operation in operations {
        let place = operation.route();
        let parameters = operation.parameters.iter_mut().map(|it| &mut it.value);
        let body = operation.body.as_mut().map(|it| &mut it.value);
        for value in parameters.chain(body) {
            settle(&mut value.ty, &place);
            value.keep_secret();
        }
        each_reply(&mut operation.reply, &mut |value| {
            settle(&mut value.ty, &place);
            if value.nullable && value.ty != Ty::Value {
                value.ty = Ty::Nullable(Box::new(value.ty.clone()));
            }
        });
    }
}

/// Resolves the aliases in a type. `None` if it contains itself.
fn settled(schemas: &Schemas, ty: &Ty, depth: usize) -> Option<Ty> {
    let again = |inner: &Ty| settled(schemas, inner, depth + 1).map(Box::new);
    if depth > 64 {
        return None;
    }
    Some(match ty {
        Ty::Named(name) => match &schemas.components.get(name)?.kind {
            Kind::Plain(inner) => *again(inner)?,
            _ => ty.clone(),
        },
        Ty::Array { items, min, max } => Ty::Array {
            items: again(items)?,
            min: *min,
            max: *max,
        },
        Ty::Map(inner) => Ty::Map(again(inner)?),
        Ty::Nullable(inner) => match *again(inner)? {
            plain @ (Ty::Value | Ty::Record | Ty::Nullable(_)) => plain,
            inner => Ty::Nullable(Box::new(inner)),
        },
        plain => plain.clone(),
    })
}

fn each_reply(reply: &mut Reply, visit: &mut dyn FnMut(&mut Use)) {
    match reply {
        Reply::Json(value) => visit(value),
        Reply::Several { cases, .. } => {
            for case in cases {
                each_reply(&mut case.reply, visit);
            }
        }
        Reply::Empty | Reply::Bytes(_) => {}
    }
}

/// The constant in the `schemaVersion` field of a response.
fn version(schemas: &Schemas, reply: &Reply) -> Option<String> {
    let members = schemas.members(reply.ty()?);
    let version = members.iter().find(|it| it.name == "schemaVersion")?;
    schemas.constant(&version.value.ty).map(str::to_owned)
}

/// Makes a body any JSON, unless it is an object, a union, or a list of either.
fn body(schemas: &Schemas, operation: &mut Operation, findings: &mut Findings) {
    let place = operation.route();
    let Some(body) = &mut operation.body else {
        return;
    };
    let item = match &body.value.ty {
        Ty::Array { items, .. } => items,
        ty => ty,
    };
    let is_sent = matches!(
        schemas.kind(item),
        Some(Kind::Struct(_) | Kind::Union { .. })
    );
    if !is_sent && body.value.ty != Ty::Value {
        let shown = body.value.ty.words();
        let rule = format!("a body that is {shown}");
        findings.add(Weight::Raw, &place, rule, "callers send any JSON");
        body.value.stated.push(format!("It is {shown}."));
        body.value.ty = Ty::Value;
    }
}

/// Recognizes a page by the `items` and `nextCursor` fields in the response to an operation with a `cursor`.
fn page(schemas: &mut Schemas, operation: &mut Operation, findings: &mut Findings) {
    let is_cursor = |it: &Parameter| it.name == "cursor" && it.place == Place::Query;
    if !operation.parameters.iter().any(is_cursor) {
        return;
    }
    if let Some(page) = page_of(schemas, operation, findings) {
        operation.reply = page;
    }
    if !operation.is_list() {
        let rule = "it has a `cursor`, but its response is not a page with a list `items` and a required string `nextCursor`";
        let remedy = "callers fetch the next pages themselves";
        findings.add(Weight::Noted, &operation.route(), rule, remedy);
    }
}

fn page_of(schemas: &mut Schemas, operation: &Operation, findings: &mut Findings) -> Option<Reply> {
    let Reply::Json(value) = &operation.reply else {
        return None;
    };
    let ty = match &value.ty {
        Ty::Nullable(inner) => inner,
        ty => ty,
    };
    let component = schemas
        .named(ty)
        .filter(|_| operation.method == Method::Get)?;
    let member = |name: &str| component.members().iter().find(|it| it.name == name);
    let (Ty::Array { items, .. }, next) = (&member("items")?.value.ty, member("nextCursor")?)
    else {
        return None;
    };
    if !matches!(next.value.ty, Ty::Text { .. }) {
        return None;
    }
    if !next.required {
        // Without it, the SDK can't recognize the last page.
        let rule = "a page whose `nextCursor` may be missing can't be paginated";
        let remedy = "require it in the overlay, if each page has it and the last page has null";
        findings.add(Weight::Noted, &component.place, rule, remedy);
        return None;
    }
    let mut others = component.members().to_vec();
    others.retain(|it| !["items", "nextCursor", "schemaVersion"].contains(&&*it.name));
    let items = items.clone();
    let members = (!others.is_empty()).then(|| {
        let place = format!("{}/members*", component.place);
        let is_taken = |name: &str| {
            let known = schemas.components.get(name);
            known.is_some_and(|it| it.place != place)
        };
        let name = format!("{}Members", component.name);
        let name = names::free_type(&name, "Model", is_taken);
        let words = names::words(&component.name).join(" ");
        Component {
            name,
            place: place.clone(),
            description: format!("The other fields of a {words}."),
            kind: Kind::Struct(others),
            ..component.clone()
        }
    });
    let name = members.as_ref().map(|it| it.name.clone());
    let added = members.into_iter().map(|it| (it.name.clone(), it));
    schemas.components.extend(added);
    Some(Reply::Json(Use {
        ty: Ty::Page {
            items,
            members: name,
        },
        ..value.clone()
    }))
}

/// Gives each variant of a union its tag. A union with a variant that is not an object becomes raw JSON.
fn unions(schemas: &mut Schemas, findings: &mut Findings) {
    let all = schemas.clone();
    let mut tags: BTreeMap<String, BTreeSet<(String, Vec<String>)>> = BTreeMap::new();
    for component in schemas.components.values_mut() {
        let Kind::Union { tag, variants } = &component.kind else {
            continue;
        };
        let is_object = |name| {
            let component = all.components.get(name);
            component.is_some_and(|it| matches!(it.kind, Kind::Struct(_)))
        };
        if !variants.iter().all(|it| is_object(&it.component)) {
            let rule = "a union with a variant that is not an object with properties";
            findings.add(Weight::Raw, &component.place, rule, "it is raw JSON");
            component.kind = Kind::Plain(Ty::Value);
            continue;
        }
        for variant in variants {
            let stated = (tag.clone(), variant.values.clone());
            let known = tags.entry(variant.component.clone()).or_default();
            known.insert(stated);
        }
    }
    for (name, stated) in tags {
        let mut stated = stated.into_iter();
        if let (Some((tag, values)), None) = (stated.next(), stated.next()) {
            state(schemas, &name, &tag, &values);
        }
    }
}

/// Makes a field of an object a constant or an enum. Adds the field if the object lacks it.
fn state(schemas: &mut Schemas, name: &str, tag: &str, values: &[String]) {
    let component = &schemas.components[name];
    let member = component.members().iter().find(|it| it.name == tag);
    let is_stated = match member.and_then(|it| schemas.kind(&it.value.ty)) {
        Some(Kind::Constant(_)) => true,
        Some(_) => values.len() > 1,
        None => false,
    };
    if is_stated {
        return;
    }
    let constant = format!("{name}{}", names::pascal(tag));
    let is_taken = |name: &str| schemas.components.contains_key(name);
    let constant = names::free_type(&constant, "Value", is_taken);
    let place = format!("{}/{tag}*", component.place);
    let stated = Component {
        name: constant.clone(),
        fields_at: place.clone(),
        place,
        description: String::new(),
        deprecated: false,
        provenance: Provenance::Documented,
        kind: match values {
            [value] => Kind::Constant(value.clone()),
            several => Kind::Enum {
                values: choices(&several.iter().cloned().map(Node::Text).collect::<Vec<_>>()),
                closed: true,
            },
        },
        assumptions: BTreeSet::new(),
    };
    schemas.components.insert(constant.clone(), stated);
    let Kind::Struct(members) = &mut schemas.components[name].kind else {
        return;
    };
    let ty = Ty::Named(constant);
    match members.iter_mut().find(|it| it.name == tag) {
        Some(member) => member.value.ty = ty,
        None => members.insert(
            0,
            Property {
                name: tag.to_owned(),
                field: names::snake(tag),
                required: false,
                deprecated: false,
                read_only: false,
                write_only: false,
                value: Use {
                    description: "The tag of the variant.".to_owned(),
                    ..Use::of(ty)
                },
                boxed: false,
            },
        ),
    }
}
