//! Models that write anything: whatever they do, a run ends, and a finished one is in the language.

use std::collections::BTreeMap;
use std::sync::Arc;

use planproof_spec::monitor::{
    Author, CONTENT_RETRIES_MAX, Decoding, Monitor, MonitorOptions, MonitorOutcome, NextStep, Violation,
};
use planproof_spec::{
    Automaton, Compat, ContentRule, Entered, FormulaKind, Handler, Pattern, PromptPiece, Prompts, SHIPPED,
    Spec, StateId, load, textbook,
};
use planproof_trace::{Tool, ToolCall};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use crate::support::{any_behavior, any_requirement, spec};

/// Pieces of text that models push in a run of the tests. `PLANPROOF_MONITOR_STEPS` sets another number.
const STEPS: u64 = 1_000_000;
/// Specifications of chance beside the shipped ones.
const RANDOM_SPECS: usize = 40;
/// Pieces after which a run is stopped.
const RUN_STEPS_MAX: u64 = 400;

/// SplitMix64 (Steele, Lea and Flood, 2014).
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn one_in(&mut self, bound: usize) -> bool {
        self.below(bound) == 0
    }

    fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }
}

/// What a model is bent on.
#[derive(Debug, Clone, Copy)]
enum Habit {
    /// Any bytes.
    Garbage,
    /// Any prompts, with any text between them.
    Prompts,
    /// The environment's prompts, and what it would write.
    Environment,
    /// One prompt, again and again.
    Same(usize),
    /// Beginnings of prompts.
    Halves,
    /// Nothing, or blanks.
    Silence,
    /// What may come next, mostly.
    Sensible,
}

/// An output of a model with this habit.
fn output(habit: Habit, monitor: &Monitor, chance: &mut Chance) -> Vec<u8> {
    let automaton = monitor.automaton();
    let states: Vec<StateId> = automaton.states().collect();
    let prompt = |state: StateId| automaton.state(state).prompt.value.clone();
    let mut bytes = Vec::new();
    for _ in 0..=chance.below(4) {
        match habit {
            Habit::Garbage => bytes.extend((0..chance.below(20)).map(|_| chance.next() as u8)),
            Habit::Prompts => {
                bytes.extend((prompt(*chance.pick(&states)) + &content(automaton, chance)).into_bytes());
            }
            Habit::Environment => {
                let environment: Vec<StateId> =
                    states.iter().copied().filter(|state| automaton.state(*state).is_environment).collect();
                let state = *chance.pick(if environment.is_empty() { &states } else { &environment });
                bytes.extend((prompt(state) + " made up\n").into_bytes());
            }
            Habit::Same(index) => bytes.extend(prompt(states[index % states.len()]).into_bytes()),
            Habit::Halves => {
                let prompt = prompt(*chance.pick(&states)).into_bytes();
                bytes.extend(&prompt[..chance.below(prompt.len())]);
            }
            Habit::Silence => bytes.extend([" ", "\n", "", "\u{a0}"][chance.below(4)].bytes()),
            Habit::Sensible => {
                let valid = automaton.valid(monitor.position());
                // Often the rest of the prompt that has been begun.
                let begun = monitor.text().rsplit('\n').next().unwrap_or_default();
                let state = if valid.is_empty() { *chance.pick(&states) } else { *chance.pick(valid) };
                let whole = prompt(state);
                let rest = whole.strip_prefix(begun).filter(|_| chance.one_in(2)).unwrap_or(&whole);
                if chance.one_in(3) {
                    bytes.extend(content(automaton, chance).into_bytes());
                }
                bytes.extend((rest.to_owned() + &content(automaton, chance)).into_bytes());
            }
        }
    }
    if chance.one_in(20) {
        bytes.extend([0xc3, 0x28, 0xff]);
    }
    bytes
}

