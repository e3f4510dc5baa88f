//! Names of types that callers know: where a document has a schema without a name at the place of a type of the spec
//! before, the type keeps its name. What the vendor named has the vendor's name.

use std::collections::BTreeSet;

use super::overlay::path;
use super::propose::by_route;
use super::route;
use crate::model::{Component, Spec};
use crate::node::Node;

/// The places of types that would get a derived name, as `JSONPath`s, and the names that they had.
pub(super) fn kept(before: &Spec, after: &Spec, document: &Node) -> Vec<(String, String)> {
    let pairs = pairs(before, after);
    let component = |spec: &Spec, name: &str| spec.schemas.components.get(name).cloned();
    let alone = pairs.iter().filter(|(old, new)| {
        // One name for one type, and none that means another one.
        let mut others = pairs.iter().filter(|it| it.0 == *old || it.1 == *new);
        let is_alone = others.nth(1).is_none();
        is_alone && component(after, old).is_none() && component(before, new).is_none()
    });
    let kept = alone.filter_map(|(old, new)| {
        component(before, old).filter(Component::is_type)?;
        let new = component(after, new).filter(Component::is_type)?;
        Some((nameless(document, &new.place)?, old.clone()))
    });
    kept.collect()
}

/// Where a schema can be given a name: not where the vendor gave one, nor where another schema is meant.
fn nameless(document: &Node, place: &str) -> Option<String> {
    let is_component = place.starts_with("/components/schemas/") && place.matches('/').count() == 3;
    let node = document.pointer(place)?;
    let mut given = ["x-sdk-name", "$ref"].iter();
    let is_named = is_component || given.any(|key| node.get(key).is_some());
    node.object().filter(|_| !is_named)?;
    path(document, place)
}

/// The names of types that stand at the same place.
fn pairs(before: &Spec, after: &Spec) -> BTreeSet<(String, String)> {
    let known = by_route(before);
    let mut open = Vec::new();
    for new in &after.operations {
        let Some(old) = known.get(&route(&new.route())) else {
            continue;
        };
        for parameter in &new.parameters {
            let same = old.parameter(&parameter.name);
            open.extend(same.map(|it| (&it.value.ty, &parameter.value.ty)));
        }
        let bodies = old.body.as_ref().zip(new.body.as_ref());
        open.extend(bodies.map(|(old, new)| (&old.value.ty, &new.value.ty)));
        open.extend(old.reply.ty().zip(new.reply.ty()));
    }
    let mut pairs = BTreeSet::new();
    while let Some((old, new)) = open.pop() {
        open.extend(old.inner().zip(new.inner()));
        let Some((was, is)) = old.name().zip(new.name()) else {
            continue;
        };
        if pairs.insert((was.clone(), is.clone())) {
            for member in before.schemas.members(old) {
                let mut others = after.schemas.members(new).iter();
                let same = others.find(|it| it.name == member.name);
                open.extend(same.map(|it| (&member.value.ty, &it.value.ty)));
            }
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::kept;
    use crate::adopt::model;
    use crate::model::App;
    use crate::node::Node;

    /// Documents of one list, with the schemas of its parameter, of its reply and of what that refers to.
    fn names(before: [&str; 3], after: [&str; 3]) -> Vec<String> {
        let document = |[parameter, reply, others]: [&str; 3]| {
            let text = format!(
                "openapi: 3.1.0
info: {{title: Zoo, version: '1'}}
paths:
  /pets:
    get:
      operationId: listPets
      parameters: [{{name: kind, in: query, schema: {parameter}}}]
      responses: {{'200': {{description: All., content: {{application/json: {{schema: {reply}}}}}}}}}
components: {{schemas: {others}}}"
            );
            Node::parse(&text).unwrap()
        };
        let [before, after] = [before, after].map(document);
        let spec = |document| model(App::named("crm").unwrap(), document).unwrap().0;
        let kept = kept(&spec(&before), &spec(&after), &after).into_iter();
        kept.map(|(path, name)| format!("{path} {name}")).collect()
    }

    const KIND: &str = "{type: string, enum: [cat, dog]}";
    const NAMED: [&str; 3] = [
        "{$ref: '#/components/schemas/Kind'}",
        "{$ref: '#/components/schemas/Pets'}",
        "{Kind: {type: string, enum: [cat, dog]}, Pets: {type: object, properties: {pets: {type: array, items: {$ref: '#/components/schemas/Pet'}}}}, Pet: {type: object, properties: {name: {type: string}}}}",
    ];

    #[test]
    fn a_schema_without_a_name_keeps_the_one_that_callers_know() {
        let pets = "{type: object, properties: {pets: {type: array, items: {type: object, properties: {name: {type: string}}}}}}";
        let reply = "$.paths['/pets'].get.responses['200'].content['application/json'].schema";
        assert_eq!(
            names(NAMED, [KIND, pets, "{}"]),
            [
                "$.paths['/pets'].get.parameters[?@.name=='kind'].schema Kind".to_owned(),
                format!("{reply}.properties.pets.items Pet"),
                format!("{reply} Pets"),
            ]
        );
    }

    #[test]
    fn the_vendors_names_stand_and_no_name_is_given_twice() {
        let zoo = "{Zoo: {type: object, properties: {pets: {type: array, items: {type: object, properties: {name: {type: string}, friend: {type: object, properties: {name: {type: string}}}}}}}}}";
        let reply = "{$ref: '#/components/schemas/Zoo'}";
        assert_eq!(
            names(NAMED, [KIND, reply, zoo]),
            [
                "$.paths['/pets'].get.parameters[?@.name=='kind'].schema Kind",
                "$.components.schemas.Zoo.properties.pets.items Pet",
            ]
        );
        // What is called `Pet` now is something else.
        let others = "{Zoo: {type: object, properties: {pets: {type: array, items: {type: object, properties: {name: {type: string}, pet: {$ref: '#/components/schemas/Pet'}}}}}}, Pet: {type: object, properties: {id: {type: string}}}}";
        let kind = "$.paths['/pets'].get.parameters[?@.name=='kind'].schema Kind";
        assert_eq!(names(NAMED, [KIND, reply, others]), [kind]);
    }
}
