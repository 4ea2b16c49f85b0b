//! Conversations in which a model is asked until its answer is usable.

use std::sync::Arc;

use planproof_mnms::generate::{
    Draft, PairingTask, Tasks, ask_again, ask_for_alternatives, ask_for_queries, ask_to_rewrite,
    read_alternatives, read_queries, read_rewriting,
};
use planproof_mnms::{catalogue, generate::Alternatives};
use planproof_model::{ChatRequest, Message, Model, ModelError, Settings};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Most requests in one conversation.
const ROUNDS_MAX: u32 = 3;
/// Most conversations at once.
const CONVERSATIONS_MAX: usize = 8;
/// Most characters of an answer that stay in a conversation.
const KEPT_CHARACTERS_MAX: usize = 8000;
/// Most faults that are fed back to a model.
const FAULTS_TOLD_MAX: usize = 10;

/// A conversation.
struct Conversation {
    model: Arc<dyn Model>,
    messages: Vec<Message>,
    settings: Settings,
    rounds: u32,
}

impl Conversation {
    fn new(model: &Arc<dyn Model>, seed: u64) -> Self {
        let settings = Settings { seed: Some(seed), ..Settings::default() };
        Self { model: Arc::clone(model), messages: Vec::new(), settings, rounds: 0 }
    }

    async fn ask(&mut self, prompt: String) -> Result<String, ModelError> {
        self.rounds += 1;
        self.messages.push(Message::User { text: prompt });
        let request = ChatRequest {
            messages: self.messages.clone(),
            previous: None,
            tools: Arc::from([]),
            settings: self.settings.clone(),
        };
        let text = self.model.chat(&request).await?.text;
        // The whole answer is read, but each further round would send it again.
        let kept = text.chars().take(KEPT_CHARACTERS_MAX).collect();
        self.messages.push(Message::assistant(kept, Vec::new()));
        Ok(text)
    }

    /// Asks until `read` accepts the answer or the rounds are used up. Returns the faults of the last answer.
    async fn until(
        &mut self,
        prompt: String,
        mut read: impl FnMut(&str) -> Vec<String> + Send,
    ) -> Result<Vec<String>, ModelError> {
        let mut prompt = prompt;
        loop {
            let mut faults = read(&self.ask(prompt).await?);
            if faults.is_empty() || self.rounds >= ROUNDS_MAX {
                return Ok(faults);
            }
            faults.truncate(FAULTS_TOLD_MAX);
            prompt = ask_again(&faults);
        }
    }
}

/// What a model wrote for tasks.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// The drafts, in the order of the tasks and numbered from 0.
    pub(super) drafts: Vec<Draft>,
    /// How many tasks have fewer queries than asked for.
    pub(super) short: usize,
    /// How many plans keep the texts of the rule because no rewriting was usable.
    pub(super) not_rewritten: usize,
    /// Some of what was wrong.
    pub(super) faults: Vec<String>,
    /// How many tasks were finished.
    pub(super) finished: usize,
    /// Why no more were finished.
    pub(super) failed: Option<ModelError>,
    /// It was asked to stop.
    pub(super) is_stopped: bool,
}

/// The queries of one task, each with its plan.
struct Queries {
    written: Vec<(String, planproof_plan::Plan)>,
    is_short: bool,
    not_rewritten: usize,
    faults: Vec<String>,
}

/// Asks a model for the queries of all tasks, and for the texts of their plans. The result depends on the answers
/// alone, whatever order they come in.
pub(super) async fn write_queries(
    model: &Arc<dyn Model>,
    tasks: &Tasks,
    queries: usize,
    seed: u64,
    stop: &CancellationToken,
    mut observe: impl FnMut(),
) -> Written {
    let mut written = Written::default();
    let ask = |task: &PairingTask| queries_of(Arc::clone(model), seed, task.clone(), queries);
    let finished =
        all(&tasks.tasks, ask, stop, &mut written.failed, &mut written.is_stopped, &mut observe).await;
    written.finished = finished.len();
    for of_task in finished {
        written.short += usize::from(of_task.is_short);
        written.not_rewritten += of_task.not_rewritten;
        written.faults.extend(of_task.faults);
        for (query, plan) in of_task.written {
            let id = written.drafts.len() as i64;
            written.drafts.push(Draft { id, query, plan, alternatives: Vec::new() });
        }
    }
    written
}

