//! Judges of the answers that an agent proposes (Reflexion, Shinn et al. 2023).
//!
//! A judge here is a part of the agent: its judgement goes to the agent's model, and has no influence on the verdict
//! of the run. The published experiments compared with the gold answer, which no agent has outside of a benchmark;
//! here that is [`GoldAnswer`], which is never the default, and [`Evaluation::by`] reports it.

mod program;

use std::fmt;
use std::sync::Arc;

use planproof_model::{BoxFuture, Model, ModelError, Settings};
use planproof_trace::Usage;
use thiserror::Error;

use super::plain::{ask, inset};
use super::votes::{VoteRules, key};

pub use program::{CHECK_OUTPUT_BYTES_MAX, CHECK_TIME_MAX, CHECKS_AT_ONCE_MAX, ProgramChecker};

/// The beginning of a judge's prompt; question, work and answer follow. A simulated model may recognise the request
/// by it.
pub const INSTRUCTION: &str = "Judge whether the proposed answer to the question is right. Begin with the word Correct or \
     the word Incorrect, and say in one line why.";

/// What the agent reads if nobody judges.
pub const NOBODY_TEXT: &str = "Nobody has judged this answer.";

/// Most tokens of a judgement.
pub const JUDGEMENT_TOKENS_MAX: u32 = 128;

/// An answer that is to be judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Proposal<'a> {
    /// The question of the run.
    pub question: &'a str,
    pub answer: &'a str,
    /// What the agent did for it, in its own words; may be empty.
    pub work: &'a str,
}

/// What a checker found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// Whether the answer is right; `None` if the checker cannot say.
    pub is_correct: Option<bool>,
    /// Why, for the agent; may be empty.
    pub why: String,
}

/// Judges answers without a model, such as by running a program on them ([`ProgramChecker`]).
pub trait Checker: Send + Sync {
    /// What the report calls it.
    fn name(&self) -> &str;

    /// Whether it knows the right answer. The report states this.
    fn knows_gold_answer(&self) -> bool {
        false
    }

    /// Judges the proposal. An `Err` says why that was impossible; it leaves the run unscored.
    fn check<'a>(&'a self, proposal: Proposal<'a>) -> BoxFuture<'a, Result<Judgement, String>>;
}

/// Who judges.
#[derive(Clone, Default)]
pub enum Evaluator {
    /// Nobody; the agent learns this, and reflects upon its answer by itself.
    #[default]
    Nobody,
    /// A model, which can be the agent's own.
    Judge(Arc<dyn Model>),
    Checker(Arc<dyn Checker>),
}

/// Who judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JudgedBy {
    Nobody,
    Judge {
        model: String,
    },
    Checker {
        name: String,
        /// It knows the right answer.
        knows_gold_answer: bool,
    },
}

/// A judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// What the agent reads.
    pub text: String,
    /// Whether the answer was found right; `None` if nobody said so clearly.
    pub is_correct: Option<bool>,
    pub by: JudgedBy,
    /// Tokens of the request, if a model judged.
    pub usage: Usage,
}

/// Why there is no judgement. None of these reasons is the agent's fault.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum EvaluatorFault {
    /// The judge could not be had.
    #[error("the judge could not be asked: {0}")]
    Model(#[from] ModelError),
    /// The checker failed.
    #[error("the checker {name} failed: {reason}")]
    Checker { name: String, reason: String },
}

impl Evaluator {
    /// Judges a proposed answer. At most one request, greedy and with at most [`JUDGEMENT_TOKENS_MAX`] tokens.
    ///
    /// # Errors
    /// If the judge or the checker fails.
    pub async fn evaluate(&self, proposal: Proposal<'_>, seed: u64) -> Result<Evaluation, EvaluatorFault> {
        match self {
            Self::Nobody => Ok(Evaluation {
                text: NOBODY_TEXT.to_owned(),
                is_correct: None,
                by: self.name(),
                usage: Usage::default(),
            }),
            Self::Judge(model) => {
                let settings = Settings {
                    temperature: Some(0.0),
                    output_tokens_max: Some(JUDGEMENT_TOKENS_MAX),
                    seed: Some(seed),
                    // One line, as the prompt asks.
                    stop: vec!["\n".to_owned()],
                    ..Settings::default()
                };
                let reply = ask(model.as_ref(), &prompt(proposal), &settings).await?;
                let is_correct = first_word(&reply.text);
                let text = match reply.text.trim() {
                    "" => "The judge said nothing.".to_owned(),
                    text => text.to_owned(),
                };
                Ok(Evaluation { text, is_correct, by: self.name(), usage: reply.usage })
            }
            Self::Checker(checker) => {
                let failed = |reason| EvaluatorFault::Checker { name: checker.name().to_owned(), reason };
                let Judgement { is_correct, why } = checker.check(proposal).await.map_err(failed)?;
                let word = match is_correct {
                    Some(true) => "Correct",
                    Some(false) => "Incorrect",
                    None => "Undecided",
                };
                let text = match why.trim() {
                    "" => word.to_owned(),
                    why => format!("{word}: {why}"),
                };
                Ok(Evaluation { text, is_correct, by: self.name(), usage: Usage::default() })
            }
        }
    }

