//! The last step of reading: names for what needs no declaration are replaced by what they stand for, and the variants
//! of unions carry their tag.

use std::collections::{BTreeMap, BTreeSet};

use crate::findings::{Findings, Weight};
use crate::model::{
    Component, Kind, Method, Operation, Property, Provenance, Reply, Schemas, Ty, Use,
};
use crate::names;
use crate::node::Node;

use super::scalar::choices;

/// Follows a type through all other names for it.
fn settled(schemas: &Schemas, ty: &Ty, depth: usize) -> Option<Ty> {
    let again = |inner: &Ty| settled(schemas, inner, depth + 1).map(Box::new);
    if depth > 64 {
        return None;
    }
    Some(match ty {
        Ty::Named(name) => match schemas.components.get(name).map(|it| &it.kind) {
            Some(Kind::Plain(inner)) => settled(schemas, inner, depth + 1)?,
            Some(_) => ty.clone(),
            None => return None,
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
        Ty::Page { items, members } => Ty::Page {
            items: again(items)?,
            members: members.clone(),
        },
        plain => plain.clone(),
    })
}

/// Settles all types of a document.
pub(super) fn settle(schemas: &mut Schemas, operations: &mut [Operation], findings: &mut Findings) {
    unions(schemas, findings);
    pages(schemas, operations, findings);
    let known = schemas.clone();
    let settle = |ty: &mut Ty, place: &str, findings: &mut Findings| {
        *ty = settled(&known, ty, 0).unwrap_or_else(|| {
            let rule = "a schema that contains itself without an object in between";
            findings.add(Weight::Raw, place, rule, "it stays raw JSON");
            Ty::Value
        });
    };
    for component in schemas.components.values_mut() {
        let place = component.place.clone();
        match &mut component.kind {
            Kind::Struct(members) => {
                for member in members {
                    settle(&mut member.value.ty, &place, findings);
                }
            }
            Kind::Plain(ty) => settle(ty, &place, findings),
            _ => {}
        }
    }
    for operation in operations {
        let place = operation.route();
        if operation.parameter("cursor").is_some() && !operation.is_list() {
            let rule = "it has a `cursor`, and its reply is no page: a list `items`, and a text `nextCursor` that is required";
            let remedy = "callers fetch further pages themselves";
            findings.add(Weight::Noted, &place, rule, remedy);
        }
        for parameter in &mut operation.parameters {
            settle(&mut parameter.value.ty, &place, findings);
        }
        if let Some(body) = &mut operation.body {
            settle(&mut body.value.ty, &place, findings);
            let ty = &body.value.ty;
            let is_sent = |ty: &Ty| match ty {
                Ty::Named(name) => matches!(
                    known.components[name].kind,
                    Kind::Struct(_) | Kind::Union { .. }
                ),
                _ => false,
            };
            let fits = match ty {
                Ty::Array { items, .. } => is_sent(items),
                ty => is_sent(ty),
            };
            if !fits && *ty != Ty::Value {
                let shown = ty.words();
                let rule = format!("a body that is {shown}");
                findings.add(Weight::Raw, &place, rule, "any JSON is sent for it");
                body.value.stated.push(format!("It is {shown}."));
                body.value.ty = Ty::Value;
            }
        }
        each_reply(&mut operation.reply, &mut |value| {
            settle(&mut value.ty, &place, findings);
            if value.nullable && !matches!(value.ty, Ty::Value | Ty::Page { .. }) {
                value.ty = Ty::Nullable(Box::new(value.ty.clone()));
            }
        });
    }
}

/// Visits the JSON of each success.
pub(super) fn each_reply(reply: &mut Reply, visit: &mut dyn FnMut(&mut Use)) {
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

/// Pages of lists, known by their fields: `items` and `nextCursor` in the reply to an operation with a `cursor`.
fn pages(schemas: &mut Schemas, operations: &mut [Operation], findings: &mut Findings) {
    for operation in operations {
        if operation.method != Method::Get || operation.parameter("cursor").is_none() {
            continue;
        }
        let Reply::Json(value) = &mut operation.reply else {
            continue;
        };
        let Some(Ty::Named(name)) = settled(schemas, &value.ty, 0) else {
            continue;
        };
        let component = &schemas.components[&name];
        let member = |name: &str| component.members().iter().find(|it| it.name == name);
        let list = member("items").and_then(|it| settled(schemas, &it.value.ty, 0));
        let (Some(Ty::Array { items, .. }), Some(next)) = (list, member("nextCursor")) else {
            continue;
        };
        let cursor = settled(schemas, &next.value.ty, 0);
        if !matches!(cursor, Some(Ty::Text { .. })) {
            continue;
        }
        if !next.required {
            // Without it, nobody knows whether a page is the last one.
            let rule = "a page whose `nextCursor` may be missing is no page to walk";
            let remedy = "require it in the overlay, if each page has it, null on the last one";
            findings.add(Weight::Noted, &component.place, rule, remedy);
            continue;
        }
        let named = ["items", "nextCursor", "schemaVersion"];
        let mut others = component.members().to_vec();
        others.retain(|it| !named.contains(&it.name.as_str()));
        let mut members = None;
        if !others.is_empty() {
            let mut further = format!("{name}Members");
            let of_page = |it: &Component| it.place == format!("{}/members*", component.place);
            while schemas
                .components
                .get(&further)
                .is_some_and(|it| !of_page(it))
            {
                further.push_str("Model");
            }
            let further_members = Component {
                name: further.clone(),
                place: format!("{}/members*", component.place),
                description: format!("The further members of {}.", spaced(&name)),
                kind: Kind::Struct(others),
                schema_version: None,
                ..component.clone()
            };
            schemas.components.insert(further.clone(), further_members);
            members = Some(further);
        }
        value.ty = Ty::Page { items, members };
    }
}

/// `PeoplePage` as `a people page`, for a sentence.
fn spaced(name: &str) -> String {
    format!("a {}", names::words(name).join(" "))
}

/// The variants of unions are objects, and each states its tag; a union of anything else is raw JSON.
fn unions(schemas: &mut Schemas, findings: &mut Findings) {
    let all = schemas.clone();
    let mut tags: BTreeMap<String, BTreeSet<(String, Vec<String>)>> = BTreeMap::new();
    for component in schemas.components.values_mut() {
        let Kind::Union { tag, variants } = &mut component.kind else {
            continue;
        };
        let mut fits = true;
        for variant in variants.iter_mut() {
            match settled(&all, &Ty::Named(variant.component.clone()), 0) {
                Some(Ty::Named(name)) if matches!(all.components[&name].kind, Kind::Struct(_)) => {
                    variant.component = name;
                }
                _ => fits = false,
            }
        }
        if !fits {
            let rule = "a union of something that is no object with members";
            findings.add(Weight::Raw, &component.place, rule, "it stays raw JSON");
            component.kind = Kind::Plain(Ty::Value);
            continue;
        }
        for variant in variants {
            let stated = (tag.clone(), variant.values.clone());
            tags.entry(variant.component.clone())
                .or_default()
                .insert(stated);
        }
    }
    for (name, stated) in tags {
        let mut stated = stated.into_iter();
        if let (Some((tag, values)), None) = (stated.next(), stated.next()) {
            let kind = match values.as_slice() {
                [value] => Kind::Constant(value.clone()),
                several => Kind::Enum {
                    values: choices(&several.iter().cloned().map(Node::Text).collect::<Vec<_>>()),
                    closed: true,
                },
            };
            state(schemas, &name, &tag, kind);
        }
    }
}

/// Makes a member of an object a constant, or one of few values, and adds it if the object lacks it.
fn state(schemas: &mut Schemas, name: &str, tag: &str, kind: Kind) {
    let known = schemas.clone();
    let Some(component) = schemas.components.get_mut(name) else {
        return;
    };
    let Kind::Struct(members) = &mut component.kind else {
        return;
    };
    let member = members.iter().position(|member| member.name == tag);
    let is_stated = member.is_some_and(|at| {
        let ty = settled(&known, &members[at].value.ty, 0);
        ty.is_some_and(|ty| match known.kind(&ty) {
            Some(Kind::Constant(_)) => true,
            Some(_) => matches!(kind, Kind::Enum { .. }),
            None => false,
        })
    });
    if is_stated {
        return;
    }
    let mut constant = format!("{name}{}", names::pascal(tag));
    while known.components.contains_key(&constant) {
        constant.push_str("Value");
    }
    let ty = Ty::Named(constant.clone());
    match member {
        Some(at) => members[at].value.ty = ty,
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
                    description: "What this is.".to_owned(),
                    ..Use::of(ty)
                },
                boxed: false,
            },
        ),
    }
    let place = format!("{}/{tag}*", component.place);
    schemas.components.insert(
        constant.clone(),
        Component {
            name: constant,
            schema: place.clone(),
            place,
            description: String::new(),
            deprecated: false,
            provenance: Provenance::Documented,
            kind,
            assumptions: BTreeSet::new(),
            schema_version: None,
        },
    );
}
