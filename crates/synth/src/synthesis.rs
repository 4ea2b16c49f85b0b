//! Algorithm 1 of the paper: skeleton synthesis, then text filling (PDoctor, sections 4.2 and 4.3).
//!
//! Differences, all of them ours: every action is mentioned; an action occurs at most once in a sub-sentence; a draw
//! with two readings is rejected; satisfiability is a cycle check on an incremental transitive closure instead of a
//! call of an SMT solver, because order constraints over distinct positions are satisfiable exactly if they have no
//! cycle. In the time form it is our own search for a schedule.

mod filling;
mod options;

use std::collections::HashSet;

use planproof_constraint::{Order, TimedRelation, Timetable, Variable};

use crate::case::{
    ACTIONS_MAX, Action, ActionId, CaseOptions, CaseTool, Difficulty, PlanningCase, StatedConstraint,
};
use crate::clock::ClockTimes;
use crate::grammar::{
    ActionChoice, Direction, JOINER_WORDS, Joiner, LIST_MAX, RELATIVE_DEPTH_MAX, SUB_SENTENCES_MAX,
    Sentences, Shape, SubSentence,
};
use crate::infeasible::{NoConflict, REPORT_TOOL, Sentences as StatedSentences, report_tool};
use crate::messages::{MESSAGES_MAX, MessageRange, divide};
use crate::read::OneLook;
use crate::rule::rules_text;
use crate::text::{Written, write_paragraph};
use crate::time_form::{RESTART_TOOL, TimeForm, no_start_time, restart_tool};
use crate::topic::{Activity, Topic, TopicBank};
use crate::wording::Wordings;
use planproof_trace::Draw;

use filling::draw_texts;
pub(crate) use filling::{
    FINISH, SITES, merge_pairs, merge_times, mock_tool, numbered, numbered_texts, task_sentence, whole_query,
};
pub use options::{SolverTimer, SynthesisCounts, SynthesisError, SynthesisOptions};

/// Most paragraphs drawn for one case before giving up.
pub const DRAWS_MAX: u32 = 1000;
/// Most paragraphs with all actions drawn for a hard case before giving up.
pub const HARD_DRAWS_MAX: u32 = 2000;
/// Most paragraphs that could not be divided into a number of messages, before one message less will do.
const UNDIVIDED_MAX: u32 = 300;
/// Most paragraphs drawn for a conflict between three sentences, before one between two will do.
const LARGE_CONFLICT_DRAWS_MAX: u32 = 100;
/// Most distractor tools of a case.
pub const DISTRACTORS_MAX: u32 = 64;

/// Draws cases from a topic bank and wordings. Same seed, index and options, same bank and wordings: the same case, on
/// every machine.
#[derive(Debug, Clone)]
pub struct Synthesizer<'a> {
    options: SynthesisOptions,
    words: &'a Wordings,
    bank: &'a TopicBank,
    topic: Option<&'a Topic>,
}

/// The id of the case with this index in the sequence of a seed.
pub fn case_id(seed: u64, index: u64) -> String {
    format!("{seed}-{index}")
}

