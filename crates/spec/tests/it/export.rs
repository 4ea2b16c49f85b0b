//! What is exported describes what the monitor takes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use planproof_spec::export::{
    ExportError, GrammarEnd, GrammarStart, Scope, dot, gbnf, graph, lark, mermaid, regex,
};
use planproof_spec::monitor::{Monitor, MonitorOptions, NextStep};
use planproof_spec::{Automaton, Compat, Position, PromptPiece, Prompts, SHIPPED, load, read, shipped};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::support::{any_behavior, cases, spec};

/// A shipped agent without content rules, so that only the order of states counts.
fn without_rules(name: &str) -> Arc<Automaton> {
    let mut spec = read(shipped(name).unwrap()).unwrap();
    for state in &mut spec.states {
        state.content.clear();
        state.handler = None;
    }
    spec.accepts.clear();
    Automaton::compile(spec, Compat::Original).unwrap().automaton
}

/// Whether a text is a run, by splitting it.
fn is_run(automaton: &Automaton, text: &str) -> bool {
    let pieces = Prompts::new(automaton.spec(), Compat::Ours).split(text);
    let is_blank = match pieces.first() {
        None => true,
        Some(PromptPiece::Text(text)) => text.trim().is_empty() && pieces.len() > 1,
        Some(PromptPiece::Prompt(..)) => true,
    };
    let states = pieces.iter().filter_map(|piece| match piece {
        PromptPiece::Prompt(state, _) => Some((*state).into()),
        PromptPiece::Text(_) => None,
    });
    is_blank && automaton.accepts(states)
}

/// An expression that is to match whole texts.
fn expression(text: &str) -> regex::Regex {
    regex::RegexBuilder::new(&format!("^(?:{text})$")).size_limit(1 << 28).build().unwrap()
}

/// Just enough of GBNF to read what is written here.
struct Gbnf {
    rules: BTreeMap<String, Vec<Vec<Item>>>,
}

#[derive(Debug, Clone)]
enum Item {
    Text(Vec<char>),
    Class { inside: Vec<char>, negated: bool, repeated: bool },
    Rule(String),
}

impl Gbnf {
    fn read(source: &str) -> Self {
        let mut rules = BTreeMap::new();
        for line in source.lines() {
            let (name, body) = line.split_once(" ::= ").unwrap();
            let mut choices = vec![Vec::new()];
            let mut rest = body.chars().peekable();
            while let Some(c) = rest.next() {
                let item = match c {
                    ' ' => continue,
                    '|' => {
                        choices.push(Vec::new());
                        continue;
                    }
                    '"' => Item::Text(Self::characters(&mut rest, '"')),
                    '[' => {
                        let negated = rest.next_if_eq(&'^').is_some();
                        let inside = Self::characters(&mut rest, ']');
                        Item::Class { inside, negated, repeated: rest.next_if_eq(&'*').is_some() }
                    }
                    first => {
                        let mut name = first.to_string();
                        while let Some(c) = rest.next_if(char::is_ascii_alphanumeric) {
                            name.push(c);
                        }
                        Item::Rule(name)
                    }
                };
                choices.last_mut().unwrap().push(item);
            }
            assert!(rules.insert(name.to_owned(), choices).is_none());
        }
        Self { rules }
    }

    fn characters(rest: &mut std::iter::Peekable<std::str::Chars<'_>>, end: char) -> Vec<char> {
        let mut characters = Vec::new();
        loop {
            match rest.next().unwrap() {
                c if c == end => return characters,
                '\\' => {
                    let digits = match rest.next().unwrap() {
                        'x' => 2,
                        'u' => 4,
                        'U' => 8,
                        't' => {
                            characters.push('\t');
                            continue;
                        }
                        'r' => {
                            characters.push('\r');
                            continue;
                        }
                        'n' => {
                            characters.push('\n');
                            continue;
                        }
                        other => panic!("\\{other}"),
                    };
                    let code: String = rest.by_ref().take(digits).collect();
                    characters.push(char::from_u32(u32::from_str_radix(&code, 16).unwrap()).unwrap());
                }
                c => characters.push(c),
            }
        }
    }

