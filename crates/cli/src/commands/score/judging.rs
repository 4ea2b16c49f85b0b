//! Asking a judge model about finished predictions.

use std::collections::BTreeMap;
use std::sync::Arc;

use planproof_doors::HelperModel;
use planproof_model::{ChatRequest, Message, Settings};
use planproof_output::failure::Failure;
use planproof_output::progress;
use planproof_output::runtime::runtime;
use planproof_output::terminal::inline;
use planproof_suite::questions::Question;
use tokio::task::JoinSet;

use crate::arguments::Global;

/// Most questions at once.
const AT_ONCE_MAX: usize = 8;

/// The answers of a model to all questions, by their keys. Each answer is independent of the others, so the same
/// answers, for example from a cache, give the same result.
///
/// # Errors
/// The model is unavailable, a budget is used up, or it was asked to stop.
pub(super) fn answers(
    helper: &HelperModel,
    questions: &[Question],
    global: &Global,
) -> Result<BTreeMap<String, String>, Failure> {
    let bar = progress::bar(global.quiet, questions.len() as u64, 0);
    let answers = runtime()?.block_on(async {
        let stop = helper.stop();
        let (mut waiting, mut asking) = (questions.iter(), JoinSet::new());
        let mut answers = BTreeMap::new();
        loop {
            while asking.len() < AT_ONCE_MAX {
                let Some(Question { key, text }) = waiting.next() else { break };
                let (model, key) = (Arc::clone(&helper.model), key.clone());
                let settings =
                    Settings { temperature: Some(0.0), seed: Some(global.seed), ..Settings::default() };
                let messages = vec![Message::User { text: text.clone() }];
                let request = ChatRequest { messages, tools: [].into(), settings, previous: None };
                asking.spawn(async move { (key, model.chat(&request).await) });
            }
            // A score takes all answers, so the first failure ends the others, too. A cache keeps those that have come.
            let joined = tokio::select! {
                biased;
                () = stop.cancelled() => return Err(helper.stopped_by()),
                joined = asking.join_next() => joined,
            };
            match joined {
                None => return Ok(answers),
                Some(Ok((key, Ok(reply)))) => {
                    bar.inc(1);
                    answers.insert(key, reply.text);
                }
                Some(Ok((_, Err(error)))) => return Err(inline(&error.to_string())),
                // Our code does not panic there; a model that does has failed.
                Some(Err(error)) => return Err(error.to_string()),
            }
        }
    });
    bar.finish_and_clear();
    helper.tell_spent(global.quiet);
    answers.map_err(|why| Failure::outside(format!("the judge model: {why}{}", helper.advice())))
}
