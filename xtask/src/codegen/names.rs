//! Names of the spec as names of Rust.

/// The words of a name in camel case, snake case, or with separators of any kind.
fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut fresh = true;
    let mut after_small = false;
    for character in name.chars() {
        if !character.is_ascii_alphanumeric() {
            fresh = true;
            continue;
        }
        if fresh || (after_small && character.is_ascii_uppercase()) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.push(character.to_ascii_lowercase());
        }
        fresh = false;
        after_small = !character.is_ascii_uppercase();
    }
    words
}

/// `listPeople` and `list_people` as `ListPeople`.
pub(crate) fn pascal(name: &str) -> String {
    words(name)
        .iter()
        .map(|word| word[..1].to_ascii_uppercase() + &word[1..])
        .collect()
}

/// `listPeople` as `list_people`; a keyword of Rust gets a trailing underscore, as progenitor does it.
pub(crate) fn snake(name: &str) -> String {
    let name = words(name).join("_");
    if syn::parse_str::<syn::Ident>(&name).is_ok() {
        name
    } else {
        name + "_"
    }
}

/// `listPeople` as `LIST_PEOPLE`.
pub(crate) fn screaming(name: &str) -> String {
    words(name).join("_").to_ascii_uppercase()
}

/// Whether a name is in camel case, as operation ids are.
pub(crate) fn is_camel(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase()) && is_one_word(name)
}

/// Whether a name is in Pascal case, as schemas are.
pub(crate) fn is_pascal(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase()) && is_one_word(name)
}

fn is_one_word(name: &str) -> bool {
    name.chars().all(|c| c.is_ascii_alphanumeric())
}

/// Whether a name can be that of a module, a field or a method as it stands.
pub(crate) fn is_snake(name: &str) -> bool {
    !name.is_empty() && snake(name) == name
}

#[cfg(test)]
mod tests {
    use super::{pascal, screaming, snake};

    #[test]
    fn names_change_their_case_and_nothing_else() {
        assert_eq!(
            pascal("recurrence.exception.cancel"),
            "RecurrenceExceptionCancel"
        );
        assert_eq!(pascal("proposal_or_decision"), "ProposalOrDecision");
        assert_eq!(screaming("getPersonTimeline"), "GET_PERSON_TIMELINE");
        assert_eq!(snake("sourceRecordId"), "source_record_id");
        assert_eq!(snake("type"), "type_");
    }
}
