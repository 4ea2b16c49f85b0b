//! The search for tools.
//!
//! The original compares embeddings from a small model, which is not part of this project. Here a
//! [`Retriever`](super::Retriever) decides which tool is closest; ours compares words.

use super::parts::{argument, fail, results_equal, tool, with_method};
use super::retriever::index_words;
use crate::api::{ApiFault, ApiTool};
use crate::catalogue::ApiSpec;
use crate::value::{Dict, PythonValue};
use crate::world::{ApiCompat, ApiWorld};

pub(super) const TOOLS: [ApiTool; 1] = [tool!("ToolSearcher", search, results_equal)];

/// The tool that returns tokens. It is returned along with every tool that needs a token.
const TOKEN_TOOL: &str = "GetUserToken";

/// The text by which a tool is found: its name split into words, immediately followed by its description.
pub fn index_text(spec: &ApiSpec) -> String {
    format!("{}{}", index_words(&spec.name).trim(), spec.description)
}

fn search(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let keywords = with_method(argument(arguments, "keywords")?, "lower")?;
    // The search never finds itself, as in the original.
    let specs: Vec<&ApiSpec> =
        world.catalogue.specs().iter().filter(|spec| spec.name != "ToolSearcher").collect();
    let texts: Vec<String> = specs.iter().map(|spec| index_text(spec)).collect();
    let closest = world.retriever.closest(keywords, &texts).and_then(|place| specs.get(place));
    let Some(closest) = closest else {
        // The original fails here, because it finds no closest tool.
        return fail(match world.compat {
            ApiCompat::Original => "'NoneType' object has no attribute 'pop'",
            ApiCompat::Right => "no tool fits these keywords",
        });
    };
    let found = closest.to_value();
    if closest.input("token").is_none() {
        return Ok(found);
    }
    let token = world.catalogue.get(TOKEN_TOOL).map(|spec| {
        let mut record = spec.to_value();
        // The original leaves the index text of the tool in this record.
        if let (ApiCompat::Original, Some(record)) = (world.compat, record.as_dict_mut()) {
            record.insert("desc_for_search".to_owned(), index_text(spec).into());
        }
        record
    });
    Ok(token.into_iter().chain([found]).collect::<Vec<_>>().into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::ApiCatalogue;
    use crate::tools::{Lexical, Retriever as _};

    #[test]
    fn tools_are_found_by_words() {
        let specs = ApiCatalogue::tools().specs();
        let texts: Vec<String> = specs.iter().map(index_text).collect();
        let found = |query: &str| Lexical.closest(query, &texts).map(|place| specs[place].name.as_str());
        for (query, tool) in [
            ("add alarm", "AddAlarm"),
            ("query stock price", "QueryStock"),
            ("translator", "Translate"),
            ("delete reminders", "DeleteReminder"),
            ("get user token", "GetUserToken"),
            ("calculate a formula", "Calculator"),
            ("book a hotel", "BookHotel"),
        ] {
            assert_eq!(found(query), Some(tool), "{query}");
        }
        assert_eq!(found("zzz"), None);
        assert!(index_text(&specs[0]).starts_with("add agenda"));
    }
}