    /// Who judges.
    pub fn name(&self) -> JudgedBy {
        match self {
            Self::Nobody => JudgedBy::Nobody,
            Self::Judge(model) => JudgedBy::Judge { model: model.name().to_owned() },
            Self::Checker(checker) => JudgedBy::Checker {
                name: checker.name().to_owned(),
                knows_gold_answer: checker.knows_gold_answer(),
            },
        }
    }
}

impl fmt::Debug for Evaluator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Evaluator({})", self.name())
    }
}

impl JudgedBy {
    /// Reads an evaluation back from the note of a section; `None` if the note is about something else.
    pub fn from_note(note: &str) -> Option<Self> {
        if note == Self::Nobody.to_string() {
            return Some(Self::Nobody);
        }
        if let Some(model) = note.strip_prefix("judge ") {
            return Some(Self::Judge { model: model.to_owned() });
        }
        let checker = note.strip_prefix("checker ")?;
        let (name, knows_gold_answer) = match checker.strip_suffix(" (knows the gold answer)") {
            Some(name) => (name, true),
            None => (checker, false),
        };
        Some(Self::Checker { name: name.to_owned(), knows_gold_answer })
    }
}

impl fmt::Display for JudgedBy {
    /// For the report: `nobody`, `judge openai/gpt-5-mini`, `checker exact-match (knows the gold answer)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nobody => f.write_str("nobody"),
            Self::Judge { model } => write!(f, "judge {model}"),
            Self::Checker { name, knows_gold_answer: false } => write!(f, "checker {name}"),
            Self::Checker { name, knows_gold_answer: true } => {
                write!(f, "checker {name} (knows the gold answer)")
            }
        }
    }
}

/// The prompt of a judge. Lines within one of the texts are indented, so that an answer cannot pass for its
/// judgement.
pub fn prompt(proposal: Proposal<'_>) -> String {
    let Proposal { question, answer, work } = proposal;
    let work = match work.trim() {
        "" => String::new(),
        work => format!("Work: {}\n", inset(work)),
    };
    format!(
        "{INSTRUCTION}\n\nQuestion: {}\n{work}Proposed answer: {}\nJudgement:",
        inset(question),
        inset(answer)
    )
}

/// What a judgement begins with. Only its first word counts: a search of the whole text would find "correct" in
/// "incorrect" and in "not correct".
fn first_word(judgement: &str) -> Option<bool> {
    let words = judgement.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    // The prompt ends with this word, and models repeat it.
    let mut words = words.skip_while(|word| word.eq_ignore_ascii_case("judgement"));
    match words.next()?.to_lowercase().as_str() {
        "correct" => Some(true),
        "incorrect" => Some(false),
        _ => None,
    }
}

/// The checker of the published experiments: compares with the right answer, which the agent must not have unless the
/// user asked for that. It reports only whether the two are equal by [`key`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoldAnswer {
    answers: Vec<String>,
    rules: VoteRules,
}

impl GoldAnswer {
    /// Compares with several texts, any of which is right.
    pub fn new(answers: Vec<String>, rules: VoteRules) -> Self {
        Self { answers, rules }
    }
}

impl Checker for GoldAnswer {
    fn name(&self) -> &str {
        "exact-match"
    }

    fn knows_gold_answer(&self) -> bool {
        true
    }

    fn check<'a>(&'a self, proposal: Proposal<'a>) -> BoxFuture<'a, Result<Judgement, String>> {
        let key_of = |text: &str| key(text, self.rules);
        let is_correct = self.answers.iter().any(|gold| key_of(gold) == key_of(proposal.answer));
        Box::pin(std::future::ready(Ok(Judgement { is_correct: Some(is_correct), why: String::new() })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_judged_is_read_back_from_a_note() {
        let model = "openai/gpt-5-mini".to_owned();
        let checker =
            |knows_gold_answer| JudgedBy::Checker { name: "exact-match".to_owned(), knows_gold_answer };
        for judge in [JudgedBy::Nobody, JudgedBy::Judge { model }, checker(false), checker(true)] {
            assert_eq!(JudgedBy::from_note(&judge.to_string()), Some(judge));
        }
        for note in
            ["", "summary, as configured", "results, which are blank", "there was no evidence for #E1"]
        {
            assert_eq!(JudgedBy::from_note(note), None, "{note}");
        }
    }

    #[test]
    fn the_first_word_judges() {
        for (judgement, expected) in [
            ("Correct.", Some(true)),
            ("Incorrect: it is 3.", Some(false)),
            (" **incorrect** because", Some(false)),
            ("Judgement: Correct, as the page says.", Some(true)),
            ("Not correct.", None),
            ("The answer is correct.", None),
            ("Correctly put, no.", None),
            ("", None),
            ("?!", None),
        ] {
            assert_eq!(first_word(judgement), expected, "{judgement:?}");
        }
    }
}
