//! Calls of level 3: from a text or arguments to a record.

use super::{entries, task_data};
use crate::api::{ApiFault, PythonError};
use crate::call;
use crate::record::ApiRecord;
use crate::value::Dict;
use crate::world::{ApiCompat, ApiWorld};

/// Finds the call in a text. The world decides how: with the original's patterns, or by its syntax. `None` if there
/// is none.
pub fn read_call(text: &str, world: &ApiWorld) -> Option<(String, Dict)> {
    match world.compat {
        ApiCompat::Original => call::extract(text).and_then(call::parse),
        ApiCompat::Right => call::read(text),
    }
}

/// Executes a call: converts its arguments, checks that none is missing, and runs the tool.
///
/// # Errors
/// [`ApiFault::Raised`] if the call does not reach the tool or the tool does not catch an error, [`ApiFault::Outage`]
/// if a database is missing.
pub fn carry_out(name: &str, arguments: &Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let unknown = || PythonError::new("Exception", "invalid tool name.");
    let entry = entries::get(name, world.compat).ok_or_else(unknown)?;
    let spec = world.catalogue.get(name).cloned().ok_or_else(unknown)?;
    let typed = match world.compat {
        ApiCompat::Original => call::coerce(&spec, arguments)?,
        ApiCompat::Right => call::typed(&spec, arguments)?,
    };
    let bound = call::bind(&spec, entry.optional, typed)?;
    if let Some(record) = task_data::answer(name, &bound, world) {
        return Ok(record);
    }
    // What the published tools change, none of them reads, but some of them spoil their own tables.
    let keeps_tables = world.has_published_tools && world.compat == ApiCompat::Right;
    if keeps_tables { (entry.call)(bound, &mut world.clone()) } else { (entry.call)(bound, world) }
}

/// Whether a record is as good as that of a gold call of this tool. Neither is changed.
///
/// # Errors
/// The check fails, as the published checks do for records that they do not expect.
pub fn is_same(
    gold_name: &str,
    predicted: &ApiRecord,
    gold: &ApiRecord,
    compat: ApiCompat,
) -> Result<bool, PythonError> {
    let entry =
        entries::get(gold_name, compat).ok_or_else(|| PythonError::new("Exception", "invalid tool name."))?;
    (entry.check)(&mut predicted.clone(), &mut gold.clone())
}

/// The words that the published evaluator makes of the keywords of a search: it inserts a space before every
/// capital letter, which splits the name of a tool into words and an abbreviation into letters.
pub fn spaced(keywords: &str) -> String {
    let mut spaced = String::with_capacity(keywords.len() + 8);
    for character in keywords.chars() {
        if character.is_uppercase() {
            spaced.push(' ');
        }
        spaced.push(character);
    }
    crate::python::strip(&spaced).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fall_into_their_words() {
        assert_eq!(spaced("TaxCalculator"), "Tax Calculator");
        assert_eq!(spaced("the BBC"), "the  B B C");
    }
}
