//! Reads the type graph, and holds it against the model: type by type, member by member.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use progenitor::{GenerationSettings, Generator, TypeImpl};
use typify::{Type, TypeDetails, TypeSpace};

use super::view::{Names, OWN, document};
use crate::model::{Kind, Schemas, Shape, Spec, Ty};
use crate::{Result, at};

/// The root of the paths of types that stand for others; no crate of this name exists.
const ROOT: &str = "::own_types::";

/// Gives each member and each parameter its type.
pub(crate) fn run(spec: &mut Spec) -> Result<()> {
    let mut names = Names::default();
    let (view, replaced) = document(spec, &mut names);
    let view = serde_json::from_value(view).map_err(at("the view for progenitor"))?;
    let mut settings = GenerationSettings::default();
    settings.with_map_type("::std::collections::BTreeMap");
    let replaced = replaced.iter().map(|name| names.types[name].clone());
    for name in OWN
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .chain(replaced)
    {
        let path = format!("{ROOT}{name}");
        settings.with_replacement(name, path, [TypeImpl::Display].into_iter());
    }
    let mut generator = Generator::new(&settings);
    let generated = catch_unwind(AssertUnwindSafe(|| generator.generate_tokens(&view)));
    generated
        .map_err(|_| "progenitor gave up on the schemas")?
        .map_err(at("progenitor"))?;
    let graph = Graph::of(generator.get_type_space(), &names);

    let schemas = spec.schemas.clone();
    for component in spec.schemas.components.values_mut() {
        let Kind::Struct(members) = &mut component.kind else {
            continue;
        };
        if members.is_empty() {
            continue;
        }
        let place = format!("schema `{}`", component.name);
        let fields = graph
            .fields(&names.types[&component.name])
            .map_err(at(&place))?;
        if fields.len() != members.len() {
            return Err(format!(
                "{place}: progenitor made {} fields of {} members",
                fields.len(),
                members.len()
            ));
        }
        for member in members {
            let place = format!("{place}: member `{}`", member.name);
            let is_option = !member.required || member.value.nullable;
            let ty = names
                .members
                .get(&member.name)
                .and_then(|name| fields.get(name));
            member.ty = fitting(&schemas, ty, &member.value.shape, is_option).map_err(at(place))?;
        }
    }
    let operations = spec.operations.iter_mut();
    for operation in operations.filter(|it| !it.parameters.is_empty()) {
        let place = format!("operation `{}`", operation.id);
        let fields = graph
            .fields(&names.types[&format!("{}()", operation.id)])
            .map_err(at(&place))?;
        for parameter in &mut operation.parameters {
            let place = format!("{place}: parameter `{}`", parameter.name);
            let ty = names
                .members
                .get(&parameter.field)
                .and_then(|name| fields.get(name));
            let is_option = !parameter.required;
            parameter.ty =
                fitting(&schemas, ty, &parameter.value.shape, is_option).map_err(at(place))?;
        }
    }
    Ok(())
}

/// The type of the graph, if it is one for the shape.
fn fitting(schemas: &Schemas, ty: Option<&Ty>, shape: &Shape, is_option: bool) -> Result<Ty> {
    let found = ty.ok_or("progenitor has lost it")?;
    let mut ty = match found {
        // Where the circle is entered decides on which side the box comes.
        Ty::Boxed(inner) if inner.is_option() => {
            Ty::Option(Box::new(Ty::Boxed(Box::new(inner.bare().clone()))))
        }
        ty => ty.clone(),
    };
    // An optional list or map comes bare, since an absent one reads as an empty one; here they differ.
    if is_option && matches!(ty, Ty::List(_) | Ty::Map(_)) {
        ty = Ty::Option(Box::new(ty));
    }
    if ty.is_option() == is_option && fits(schemas, ty.bare(), shape) {
        return Ok(ty);
    }
    Err(format!("progenitor made `{found}` of {shape:?}"))
}

