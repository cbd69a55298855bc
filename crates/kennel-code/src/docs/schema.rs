//! Reads JSON Schema (draft 7 and 2020-12, as servers use them) as types of Python.
//!
//! A schema is foreign: it may be anything, refer to itself, or describe more than anybody would read. What cannot be said
//! in a type is left out; nothing here fails.

use super::json::Json;
use super::keywords::{Member, branches, guessed, members, others, parts, resolve, says_what_it_is, sole_reference};
use super::names::{Taken, class_name, singular};
use super::notes;
use super::types::{Field, Presence, Record, Type, default, one_of};
use std::collections::HashMap;
use std::ptr;

/// How many schemas are looked at for one tool.
const MOST_STEPS: usize = 2_000;
/// How deep schemas are within each other: choices among choices are no deeper for those who read them.
const DEEPEST: usize = 32;
/// How many characters a member's name has; a member with a longer name is left out.
const LONGEST_NAME: usize = 64;
/// How many kinds a tuple has; longer ones are lists.
const LONGEST_TUPLE: usize = 6;

/// How much is said of a schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    /// How deep objects and lists are within each other.
    pub(crate) depth: usize,
    /// How many arguments a tool has.
    pub(crate) arguments: usize,
    /// How many members an object has.
    pub(crate) fields: usize,
    /// How many characters a note has.
    pub(crate) note: usize,
}

/// Reads the schemas of one tool.
pub(crate) struct Reader<'a> {
    limits: Limits,
    /// The schema that references point into.
    root: &'a Json,
    records: Vec<Record>,
    names: Taken,
    /// The records that were made of what a reference points to.
    referred: HashMap<(usize, &'a str), usize>,
    /// The references that are being followed.
    followed: Vec<&'a str>,
    steps: usize,
    /// How deep it is now.
    level: usize,
    is_cut: bool,
}

/// What was read.
pub(crate) struct Read {
    pub(crate) records: Vec<Record>,
    /// Whether something was left out because there was too much.
    pub(crate) is_cut: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(root: &'a Json, limits: Limits) -> Self {
        Self {
            limits,
            root,
            records: Vec::new(),
            names: Taken::default(),
            referred: HashMap::new(),
            followed: Vec::new(),
            steps: 0,
            level: 0,
            is_cut: false,
        }
    }

    /// Goes on with another schema, whose types get other names.
    pub(crate) fn turn_to(&mut self, root: &'a Json) {
        self.root = root;
    }

    pub(crate) fn finish(self) -> Read {
        Read { records: self.records, is_cut: self.is_cut }
    }

    /// The type of a schema; an object gets a name like that.
    pub(crate) fn kind(&mut self, schema: &'a Json, name: &str) -> Type {
        self.kind_within(schema, name, self.limits.depth)
    }

    /// The members of an object, those that must be there first, at most so many.
    pub(crate) fn fields(&mut self, schema: &'a Json, most: usize) -> Vec<Field> {
        self.fields_within(schema, most, self.limits.depth)
    }