fn content(automaton: &Automaton, chance: &mut Chance) -> String {
    let prompt = automaton.spec().states[chance.below(automaton.spec().states.len())].prompt.value.clone();
    let half: String = prompt.chars().take(chance.below(prompt.len())).collect();
    let all = [
        " x",
        " Search ",
        "\nLookup\n",
        " #E12\n",
        " {\"n\": 2}",
        " {\"n\": 9} ",
        "1",
        "\\",
        " äöü",
        "",
        " a\n\nb ",
        &half,
        " s e a r c h",
        " w",
        " zz zz",
    ];
    (*chance.pick(&all)).to_owned()
}

/// What the environment writes: sometimes what would move the agent.
fn answer(automaton: &Automaton, chance: &mut Chance) -> String {
    let prompts: Vec<&str> =
        automaton.spec().states.iter().map(|state| state.prompt.value.as_str()).collect();
    (0..chance.below(5))
        .map(|_| match chance.below(4) {
            0 => format!("{} a", chance.pick(&prompts)),
            1 => chance.pick(&prompts).chars().take(1).collect(),
            2 => "\n".to_owned(),
            _ => content(automaton, chance),
        })
        .collect()
}

fn tools() -> Vec<Tool> {
    let tool = |name: &str, schema: Value| {
        let Value::Object(schema) = schema else { unreachable!("an object") };
        Tool { name: name.into(), description: String::new(), input_schema: schema.into() }
    };
    vec![
        tool("Search", json!({"properties": {"query": {"type": "string"}}})),
        tool("x", json!({"properties": {"n": {"type": "integer"}}})),
        tool("y", json!({})),
    ]
}

fn options(chance: &mut Chance) -> MonitorOptions {
    MonitorOptions {
        compat: if chance.one_in(4) { Compat::Original } else { Compat::Ours },
        decoding: if chance.one_in(2) { Decoding::Greedy } else { Decoding::Sampled },
        primes: chance.one_in(2),
        corrections_max: 40,
        text_bytes_max: if chance.one_in(4) { 300 } else { 20_000 },
        tools: chance.one_in(2).then(tools),
        ..MonitorOptions::default()
    }
}

/// Prompts in sets that are hard to tell apart.
const PROMPTS: [[&str; 3]; 5] = [
    ["[a]", "[b]", "[c]"],
    ["Act", "Act In", "Act In It"],
    ["aab", "aaab", "baa"],
    ["[a", "[a]", "[a]]"],
    ["<<", "<<>", "ä\\"],
];

/// Specifications of chance, with the environment and rules.
fn random_specs(chance: &mut Chance) -> Vec<Arc<Automaton>> {
    let mut runner = TestRunner::deterministic();
    let mut automata = Vec::new();
    while automata.len() < RANDOM_SPECS {
        let behavior = any_behavior().new_tree(&mut runner).unwrap().current();
        let requirements =
            (0..chance.below(3)).map(|_| any_requirement(true).new_tree(&mut runner).unwrap().current());
        let mut spec = spec(behavior, requirements.collect(), true);
        for (state, prompt) in spec.states.iter_mut().zip(chance.pick(&PROMPTS)) {
            state.prompt = (*prompt).to_owned().into();
        }
        match chance.below(4) {
            0 => {
                spec.states[0].is_environment = true;
                spec.states[0].handler = Some((*chance.pick(&Handler::ALL)).into());
            }
            1 => spec.states[0].content = vec![ContentRule::Tool.into()],
            2 => {
                let pattern = Pattern::new("#E[0-9]+|x+|a b").unwrap();
                spec.states[0].content =
                    vec![ContentRule::Matches(pattern).into(), ContentRule::Label.into()];
            }
            _ => spec.states[0].content = vec![ContentRule::MaxLength(4).into()],
        }
        if let Ok(loaded) = Automaton::compile(spec, Compat::Ours) {
            automata.push(loaded.automaton);
        }
    }
    automata
}

/// What there is to judge of a run.
struct Record {
    word: Vec<(StateId, Option<ToolCall>)>,
    contents: Vec<(Author, String)>,
    text: String,
}

