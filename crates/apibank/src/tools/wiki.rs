//! Articles of the encyclopedia.

use super::parts::{argument, dict, fail, field, has_same_result, is_same_name, tool, with_method};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::python::strip;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) const TOOLS: [ApiTool; 1] = [tool!("Wiki", search, is_same)];

fn search(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let keyword = with_method(argument(arguments, "keyword")?, "replace")?.replace('_', " ");
    let Some(article) = world.table("Wiki")?.get(&strip(&keyword).to_lowercase()) else {
        return fail("Keyword not found.");
    };
    Ok(dict([("url", field(article, "url")?.clone()), ("summary", field(article, "summary")?.clone())]))
}

/// The keyword is not compared.
fn is_same(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(is_same_name(predicted, gold)? && has_same_result(predicted, gold))
}