    /// The schema, and those that hold as well: what it refers to and `allOf`.
    pub(crate) fn parts(&self, schema: &'a Json) -> Vec<&'a Json> {
        parts(self.root, schema)
    }

    fn kind_within(&mut self, schema: &'a Json, name: &str, depth: usize) -> Type {
        self.steps += 1;
        if self.steps > MOST_STEPS || self.level >= DEEPEST {
            self.is_cut = true;
            return Type::Any;
        }
        self.level += 1;
        let kind = match sole_reference(schema) {
            Some(reference) => self.kind_referred(reference, name, depth),
            None => self.kind_here(schema, name, depth, None),
        };
        self.level -= 1;
        kind
    }

    fn kind_referred(&mut self, reference: &'a str, name: &str, depth: usize) -> Type {
        if let Some(number) = self.referred.get(&(ptr::from_ref(self.root).addr(), reference)) {
            return Type::Record(*number);
        }
        if self.followed.contains(&reference) {
            return Type::Any;
        }
        let Some(target) = resolve(self.root, reference) else { return Type::Any };
        let own_name = reference.rsplit('/').next().filter(|own| !own.is_empty() && *own != "#").unwrap_or(name);
        self.followed.push(reference);
        let kind = match sole_reference(target) {
            Some(further) => self.kind_referred(further, name, depth),
            None => self.kind_here(target, own_name, depth, Some(reference)),
        };
        self.followed.pop();
        kind
    }

    fn kind_here(&mut self, schema: &'a Json, name: &str, depth: usize, reference: Option<&'a str>) -> Type {
        let parts = self.parts(schema);
        let get = |keyword: &str| parts.iter().find_map(|part| part.get(keyword));
        let branches = branches(&parts);
        let has_members = parts.iter().any(|part| part.get("properties").is_some_and(Json::is_object));
        let kind = if let Some(value) = get("const") {
            one_of(std::slice::from_ref(value)).0
        } else if let Some(values) = get("enum").map(Json::elements).filter(|values| !values.is_empty()) {
            one_of(values).0
        } else if !has_members && branches.iter().any(|branch| says_what_it_is(branch)) {
            Type::union(branches.into_iter().map(|branch| self.kind_within(branch, name, depth)).collect::<Vec<_>>())
        } else {
            let kinds: Vec<&str> = match get("type") {
                Some(Json::Text(kind)) => vec![kind],
                Some(several) => several.elements().iter().filter_map(Json::text).collect(),
                None => vec![guessed(&parts)],
            };
            let of_each = |kind| self.kind_named(kind, schema, &parts, name, depth, reference);
            Type::union(kinds.into_iter().map(of_each).collect::<Vec<_>>())
        };
        if get("nullable") == Some(&Json::Bool(true)) { kind.or_null() } else { kind }
    }

    fn kind_named(
        &mut self,
        kind: &str,
        schema: &'a Json,
        parts: &[&'a Json],
        name: &str,
        depth: usize,
        reference: Option<&'a str>,
    ) -> Type {
        match kind {
            "string" => Type::Str,
            "integer" => Type::Int,
            "number" => Type::Float,
            "boolean" => Type::Bool,
            "null" => Type::Null,
            "array" => self.list(parts, name, depth),
            "object" => self.object(schema, parts, name, depth, reference),
            _ => Type::Any,
        }
    }

    fn list(&mut self, parts: &[&'a Json], name: &str, depth: usize) -> Type {
        let get = |keyword: &str| parts.iter().find_map(|part| part.get(keyword));
        let items = get("items");
        let firsts = get("prefixItems").or(items).map_or(&[][..], Json::elements);
        let is_something = !firsts.is_empty() || items.is_some_and(Json::is_object);
        let Some(deeper) = depth.checked_sub(1) else {
            self.is_cut |= is_something;
            return Type::list(Type::Any);
        };
        let name = singular(name);
        if firsts.is_empty() {
            return Type::list(items.map_or(Type::Any, |items| self.kind_within(items, &name, deeper)));
        }
        let kinds: Vec<Type> =
            firsts.iter().take(2 * LONGEST_TUPLE).map(|first| self.kind_within(first, &name, deeper)).collect();
        if kinds.len() <= LONGEST_TUPLE { Type::Tuple(kinds) } else { Type::list(Type::union(kinds)) }
    }

    fn object(
        &mut self,
        schema: &'a Json,
        parts: &[&'a Json],
        name: &str,
        depth: usize,
        reference: Option<&'a str>,
    ) -> Type {
        let members = members(self.root, parts);
        let others = others(parts);
        let Some(deeper) = depth.checked_sub(1) else {
            self.is_cut |= !members.is_empty() || others.is_some();
            return Type::dict(Type::Any);
        };
        if members.is_empty() {
            return Type::dict(others.map_or(Type::Any, |others| self.kind_within(others, &singular(name), deeper)));
        }
        let number = self.records.len();
        let hint = singular(name);
        let name = self.names.unique(class_name(name));
        self.records.push(Record { name, fields: Vec::new(), others: None });
        if let Some(reference) = reference {
            self.referred.insert((ptr::from_ref(self.root).addr(), reference), number);
        }
        let fields = self.fields_within(schema, self.limits.fields, deeper);
        let others = others.map(|others| self.kind_within(others, &hint, deeper));
        let is_same = |known: &Record| known.fields == fields && known.others == others;
        if let Some(same) = self.records.iter().take(number).position(is_same)
            && reference.is_none()
            && number + 1 == self.records.len()
        {
            if let Some(record) = self.records.pop() {
                self.names.release(&record.name);
            }
            return Type::Record(same);
        }
        if let Some(record) = self.records.get_mut(number) {
            record.fields = fields;
            record.others = others;
        }
        Type::Record(number)
    }

    fn fields_within(&mut self, schema: &'a Json, most: usize, depth: usize) -> Vec<Field> {
        let parts = self.parts(schema);
        let mut members = members(self.root, &parts);
        members.sort_by_key(|member| !member.is_required);
        let all = members.len();
        members.retain(|member| member.name.chars().count() <= LONGEST_NAME);
        members.truncate(most);
        self.is_cut |= members.len() < all;
        let mut fields = Vec::new();
        for Member { name, schema, is_required } in members {
            let kind = schema.map_or(Type::Any, |schema| self.kind_within(schema, name, depth));
            let parts = schema.map(|schema| self.parts(schema)).unwrap_or_default();
            let value = parts.iter().find_map(|part| part.get("default"));
            let presence = match value.and_then(default) {
                _ if is_required => Presence::Required,
                Some(value) if value != "None" => Presence::Default(value),
                _ => Presence::Optional,
            };
            fields.push(Field { name: name.to_owned(), kind, presence, note: notes::note(&parts, self.limits.note) });
        }
        fields
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
