//! A run for people: a line for each event.

use std::collections::HashMap;
use std::fmt::Write as _;

use planproof_output::colours::Colours;
use planproof_output::layout::short;
use planproof_plan::team::{graph_of_run, sections};
use planproof_trace::{
    Actor, Arguments, Author, CallPairing, EndReason, Event, EventKind, FinishReason, Header, Tally, Usage,
};

/// Most characters shown of what a model says, and of a task.
const WORDS_SHOWN: usize = 600;
/// Most characters shown of a call's arguments, and of its result.
const CALL_SHOWN: usize = 300;
/// Characters of the first column.
const LABEL: usize = 8;

/// What is known of the run so far.
pub(super) struct Transcript {
    colours: Colours,
    /// The agent's query, which agents within it usually repeat.
    query: Option<String>,
    turns: HashMap<Option<Actor>, u32>,
    pairing: CallPairing,
    /// When each call began.
    begun: Vec<u64>,
    usage: Usage,
    /// What the latest tool answered.
    answered: String,
    /// What a team has reported of its sub-tasks, from which its graph is drawn.
    of_team: Vec<Event>,
}

impl Transcript {
    pub(super) fn new(colours: Colours) -> Self {
        let (query, turns, pairing, begun, usage, answered) = Default::default();
        Self { colours, query, turns, pairing, begun, usage, answered, of_team: Vec::new() }
    }

    /// The text before the first event: empty, except for a simulation.
    pub(super) fn header(&self, header: &Header) -> String {
        if !header.simulated {
            return String::new();
        }
        line_of(
            self.colours,
            "note",
            "1",
            "SIMULATION: a simulated model answers; it knows nothing of tools like these.",
            "",
        )
    }

    /// The line of an event, with its line break; a change of a team's graph is followed by the progress.
    pub(super) fn event(&mut self, event: &Event) -> String {
        let mut shown = self.line_of_event(event);
        if let EventKind::Section { state, .. } = &event.kind
            && sections::OF_PROGRESS.contains(&state.as_str())
        {
            self.of_team.push(event.clone());
            let Some(drawing) = graph_of_run(&self.of_team) else { return shown };
            if state == sections::GRAPH {
                shown = line_of(self.colours, "graph", "1;34", "the sub-tasks:", "");
                for line in drawing.to_lines().lines() {
                    shown += &line_of(self.colours, "", "2", line, "");
                }
            } else {
                if state == sections::STARTED {
                    // The status line says what is running, so the section's own line would only repeat it.
                    shown.clear();
                }
                shown += &line_of(self.colours, "graph", "1;34", &drawing.to_status_line(), "");
            }
        }
        shown
    }

