//! Random walks: what an exported grammar lets a model write next, in llguidance's own opinion, is what the
//! monitor takes.

use std::sync::Arc;

use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use planproof_spec::export::{GrammarStart, Scope, lark};
use planproof_spec::monitor::{Monitor, MonitorOptions, NextStep};
use planproof_spec::{Automaton, Compat, SHIPPED, load};
use toktrie::{ApproximateTokEnv, TokEnv, TokRxInfo, TokTrie};

/// Tokens of each walk.
const WALK_TOKENS: usize = 40;
/// Walks through each specification.
const WALKS: u64 = 6;

/// Content that some rule or other is satisfied with.
const FILLERS: [&str; 7] = ["", "x", " x", "1", "E1", "#E1", " #E1"];

/// Specifications beside the shipped ones: prompts that overlap, rules, requirements, a run that may go on
/// after its end.
const OTHERS: [&str; 4] = [
    r##"(define overlapping
      (:states (q (:text "[Question]")) (a (:text "<<x>")) (b (:text "><")) (c (:text "xx>y")))
      (:behavior (next q (until (or (next a b) (always c :max 2)) (next b a)))))"##,
    r##"(define rules
      (:states (q (:text "[Question]"))
        (n (:text "[Number]") (:content (matches "-?[0-9]+")))
        (s (:text "[Short]") (:content (max-length 3)))
        (o (:text "[Out]") (:flags :env-input) (:handler evaluate)))
      (:behavior (next q (until (next (or n s) o) (next s n)))))"##,
    r##"(define required
      (:states (q (:text "[Question]")) (a (:text "[a]")) (b (:text "[b]")) (c (:text "[c]")))
      (:behavior (next q (until (or a b) c)))
      (:require (before a b) (at-most 3 a) (always (implies b (next (or a c))))))"##,
    r##"(define open-end
      (:states (q (:text "[Question]")) (a (:text "[a]"))
        (e (:text "[e]") (:flags :env-input) (:handler evaluate)))
      (:behavior (next q (always (or a (next a e))))))"##,
];

struct Chance(u64);

impl Chance {
    /// SplitMix64 (Steele, Lea and Flood, 2014).
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }
}

/// A vocabulary: letters, other characters, and pieces of the prompts as tokenizers have them.
fn vocabulary(automaton: &Automaton) -> Vec<String> {
    let mut words: Vec<String> = ('!'..='~').chain("\n ä日".chars()).map(|c| c.to_string()).collect();
    for state in &automaton.spec().states {
        let prompt = &state.prompt.value;
        words.push(prompt.clone());
        words.push(format!("\n{prompt}"));
        words.push(format!("{prompt} x"));
        for cut in 1..prompt.len() {
            let (start, end) = prompt.split_at(cut);
            words.extend([start.to_owned(), end.to_owned(), format!("x{start}")]);
        }
    }
    words.extend([" the", "x\n\nx", "#E", "12", "  "].map(str::to_owned));
    words.sort();
    words.dedup();
    words
}

fn token_environment(words: &[String]) -> TokEnv {
    let end = words.len() as u32;
    let mut bytes: Vec<Vec<u8>> = words.iter().map(|word| word.clone().into_bytes()).collect();
    bytes.push(b"\xff<|end|>".to_vec());
    let info = TokRxInfo::new(end + 1, end);
    Arc::new(ApproximateTokEnv::new(TokTrie::from(&info, &bytes)))
}

/// Whether the monitor, after this token, can still come to the end of the turn without a correction.
fn takes(monitor: &Monitor, word: &str) -> bool {
    let mut next = monitor.clone();
    next.push(word.as_bytes());
    if next.counts() != monitor.counts() {
        return false;
    }
    match next.step() {
        NextStep::Environment => true,
        NextStep::Violation | NextStep::Ended => false,
        NextStep::Continue => can_end(&next) || can_go_on(&next),
    }
}

