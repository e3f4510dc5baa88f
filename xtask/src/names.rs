//! Conversion of names in a spec to Rust names.

/// The words of a name in camel case, snake case, or with separators of any kind.
pub(crate) fn words(name: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';
    for character in name.chars() {
        if character.is_ascii_alphanumeric() {
            let is_capital = character.is_ascii_uppercase() && !before.is_ascii_uppercase();
            if is_capital || !before.is_ascii_alphanumeric() {
                words.push(String::new());
            }
            if let Some(word) = words.last_mut() {
                word.push(character.to_ascii_lowercase());
            }
        }
        before = character;
    }
    words
}

/// Converts `listPeople` and `list_people` to `ListPeople`.
pub(crate) fn pascal(name: &str) -> String {
    words(name)
        .iter()
        .map(|word| word[..1].to_ascii_uppercase() + &word[1..])
        .collect()
}

/// Converts `listPeople` to `list_people`. A Rust keyword gets a trailing underscore.
pub(crate) fn snake(name: &str) -> String {
    let mut snake = words(name).join("_");
    if snake.is_empty() {
        return "unnamed".to_owned();
    }
    if snake.starts_with(|first: char| first.is_ascii_digit()) {
        snake.insert(0, 'n');
    }
    if KEYWORDS.split(' ').any(|keyword| keyword == snake) {
        snake.push('_');
    }
    snake
}

/// Converts `list_people` to `listPeople`.
pub(crate) fn camel(name: &str) -> String {
    let pascal = pascal(name);
    let mut characters = pascal.chars();
    let first = characters.next().map(|first| first.to_ascii_lowercase());
    first.into_iter().chain(characters).collect()
}

/// Returns the wanted name, or the first free numbered name.
pub(crate) fn free(
    wanted: &str,
    is_taken: impl Fn(&str) -> bool,
    numbered: impl Fn(u32) -> String,
) -> String {
    let mut name = wanted.to_owned();
    let mut next = 2;
    while is_taken(&name) {
        name = numbered(next);
        next += 1;
    }
    name
}

/// Returns the wanted type name, or the first free name with a suffix.
pub(crate) fn free_type(wanted: &str, suffix: &str, is_taken: impl Fn(&str) -> bool) -> String {
    free(wanted, is_taken, |next| match next {
        2 => format!("{wanted}{suffix}"),
        number => format!("{wanted}{suffix}{}", number - 1),
    })
}

pub(crate) fn type_name(hint: &str) -> String {
    let name = pascal(hint);
    if name.starts_with(|first: char| first.is_ascii_uppercase()) {
        name
    } else {
        format!("Schema{name}")
    }
}

pub(crate) fn variant(value: &str) -> String {
    let name = pascal(value);
    // Sort orders such as `-name`, and numbers.
    let sign = match value.chars().next() {
        Some('-') if !name.is_empty() => "Minus",
        Some('+') if !name.is_empty() => "Plus",
        _ if name.starts_with(|first: char| first.is_ascii_digit()) => "Value",
        _ => "",
    };
    match name.as_str() {
        "" if value.is_empty() => "Empty".to_owned(),
        "Unknown" | "Other" | "Self" | "" => format!("{name}Value"),
        _ => format!("{sign}{name}"),
    }
}

/// The type name of a group, with a suffix because many groups have the name of their main type, such as `funnel`.
pub(crate) fn group_type(group: &str) -> String {
    pascal(group) + "Api"
}

const KEYWORDS: &str = "abstract as async await become box break const continue crate do dyn else enum extern false final \
                        fn for gen if impl in let loop macro match mod move mut override priv pub ref return self static \
                        struct super trait true try type typeof unsafe unsized use virtual where while yield";

pub(crate) use crate::model::taken::{is_taken_group, is_taken_setter, taken_types};

/// Converts `listPeople` to `LIST_PEOPLE`.
pub(crate) fn screaming(name: &str) -> String {
    words(name).join("_").to_ascii_uppercase()
}

pub(crate) fn is_pascal(name: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphanumeric();
    name.starts_with(|first: char| first.is_ascii_uppercase()) && name.chars().all(is_letter)
}

/// Whether a name is valid for a module, a field or a method without a change.
pub(crate) fn is_snake(name: &str) -> bool {
    !name.is_empty() && snake(name) == name
}

#[cfg(test)]
mod tests {
    use super::{pascal, screaming, snake};

    #[test]
    fn names_change_only_their_case() {
        let name = pascal("recurrence.exception.cancel");
        assert_eq!(name, "RecurrenceExceptionCancel");
        assert_eq!(pascal("proposal_or_decision"), "ProposalOrDecision");
        assert_eq!(screaming("getPersonTimeline"), "GET_PERSON_TIMELINE");
        assert_eq!(snake("sourceRecordId"), "source_record_id");
        assert_eq!(snake("type"), "type_");
    }
}