impl<'a> Synthesizer<'a> {
    /// Checks the options against their ranges and the bank.
    ///
    /// # Errors
    /// Names the option that is out of range, or the topic that is missing from the bank.
    pub fn new(
        options: SynthesisOptions,
        words: &'a Wordings,
        bank: &'a TopicBank,
    ) -> Result<Self, SynthesisError> {
        let out_of =
            |option, value: String, range: String| Err(SynthesisError::Option { option, value, range });
        let (low, high) = (options.actions_min, options.actions_max);
        let shown = if low == high { low.to_string() } else { format!("{low}..{high}") };
        if low < 2 || high < low || high as usize > ACTIONS_MAX {
            let range = format!("a number or a rising range within 2..{ACTIONS_MAX}");
            return out_of("actions", shown, range);
        }
        if options.sentences_max.is_some_and(|most| most == 0 || most as usize > ACTIONS_MAX) {
            let value = options.sentences_max.unwrap_or_default().to_string();
            return out_of("sentences", value, format!("1 to {ACTIONS_MAX}"));
        }
        if options.infeasible.is_some() && options.sentences_max == Some(1) {
            let range =
                "at least 2 where cases are infeasible: a conflict is one between sentences".to_owned();
            return out_of("sentences", "1".into(), range);
        }
        if options.hard && low < 3 {
            let range = "from 3 on for hard cases: of two actions one order is right that takes no planning"
                .to_owned();
            return out_of("actions", shown, range);
        }
        if let Some(turns) = options.turns {
            check_messages(&options, turns, shown.clone())?;
        }
        if options.tries_max == 0 {
            return out_of("tries", "0".into(), "at least 1".into());
        }
        if options.list_max.is_some_and(|most| most == 0 || usize::from(most) > LIST_MAX) {
            let value = options.list_max.unwrap_or_default().to_string();
            return out_of("list length", value, format!("1 to {LIST_MAX}"));
        }
        if options.sub_sentences_max == 0 || usize::from(options.sub_sentences_max) > SUB_SENTENCES_MAX {
            let range = format!("1 to {SUB_SENTENCES_MAX}");
            return out_of("sub-sentences", options.sub_sentences_max.to_string(), range);
        }
        if options.relative_depth > RELATIVE_DEPTH_MAX {
            let range = format!("0 to {RELATIVE_DEPTH_MAX}");
            return out_of("relative depth", options.relative_depth.to_string(), range);
        }
        let topic = match &options.topic {
            None => None,
            Some(job) => match bank.find(job) {
                Some(topic) => Some(topic),
                None => return Err(SynthesisError::UnknownTopic { job: job.clone() }),
            },
        };
        let drawn = || topic.map_or(bank.topics(), std::slice::from_ref);
        // A tool of the user's own exists once, so its activity cannot be spread over sites.
        let capacity = |topic: &Topic| topic.activities.len() * topic.sites_max();
        if let Some(smallest) = drawn().iter().min_by_key(|topic| capacity(topic))
            && high as usize > capacity(smallest)
        {
            let (most, activities) = (capacity(smallest), smallest.activities.len());
            let range = match smallest.sites_max() == 1 {
                true if !smallest.has_own_tools() => {
                    format!(
                        "at most {most}, the activities of the topic \"{}\", which has rules",
                        smallest.job
                    )
                }
                true => format!("at most {most}, the number of tools of the topic \"{}\"", smallest.job),
                false => format!("at most {most} with a topic of {activities} activities"),
            };
            return out_of("actions", shown, range);
        }
        // For the largest cases, which need the most time.
        if let Some(time) = &options.time {
            time.check(high).map_err(|(option, value, range)| SynthesisError::Option {
                option,
                value,
                range,
            })?;
        }
        let reserved = [
            options.time.is_some().then_some(RESTART_TOOL),
            options.infeasible.is_some().then_some(REPORT_TOOL),
        ];
        // In the whole bank, not only in the case's topic: distractors come from other topics.
        for tool in reserved.into_iter().flatten() {
            let is_taken = |topic: &Topic| topic.activities.iter().any(|it| it.tool_name() == tool);
            if let Some(topic) = bank.topics().iter().find(|topic| is_taken(topic)) {
                let range = format!("without an activity whose tool is {tool}");
                return out_of("topic bank", format!("with the topic \"{}\"", topic.job), range);
            }
        }
        if options.time.is_some() {
            let mut own =
                bank.topics().iter().flat_map(|topic| &topic.activities).filter_map(|it| it.tool.as_ref());
            if let Some((tool, reason)) = own.find_map(|tool| Some((tool, no_start_time(tool)?))) {
                return Err(SynthesisError::NoStartTime { tool: tool.name.clone(), reason });
            }
        }
        let activities = || bank.topics().iter().flat_map(|topic| &topic.activities);
        let names: HashSet<_> = activities().map(Activity::tool_name).collect();
        let largest = bank.topics().iter().map(|topic| topic.activities.len()).max().unwrap_or(0);
        // At most twice the required number of foreign names, so that drawing until one is new ends soon.
        let foreign_max = names.len().saturating_sub(largest) / 2;
        let distractors_max = |topic: &Topic| match topic.has_own_tools() {
            true => topic.activities.len().saturating_sub(high as usize),
            false => foreign_max,
        };
        let distractors_max = drawn().iter().map(distractors_max).min().unwrap_or(0);
        let distractors_max = distractors_max.min(DISTRACTORS_MAX as usize);
        if options.distractors as usize > distractors_max {
            let range = format!("at most {distractors_max} with this topic bank");
            return out_of("distractors", options.distractors.to_string(), range);
        }
        Ok(Self { options, words, bank, topic })
    }