fn can_end(monitor: &Monitor) -> bool {
    let mut end = monitor.clone();
    end.end_of_output();
    // Blanks after the end are nothing.
    let is_whole = end.text().trim_end() == monitor.text().trim_end();
    end.answer().is_some() && is_whole && end.counts().corrections == monitor.counts().corrections
}

/// Whether some content and the rest of some prompt lead on, or some content to the end.
fn can_go_on(monitor: &Monitor) -> bool {
    let goes_on = |continuation: &str| {
        let mut next = monitor.clone();
        next.push(continuation.as_bytes());
        let is_right = next.counts() == monitor.counts() && next.step() != NextStep::Violation;
        is_right && (next.sections().len() > monitor.sections().len() || can_end(&next))
    };
    FILLERS.iter().any(|filler| {
        goes_on(filler)
            || monitor.automaton().spec().states.iter().any(|state| {
                let prompt = &state.prompt.value;
                let cuts = (0..=prompt.len()).filter(|cut| prompt.is_char_boundary(*cut));
                cuts.into_iter().any(|cut| {
                    let is_begun = filler.is_empty() || cut == 0;
                    is_begun
                        && monitor.text().ends_with(&prompt[..cut])
                        && goes_on(&format!("{filler}{}", &prompt[cut..]))
                })
            })
    })
}

fn matcher(factory: &ParserFactory, monitor: &Monitor) -> Matcher {
    let grammar = lark(monitor.automaton(), Scope::next(monitor)).expect("a grammar");
    let mut matcher = Matcher::new(factory.create_parser(TopLevelGrammar::from_lark(grammar.clone())));
    assert!(!matcher.is_error(), "{:?}\n{grammar}", matcher.get_error());
    assert!(matcher.grammar_warnings().is_empty(), "{:?}", matcher.grammar_warnings());
    matcher
}

/// Walks at random, comparing all tokens at each step. Gives how many were compared, and how many turns were completed.
fn walk(
    automaton: &Arc<Automaton>,
    words: &[String],
    factory: &ParserFactory,
    chance: &mut Chance,
) -> (u64, u64) {
    // Our corrections take more than a grammar allows: markup around prompts, and labels that can be mended.
    let options = MonitorOptions { primes: false, correction: Compat::Original, ..MonitorOptions::default() };
    let mut monitor = Monitor::new(Arc::clone(automaton), options);
    monitor.question("q");
    let mut matcher = matcher(factory, &monitor);
    let (mut compared, mut turns) = (0, 0);
    for _ in 0..WALK_TOKENS {
        let mask = matcher.compute_mask_or_eos().expect("a mask");
        let mut allowed = Vec::new();
        for (token, word) in words.iter().enumerate() {
            let is_allowed = mask.is_allowed(token as u32);
            assert_eq!(
                is_allowed,
                takes(&monitor, word),
                "{word:?} after {:?} of {}",
                monitor.text(),
                automaton.spec().name.value
            );
            if is_allowed {
                allowed.push(token);
            }
            compared += 1;
        }
        let may_end = mask.is_allowed(words.len() as u32);
        assert_eq!(may_end, can_end(&monitor), "the end after {:?}", monitor.text());
        let longer: Vec<usize> = allowed.iter().copied().filter(|token| words[*token].len() > 2).collect();
        let choices = if longer.is_empty() || chance.below(3) == 0 { &allowed } else { &longer };
        let Some(token) = choices.get(chance.below(choices.len().max(1))) else { break };
        monitor.push(words[*token].as_bytes());
        matcher.consume_token(*token as u32).expect("an allowed token");
        if monitor.step() == NextStep::Environment {
            // Nothing may follow the prompt of the environment.
            let mask = matcher.compute_mask_or_eos().expect("a mask");
            assert!((0..words.len()).all(|token| !mask.is_allowed(token as u32)));
            turns += 1;
            if monitor.environment("o") == NextStep::Ended {
                break;
            }
            matcher = self::matcher(factory, &monitor);
        }
    }
    (compared, turns)
}