/// Whether a type is one for a shape. Both sides say it, so that neither can lose anything unnoticed.
fn fits(schemas: &Schemas, ty: &Ty, shape: &Shape) -> bool {
    match (ty, shape) {
        (Ty::Boxed(inner), shape) => fits(schemas, inner, shape),
        (Ty::Text, shape @ Shape::Named(_)) => schemas.constant(shape).is_some(),
        (Ty::Named(name), Shape::Named(other)) => name == other,
        (Ty::List(inner), Shape::Array { items, .. }) => fits(schemas, inner, items),
        (Ty::Map(inner), Shape::Map(values)) => fits(schemas, inner, values),
        (Ty::Option(inner), Shape::Nullable(value)) => fits(schemas, inner, value),
        (Ty::Text, Shape::Text { secret: false, .. })
        | (Ty::I64 | Ty::U32, Shape::Integer { .. })
        | (Ty::Bool, Shape::Boolean) => true,
        (Ty::Own(own), shape) => matches!(
            (*own, shape),
            ("RawJson", Shape::Value)
                | ("Record", Shape::Record)
                | ("Timestamp", Shape::Timestamp)
                | ("Date", Shape::Date)
                | ("Number", Shape::Number)
                | ("Page", Shape::Page { .. })
                | ("Secret", Shape::Text { secret: true, .. })
        ),
        _ => false,
    }
}

/// The type graph with our names.
struct Graph<'a> {
    space: &'a TypeSpace,
    /// What the names of the view stand for.
    ours: BTreeMap<&'a str, &'a str>,
    structs: BTreeMap<String, Type<'a>>,
}

impl<'a> Graph<'a> {
    fn of(space: &'a TypeSpace, names: &'a Names) -> Self {
        let ours = names.types.iter().map(|(ours, view)| (&**view, &**ours));
        let structs = space
            .iter_types()
            .filter(|it| matches!(it.details(), TypeDetails::Struct(_)))
            .map(|it| (it.name(), it));
        Self {
            space,
            ours: ours.collect(),
            structs: structs.collect(),
        }
    }

    /// The types of the members of an object, by their names in the view.
    fn fields(&self, name: &str) -> Result<BTreeMap<String, Ty>> {
        let found = self
            .structs
            .get(name)
            .ok_or("progenitor made no struct of it")?;
        let TypeDetails::Struct(details) = found.details() else {
            return Err("progenitor made no struct of it".into());
        };
        let mut fields = BTreeMap::new();
        for (name, id) in details.properties() {
            let ty = self.space.get_type(&id).map_err(at("progenitor"))?;
            fields.insert(name.to_owned(), self.ty(&ty)?);
        }
        Ok(fields)
    }

    fn ty(&self, ty: &Type<'_>) -> Result<Ty> {
        let inner = |id| {
            let ty = self.space.get_type(&id).map_err(at("progenitor"))?;
            self.ty(&ty).map(Box::new)
        };
        Ok(match ty.details() {
            TypeDetails::Option(id) => Ty::Option(inner(id)?),
            TypeDetails::Vec(id) => Ty::List(inner(id)?),
            TypeDetails::Map(_, id) => Ty::Map(inner(id)?),
            TypeDetails::Box(id) => Ty::Boxed(inner(id)?),
            TypeDetails::String => Ty::Text,
            TypeDetails::Builtin(name) => match name.trim_start_matches(ROOT) {
                "bool" => Ty::Bool,
                "i64" => Ty::I64,
                "u32" => Ty::U32,
                other => self.named(other)?,
            },
            TypeDetails::Struct(_) => self.named(&ty.name())?,
            _ => return Err(format!("progenitor made `{}` of it", ty.describe())),
        })
    }

    fn named(&self, name: &str) -> Result<Ty> {
        let name = name.trim_start_matches(ROOT).trim_start_matches("types::");
        if let Some((_, own)) = OWN.iter().find(|(view, _)| *view == name) {
            return Ok(Ty::Own(own));
        }
        let ours = self.ours.get(name);
        let ours = ours.ok_or_else(|| format!("progenitor made `{name}` of it"))?;
        Ok(Ty::Named((*ours).to_owned()))
    }
}
