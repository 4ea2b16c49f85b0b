//! Labels that turn out to have been wrong: a `[Final Thought]` that is followed by `[Action]` was a `[Thought]`.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Author, Mode, Monitor, Part, content};
use crate::prompts::{Found, Match};
use crate::{ContentRule, Position, StateId};

/// Most sections before the present one that are looked at. Models write one or two before a call.
const SECTIONS_MAX: usize = 8;

impl Monitor {
    /// Takes the fewest of the last sections for sections of other states, so that `tried` may come next. Returns by
    /// how many bytes the text has grown before its end; `None` if that is not possible.
    ///
    /// Only complete sections of words that the model wrote in the present output are considered. Of several choices
    /// with as few changes, the first in the order of the automaton's positions is taken.
    pub(super) fn relabel(&mut self, tried: StateId) -> Option<isize> {
        if self.shared.options.corrects_as_published() {
            return None;
        }
        let first = self.first_of_words();
        let states = self.other_states(first, |position, _| self.automaton().is_valid(position, tried))?;
        self.rename(first, &states)
    }

    /// Takes the fewest of the last sections for sections of other states, so that the last one is of the state
    /// `tried`, and goes on with it: a `[Thought]` right before a `[Final Thought]` was its beginning. The prompt from
    /// byte `at` to `end` is dropped. False if that is not possible.
    pub(super) fn join(&mut self, tried: StateId, at: usize, end: usize) -> bool {
        let is_plain = self.is_words(tried) && self.automaton().state(tried).content.is_empty();
        if self.shared.options.corrects_as_published() || !is_plain {
            return false;
        }
        // Once only: a prompt that comes again and again is a model that is stuck.
        if self.sections.last().is_none_or(|last| last.is_joined) {
            return false;
        }
        let first = self.first_of_words();
        let Some(states) = self.other_states(first, |_, last| last == Some(&tried)) else { return false };
        let Some(shift) = self.rename(first, &states) else { return false };
        let (at, end) = (at.saturating_add_signed(shift), end.saturating_add_signed(shift));
        self.text.replace_range(at..end, "\n");
        self.mended_bytes += 1 - (end - at) as isize;
        if let Some(part) = self.sections.last_mut() {
            part.is_joined = true;
            part.content.end = usize::MAX;
            self.progress = content::Progress::new(self.shared.automaton.state(tried), part.content.start);
        }
        self.scanned = at;
        self.mode = Mode::Open;
        self.has_stopped = false;
        true
    }

    /// For a model that has stopped and written nothing possible since: takes its last sections for such ones that the
    /// run can end after the next, and writes the prompt of that one. False if that is not possible, or if the
    /// model has called nothing yet: then it is led to its first call.
    pub(super) fn mend_to_end(&mut self) -> bool {
        if !self.has_stopped || self.calls.is_empty() {
            return false;
        }
        let first = self.first_of_words();
        let automaton = Arc::clone(&self.shared.automaton);
        for state in automaton.states() {
            if !self.is_words(state) {
                continue;
            }
            let is_last = |position, _: Option<&StateId>| {
                automaton.after(position, state).is_some_and(|after| automaton.is_accepting(after))
            };
            if let Some(states) = self.other_states(first, is_last)
                && self.rename(first, &states).is_some()
            {
                self.write_prompt(state);
                return true;
            }
        }
        false
    }

    /// The states with which a model can go on that has stopped too early: those that may come next, and those that may
    /// come once a label is mended. `None` if there are none of the latter, or if words can come next in any case.
    pub(super) fn next_or_mended(&self) -> Option<Vec<StateId>> {
        if self.shared.options.corrects_as_published() {
            return None;
        }
        let first = self.first_of_words();
        let last = self.sections.last()?.state;
        let valid = self.automaton().valid(self.position);
        if valid.iter().any(|state| self.is_words(*state)) {
            return None;
        }
        let is_possible = |state: &StateId| {
            let fits = |position, last: Option<&StateId>| {
                self.automaton().is_valid(position, *state) || last == Some(state)
            };
            self.is_words(*state) && self.other_states(first, fits).is_some()
        };
        let others = self.automaton().states().filter(|state| *state != last && !valid.contains(state));
        let mended: Vec<StateId> = others.filter(is_possible).collect();
        (!mended.is_empty()).then(|| valid.iter().copied().chain(mended).collect())
    }

    /// The first of the last sections whose states may change.
    pub(super) fn first_of_words(&self) -> usize {
        let is_free = |part: &&Part| part.author == Author::Model && self.is_words(part.state);
        let window = self.sections[self.sealed.min(self.sections.len())..].iter().rev();
        self.sections.len() - window.take_while(is_free).take(SECTIONS_MAX).count()
    }

    /// Whether a state holds words of the model, as opposed to a part of a call or text from outside.
    fn is_words(&self, id: StateId) -> bool {
        let state = self.automaton().state(id);
        !state.is_environment && !state.names_tool() && !state.names_label() && !state.completes_call()
    }