    fn accepts(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        let mut known = BTreeMap::new();
        self.ends("root", 0, &text, &mut known).contains(&text.len())
    }

    /// Where a rule can end that begins at a place.
    fn ends(
        &self,
        rule: &str,
        start: usize,
        text: &[char],
        known: &mut BTreeMap<(String, usize), BTreeSet<usize>>,
    ) -> BTreeSet<usize> {
        if let Some(ends) = known.get(&(rule.to_owned(), start)) {
            return ends.clone();
        }
        let mut all = BTreeSet::new();
        for choice in &self.rules[rule] {
            let mut places = BTreeSet::from([start]);
            for item in choice {
                places = places.into_iter().flat_map(|place| self.after(item, place, text, known)).collect();
            }
            all.extend(places);
        }
        known.insert((rule.to_owned(), start), all.clone());
        all
    }

    fn after(
        &self,
        item: &Item,
        place: usize,
        text: &[char],
        known: &mut BTreeMap<(String, usize), BTreeSet<usize>>,
    ) -> BTreeSet<usize> {
        match item {
            Item::Text(literal) if text[place..].starts_with(literal) => {
                BTreeSet::from([place + literal.len()])
            }
            Item::Text(_) => BTreeSet::new(),
            Item::Class { inside, negated, repeated } => {
                let fits = |c: &char| inside.contains(c) != *negated;
                let most = if *repeated { text.len() } else { 1 };
                let length = text[place..].iter().take(most).take_while(|c| fits(c)).count();
                let least = if *repeated { 0 } else { 1 };
                (least..=length).map(|length| place + length).collect()
            }
            Item::Rule(name) => self.ends(name, place, text, known),
        }
    }
}

/// A text of prompts, parts of them, and other things; often what can come after a position, up to the
/// environment's turn if `stops`.
fn any_text(
    automaton: &Arc<Automaton>,
    from: Position,
    stops: bool,
) -> impl Strategy<Value = String> + use<> {
    let automaton = Arc::clone(automaton);
    let parts = prop::collection::vec((0..20_u32, 0..40_usize, "[ \n\\[\\]A-Za-z]{0,6}"), 0..12);
    parts.prop_map(move |parts| {
        let spec = automaton.spec();
        let (mut text, mut position) = (String::new(), from);
        for (kind, choice, other) in parts {
            let prompt = &spec.states[choice % spec.states.len()].prompt.value;
            let valid = automaton.valid(position);
            match kind {
                0 => text.push_str(prompt),
                1 => text.extend(prompt.chars().take(choice % prompt.len())),
                _ if !valid.is_empty() => {
                    let state = valid[choice % valid.len()];
                    text.push_str(&automaton.state(state).prompt.value);
                    position = automaton.after(position, state).unwrap();
                    if stops && automaton.state(state).is_environment {
                        break;
                    }
                    text.push_str(&other);
                }
                _ => text.push_str(&other),
            }
        }
        text
    })
}