    /// Draws case `index` of the set with this `seed`.
    ///
    /// Cost: some microseconds for a handful of actions, growing with the length of the text. The time form costs a few
    /// times as much.
    ///
    /// # Errors
    /// [`SynthesisError::NoRoom`] if [`DRAWS_MAX`] paragraphs could not mention every action;
    /// [`SynthesisError::NoContradiction`] if none of them could be made an infeasible case;
    /// [`SynthesisError::NothingHard`] if [`HARD_DRAWS_MAX`] cases were not hard.
    pub fn case(
        &self,
        seed: u64,
        index: u64,
        counts: &mut SynthesisCounts,
        meter: &mut impl SolverTimer,
    ) -> Result<PlanningCase, SynthesisError> {
        let is_infeasible = self
            .options
            .infeasible
            // A stream of its own: the share decides which cases are infeasible, and must
            // not change what the others draw.
            .is_some_and(|share| share.strikes(&mut Draw::new(seed, index, "infeasible/1")));
        // The forms share no stream, so that changing one does not change the other.
        let purpose = match (self.options.time.is_some(), is_infeasible) {
            (false, false) if self.options.turns.is_some() => "synth-turns/1",
            (false, false) => "synth/1",
            (true, false) => "synth-time/1",
            (false, true) => "conflict/1",
            (true, true) => "conflict-time/1",
        };
        // From here on the order of the draws is fixed: the golden cases change with it.
        let draw = &mut Draw::new(seed, index, purpose);
        let span = self.options.actions_max - self.options.actions_min + 1;
        let actions = (self.options.actions_min + draw.below(span)) as usize;
        let topic = self.topic.unwrap_or_else(|| &self.bank.topics()[draw.place(self.bank.topics().len())]);
        let options = self.resolve(actions);
        let texts = draw_texts(draw, topic, actions);
        let durations = self.options.time.map(|time| time.draw_durations(draw, actions));
        let rules = topic.rules_for(&texts, seed, index);
        let drawn = Drawn { seed, index, topic, options, texts, durations, rules };
        match self.options.time.zip(drawn.durations.as_deref()) {
            None => {
                let mut start = Order::new(actions).expect("the number of actions is checked");
                // Rules hold before the first sentence, so a paragraph that contradicts one is never kept.
                for (first, second) in drawn.rules.iter().map(StatedConstraint::pair) {
                    start
                        .try_before(first, second)
                        .expect("the rules of a topic have no circle, which is checked");
                }
                if is_infeasible {
                    return self.infeasible(draw, &drawn, &start, counts, meter);
                }
                self.feasible(draw, drawn, &start, Order::count_sequences, counts, meter)
            }
            Some((time, durations)) => {
                let mut start = Timetable::new(durations, time.day).expect("day and durations are checked");
                for (first, second) in drawn.rules.iter().map(StatedConstraint::pair) {
                    start.add(TimedRelation::Before { first, second });
                }
                if is_infeasible {
                    return self.infeasible(draw, &drawn, &start, counts, meter);
                }
                self.feasible(draw, drawn, &start, Timetable::count_sequences, counts, meter)
            }
        }
    }

