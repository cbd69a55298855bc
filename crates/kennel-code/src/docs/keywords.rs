//! Takes schemas apart: what holds together, what a reference points to, which members an object has.

use super::json::Json;
use std::collections::HashMap;
use std::ptr;

/// How many schemas are merged into one.
const MOST_PARTS: usize = 16;
/// How many schemas are looked at of those of which one holds.
const MOST_BRANCHES: usize = 64;

/// A schema, and those that hold as well: what it refers to and `allOf`.
pub(crate) fn parts<'a>(root: &'a Json, schema: &'a Json) -> Vec<&'a Json> {
    let mut parts: Vec<&Json> = Vec::new();
    let mut waiting = vec![schema];
    while let Some(next) = waiting.pop() {
        if parts.len() >= MOST_PARTS || parts.iter().any(|part| ptr::eq(*part, next)) {
            continue;
        }
        parts.push(next);
        waiting.extend(next.get("allOf").map_or(&[][..], Json::elements).iter().take(MOST_PARTS).rev());
        waiting.extend(next.get("$ref").and_then(Json::text).and_then(|reference| resolve(root, reference)));
    }
    parts
}

/// A member that an object may have.
pub(crate) struct Member<'a> {
    pub(crate) name: &'a str,
    /// None where it has to be there and nothing is said of it.
    pub(crate) schema: Option<&'a Json>,
    pub(crate) is_required: bool,
}

/// The members of an object that is described by all of these schemas.
pub(crate) fn members<'a>(root: &'a Json, parts: &[&'a Json]) -> Vec<Member<'a>> {
    let mut members: Vec<Member<'a>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    let mut add = |name: &'a str, schema: Option<&'a Json>, is_required: bool| {
        let place = *places.entry(name).or_insert(members.len());
        match members.get_mut(place) {
            Some(known) => {
                known.is_required |= is_required;
                known.schema = known.schema.or(schema);
            }
            // What `false` describes must not be there.
            None => members.push(Member { name, schema, is_required }),
        }
    };
    for part in parts {
        for (name, schema) in part.get("properties").map_or(&[][..], Json::members) {
            add(name, Some(schema), false);
        }
    }
    for branch in branches(parts) {
        for part in self::parts(root, branch) {
            for (name, schema) in part.get("properties").map_or(&[][..], Json::members) {
                add(name, Some(schema), false);
            }
        }
    }
    for part in parts {
        for name in part.get("required").map_or(&[][..], Json::elements).iter().filter_map(Json::text) {
            add(name, None, true);
        }
    }
    members.retain(|member| member.schema != Some(&Json::Bool(false)));
    members
}

/// What members without a name of their own are, if it is said.
pub(crate) fn others<'a>(parts: &[&'a Json]) -> Option<&'a Json> {
    let get = |keyword: &str| parts.iter().find_map(|part| part.get(keyword));
    let patterns = get("patternProperties").map_or(&[][..], Json::members);
    get("additionalProperties").filter(|others| others.is_object()).or_else(|| match patterns {
        [(_, only)] => Some(only).filter(|only| only.is_object()),
        _ => None,
    })
}

/// The schemas of which one holds.
pub(crate) fn branches<'a>(parts: &[&'a Json]) -> Vec<&'a Json> {
    let of = |part: &&'a Json| ["anyOf", "oneOf"].into_iter().find_map(|keyword| part.get(keyword));
    parts.iter().find_map(of).map(Json::elements).unwrap_or_default().iter().take(MOST_BRANCHES).collect()
}

/// Whether a schema says of what type something is, and not only what must be there.
pub(crate) fn says_what_it_is(schema: &Json) -> bool {
    const SAYING: [&str; 11] = [
        "type",
        "properties",
        "enum",
        "const",
        "$ref",
        "items",
        "prefixItems",
        "anyOf",
        "oneOf",
        "allOf",
        "additionalProperties",
    ];
    schema.members().iter().any(|(keyword, _)| SAYING.contains(&keyword.as_str()))
}

/// The type that is meant where none is said.
pub(crate) fn guessed(parts: &[&Json]) -> &'static str {
    let has = |keywords: &[&str]| parts.iter().any(|part| keywords.iter().any(|keyword| part.get(keyword).is_some()));
    if has(&["properties", "additionalProperties", "patternProperties", "required"]) {
        "object"
    } else if has(&["items", "prefixItems", "minItems", "maxItems"]) {
        "array"
    } else if has(&["pattern", "minLength", "maxLength"]) {
        "string"
    } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        "number"
    } else {
        "anything"
    }
}

/// The reference of a schema that is nothing else, also where `allOf` has only that.
pub(crate) fn sole_reference(schema: &Json) -> Option<&str> {
    const SAYING_NOTHING: [&str; 12] = [
        "title",
        "description",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "$comment",
        "$id",
        "$schema",
        "$defs",
        "definitions",
    ];
    let mut said = schema.members().iter().filter(|(keyword, _)| !SAYING_NOTHING.contains(&keyword.as_str()));
    match (said.next()?, said.next()) {
        ((keyword, value), None) if keyword == "$ref" => value.text(),
        ((keyword, value), None) if keyword == "allOf" => match value.elements() {
            [only] => only.get("$ref").and_then(Json::text).filter(|_| only.members().len() == 1),
            _ => None,
        },
        _ => None,
    }
}

/// What a reference within a schema points to.
pub(crate) fn resolve<'a>(root: &'a Json, reference: &str) -> Option<&'a Json> {
    let mut place = root;
    for step in reference.strip_prefix('#')?.split('/').skip(1) {
        let step = unescaped(step);
        place = match place {
            Json::Array(elements) => elements.get(step.parse::<usize>().ok()?)?,
            object => object.get(&step)?,
        };
    }
    // `#name` is an anchor, which is not looked for.
    Some(place).filter(|_| reference == "#" || reference.starts_with("#/"))
}

/// A step of a JSON pointer in a URL.
fn unescaped(step: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = step.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == b'%').then(|| after.get(..2)).flatten();
        let code = code.and_then(|code| str::from_utf8(code).ok()).and_then(|code| u8::from_str_radix(code, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { after.get(2..).unwrap_or_default() } else { after };
    }
    String::from_utf8_lossy(&bytes).replace("~1", "/").replace("~0", "~")
}