#[test]
fn expressions_and_grammars_describe_runs() {
    for (name, _) in SHIPPED {
        let automaton = without_rules(name);
        let scope = Scope::run(&automaton);
        let pattern = expression(&regex(&automaton, scope).unwrap());
        let grammar = Gbnf::read(&gbnf(&automaton, scope).unwrap());
        let (mut runs, mut others) = (0, 0);
        let mut runner = proptest::test_runner::TestRunner::deterministic();
        for _ in 0..150 {
            let text =
                any_text(&automaton, automaton.start(), false).new_tree(&mut runner).unwrap().current();
            let expected = is_run(&automaton, &text);
            assert_eq!(pattern.is_match(&text), expected, "{text:?}");
            assert_eq!(grammar.accepts(&text), expected, "{text:?}");
            *(if expected { &mut runs } else { &mut others }) += 1;
        }
        assert!(runs > 5 && others > 5, "{name}: {runs} runs, {others} others");
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn expressions_and_grammars_of_any_behaviour(
        behavior in any_behavior(),
        texts in prop::collection::vec(prop::collection::vec(0..7_usize, 0..10), 20),
    ) {
        let automaton = Automaton::compile(spec(behavior, Vec::new(), false), Compat::Ours).unwrap().automaton;
        let scope = Scope::run(&automaton);
        let pattern = expression(&regex(&automaton, scope).unwrap());
        let grammar = Gbnf::read(&gbnf(&automaton, scope).unwrap());
        for parts in texts {
            let text: String = parts.iter().map(|part| ["[a]", "[b]", "[c]", "[", "a]", " ", "x"][*part]).collect();
            let expected = is_run(&automaton, &text);
            prop_assert_eq!(grammar.accepts(&text), expected, "{:?}", text);
            prop_assert_eq!(pattern.is_match(&text), expected, "{:?}", text);
        }
    }
}

/// What a request may give is what the monitor takes without a violation, up to where the environment writes.
#[test]
#[ignore = "slow"]
fn the_scope_of_a_request() {
    let automaton = without_rules("pass");
    // Without our corrections, which take a text with a wrong label as well.
    let options = MonitorOptions { primes: false, correction: Compat::Original, ..MonitorOptions::default() };
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut taken, mut compared) = (0, 0);
    for _ in 0..25 {
        let mut monitor = Monitor::new(Arc::clone(&automaton), options.clone());
        monitor.question("q");
        for _ in 0..3 {
            if monitor.step() != NextStep::Continue || monitor.settled() < monitor.text().len() {
                break;
            }
            let scope = Scope::next(&monitor);
            let pattern = expression(&regex(&automaton, scope).unwrap());
            let grammar = Gbnf::read(&gbnf(&automaton, scope).unwrap());
            for _ in 0..4 {
                let texts = any_text(&automaton, monitor.position(), true);
                let text = texts.new_tree(&mut runner).unwrap().current();
                let mut next = monitor.clone();
                let expected = match next.push(text.as_bytes()) {
                    // Nothing may follow the prompt of the environment.
                    NextStep::Environment => next.counts() == monitor.counts(),
                    NextStep::Continue => {
                        next.end_of_output();
                        next.answer().is_some() && next.counts() == monitor.counts()
                    }
                    NextStep::Violation | NextStep::Ended => false,
                };
                assert_eq!(pattern.is_match(&text), expected, "{text:?} after {:?}", monitor.text());
                assert_eq!(grammar.accepts(&text), expected, "{text:?} after {:?}", monitor.text());
                compared += 1;
                taken += u32::from(expected);
            }
            monitor.push(b"[Thought] p [Action] a");
            monitor.push(b"[Action Input] i ");
        }
    }
    assert!(compared > 100 && taken > 10, "{taken} of {compared}");
}

#[test]
fn tools_and_patterns_are_part_of_a_grammar() {
    let loaded = load(shipped("rewoo").unwrap(), Compat::Ours).unwrap();
    let scope = Scope { tools: Some(&["Search", "Look.Up"]), ..Scope::run(&loaded.automaton) };
    let pattern = expression(&regex(&loaded.automaton, scope).unwrap());
    let run = |label: &str, tool: &str| {
        format!("[Question] q [Plan] p [Action Label] {label} [Action] {tool}\n[Action Input] i [Answer] a")
    };
    assert!(pattern.is_match(&run("#E1", "Look.Up")));
    assert!(!pattern.is_match(&run("E1", "Search")));
    assert!(!pattern.is_match(&run("#E1", "LookxUp")));
    let grammar = Gbnf::read(&gbnf(&loaded.automaton, scope).unwrap());
    assert!(grammar.accepts(&run("#E1", "Look.Up")) && !grammar.accepts(&run("#E1", "LookxUp")));
}