async fn queries_of(
    model: Arc<dyn Model>,
    seed: u64,
    task: PairingTask,
    count: usize,
) -> Result<Queries, ModelError> {
    let PairingTask { pairing, plan } = task;
    let mut good: Vec<String> = Vec::new();
    let prompt = ask_for_queries(catalogue(), &pairing, &plan, count);
    let read = |answer: &str| {
        let answered = read_queries(answer, &pairing, count);
        for query in answered.good {
            // Good queries of earlier rounds are kept, so a further round only has to supply the missing ones.
            if good.len() < count && !good.contains(&query) {
                good.push(query);
            }
        }
        if good.len() == count { Vec::new() } else { answered.faults }
    };
    let mut faults = Conversation::new(&model, seed).until(prompt, read).await?;
    let is_short = good.len() < count;
    let (mut written, mut not_rewritten) = (Vec::new(), 0);
    for query in good {
        // Without a usable rewriting, the plan with the texts of the rule is still right.
        let mut faithful = None;
        if let Some(prompt) = ask_to_rewrite(&query, &plan) {
            let read = |answer: &str| match read_rewriting(answer, &plan) {
                Ok(rewritten) => {
                    faithful = Some(rewritten);
                    Vec::new()
                }
                Err(faults) => faults,
            };
            let of_rewriting = Conversation::new(&model, seed).until(prompt, read).await?;
            not_rewritten += usize::from(faithful.is_none());
            faults.extend(of_rewriting);
        }
        written.push((query, faithful.unwrap_or_else(|| plan.clone())));
    }
    Ok(Queries { written, is_short, not_rewritten, faults })
}

/// Alternatives that a model proposes.
#[derive(Debug, Default)]
pub(super) struct Proposed {
    /// What can stand for each tool.
    pub(super) alternatives: Alternatives,
    /// Some of what was wrong.
    pub(super) faults: Vec<String>,
    /// The number of tools with a finished conversation.
    pub(super) finished: usize,
    /// Why it was not asked about all.
    pub(super) failed: Option<ModelError>,
    /// It was asked to stop.
    pub(super) is_stopped: bool,
}

/// Asks a model which tools can replace each tool.
pub(super) async fn propose(model: &Arc<dyn Model>, seed: u64, stop: &CancellationToken) -> Proposed {
    let mut proposed = Proposed::default();
    let tools: Vec<usize> = (0..catalogue().signatures().len()).collect();
    let ask = |place: &usize| proposals(Conversation::new(model, seed), *place);
    let answers = all(&tools, ask, stop, &mut proposed.failed, &mut proposed.is_stopped, &mut || {}).await;
    proposed.finished = answers.len();
    for (tool, names, faults) in answers {
        for name in names {
            proposed.alternatives.add(&tool, vec![name]);
        }
        proposed.faults.extend(faults);
    }
    proposed
}

async fn proposals(
    mut conversation: Conversation,
    place: usize,
) -> Result<(String, Vec<String>, Vec<String>), ModelError> {
    let tool = &catalogue().signatures()[place];
    let mut names: Vec<String> = Vec::new();
    let read = |answer: &str| {
        let answered = read_alternatives(answer, catalogue(), tool);
        // Some good names are worth more than another round about the others.
        let will_do = !answered.good.is_empty();
        names = answered.good;
        if will_do { Vec::new() } else { answered.faults }
    };
    let faults = conversation.until(ask_for_alternatives(catalogue(), tool), read).await?;
    Ok((tool.name.clone(), names, faults))
}

/// Has a conversation about each item, several at once. Returns the finished ones, in the order of the items.
async fn all<I, T, F>(
    items: &[I],
    ask: impl Fn(&I) -> F,
    stop: &CancellationToken,
    failed: &mut Option<ModelError>,
    is_stopped: &mut bool,
    observe: &mut impl FnMut(),
) -> Vec<T>
where
    F: Future<Output = Result<T, ModelError>> + Send + 'static,
    T: Send + 'static,
{
    let (mut waiting, mut asking) = (items.iter().enumerate(), JoinSet::new());
    let mut finished = Vec::new();
    loop {
        // After a failure nothing new is begun, but what is under way is awaited, and its answers are kept.
        while asking.len() < CONVERSATIONS_MAX && failed.is_none() {
            let Some((place, item)) = waiting.next() else { break };
            let asked = ask(item);
            asking.spawn(async move { (place, asked.await) });
        }
        // Dropping the set on the way out aborts the conversations that are still running.
        let joined = tokio::select! {
            biased;
            () = stop.cancelled() => {
                *is_stopped = true;
                break;
            }
            joined = asking.join_next() => joined,
        };
        match joined {
            None => break,
            Some(Ok((place, Ok(done)))) => {
                observe();
                finished.push((place, done));
            }
            Some(Ok((_, Err(error)))) => {
                failed.get_or_insert(error);
            }
            // Our code does not panic there; a model that does has failed.
            Some(Err(error)) => {
                failed.get_or_insert(ModelError::Configuration { what: error.to_string() });
            }
        }
    }
    // Drafts are numbered in the order of the tasks, whichever conversation ends first.
    finished.sort_by_key(|(place, _)| *place);
    finished.into_iter().map(|(_, done)| done).collect()
}