    /// Draws paragraphs until one makes a case that meets the options.
    fn feasible<S: Stated>(
        &self,
        draw: &mut Draw,
        drawn: Drawn<'_>,
        start: &S,
        count: impl Fn(&S) -> Option<u128>,
        counts: &mut SynthesisCounts,
        meter: &mut impl SolverTimer,
    ) -> Result<PlanningCase, SynthesisError> {
        let actions = drawn.texts.len();
        let messages = self.options.turns.map(|turns| {
            let most = turns.max.min((actions as u32).div_ceil(2));
            (turns.min + draw.below(most - turns.min + 1), turns.min)
        });
        let mut undivided = 0;
        for _ in 0..HARD_DRAWS_MAX {
            let (paragraph, stated) = self.skeleton(draw, drawn.options, start, counts, meter)?;
            let correct_plans = meter.solver(|| count(&stated));
            // The first case will do, so `drawn` need not be copied.
            if !self.options.hard && messages.is_none() {
                return Ok(self.fill(draw, drawn, &paragraph, correct_plans));
            }
            let mut case = self.fill(draw, drawn.clone(), &paragraph, correct_plans);
            if let Some((messages, min)) = messages {
                // Where there is no room for many, there may be for fewer.
                let messages = messages.saturating_sub(undivided / UNDIVIDED_MAX).max(min);
                match divide(draw, case, messages) {
                    Some(divided) => case = divided,
                    None => {
                        counts.discarded += 1;
                        undivided += 1;
                        continue;
                    }
                }
            }
            if !self.options.hard {
                return Ok(case);
            }
            if OneLook::passing(&case).next().is_none() {
                return Ok(case);
            }
            counts.easy += 1;
        }
        match messages {
            Some((_, messages)) if undivided == HARD_DRAWS_MAX => {
                Err(SynthesisError::NoMessages { draws: HARD_DRAWS_MAX, actions, messages })
            }
            _ => Err(SynthesisError::NothingHard { draws: HARD_DRAWS_MAX, actions }),
        }
    }

    fn resolve(&self, actions: usize) -> CaseOptions {
        CaseOptions {
            actions: actions as u32,
            sentences_max: self.options.sentences_max.unwrap_or(actions as u32),
            tries_max: self.options.tries_max,
            list_max: self.options.list_max.unwrap_or(if actions >= 6 { 3 } else { 2 }),
            sub_sentences_max: self.options.sub_sentences_max,
            relative_depth: self.options.relative_depth,
            distractors: self.options.distractors,
            hard: self.options.hard,
            time: self.options.time.map(|time| time.resolve(actions as u32)),
        }
    }

    /// Draws paragraphs until one mentions every action, and a clock time in the time form.
    fn skeleton<S: Stated>(
        &self,
        draw: &mut Draw,
        options: CaseOptions,
        start: &S,
        counts: &mut SynthesisCounts,
        meter: &mut impl SolverTimer,
    ) -> Result<(Sentences, S), SynthesisError> {
        let is_timed = self.options.time.is_some();
        for _ in 0..DRAWS_MAX {
            if let Some((paragraph, stated)) = self.paragraph(draw, options, None, start, counts, meter)
                && (!is_timed || names_clock_time(&paragraph))
            {
                return Ok((paragraph, stated));
            }
            counts.discarded += 1;
        }
        Err(SynthesisError::NoRoom { draws: DRAWS_MAX, actions: options.actions as usize })
    }