#[test]
fn a_tool_has_a_name_even_if_the_tools_are_unknown() {
    for (name, before) in [
        ("react", "[Question] q [Thought] p [Action]"),
        ("rewoo", "[Question] q [Plan] p [Action Label] #E1 [Action]"),
    ] {
        let automaton = load(shipped(name).unwrap(), Compat::Ours).unwrap().automaton;
        let scope = Scope::run(&automaton);
        let pattern = expression(&regex(&automaton, scope).unwrap());
        let grammar = Gbnf::read(&gbnf(&automaton, scope).unwrap());
        let after = match name {
            "react" => "[Action Input] {} [Observation] o [Final Thought] t [Answer] a",
            _ => "[Action Input] i [Answer] a",
        };
        for (tool, is_name) in [
            ("", false),
            (" ", false),
            ("\n\n", false),
            ("\u{a0}\u{3000}\t", false),
            ("x", true),
            (" Search\n", true),
            ("[", true),
            (" [Actio", true),
            ("[[", true),
            (" Look Up ", true),
            ("\u{3000}検索", true),
        ] {
            let text = format!("{before}{tool}{after}");
            let mut monitor = Monitor::new(
                Arc::clone(&automaton),
                MonitorOptions { primes: false, correction: Compat::Original, ..MonitorOptions::default() },
            );
            monitor.question("q");
            let own = format!("{}{tool}[Action Input]", &before["[Question] q ".len()..]);
            let step = monitor.push(own.as_bytes());
            assert_eq!(step == NextStep::Continue, is_name, "{name} {tool:?}: the monitor");
            assert_eq!(pattern.is_match(&text), is_name, "{name} {tool:?}: the expression");
            assert_eq!(grammar.accepts(&text), is_name, "{name} {tool:?}: the grammar");
        }
    }
}

#[test]
fn what_cannot_be_told_apart_is_refused() {
    let automaton = |prompts: [&str; 2]| {
        let source = format!(
            "(define d (:states (a (:text {:?})) (b (:text {:?}))) (:behavior (next a b)))",
            prompts[0], prompts[1]
        );
        load(&source, Compat::Ours).unwrap().automaton
    };
    let nested = automaton(["Action", "Action Input"]);
    let fault = ExportError::NestedPrompts { inner: "Action".into(), outer: "Action Input".into() };
    assert_eq!(lark(&nested, Scope::run(&nested)), Err(fault.clone()));
    assert_eq!(regex(&nested, Scope::run(&nested)), Err(fault.clone()));
    assert_eq!(gbnf(&nested, Scope::run(&nested)), Err(fault));
    let overlapping = automaton(["<<x>", "><"]);
    assert!(lark(&overlapping, Scope::run(&overlapping)).is_ok());
    assert!(matches!(
        regex(&overlapping, Scope::run(&overlapping)),
        Err(ExportError::OverlappingPrompts { .. })
    ));
    let loops = shipped("react").unwrap().replace("Obs) Final-Tht)", "Obs) Final-Tht :max 900)");
    let loops = load(&loops, Compat::Ours).unwrap().automaton;
    assert!(matches!(regex(&loops, Scope::run(&loops)), Err(ExportError::TooMuch { .. })));
    assert!(gbnf(&loops, Scope::run(&loops)).is_ok());
}

#[test]
fn exports_of_react() {
    let automaton = load(shipped("react").unwrap(), Compat::Ours).unwrap().automaton;
    let scope = Scope { tools: Some(&["Search", "Lookup"]), ..Scope::run(&automaton) };
    insta::assert_snapshot!("react_dot", dot(&automaton));
    insta::assert_snapshot!("react_mermaid", mermaid(&automaton));
    insta::assert_snapshot!("react_lark", lark(&automaton, scope).unwrap());
    insta::assert_snapshot!("react_gbnf", gbnf(&automaton, scope).unwrap());
}