    fn line_of_event(&mut self, event: &Event) -> String {
        let by = event.actor.as_ref().map(|actor| format!("{actor}:")).unwrap_or_default();
        let colours = self.colours;
        let line = |label: &str, colour, text: &str, notes: &str| {
            let text = if by.is_empty() { text.to_owned() } else { format!("{by} {text}") };
            line_of(colours, label, colour, text.trim_end(), notes)
        };
        // Pairing relies on seeing every event in order, so it comes before anything is left out.
        let paired = self.pairing.take(event);
        match &event.kind {
            EventKind::Query { text } if event.actor.is_some() && self.query.as_ref() == Some(text) => {
                String::new()
            }
            EventKind::Query { text } => {
                self.query.get_or_insert_with(|| text.clone());
                line("task", "1", &cut(text, WORDS_SHOWN), "")
            }
            EventKind::Turn { text, reasoning, calls, finish, usage } => {
                // Agents within the agent may work at the same time, so each has a count of its own.
                let number = self.turns.entry(event.actor.clone()).or_default();
                *number += 1;
                self.usage += *usage;
                let calls = match calls {
                    0 => None,
                    1 => Some("1 call".to_owned()),
                    calls => Some(format!("{calls} calls")),
                };
                let broken_off = (*finish == FinishReason::Cut).then(|| "broken off".to_owned());
                let thought =
                    (!reasoning.is_empty()).then(|| format!("thought: {}", cut(reasoning, CALL_SHOWN)));
                let notes = thought.into_iter().chain(calls).chain(broken_off).chain(tokens(*usage));
                let notes: Vec<String> = notes.collect();
                line(&format!("turn {number}"), "1;36", &cut(text, WORDS_SHOWN), &notes.join(", "))
            }
            EventKind::Call(call) => {
                self.begun.push(event.at);
                let number = self.begun.len();
                let arguments = match &call.arguments {
                    Arguments::Object(object) if object.is_empty() => String::new(),
                    Arguments::Object(_) => call.arguments.to_text(),
                    Arguments::Malformed(text) => format!("malformed: {text}"),
                };
                let text = format!("{} {}", cut(&call.name, CALL_SHOWN), cut(&arguments, CALL_SHOWN));
                line(&format!("call {number}"), "1;33", text.trim_end(), "")
            }
            EventKind::Result(result) => {
                result.text.trim().clone_into(&mut self.answered);
                let (number, begun) = match paired {
                    Some(number) => (number + 1, self.begun.get(number).copied().unwrap_or(event.at)),
                    // A result without a call: calls count from 1.
                    None => (0, event.at),
                };
                let (label, colour) = if result.is_error { ("error", "1;31") } else { ("ok", "1;32") };
                let taken = time(event.at.saturating_sub(begun));
                line(&format!("{label} {number}"), colour, &cut(&result.text, CALL_SHOWN), &taken)
            }
            EventKind::Spec { name, continuation } => {
                let text = cut(name, WORDS_SHOWN);
                line("spec", "1", &text, &format!("continuation: {continuation}"))
            }
            EventKind::Section { state, author: Author::Environment, text, note }
                if !note.is_empty() || *text != self.answered =>
            {
                let text = format!("{} {}", cut(state, CALL_SHOWN), cut(text, WORDS_SHOWN));
                line("section", "1", &text, &cut(note, CALL_SHOWN))
            }
            // The question is above, the model's text is in its turns, and the rest is a tool's answer.
            EventKind::Section { .. } => String::new(),
            EventKind::Correction { violation, appended, .. } => {
                let appended = match cut(appended, CALL_SHOWN).as_str() {
                    "" => String::new(),
                    appended => format!("goes on after {appended}"),
                };
                line("correct", "1;35", &cut(violation, WORDS_SHOWN), &appended)
            }
            EventKind::Tally(tally) if tally.corrections > 0 => {
                let Tally { corrections, discarded_tokens, repeated_tokens, .. } = tally;
                let text = format!("{corrections} corrections");
                let notes = format!("{discarded_tokens} tokens discarded, {repeated_tokens} sent again");
                line("tally", "1", &text, &notes)
            }
            EventKind::Tally(_) | EventKind::Batch { .. } => String::new(),
            EventKind::End(reason) => {
                let (text, colour) = match reason {
                    EndReason::Answered { .. } => ("answered".to_owned(), "1;32"),
                    EndReason::LimitReached { limit, value } => {
                        (format!("limit reached: {limit} {value}"), "1;31")
                    }
                    EndReason::AgentFailed { reason } => {
                        (format!("the agent failed: {}", cut(reason, WORDS_SHOWN)), "1;31")
                    }
                    EndReason::Unscored { reason } => (cut(reason, WORDS_SHOWN), "1;31"),
                };
                line("end", colour, &text, &self.totals(event.at))
            }
        }
    }

