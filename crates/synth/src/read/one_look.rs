//! Orders that can be derived from a paragraph at one look, without planning. **(ours)**
//!
//! A short case is often passed just by reading its tasks in order, in the right direction. The result of the best of
//! these heuristics is shown beside every success rate, so that it is not mistaken for planning.

use std::cell::OnceCell;

use super::lexicon::{Directions, Part, Side};
use super::tokens;
use crate::case::PlanningCase;

/// A method that derives an order from the text at one look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OneLook {
    /// The order of mention.
    Mention,
    /// The order of mention from its end.
    Reverse,
    /// One of these two, according to the paragraph's first ordering word.
    FirstWord,
    /// One of these two, according to the majority of its ordering words.
    MostWords,
    /// Sentence by sentence, each in one of these orders according to its own first ordering word.
    EachSentence,
}

/// What a glance takes in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Seen {
    Task(usize),
    /// Whether the tasks around the word are in the order of mention if it is right: "A precedes B", "After A, B
    /// happens".
    Word {
        is_forward: bool,
    },
    Stop,
}

impl OneLook {
    pub const ALL: [Self; 5] =
        [Self::Mention, Self::Reverse, Self::FirstWord, Self::MostWords, Self::EachSentence];

    /// What an agent does that goes by it.
    pub fn deed(self) -> &'static str {
        match self {
            Self::Mention => "calling tools in the order of mention",
            Self::Reverse => "calling tools in the reverse order of mention",
            Self::FirstWord => {
                "calling tools in the order of mention or its reverse, as the first ordering word says"
            }
            Self::MostWords => {
                "calling tools in the order of mention or its reverse, as most ordering words say"
            }
            Self::EachSentence => "going by the first ordering word of each sentence",
        }
    }

    /// The word used in files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mention => "mention",
            Self::Reverse => "reverse",
            Self::FirstWord => "first_word",
            Self::MostWords => "most_words",
            Self::EachSentence => "each_sentence",
        }
    }

    /// The resulting order of the case's actions, by their indices. The known ordering words are those of
    /// [`Directions::shipped`].
    pub fn order(self, case: &PlanningCase) -> Vec<usize> {
        self.order_of(&Glance::at(case))
    }

    fn order_of(self, glance: &Glance<'_>) -> Vec<usize> {
        let mut order = glance.mention.clone();
        let is_forward = match self {
            Self::Mention => true,
            Self::Reverse => false,
            Self::FirstWord => words(glance.seen()).next().unwrap_or(true),
            Self::MostWords => {
                let seen = glance.seen();
                // A tie counts as forward, as does a text without any ordering word.
                words(seen).filter(|is_forward| *is_forward).count() * 2 >= words(seen).count()
            }
            Self::EachSentence => {
                let mut sorted = Vec::with_capacity(order.len());
                for sentence in glance.seen().split(|seen| *seen == Seen::Stop) {
                    let begin = sorted.len();
                    for seen in sentence {
                        if let Seen::Task(task) = *seen
                            && !sorted.contains(&task)
                        {
                            sorted.push(task);
                        }
                    }
                    if words(sentence).next() == Some(false) {
                        sorted[begin..].reverse();
                    }
                }
                // Tasks that were not recognised come last, in the order of mention.
                order.retain(|task| !sorted.contains(task));
                sorted.extend(order);
                return sorted;
            }
        };
        if !is_forward {
            order.reverse();
        }
        order
    }

    /// Those whose order is a correct plan of the case: empty if there is no correct plan.
    pub fn passing(case: &PlanningCase) -> impl Iterator<Item = Self> {
        let glance = Glance::at(case);
        Self::ALL.into_iter().filter(move |heuristic| case.is_correct_order(&heuristic.order_of(&glance)))
    }
}

/// The common input of all heuristics for a case. It is shared, because reading the text is nearly all of the work.
struct Glance<'a> {
    case: &'a PlanningCase,
    mention: Vec<usize>,
    /// Not every heuristic needs it.
    seen: OnceCell<Vec<Seen>>,
}

impl<'a> Glance<'a> {
    fn at(case: &'a PlanningCase) -> Self {
        Self { case, mention: case.order_of_mention(), seen: OnceCell::new() }
    }

    fn seen(&self) -> &[Seen] {
        self.seen.get_or_init(|| look(self.case))
    }
}

fn words(seen: &[Seen]) -> impl Iterator<Item = bool> {
    seen.iter().filter_map(|seen| match seen {
        Seen::Word { is_forward } => Some(*is_forward),
        Seen::Task(_) | Seen::Stop => None,
    })
}

/// Tasks and ordering words in the order of the text. Empty if the text is too long to be read.
fn look(case: &PlanningCase) -> Vec<Seen> {
    let Ok(tokens) = tokens::split(&case.paragraph) else { return Vec::new() };
    let texts: Vec<Vec<&str>> =
        case.actions.iter().map(|action| action.text.split_whitespace().collect()).collect();
    let mut seen = Vec::new();
    // Whether a task precedes the position in its clause: if not, the next word is at the head of the clause.
    let mut has_subject = false;
    let mut at = 0;
    while at < tokens.len() {
        let begins = |words: &&Vec<&str>| {
            !words.is_empty()
                && tokens.get(at..at + words.len()).is_some_and(|here| {
                    here.iter().zip(words.iter()).all(|(token, word)| token.text.eq_ignore_ascii_case(word))
                })
        };
        // The longest, because a text may begin another one in a case that is not ours.
        let task = texts.iter().filter(begins).max_by_key(|words| words.len());
        if let Some(words) = task {
            let place = texts.iter().position(|other| other == words).unwrap_or_default();
            seen.push(Seen::Task(place));
            has_subject = true;
            at += words.len();
            continue;
        }
        let mut longest: Option<(usize, Part)> = None;
        Directions::shipped().each_at(&tokens, at, &mut |end, part| {
            if longest.is_none_or(|(longest, _)| end > longest) {
                longest = Some((end, part));
            }
        });
        match longest {
            Some((end, part)) => {
                if let Part::Verb(side, _) | Part::Preposition(side) | Part::Conjunction(side) = part {
                    // After a subject, "earlier" means the order of mention; at the head of a clause the phrase names
                    // the other task first, which turns it around.
                    seen.push(Seen::Word { is_forward: (side == Side::Earlier) == has_subject });
                }
                at = end;
            }
            None => {
                match tokens[at].text {
                    "." => {
                        seen.push(Seen::Stop);
                        has_subject = false;
                    }
                    ";" | "and" | "but" | "yet" | "while" | "whereas" if is_behind_mark(&tokens, at) => {
                        has_subject = false;
                    }
                    _ => {}
                }
                at += 1;
            }
        }
    }
    seen
}

/// Whether a joiner begins a clause here: a semicolon, or a conjunction after a comma.
fn is_behind_mark(tokens: &[tokens::Token<'_>], at: usize) -> bool {
    tokens[at].text == ";" || at.checked_sub(1).is_some_and(|before| tokens[before].text == ",")
}