    /// Draws paragraphs, and one more sentence for each, until that one contradicts the others in exactly one way.
    ///
    /// The additional sentence is drawn like any other and inserted at a drawn position. In half of the cases the
    /// conflict involves three sentences or more, if that is possible: by pure chance this would be one in a hundred.
    /// And in half of them another sentence is not involved, so that not all sentences have to be named. (So these
    /// paragraphs have one sentence more than others on average.)
    fn infeasible<S: Stated>(
        &self,
        draw: &mut Draw,
        drawn: &Drawn<'_>,
        start: &S,
        counts: &mut SynthesisCounts,
        meter: &mut impl SolverTimer,
    ) -> Result<PlanningCase, SynthesisError> {
        let options = drawn.options;
        // Between two actions two sentences state everything.
        let is_large = options.sentences_max >= 3 && options.actions >= 3 && draw.chance(1, 2);
        let has_more = draw.chance(1, 2);
        for number in 0..DRAWS_MAX {
            let least = if is_large && number < LARGE_CONFLICT_DRAWS_MAX { 3 } else { 2 };
            let sentences = (least + u32::from(has_more)).min(options.sentences_max);
            let paragraph = self.paragraph(draw, options, Some(sentences), start, counts, meter);
            if let Some((paragraph, stated)) = paragraph
                && let Some((paragraph, conflict)) =
                    self.contradicted(draw, drawn, (&paragraph, &stated), least, counts, meter)
            {
                // None of the orders is correct.
                let mut case = self.fill(draw, drawn.clone(), &paragraph, Some(0));
                case.conflict = Some(conflict);
                if case.is_conflict_plain() {
                    return Ok(case);
                }
            }
            counts.discarded += 1;
        }
        Err(SynthesisError::NoContradiction { draws: DRAWS_MAX, actions: options.actions as usize })
    }

    /// The paragraph with an additional contradicting sentence, and the numbers of the conflicting sentences, at
    /// least `least`.
    fn contradicted<S: Stated>(
        &self,
        draw: &mut Draw,
        drawn: &Drawn<'_>,
        (paragraph, stated): (&Sentences, &S),
        least: u32,
        counts: &mut SynthesisCounts,
        meter: &mut impl SolverTimer,
    ) -> Option<(Sentences, Vec<u32>)> {
        let mut sentence = Sentences::new();
        for _ in 0..drawn.options.tries_max {
            counts.sentences_drawn += 1;
            sentence.clear();
            if self.sentence(draw, drawn.options, &mut 0, false, counts, &mut sentence).is_none() {
                continue;
            }
            counts.solver_calls += 1;
            let contradicts = meter.solver(|| stated.clone().add_sentence(&sentence) == Some(false));
            let begins: Vec<usize> = (0..paragraph.len())
                .filter(|place| matches!(paragraph[*place], (Joiner::Start, _)))
                .chain([paragraph.len()])
                .collect();
            // The others hold together, so each conflict contains the new sentence; whether
            // there is only one is checked next.
            if contradicts {
                // Inserted anywhere, so that its place does not give it away.
                let at = begins[draw.place(begins.len())];
                let mut whole = paragraph.clone();
                whole.splice(at..at, sentence.iter().cloned());
                if self.options.time.is_none() || names_clock_time(&whole) {
                    counts.solver_calls += 1;
                    let conflict = meter.solver(|| self.conflict(drawn, &whole)).ok();
                    if let Some(conflict) = conflict.filter(|conflict| conflict.len() >= least as usize) {
                        return Some((whole, conflict));
                    }
                }
            }
            counts.no_conflict += 1;
        }
        None
    }

    /// The numbers of the sentences of the only conflict.
    fn conflict(&self, drawn: &Drawn<'_>, paragraph: &Sentences) -> Result<Vec<u32>, NoConflict> {
        let (constraints, time) =
            self.requirements(drawn, &write_paragraph(paragraph, self.words, &drawn.texts));
        StatedSentences::of(drawn.texts.len(), &constraints, time.as_ref())?.conflict()
    }

