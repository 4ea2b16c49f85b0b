//! Questions about documents.
//!
//! The original looks a question up among records of questions and answers, but never finds it, so every question
//! about a known document is too difficult. The gold records contain that answer, so both modes keep it.

use super::parts::{contains, fail, has_same_result, item, same_stripped, stripped, tool};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) const TOOLS: [ApiTool; 1] = [tool!("DocumentQA", answer, is_same)];

fn answer(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let (url, question) = (stripped(arguments, "url")?, stripped(arguments, "question")?);
    if question.is_empty() {
        return fail("The question is empty.");
    }
    let Some(document) = world.table("QuestionAnswering")?.get(url) else {
        return fail("The document of this url failed to be processed.");
    };
    if !contains(document, question)? {
        return Ok("The question is too difficult to answer.".into());
    }
    Ok(item(document, question)?.clone())
}

fn is_same(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(same_stripped(predicted, gold, "url")?
        && same_stripped(predicted, gold, "question")?
        && has_same_result(predicted, gold))
}