#[test]
fn graphs_are_laid_out_in_layers() {
    for (name, _) in SHIPPED {
        let automaton = without_rules(name);
        let graph = graph(&automaton);
        let mut places = BTreeSet::new();
        for (number, node) in graph.nodes.iter().enumerate() {
            assert!(places.insert((node.layer, node.place)), "{name}");
            assert_eq!(node.is_start, node.layer == 0);
            let before = graph.edges.iter().filter(|edge| edge.to == number);
            let before = before.map(|edge| graph.nodes[edge.from].layer).min();
            assert!(node.is_start || before == node.layer.checked_sub(1), "{name}");
        }
        for edge in &graph.edges {
            assert_eq!(edge.is_back, graph.nodes[edge.to].layer <= graph.nodes[edge.from].layer);
        }
        assert!(graph.nodes.iter().any(|node| node.is_end));
    }
}

#[test]
fn a_scope_may_begin_anywhere() {
    let automaton = without_rules("react");
    let state = |name: &str| automaton.state_named(name).unwrap();
    let asked = automaton.after(automaton.start(), state("Ques")).unwrap();
    let from = |start: GrammarStart, end: GrammarEnd| {
        expression(&regex(&automaton, Scope { start, end, tools: None }).unwrap())
    };
    let whole = from(GrammarStart::Prompt(asked), GrammarEnd::Run);
    assert!(
        whole.is_match("\n[Final Thought] f [Answer] a") && !whole.is_match("x[Final Thought] f [Answer] a")
    );
    let rest = from(
        GrammarStart::Content { before: asked, state: state("Tht"), is_begun: true },
        GrammarEnd::Environment,
    );
    assert!(rest.is_match("inking [Action] a [Action Input] i [Observation]"));
    assert!(!rest.is_match("inking [Action] a [Action Input] i [Observation] o"));
    assert!(!rest.is_match("[Final Thought] f"));
}

/// Regular expressions as users write them, and what becomes of them: `None` where they cannot be exported.
#[test]
fn regular_expressions_of_rules_are_exported_or_refused() {
    let automaton = |pattern: &str| {
        let source = format!(
            "(define d (:states (a (:text \"[a]\") (:content (matches {pattern:?}))) (b (:text \"[b]\"))) (:behavior (next a b)))"
        );
        load(&source, Compat::Ours).unwrap().automaton
    };
    for (pattern, exported) in [
        ("[0-9]+", Some("[0-9]+")),
        ("(?:a|b)/c", Some("(?:a|b)/c")),
        ("^[0-9]+$", Some("[0-9]+")),
        ("^(a$|^b)$", Some("[ab]")),
        ("(?x) a b # both", Some("(?:ab)")),
        ("(?i)ab", Some("(?:[Aa][Bb])")),
        ("(?P<stop>a)b", Some("(?:ab)")),
        (r"a(?-u:\b) c", None),
        (r"(?m)^a", None),
        (r"(^a)+", None),
        (r"(a|$)b?", None),
    ] {
        let automaton = automaton(pattern);
        let found = regex(&automaton, Scope::run(&automaton));
        match exported {
            Some(exported) => {
                let found = found.unwrap();
                assert!(found.contains(&format!("(?:{exported})")), "{pattern}: {found}");
                let grammar = lark(&automaton, Scope::run(&automaton)).unwrap();
                assert!(
                    grammar.contains(&format!("({})", exported.replace('/', r"\/"))),
                    "{pattern}: {grammar}"
                );
            }
            None => {
                assert!(matches!(found, Err(ExportError::LookAround { .. })), "{pattern}: {found:?}");
                assert!(matches!(
                    lark(&automaton, Scope::run(&automaton)),
                    Err(ExportError::LookAround { .. })
                ));
                // A format without regular expressions takes it.
                gbnf(&automaton, Scope::run(&automaton)).unwrap();
            }
        }
    }
    let error = lark(&automaton(r"(?-u:\b)x"), Scope::run(&automaton(r"(?-u:\b)x"))).unwrap_err();
    insta::assert_snapshot!(error, @r"the regular expression of `a` cannot be exported: it has `\b` amid its text, and grammars know no such thing; write it without, or leave it to the monitor: `--to gbnf` exports no regular expressions");
}
