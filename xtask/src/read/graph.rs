//! The type graph that progenitor builds from a document. Each object has its merged fields. Each field has its place and
//! type, and is or is not required and nullable.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};

use progenitor::{GenerationSettings, Generator, TypeImpl};
use typify::{Type, TypeDetails, TypeSpace};

use super::view::{OWN, View};
use crate::node::Node;
use crate::{Result, at};

const ROOT: &str = "::own_types::";

/// A type, by the places of schemas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The object at a place.
    Schema(String),
    /// An object that progenitor merged from several schemas, and that no schema of the document names.
    Merged(String),
    Own(&'static str),
    /// Any other type, such as values, a pattern, a constant or a union.
    Opaque,
    Text,
    Bool,
    Integer,
    Option(Box<Found>),
    List(Box<Found>),
    Map(Box<Found>),
    Boxed(Box<Found>),
}

impl Found {
    pub(super) fn bare(&self) -> &Found {
        match self {
            Self::Option(inner) => inner,
            other => other,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Field {
    pub(super) required: bool,
    pub(super) nullable: bool,
    pub(super) found: Found,
}

/// The objects of a document by place, and the merged objects by name.
pub(super) type Objects = BTreeMap<String, BTreeMap<String, Field>>;

/// Reads a document with progenitor.
pub(super) fn objects(root: &Node) -> Result<Objects> {
    let mut objects = run(&View::of(root, false))?;
    let required = run(&View::of(root, true))?;
    for (place, fields) in &mut objects {
        let required = required.get(place);
        for (name, field) in fields {
            let field_of = required.and_then(|it| it.get(name));
            field.nullable = field_of.is_some_and(|it| matches!(it.found, Found::Option(_)));
        }
    }
    Ok(objects)
}

fn run(view: &View<'_>) -> Result<Objects> {
    let document =
        serde_json::from_value(view.document()).map_err(at("the view for progenitor"))?;
    let mut settings = GenerationSettings::default();
    settings.with_map_type("::std::collections::BTreeMap");
    let own = OWN.iter().map(|(name, ..)| (*name).to_owned());
    for name in own.chain(view.opaque.iter().cloned()) {
        let path = format!("{ROOT}{name}");
        settings.with_replacement(name, path, [TypeImpl::Display].into_iter());
    }
    let mut generator = Generator::new(&settings);
    let generated = catch_unwind(AssertUnwindSafe(|| generator.generate_tokens(&document)));
    generated
        .map_err(|_| "progenitor gave up on the schemas")?
        .map_err(at("progenitor"))?;
    Graph::of(generator.get_type_space(), view).objects()
}

struct Graph<'a> {
    space: &'a TypeSpace,
    places: BTreeMap<&'a str, &'a str>,
    members: BTreeMap<&'a str, &'a str>,
    opaque: &'a BTreeSet<String>,
}

impl<'a> Graph<'a> {
    fn of(space: &'a TypeSpace, view: &'a View<'_>) -> Self {
        let turned = |map: &'a BTreeMap<String, String>| {
            map.iter().map(|(ours, view)| (&**view, &**ours)).collect()
        };
        Self {
            space,
            places: turned(&view.types),
            members: turned(&view.members),
            opaque: &view.opaque,
        }
    }

    fn objects(&self) -> Result<Objects> {
        let mut objects = Objects::new();
        for found in self.space.iter_types() {
            if let Some(fields) = self.fields(&found)? {
                let name = found.name();
                let place = self.places.get(&*name).map(|it| (*it).to_owned());
                objects.insert(place.unwrap_or(name), fields);
            }
        }
        Ok(objects)
    }

    /// The fields of an object. `None` for any other type.
    fn fields(&self, ty: &Type<'_>) -> Result<Option<BTreeMap<String, Field>>> {
        let details = match ty.details() {
            TypeDetails::Struct(details) => details,
            // A newtype that merges a single object is an alias of it.
            TypeDetails::Newtype(alias) => {
                let inner = self
                    .space
                    .get_type(&alias.inner())
                    .map_err(at("progenitor"))?;
                return self.fields(&inner);
            }
            _ => return Ok(None),
        };
        let mut fields = BTreeMap::new();
        for info in details.properties_info() {
            let Some(name) = self.members.get(info.name) else {
                continue;
            };
            let ty = self
                .space
                .get_type(&info.type_id)
                .map_err(at("progenitor"))?;
            let field = Field {
                required: info.required,
                nullable: false,
                found: self.ty(&ty)?,
            };
            fields.insert((*name).to_owned(), field);
        }
        Ok(Some(fields))
    }

    fn ty(&self, ty: &Type<'_>) -> Result<Found> {
        let inner = |id| {
            let ty = self.space.get_type(&id).map_err(at("progenitor"))?;
            self.ty(&ty).map(Box::new)
        };
        Ok(match ty.details() {
            TypeDetails::Option(id) => Found::Option(inner(id)?),
            TypeDetails::Vec(id) => Found::List(inner(id)?),
            TypeDetails::Map(_, id) => Found::Map(inner(id)?),
            // The entry point of the cycle decides whether the box is inside or outside the option.
            TypeDetails::Box(id) => match *inner(id)? {
                Found::Option(found) => Found::Option(Box::new(Found::Boxed(found))),
                found => Found::Boxed(Box::new(found)),
            },
            TypeDetails::String => Found::Text,
            TypeDetails::Builtin("bool") => Found::Bool,
            TypeDetails::Builtin("i64") => Found::Integer,
            TypeDetails::Builtin(name) => self.named(name),
            TypeDetails::Struct(_) | TypeDetails::Newtype(_) => self.named(&ty.name()),
            // Contradicting schemas.
            _ => Found::Merged(ty.name()),
        })
    }

    fn named(&self, name: &str) -> Found {
        let name = name.trim_start_matches(ROOT).trim_start_matches("types::");
        if let Some((_, own, _)) = OWN.iter().find(|(view, ..)| *view == name) {
            return Found::Own(own);
        }
        if self.opaque.contains(name) {
            return Found::Opaque;
        }
        match self.places.get(name) {
            Some(place) => Found::Schema((*place).to_owned()),
            None => Found::Merged(name.to_owned()),
        }
    }
}