    /// The states of the sections from `first` on with the fewest changes, so that position and last state after them
    /// fit.
    fn other_states(
        &self,
        first: usize,
        fits: impl Fn(Position, Option<&StateId>) -> bool,
    ) -> Option<Vec<StateId>> {
        let parts = self.sections.get(first..)?;
        // The best way to each position: the number of changes, and the states.
        let mut ways = BTreeMap::from([(parts.first()?.before, (0_usize, Vec::new()))]);
        for part in parts {
            let mut next: BTreeMap<Position, (usize, Vec<StateId>)> = BTreeMap::new();
            for (position, (changes, states)) in &ways {
                for id in self.automaton().valid(*position) {
                    let is_change = *id != part.state;
                    if is_change && !(self.is_words(*id) && self.may_hold(*id, part)) {
                        continue;
                    }
                    let Some(after) = self.automaton().after(*position, *id) else { continue };
                    let changes = changes + usize::from(is_change);
                    if next.get(&after).is_none_or(|(best, _)| changes < *best) {
                        let mut states = states.clone();
                        states.push(*id);
                        next.insert(after, (changes, states));
                    }
                }
            }
            ways = next;
        }
        let fitting = ways.into_iter().filter(|(position, (_, states))| fits(*position, states.last()));
        fitting.map(|(_, way)| way).min_by_key(|(changes, _)| *changes).map(|(_, states)| states)
    }

    /// Whether the content of a section satisfies the rules of another state.
    fn may_hold(&self, id: StateId, part: &Part) -> bool {
        let state = self.automaton().state(id);
        let text = self.text.get(part.content.clone()).unwrap_or_default().trim();
        // A prompt that begins a longer one needs a line break behind it, which is not there.
        !self.shared.prompts.begins_another(&state.prompt.value)
            && content::pattern(state).is_none_or(|pattern| pattern.matches(text))
            && content::max_length(state).is_none_or(|most| text.chars().count() <= most as usize)
            && state.content.iter().all(|rule| match &rule.value {
                ContentRule::Json(schema) => self.check_json(schema, text).is_ok(),
                _ => true,
            })
    }

    /// Gives the sections from `first` on these states, and writes their prompts. Nothing is changed if the text would
    /// then read differently.
    fn rename(&mut self, first: usize, states: &[StateId]) -> Option<isize> {
        let begin = self.mark_of(first)?;
        let mut tail = String::with_capacity(self.text.len() - begin);
        let (mut parts, mut copied) = (self.sections[first..].to_vec(), begin);
        let mut position = parts.first()?.before;
        let mut marks = Vec::with_capacity(parts.len());
        for (offset, (part, id)) in parts.iter_mut().zip(states).enumerate() {
            let mark = self.mark_of(first + offset)?;
            tail.push_str(&self.text[copied..mark]);
            let at = begin + tail.len();
            tail.push_str(&self.automaton().state(*id).prompt.value);
            let after = self.automaton().state(part.state).prompt.value.len() + mark;
            marks.push((at, begin + tail.len(), *id));
            tail.push_str(&self.text[after..part.content.start]);
            let start = begin + tail.len();
            tail.push_str(&self.text[part.content.clone()]);
            copied = part.content.end;
            part.content = start..begin + tail.len();
            part.before = position;
            position = self.automaton().after(position, *id)?;
            if part.state != *id {
                let written = *part.written_as.get_or_insert(part.state);
                part.written_as = (written != *id).then_some(written);
                part.state = *id;
            }
        }
        let shift = tail.len() as isize - (copied - begin) as isize;
        tail.push_str(&self.text[copied..]);
        let before = self.text.split_off(begin);
        self.text.push_str(&tail);
        if !self.reads_as(begin, &marks) {
            self.text.truncate(begin);
            self.text.push_str(&before);
            return None;
        }
        self.sections.truncate(first);
        self.sections.append(&mut parts);
        self.position = position;
        self.mended_bytes += shift;
        // A hint lies before the prompt that completed it, which may have moved.
        self.hint = 0..0;
        Some(shift)
    }

    /// Where the prompt of the section begins that the model is to write now, if it has written nothing of its content.
    pub fn open_prompt(&self) -> Option<usize> {
        let open = self.sections().next_back()?;
        (!open.is_complete && open.content.is_empty()).then(|| self.mark_of(self.sections.len() - 1))?
    }

    /// Where the prompt of a section begins.
    fn mark_of(&self, section: usize) -> Option<usize> {
        let part = self.sections.get(section)?;
        let mark = &self.automaton().state(part.state).prompt.value;
        // Between the prompt and the content there may be a colon or the end of emphasis.
        self.text.get(..part.content.start)?.rfind(mark.as_str())
    }

    /// Whether the prompts of a text from a byte on begin with these.
    fn reads_as(&self, begin: usize, marks: &[(usize, usize, StateId)]) -> bool {
        let mut from = begin;
        marks.iter().all(|(start, end, state)| {
            let found = self.shared.prompts.find(self.text.as_bytes(), from, true);
            from = *end;
            let whole = Match::Prompt { state: *state, end: *end };
            found == Found::Prompt { start: *start, end: *end, state: *state }
                && self.shared.prompts.at(self.text.as_bytes(), *start, true) == whole
        })
    }
}
