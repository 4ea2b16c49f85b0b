//! The monitor's own additions to a run: prompts, their beginnings, and text from outside.

use std::sync::Arc;

use super::{Mode, Monitor, MonitorOutcome, NextStep, Progress, RunFailure, Violation};
use crate::{StateId, distance};

/// The distance of a text from an unrelated prompt; for nearer ones it is the wrong part in thousandths of the
/// prompt's length.
const FAR: usize = 1000;

impl Monitor {
    /// Appends what is to come next.
    pub(super) fn mend(&mut self, violation: &Violation) {
        let at = self.text.len();
        // If the content was cut to a complete part and closed, a prompt must come, as after other violations.
        if let Violation::Content { state, fault } = violation
            && self.is_content_open()
        {
            self.faults_here += 1;
            if self.faults_here > fault.retries_max() {
                let failure = RunFailure::Content { state: *state, fault: fault.clone() };
                return self.end(MonitorOutcome::Failed(failure));
            }
            self.mode = Mode::Open;
            self.retry_content(*state, at);
            return;
        }
        self.mode = Mode::Closed(at);
        self.violations_here += 1;
        // A model that stopped, and then wrote nothing of what it could choose, has shown twice that it calls no more.
        if self.violations_here > 1 && self.mend_to_end() {
            self.counts.escalations += 1;
            return;
        }
        let valid = self.automaton().valid(self.position);
        let prefix = self.common_prefix(valid);
        let is_stray = matches!(violation, Violation::NoState { .. } | Violation::Ended);
        let (steps, ways) = self.ways_to(violation);
        let ended = if self.has_stopped && self.violations_here == 1 { self.next_or_mended() } else { None };
        let ended = ended.map(|states| self.common_prefix(&states)).filter(|prefix| !prefix.is_empty());
        match (valid, &ways[..]) {
            // From each position an end can be reached, so one without successors is an end.
            ([], _) => self.end(MonitorOutcome::Finished),
            // A model that stops after a thought may have meant its last one, so it chooses how to go on.
            _ if ended.is_some() => {
                self.write_line_break();
                self.text.push_str(&ended.unwrap_or_default());
                self.hint = at..self.text.len();
            }
            // There is nothing to choose, so a hint would only cost a request.
            ([state], _) => self.write_prompt(*state),
            _ if self.shared.options.corrects_as_published() && is_stray => {
                let first = self.automaton().valid_exit_first(self.position)[0];
                self.counts.escalations += 1;
                self.write_prompt(first);
            }
            // The attempted state may follow this one, and no other.
            (_, [state]) if steps == 1 && !self.shared.options.corrects_as_published() => {
                self.write_prompt(*state);
            }
            // Without a hint, or after hints that did not help, a whole prompt leaves nothing to guess.
            _ if prefix.is_empty()
                || self.violations_here >= self.shared.options.decoding.full_prompt_at() =>
            {
                let tried = violation.tried(self.automaton());
                let nearest = self.nearest(if ways.is_empty() { valid } else { &ways }, &tried);
                self.counts.escalations += 1;
                self.write_prompt(nearest.0);
            }
            _ => {
                self.write_line_break();
                self.text.push_str(&prefix);
                // With the line break, so that an unused hint is removed entirely.
                self.hint = at..self.text.len();
            }
        }
    }

    /// The possible next states on the shortest paths to the attempted state, and how many states precede it there.
    /// Empty if none was attempted, or one that can no longer come.
    fn ways_to(&self, violation: &Violation) -> (usize, Vec<StateId>) {
        let tried = match violation {
            Violation::State { tried, .. } => Some(*tried),
            Violation::NoState { tried } => {
                // Among all states, because the attempted one may be possible only later.
                let states: Vec<StateId> = self.automaton().states().collect();
                Some(self.nearest(&states, tried))
                    .filter(|(_, distance)| *distance < FAR)
                    .map(|(state, _)| state)
            }
            Violation::Ended | Violation::Content { .. } => None,
        };
        tried.map_or((0, Vec::new()), |tried| self.automaton().ways_to(self.position, tried))
    }

    /// Has the model rewrite content from byte `at` of the text on.
    fn retry_content(&mut self, id: StateId, at: usize) {
        let Some(part) = self.sections.last() else { return };
        let start = part.content.start;
        let shared = Arc::clone(&self.shared);
        let state = shared.automaton.state(id);
        if at == start {
            // Otherwise the following text could turn this into another prompt.
            if shared.prompts.begins_another(&state.prompt.value) {
                self.text.push('\n');
            }
            self.progress = Progress::new(state, self.text.len());
            self.scanned = self.text.len();
        } else {
            // Strings were read to their ends, which can lie in what was cut off.
            self.progress.restart_json(start);
        }
        // Where every match continues with the same text, there is no need to ask the model for it.
        let forced = self.progress.forced(state);
        if !forced.is_empty() {
            if self.text.len() == start {
                self.text.push(' ');
            }
            self.text.push_str(&forced);
            self.hint = at..self.text.len();
            self.scan(false);
        }
    }

