//! Calls of level 3: from a text or with arguments, to a record.

use super::entries;
use crate::api::{Fault, Raised};
use crate::call;
use crate::record::Record;
use crate::value::Dict;
use crate::world::{Compat, World};

/// The call in a text, by the rules of the world: as the original extracts and parses it, or by its syntax. `None`
/// where there is none.
pub fn read_call(text: &str, world: &World) -> Option<(String, Dict)> {
    match world.compat {
        Compat::Original => call::extract(text).and_then(call::parse),
        Compat::Right => call::read(text),
    }
}

/// Carries out a call: reads the types of its arguments, looks for what is missing, and runs the tool.
///
/// # Errors
/// [`Fault::Raised`] where the call does not get as far as the tool or the tool lets an error escape,
/// [`Fault::Outage`] where a database is missing.
pub fn carry_out(name: &str, arguments: &Dict, world: &mut World) -> Result<Record, Fault> {
    let unknown = || Raised::new("Exception", "invalid tool name.");
    let entry = entries::get(name, world.compat).ok_or_else(unknown)?;
    let spec = world.catalogue.get(name).cloned().ok_or_else(unknown)?;
    let typed = match world.compat {
        Compat::Original => call::coerce(&spec, arguments)?,
        Compat::Right => call::typed(&spec, arguments)?,
    };
    (entry.call)(call::bind(&spec, entry.optional, typed)?, world)
}

/// Whether a record is as good as that of a gold call of this tool. Both stay as they are.
///
/// # Errors
/// The check fails, which the published ones do on records that they do not expect.
pub fn is_same(gold_name: &str, predicted: &Record, gold: &Record, compat: Compat) -> Result<bool, Raised> {
    let entry =
        entries::get(gold_name, compat).ok_or_else(|| Raised::new("Exception", "invalid tool name."))?;
    (entry.check)(&mut predicted.clone(), &mut gold.clone())
}

/// The words that the published evaluator makes of the keywords of a search: a space before every capital letter, so
/// that the name of a tool falls into its words, and an abbreviation into its letters.
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