impl Record {
    fn of(monitor: &Monitor) -> Self {
        let call = |entered: Entered<'_>| (entered.state, entered.call.cloned());
        Self {
            word: monitor.word().map(call).collect(),
            contents: monitor
                .sections()
                .map(|section| (section.author, section.content.to_owned()))
                .collect(),
            text: monitor.text().to_owned(),
        }
    }

    /// Judges a finished run by the textbook and by its text alone.
    fn judge(&self, spec: &Spec, prompts: &Prompts, options: &MonitorOptions) -> Result<(), String> {
        let word: Vec<Entered<'_>> =
            self.word.iter().map(|(state, call)| Entered::with(*state, call.as_ref())).collect();
        if !textbook::accepts(spec, &word) {
            return Err("it is not in the language".into());
        }
        for ((state, call), (author, content)) in self.word.iter().zip(&self.contents) {
            let state = &spec.states[state.index()];
            if *author != Author::Model {
                continue;
            }
            for rule in &state.content {
                let holds = match &rule.value {
                    ContentRule::Matches(pattern) => pattern.matches(content),
                    ContentRule::MaxLength(limit) => content.chars().count() <= *limit as usize,
                    ContentRule::Arguments => call.is_some(),
                    ContentRule::Tool => !content.is_empty() || options.compat == Compat::Original,
                    ContentRule::Label | ContentRule::Json(_) => true,
                };
                if !holds {
                    return Err(format!("`{content}` breaks the rule {}", rule.value));
                }
            }
            let is_offered = |call: &ToolCall| {
                options.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| tool.name == call.name))
            };
            let names_tools = spec.states.iter().any(planproof_spec::State::names_tool);
            if names_tools && call.as_ref().is_some_and(|call| !call.name.is_empty() && !is_offered(call)) {
                return Err(format!("{call:?} is no tool"));
            }
        }
        // Who reads the text again, knowing nothing of the run but who wrote what, finds the same.
        let is_by_model = |count: usize| {
            let author = count.checked_sub(1).and_then(|place| self.contents.get(place));
            author.is_some_and(|(author, _)| *author == Author::Model)
        };
        let (mut states, mut contents) = (Vec::new(), Vec::new());
        let mut before = None;
        for piece in prompts.split(&self.text) {
            match piece {
                PromptPiece::Prompt(state, _) => states.push(state),
                PromptPiece::Text(text) if options.compat == Compat::Ours && is_by_model(states.len()) => {
                    contents.push(undecorated(text, before, &spec.states[states[states.len() - 1].index()]));
                    before = text.chars().next_back();
                }
                PromptPiece::Text(text) if states.is_empty() => {
                    if !text.trim().is_empty() {
                        return Err(format!("it begins with `{text}`"));
                    }
                }
                PromptPiece::Text(text) => {
                    contents.push(text.trim().to_owned());
                    before = text.chars().next_back();
                }
            }
        }
        let of_run = self.word.iter().map(|(state, _)| *state).collect::<Vec<_>>();
        if states != of_run {
            return Err(format!("its text reads as {states:?}, not as {of_run:?}"));
        }
        if contents.iter().ne(self.contents.iter().map(|(_, content)| content)) {
            return Err(format!("its contents read as {contents:?}, not as {:?}", self.contents));
        }
        Ok(())
    }
}

/// Content between two marks without what models put around marks; `before` is the last character before the first.
fn undecorated(text: &str, before: Option<char>, state: &planproof_spec::State) -> String {
    let is_emphasised = before.is_some_and(|c| "*_".contains(c));
    let mut content = text;
    if is_emphasised {
        content = content.trim_start_matches(['*', '_']);
    }
    content = content.strip_prefix(':').unwrap_or(content);
    if is_emphasised {
        content = content.trim_start_matches(['*', '_']);
    }
    let begins = |pattern: &Pattern| text.get(..1).is_some_and(|first| pattern.begins_with(first));
    if state
        .content
        .iter()
        .any(|rule| matches!(&rule.value, ContentRule::Matches(pattern) if begins(pattern)))
    {
        content = text;
    }
    let bare = content.trim_end_matches(|c| "*_#>`- ".contains(c));
    if bare.is_empty() || bare.ends_with('\n') { bare.trim().to_owned() } else { content.trim().to_owned() }
}