#[test]
fn the_monitor_and_llguidance_agree() {
    let sources = SHIPPED.iter().map(|(_, source)| *source).chain(OTHERS);
    for source in sources {
        let loaded = load(source, Compat::Ours).unwrap_or_else(|faulty| panic!("{faulty}"));
        let words = vocabulary(&loaded.automaton);
        let environment = token_environment(&words);
        let mut factory = ParserFactory::new_simple(&environment).expect("a factory");
        factory.quiet();
        let (mut compared, mut turns) = (0, 0);
        for seed in 0..WALKS {
            let (tokens, ended) = walk(&loaded.automaton, &words, &factory, &mut Chance(seed));
            compared += tokens;
            turns += ended;
        }
        let name = &loaded.automaton.spec().name.value;
        println!("{name}: {compared} tokens compared, {turns} turns of the environment");
        assert!(compared > 1000, "{name}: {compared}");
    }
}

/// With the tools' names known the grammar allows less than the monitor, which takes them in other capitals, too.
#[test]
fn tools_are_written_as_they_are() {
    let loaded =
        load(planproof_spec::shipped("react").expect("react"), Compat::Ours).expect("a specification");
    let automaton = &loaded.automaton;
    let state = |name: &str| automaton.state_named(name).expect("a state");
    let after = |position, name: &str| automaton.after(position, state(name)).expect("a position");
    let position = after(after(automaton.start(), "Ques"), "Tht");
    let scope = Scope {
        tools: Some(&["Search", "Lookup"]),
        start: GrammarStart::Prompt(position),
        ..Scope::run(automaton)
    };
    let words = vocabulary(automaton);
    let mut factory = ParserFactory::new_simple(&token_environment(&words)).expect("a factory");
    factory.quiet();
    let grammar = lark(automaton, scope).expect("a grammar");
    let mut matcher = Matcher::new(factory.create_parser(TopLevelGrammar::from_lark(grammar)));
    let mut write = |text: &str| {
        let environment = token_environment(&words);
        let tokens = environment.tokenize_bytes(text.as_bytes());
        let taken = matcher.validate_tokens(&tokens).expect("tokens");
        let is_right = taken == tokens.len();
        if is_right {
            matcher.consume_tokens(&tokens).expect("valid tokens");
        }
        is_right
    };
    assert!(!write("[Action] Find"));
    assert!(!write("[Action] search"));
    assert!(write("[Action] Lookup\n[Action Input] x [Observation] any [Final Thought]"));
}

/// A grammar that forgets one prompt must be found out.
#[test]
fn a_wrong_grammar_is_found_out() {
    let loaded = load(planproof_spec::shipped("cot").expect("cot"), Compat::Ours).expect("a specification");
    let mut monitor = Monitor::new(
        Arc::clone(&loaded.automaton),
        MonitorOptions { primes: false, ..MonitorOptions::default() },
    );
    monitor.question("q");
    let words = vocabulary(&loaded.automaton);
    let mut factory = ParserFactory::new_simple(&token_environment(&words)).expect("a factory");
    factory.quiet();
    let grammar =
        lark(&loaded.automaton, Scope::next(&monitor)).expect("a grammar").replace("\\[Question\\]|", "");
    let mut matcher = Matcher::new(factory.create_parser(TopLevelGrammar::from_lark(grammar)));
    let before = "[Thought]";
    monitor.push(before.as_bytes());
    matcher.consume_tokens(&token_environment(&words).tokenize_bytes(before.as_bytes())).expect("a thought");
    let mask = matcher.compute_mask().expect("a mask");
    let differs = |(token, word): (usize, &String)| mask.is_allowed(token as u32) != takes(&monitor, word);
    assert!(words.iter().enumerate().any(differs));
}