    /// One run of Algorithm 1. Grows to a drawn number of sentences (one to half the actions, rounded up), and
    /// further, within the limit, while an action is not mentioned yet. If a contradiction is to involve at least
    /// `contradicted` of its sentences, one sentence is left for that.
    fn paragraph<S: Stated>(
        &self,
        draw: &mut Draw,
        options: CaseOptions,
        contradicted: Option<u32>,
        start: &S,
        counts: &mut SynthesisCounts,
        meter: &mut impl SolverTimer,
    ) -> Option<(Sentences, S)> {
        let actions = options.actions as usize;
        let mut stated = start.clone();
        let mut scratch = start.clone();
        // A shift by 64 would overflow.
        let mut unmentioned = if actions == 64 { u64::MAX } else { (1 << actions) - 1 };
        let mut paragraph = Sentences::with_capacity(actions);
        let mut sentences = 0;
        let target = 1 + draw.below(options.sentences_max.min(options.actions.div_ceil(2)));
        let (target, sentences_max) = match contradicted {
            None => (target, options.sentences_max),
            Some(least) => ((target - 1).max(least - 1), options.sentences_max - 1),
        };
        while sentences < sentences_max && (sentences < target || unmentioned != 0) {
            // From the last planned sentence on, only actions that are still missing are
            // drawn, as long as there are any.
            let insist = sentences + 1 >= target;
            let begin = paragraph.len();
            let mut fits = false;
            for _ in 0..options.tries_max {
                counts.sentences_drawn += 1;
                // A copy, because a rejected sentence has mentioned nothing.
                let mut fresh = unmentioned;
                if self.sentence(draw, options, &mut fresh, insist, counts, &mut paragraph).is_some() {
                    counts.solver_calls += 1;
                    let answer = meter.solver(|| {
                        scratch.clone_from(&stated);
                        scratch.add_sentence(&paragraph[begin..])
                    });
                    match answer {
                        Some(true) => {
                            fits = true;
                            unmentioned = fresh;
                            break;
                        }
                        Some(false) => counts.unsatisfiable += 1,
                        None => counts.undecided += 1,
                    }
                }
                paragraph.truncate(begin);
            }
            // As in Algorithm 1: after K failures the paragraph stops growing.
            if !fits {
                break;
            }
            // `scratch` has the accepted sentence; a rejected one leaves `stated` as it was.
            stated.clone_from(&scratch);
            sentences += 1;
        }
        (unmentioned == 0).then_some((paragraph, stated))
    }

    /// Draws a sentence to the end of `paragraph`. `None` if it is rejected; a part of it may then be there.
    fn sentence(
        &self,
        draw: &mut Draw,
        options: CaseOptions,
        unmentioned: &mut u64,
        insist: bool,
        counts: &mut SynthesisCounts,
        paragraph: &mut Sentences,
    ) -> Option<()> {
        let mut sub_sentence = |draw: &mut Draw| {
            let all = if options.actions == 64 { u64::MAX } else { (1 << options.actions) - 1 };
            let mut choice = ActionChoice { free: all, unmentioned: *unmentioned, insist };
            let clock = self.options.time.map(|time| ClockTimes::of(time.day));
            let shape = Shape { list_max: options.list_max, relative_depth: options.relative_depth, clock };
            let drawn = SubSentence::draw(draw, self.words, &mut choice, shape);
            *unmentioned = choice.unmentioned;
            drawn
        };
        let mut joiner = Joiner::Start;
        for place in 1..=options.sub_sentences_max {
            // More actions were needed than there are. Counted, because it shifts small cases towards short sentences.
            let Some(next) = sub_sentence(draw) else {
                counts.too_wide += 1;
                return None;
            };
            let blurs = matches!(joiner, Joiner::Comma(_))
                && paragraph.last().is_some_and(|(_, before)| before.blurs_into(&next));
            // Rejected and counted instead of mended; docs/design/ambiguous-draws.md lists the shapes.
            if blurs || next.mixes_commas() {
                counts.ambiguous += 1;
                return None;
            }
            paragraph.push((joiner, next));
            if place == options.sub_sentences_max || draw.chance(1, 2) {
                break;
            }
            joiner = match draw.below(3) {
                0 => Joiner::Semicolon,
                _ => Joiner::Comma(draw.below(JOINER_WORDS.len() as u32) as u8),
            };
        }
        Some(())
    }