    /// Of these states the one whose prompt is nearest to the attempted text, relative to its length, with the
    /// distance; else the first.
    fn nearest(&self, states: &[StateId], tried: &str) -> (StateId, usize) {
        let tried = tried.to_lowercase();
        let distance = |state: &StateId| {
            let prompt = &self.automaton().state(*state).prompt.value;
            let edits = distance::edits_to_start(&prompt.to_lowercase(), &tried);
            let length = prompt.chars().count().max(1);
            // If more than half of it is wrong, the exact distance does not matter.
            if edits * 2 > length { FAR } else { edits * FAR / length }
        };
        let nearest =
            // The first of several minima, so the order of the specification decides.
            states.iter().map(|state| (*state, distance(state))).min_by_key(|(_, distance)| *distance);
        nearest.unwrap_or((states[0], FAR))
    }

    pub(super) fn common_prefix(&self, states: &[StateId]) -> String {
        let mut prompts = states.iter().map(|state| self.automaton().state(*state).prompt.value.as_str());
        let Some(first) = prompts.next() else { return String::new() };
        let shared = |prefix: &str, other: &str| {
            // By characters, so that the prefix does not end within one.
            let same = prefix.chars().zip(other.chars()).take_while(|(left, right)| left == right);
            same.map(|(c, _)| c.len_utf8()).sum::<usize>()
        };
        let length = prompts.fold(first.len(), |length, prompt| shared(&first[..length], prompt));
        first[..length].to_owned()
    }

    /// The only possible next state, if the environment writes it.
    pub(super) fn only_environment(&self) -> Option<StateId> {
        match self.automaton().valid(self.position) {
            [state] if self.automaton().state(*state).is_environment => Some(*state),
            _ => None,
        }
    }

    /// The state of the environment that a server may have stopped at, if there is exactly one.
    pub(super) fn expected_environment(&self) -> Option<StateId> {
        let valid = self.automaton().valid(self.position);
        let mut states = valid.iter().copied().filter(|id| self.automaton().state(*id).is_environment);
        let (state, None) = (states.next()?, states.next()) else { return None };
        let needs_calls = match &self.automaton().state(state).handler {
            Some(handler) => handler.value.needs_calls(),
            // Without a handler, the last call is run.
            None => true,
        };
        (!needs_calls || self.calls.len() > self.calls_from).then_some(state)
    }

    fn write_line_break(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.text.push('\n');
        }
    }

    /// Writes the prompt of a possible next state, and enters it.
    pub(super) fn write_prompt(&mut self, state: StateId) {
        self.write_line_break();
        let prompt = &self.shared.automaton.state(state).prompt.value;
        self.text.push_str(prompt);
        // No prompt contains a line break, so it cannot become another one.
        if self.shared.prompts.begins_another(prompt) {
            self.text.push('\n');
        }
        self.enter(state, self.text.len());
    }

    /// Writes the longest common prefix of the possible next prompts, as the published code does.
    pub(super) fn write_common_prefix(&mut self) {
        let prefix = self.common_prefix(self.automaton().valid(self.position));
        self.write_line_break();
        self.scanned = self.text.len();
        self.text.push_str(&prefix);
        self.hint = self.scanned..self.text.len();
        self.scan(false);
    }

    /// Writes text of the user or the environment, with its prompts broken, up to the end of a line.
    pub(super) fn write_escaped(&mut self, text: &str) {
        let last = self.sections.last().map(|part| part.state);
        let prompt = last.map_or("", |state| self.shared.automaton.state(state).prompt.value.as_str());
        let ends_in_break = self.text.ends_with('\n');
        if !ends_in_break {
            self.text.push(if self.shared.prompts.begins_another(prompt) { '\n' } else { ' ' });
        }
        self.shared.prompts.escape_into(text.trim(), &mut self.text);
        if let Some(part) = self.sections.last_mut() {
            part.content.end = self.text.len();
        }
        self.text.push('\n');
    }

    /// Continues after the question or the environment.
    pub(super) fn leave_written(&mut self) -> NextStep {
        self.scanned = self.text.len();
        self.mode = Mode::Closed(self.text.len());
        self.violations_here = 0;
        let (automaton, end) = (Arc::clone(&self.shared.automaton), self.text.len());
        // Text from outside is never truncated, so it can exceed the limit.
        if self.written_length() > self.shared.options.text_bytes_max {
            self.end_for_length();
            return self.step();
        }
        match automaton.valid(self.position) {
            [] => self.finish(end),
            // If the run may end as well, the model decides.
            _ if automaton.is_accepting(self.position) => {}
            [state] if automaton.state(*state).is_environment || self.shared.options.primes => {
                self.write_prompt(*state);
            }
            _ => {}
        }
        self.step()
    }
}