/// Cuts bytes anywhere.
fn pieces<'b>(mut bytes: &'b [u8], chance: &mut Chance) -> Vec<&'b [u8]> {
    let mut pieces = Vec::new();
    while !bytes.is_empty() {
        let (piece, rest) = bytes.split_at(1 + chance.below(bytes.len().min(6)));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

#[track_caller]
fn assert_same(streamed: &Monitor, whole: &Monitor) {
    assert_eq!(streamed.text(), whole.text());
    assert_eq!(streamed.violation(), whole.violation());
    assert_eq!(streamed.step(), whole.step());
    assert_eq!(streamed.outcome(), whole.outcome());
    assert_eq!(streamed.counts(), whole.counts());
    assert_eq!(streamed.settled(), whole.settled());
    assert!(streamed.sections().eq(whole.sections()));
}

/// Runs a model to the end of the run. Gives the monitor, the pieces pushed, and the first state that was
/// refused, with the number of states before it.
fn drive(mut monitor: Monitor, chance: &mut Chance) -> (Monitor, u64, Option<(usize, StateId)>) {
    let (mut steps, mut refused) = (0, None);
    let mut habit = any_habit(chance);
    if chance.one_in(8) {
        monitor.push(&output(habit, &monitor.clone(), chance));
    } else {
        monitor.question(&answer(&monitor.automaton().clone(), chance));
    }
    let mut corrections = 0;
    while monitor.step() != NextStep::Ended {
        match monitor.step() {
            NextStep::Continue if steps > RUN_STEPS_MAX => {
                monitor.stop();
            }
            NextStep::Continue => {
                if chance.one_in(3) {
                    habit = any_habit(chance);
                }
                let output = output(habit, &monitor, chance);
                // The same bytes at once.
                let mut whole = monitor.clone();
                whole.push(&output);
                for piece in pieces(&output, chance) {
                    monitor.push(piece);
                    steps += 1;
                }
                assert_same(&monitor, &whole);
                if chance.one_in(3) {
                    let end: fn(&mut Monitor) -> NextStep =
                        if chance.one_in(2) { Monitor::end_of_output } else { Monitor::end_at_stop };
                    end(&mut monitor);
                    end(&mut whole);
                    assert_same(&monitor, &whole);
                }
                steps += 1;
            }
            NextStep::Violation => {
                if let (None, Some(Violation::State { tried, .. })) = (refused, monitor.violation()) {
                    refused = Some((monitor.sections().len(), *tried));
                }
                let before = monitor.clone();
                let correction = monitor.correct();
                assert!(monitor.text().ends_with(&correction.appended));
                // It only appends, except that it may mend labels. Even then the contents stay as they were.
                let states = |monitor: &Monitor| {
                    let sections = monitor.sections().take(before.sections().len());
                    sections.map(|section| section.state).collect::<Vec<_>>()
                };
                if states(&monitor) != states(&before) {
                    let contents = before.sections().map(|section| section.content);
                    assert!(
                        contents.eq(monitor.sections().map(|it| it.content).take(before.sections().len()))
                    );
                } else {
                    assert!(monitor.text().starts_with(before.text()));
                }
                corrections += 1;
            }
            NextStep::Environment => {
                let text = answer(&monitor.automaton().clone(), chance);
                monitor.environment(&text);
            }
            NextStep::Ended => {}
        }
    }
    let is_last_given_up = matches!(monitor.outcome(), Some(MonitorOutcome::Failed(_)));
    assert!(corrections <= monitor.counts().corrections + u32::from(is_last_given_up));
    (monitor, steps, refused)
}

fn any_habit(chance: &mut Chance) -> Habit {
    match chance.below(12) {
        0 => Habit::Garbage,
        1 => Habit::Prompts,
        2 => Habit::Environment,
        3 => Habit::Same(chance.below(10)),
        4 => Habit::Halves,
        5 => Habit::Silence,
        _ => Habit::Sensible,
    }
}

#[test]
#[ignore = "slow"]
fn whatever_a_model_writes_a_finished_run_is_in_the_language() {
    let wanted: u64 = match std::env::var("PLANPROOF_MONITOR_STEPS") {
        Ok(steps) => steps.parse().unwrap(),
        Err(_) => STEPS,
    };
    let mut chance = Chance(7);
    let mut automata: Vec<Arc<Automaton>> =
        SHIPPED.iter().map(|(_, source)| load(source, Compat::Ours).unwrap().automaton).collect();
    automata.extend(random_specs(&mut chance));
    let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
    let mut finished_by_spec = vec![0_u64; automata.len()];
    let (mut steps, mut caught, mut run) = (0, 0, 0);
    while steps < wanted {
        // The shipped ones get half of the runs.
        let index = if run % 2 == 0 { run / 2 % SHIPPED.len() } else { run / 2 % automata.len() };
        let automaton = Arc::clone(&automata[index]);
        let mut chance = Chance(run as u64);
        let options = options(&mut chance);
        let prompts = Prompts::new(automaton.spec(), options.compat);
        let (monitor, taken, refused) =
            drive(Monitor::new(Arc::clone(&automaton), options.clone()), &mut chance);
        steps += taken;
        run += 1;
        let record = Record::of(&monitor);
        let spec = automaton.spec();
        match monitor.outcome().unwrap() {
            MonitorOutcome::Finished => {
                *ends.entry("finished").or_default() += 1;
                finished_by_spec[index] += 1;
                if let Err(what) = record.judge(spec, &prompts, &options) {
                    panic!("run {run}: {what}\n{}\n{spec}", record.text);
                }
                caught += u64::from(canary_is_caught(record, refused, spec, &prompts, &options));
            }
            MonitorOutcome::Stopped => *ends.entry("stopped").or_default() += 1,
            MonitorOutcome::Failed(failure) => {
                *ends.entry("failed").or_default() += 1;
                assert!(failure.describe(&automaton).len() > 20);
            }
        }
        assert!(monitor.counts().corrections <= options.corrections_max);
        assert!(CONTENT_RETRIES_MAX < options.corrections_max);
    }
    for end in ["finished", "stopped", "failed"] {
        assert!(ends.get(end).is_some_and(|runs| *runs >= 10), "{ends:?}");
    }
    assert!(finished_by_spec[..SHIPPED.len()].iter().all(|runs| *runs > 0), "{finished_by_spec:?}");
    assert!(caught >= 50, "only {caught} canaries");
}

/// A monitor that let one violation through must be found out. Whether there was one to let through.
fn canary_is_caught(
    mut record: Record,
    refused: Option<(usize, StateId)>,
    spec: &Spec,
    prompts: &Prompts,
    options: &MonitorOptions,
) -> bool {
    let Some((at, tried)) = refused else { return false };
    record.word.insert(at, (tried, None));
    record.contents.insert(at, (Author::Environment, String::new()));
    assert!(
        record.judge(spec, prompts, options).is_err(),
        "a violation went through unseen: {}",
        record.text
    );
    true
}

/// The random specifications must be worth their name.
#[test]
fn random_specifications_are_of_many_kinds() {
    let automata = random_specs(&mut Chance(7));
    let count =
        |is_kind: fn(&Automaton) -> bool| automata.iter().filter(|automaton| is_kind(automaton)).count();
    assert!(count(|automaton| automaton.positions() > 4) >= 5);
    assert!(count(|automaton| automaton.spec().states[0].is_environment) >= 5);
    assert!(count(|automaton| !automaton.spec().requirements.is_empty()) >= 5);
    assert!(
        count(|automaton| matches!(automaton.spec().behavior.kind, FormulaKind::Next(_))) == RANDOM_SPECS
    );
}