    /// What a paragraph demands.
    fn requirements(
        &self,
        drawn: &Drawn<'_>,
        written: &Written,
    ) -> (Vec<StatedConstraint>, Option<TimeForm>) {
        let mut constraints = merge_pairs(drawn.texts.len(), &written.pairs);
        // The ids of clock times continue those of the pairs; rules are numbered separately.
        let stated = constraints.len();
        constraints.extend(drawn.rules.iter().cloned());
        let time = self.options.time.zip(drawn.durations.as_ref()).map(|(time, durations)| TimeForm {
            day: time.day,
            durations: durations.clone(),
            bounds: merge_times(stated, &written.times),
            restarts_max: time.resolve(drawn.options.actions).restarts_max,
        });
        (constraints, time)
    }

    fn fill(
        &self,
        draw: &mut Draw,
        drawn: Drawn<'_>,
        paragraph: &Sentences,
        correct_plans: Option<u128>,
    ) -> PlanningCase {
        let written = write_paragraph(paragraph, self.words, &drawn.texts);
        let (constraints, time) = self.requirements(&drawn, &written);
        let paragraph = written.text;
        let Drawn { seed, index, topic, options, texts, .. } = drawn;
        let actions: Vec<Action> = texts
            .into_iter()
            .enumerate()
            .map(|(place, text)| {
                let tool = topic.tool_name(&text);
                Action { id: ActionId(numbered('a', place + 1)), text, tool }
            })
            .collect();
        let mut tools: Vec<CaseTool> =
            actions.iter().map(|action| topic.case_tool(&action.text, self.options.time.is_some())).collect();
        // Inserted before the tools for restarts and reports are added, so that these stay last.
        self.add_distractors(draw, topic, &mut tools);
        if time.is_some() {
            tools.push(restart_tool());
        }
        // In feasible cases as well, or the tool's presence would give the answer away.
        let offers_report = self.options.infeasible.is_some();
        if offers_report {
            tools.push(report_tool());
        }
        let rules = rules_text(&constraints, &actions, offers_report);
        let query =
            whole_query(&topic.job, (&paragraph, rules.as_deref()), &tools, time.as_ref(), offers_report);
        let stated = constraints.len() + time.as_ref().map_or(0, |time| time.bounds.len());
        let difficulty = Difficulty::new(actions.len(), stated, correct_plans);
        PlanningCase {
            id: case_id(seed, index),
            seed,
            options,
            topic: topic.job.clone(),
            query,
            paragraph,
            actions,
            tools,
            constraints,
            time,
            conflict: None,
            rewritten: None,
            faults: None,
            turns: None,
            difficulty,
        }
    }

    /// Inserts tools of other topics at drawn positions among the case's own. For a user's own tools the others are
    /// also the user's, as they will be when the agent is used.
    fn add_distractors(&self, draw: &mut Draw, topic: &Topic, tools: &mut Vec<CaseTool>) {
        let is_own = topic.has_own_tools();
        let mut added = 0;
        while added < self.options.distractors {
            let other =
                if is_own { topic } else { &self.bank.topics()[draw.place(self.bank.topics().len())] };
            let activity = &other.activities[draw.place(other.activities.len())];
            let name = activity.tool_name();
            // `new` limits the number of distractors, so that there are always new names to draw.
            if (other.job == topic.job) != is_own || tools.iter().any(|tool| tool.name == name) {
                continue;
            }
            let tool = other.case_tool(&activity.text, self.options.time.is_some());
            tools.insert(draw.place(tools.len() + 1), tool);
            added += 1;
        }
    }
}