    fn totals(&self, at: u64) -> String {
        let count = |count: usize, noun: &str| match count {
            0 => None,
            1 => Some(format!("1 {noun}")),
            count => Some(format!("{count} {noun}s")),
        };
        let parts = [
            Some(time(at)),
            count(self.turns.values().sum::<u32>() as usize, "turn"),
            count(self.pairing.calls(), "call"),
            tokens(self.usage),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// A label, what is to be said, and notes on it.
fn line_of(colours: Colours, label: &str, colour: &str, text: &str, notes: &str) -> String {
    let mut line = colours.paint(colour, &format!("{label:<LABEL$}"));
    for part in [text.to_owned(), notes_of(colours, notes)] {
        if !part.is_empty() {
            let _ = write!(line, " {part}");
        }
    }
    format!("{}\n", line.trim_end())
}

fn notes_of(colours: Colours, notes: &str) -> String {
    if notes.is_empty() { String::new() } else { colours.dim(&format!("({notes})")) }
}

/// As much of a text as is shown of it, in one line.
fn cut(text: &str, characters: usize) -> String {
    short(text.trim(), characters)
}

fn tokens(usage: Usage) -> Option<String> {
    (usage != Usage::default())
        .then(|| format!("{} tokens in, {} out", usage.input_tokens, usage.output_tokens))
}

/// A time in milliseconds, as people read it.
fn time(milliseconds: u64) -> String {
    match milliseconds {
        0..1000 => format!("{milliseconds} ms"),
        _ => format!("{}.{} s", milliseconds / 1000, milliseconds % 1000 / 100),
    }
}

#[cfg(test)]
mod tests {
    use planproof_output::terminal;
    use planproof_trace::{CallId, ToolResult, notation};

    use super::*;

    fn shown(events: &str) -> String {
        let mut transcript = Transcript::new(Colours::Off);
        notation::parse(events).unwrap().iter().map(|event| transcript.event(event)).collect()
    }

    #[test]
    fn events_are_lines() {
        let text = shown(
            r#"query "Add 40 and 2.\nThen stop." | @900 turn 2 calls "I add." tokens=10/20 | @900 call add {"a":40,"b":2} | @901 call wash malformed "[1" | @1000 err "no\u001b[2J" | @2345 ok #c1 "42" | @4000 say "It is 42." tokens=1/2 | @4100 answer "It is 42.""#,
        );
        insta::assert_snapshot!(text, @r#"
        task     Add 40 and 2.\nThen stop.
        turn 1   I add. (2 calls, 10 tokens in, 20 out)
        call 1   add {"a":40,"b":2}
        call 2   wash malformed: [1
        error 2  no\u{1b}[2J (99 ms)
        ok 1     42 (1.4 s)
        turn 2   It is 42. (1 tokens in, 2 out)
        end      answered (4.1 s, 2 turns, 2 calls, 11 tokens in, 22 out)
        "#);
    }

    #[test]
    fn agents_within_the_agent_are_named() {
        let text = shown(
            r#"query "Add 2 and 2." | sample-1: query "Add 2 and 2." | sample-1: say "4" | sample-2: query "Add 2 and 2." | sample-2: say "5" | other: query "Again." | other: turn 1 call | other: call add | other: ok "4" | answer "4""#,
        );
        insta::assert_snapshot!(text, @r#"
        task     Add 2 and 2.
        turn 1   sample-1: 4
        turn 1   sample-2: 5
        task     other: Again.
        turn 1   other: (1 call)
        call 1   other: add
        ok 1     other: 4 (1 ms)
        end      answered (9 ms, 3 turns, 1 call)
        "#);
    }

    #[test]
    fn the_graph_of_a_team_is_followed() {
        let graph = r#"{\"sub_tasks\": [{\"id\": \"a\", \"task\": \"Add.\", \"executor\": \"worker\"}]}"#;
        let text = shown(&format!(
            "query \"Add.\" | manager: section graph environment \"{graph}\" | executor/a: section started environment \
             \"worker\" note=\"a\" | executor/a: section result environment \"4\" note=\"a\" | answer \"4\""
        ));
        insta::assert_snapshot!(text, @r"
        task     Add.
        graph    the sub-tasks:
                 · a (worker, waiting)
                   Add.
        graph    0 of 1 finished, running: a
        section  executor/a: result 4 (a)
        graph    1 of 1 finished
        end      answered (4 ms)
        ");
    }

    #[test]
    fn ends_say_why() {
        for (end, line) in [
            ("limit iterations 50", "end      limit reached: iterations 50 (0 ms)\n"),
            (r#"failed "exit\u0007""#, "end      the agent failed: exit\\u{7} (0 ms)\n"),
            (r#"unscored "no key""#, "end      no key (0 ms)\n"),
        ] {
            assert_eq!(shown(end), line);
        }
    }

    #[test]
    fn an_event_is_one_line_whatever_it_holds() {
        let evil = "\u{1b}]0;title\u{7}\u{9b}2J\u{8}\u{7f}\u{202e}\u{2028}\u{e0041}\u{feff}\r\n\tok";
        let harmless = |text: &str| text.chars().all(|c| !terminal::is_hidden(c) || c == '\n');
        let id = CallId::new(evil);
        let call = planproof_trace::ToolCall {
            id: id.clone(),
            name: evil.into(),
            arguments: Arguments::Malformed(evil.into()),
        };
        let object = Arguments::from_text(&serde_json::json!({ evil: evil }).to_string());
        let kinds = [
            EventKind::Query { text: evil.into() },
            EventKind::Turn {
                text: evil.into(),
                reasoning: evil.into(),
                calls: 1,
                finish: planproof_trace::FinishReason::Stop,
                usage: Usage::default(),
            },
            EventKind::Call(call.clone()),
            EventKind::Call(planproof_trace::ToolCall { arguments: object, ..call }),
            EventKind::Result(ToolResult::ok(id.clone(), evil)),
            EventKind::Result(ToolResult::error(id, evil)),
            EventKind::End(EndReason::AgentFailed { reason: evil.into() }),
            EventKind::End(EndReason::Unscored { reason: evil.into() }),
        ];
        let mut transcript = Transcript::new(Colours::Off);
        for kind in kinds {
            let line = transcript.event(&Event::new(0, kind));
            assert!(line.lines().count() == 1 && harmless(&line) && !line.contains('\t'), "{line:?}");
        }
    }

    #[test]
    fn long_texts_are_cut() {
        let text = shown(&format!("query {:?} | ok #c1 {:?}", "a".repeat(9999), "b".repeat(9999)));
        let lengths: Vec<usize> = text.lines().map(|line| line.chars().count()).collect();
        assert_eq!(lengths, [LABEL + 1 + WORDS_SHOWN, LABEL + 1 + CALL_SHOWN + " (0 ms)".len()]);
        assert!(text.contains('…'));
    }

    #[test]
    fn colours_surround_labels_and_notes() {
        let mut transcript = Transcript::new(Colours::On);
        let events = notation::parse("ok #c1 \"a\"").unwrap();
        assert_eq!(
            transcript.event(&events[0]),
            format!("{} a {}\n", terminal::styled("1;32", "ok 0    "), terminal::styled("2", "(0 ms)"))
        );
    }
}