/// Checks the number of messages, with the number of actions as it was asked for.
fn check_messages(
    options: &SynthesisOptions,
    MessageRange { min, max }: MessageRange,
    actions: String,
) -> Result<(), SynthesisError> {
    let shown = if min == max { min.to_string() } else { format!("{min}..{max}") };
    let fault = |option, value, range| Err(SynthesisError::Option { option, value, range });
    if min < 2 || max < min || max > MESSAGES_MAX {
        return fault("turns", shown, format!("a number or a rising range within 2..{MESSAGES_MAX}"));
    }
    if options.time.is_some() || options.infeasible.is_some() {
        return fault("turns", shown, "left out where there are clock times or infeasible cases".into());
    }
    // Below that, hardly any paragraph has enough sentences and tasks that can wait.
    if options.actions_min < 2 * min - 1 {
        let range = format!("at least {} for {min} messages", 2 * min - 1);
        return fault("actions", actions, range);
    }
    if options.actions_max + max > ACTIONS_MAX as u32 {
        return fault(
            "actions",
            actions,
            format!("at most {} for {shown} messages", ACTIONS_MAX as u32 - max),
        );
    }
    Ok(())
}

/// The parts of a case that are drawn before its paragraph.
#[derive(Clone)]
struct Drawn<'a> {
    seed: u64,
    index: u64,
    topic: &'a Topic,
    options: CaseOptions,
    /// The texts of the actions.
    texts: Vec<String>,
    /// In the time form, in the order of the actions.
    durations: Option<Vec<u16>>,
    /// The rules of the topic for the actions.
    rules: Vec<StatedConstraint>,
}

impl Difficulty {
    /// Without bits if no plan is correct.
    pub(crate) fn new(actions: usize, constraints: usize, correct_plans: Option<u128>) -> Self {
        let bits = correct_plans.filter(|correct| *correct > 0).map(|correct| {
            let all: u128 = (2..=actions as u128).product();
            // Rounded, because the last digits of a logarithm differ between platforms and cases must not.
            // Adding 0.0 makes 0.0 of -0.0, which JSON would write differently.
            ((all as f64 / correct as f64).log2() * 1e6).round() / 1e6 + 0.0
        });
        Self { actions, constraints, correct_plans, bits }
    }
}

/// The statements of the paragraph so far, in the solver's form.
trait Stated: Clone {
    /// Adds the statements of a sentence. Returns whether everything can hold together then; `None` if that is
    /// undecided. Unless it can, the value must not be used any more.
    fn add_sentence(&mut self, sentence: &[(Joiner, SubSentence)]) -> Option<bool>;
}

impl Stated for Order {
    fn add_sentence(&mut self, sentence: &[(Joiner, SubSentence)]) -> Option<bool> {
        let mut fits = true;
        // After the first cycle nothing more is added: the caller drops the order anyway.
        each_pair(sentence, |first, second| fits = fits && self.try_before(first, second).is_ok());
        Some(fits)
    }
}

impl Stated for Timetable {
    fn add_sentence(&mut self, sentence: &[(Joiner, SubSentence)]) -> Option<bool> {
        each_pair(sentence, |first, second| self.add(TimedRelation::Before { first, second }));
        for (_, sub_sentence) in sentence {
            sub_sentence.each_bound(&mut |subject, bound| {
                subject.as_slice().iter().for_each(|action| self.add(bound.on(usize::from(*action))));
            });
        }
        // One search for the whole sentence, because only its result counts.
        self.is_feasible().ok()
    }
}

/// Calls `visit(first, second)` for each pair that a sentence states.
fn each_pair(sentence: &[(Joiner, SubSentence)], mut visit: impl FnMut(Variable, Variable)) {
    for (_, sub_sentence) in sentence {
        sub_sentence.each_relation(&mut |subject, object, direction| {
            for &x in subject.as_slice() {
                for &y in object.as_slice() {
                    let (first, second) = match direction {
                        Direction::Before => (x, y),
                        Direction::After => (y, x),
                    };
                    let [first, second] = [first, second].map(|action| Variable::new(usize::from(action)));
                    visit(first, second);
                }
            }
        });
    }
}

fn names_clock_time(paragraph: &[(Joiner, SubSentence)]) -> bool {
    let mut found = false;
    for (_, sub_sentence) in paragraph {
        sub_sentence.each_bound(&mut |_, _| found = true);
    }
    found
}
