use planproof_report::drawing::{DRAWN_STATES_MAX, DrawingError, svg};
use planproof_spec::export::graph;
use planproof_spec::{Compat, SHIPPED, load};
use proptest::prelude::*;
use roxmltree::Document;

fn drawn(source: &str) -> Result<String, DrawingError> {
    svg(&load(source, Compat::Ours).unwrap_or_else(|faulty| panic!("{faulty}")).automaton)
}

fn number(text: Option<&str>) -> f64 {
    text.and_then(|text| text.parse().ok()).expect("a number")
}

/// Everything in the graph is in the picture exactly once, and nothing extends beyond the picture.
#[track_caller]
fn check(source: &str) {
    let loaded = load(source, Compat::Ours).unwrap_or_else(|faulty| panic!("{faulty}"));
    let graph = graph(&loaded.automaton);
    let text = svg(&loaded.automaton).expect("it is small enough");
    assert_eq!(Ok(&text), svg(&loaded.automaton).as_ref());
    let picture = Document::parse(&text).expect("it is XML");
    let of_class = |class: &str| {
        let is_of = |node: &roxmltree::Node<'_, '_>| {
            node.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
        };
        picture.descendants().filter(is_of).collect::<Vec<_>>()
    };
    let starts = graph.nodes.iter().filter(|node| node.is_start).count();
    assert_eq!(of_class("way").len(), graph.edges.len() + starts, "{source}");
    assert_eq!(of_class("name").len(), graph.nodes.len());
    for node in &graph.nodes {
        let names = of_class("name");
        let written = names.iter().filter(|text| text.text() == Some(node.name.as_str())).count();
        let same = graph.nodes.iter().filter(|other| other.name == node.name).count();
        assert_eq!(written, same, "{}", node.name);
    }
    let root = picture.root_element();
    let (width, height) = (number(root.attribute("width")), number(root.attribute("height")));
    let shift = picture.descendants().find_map(|node| node.attribute("transform")).expect("it is moved");
    let shift: Vec<f64> = shift
        .trim_start_matches("translate(")
        .trim_end_matches(')')
        .split(' ')
        .map(|part| number(Some(part)))
        .collect();
    let is_drawn = |state: &&roxmltree::Node<'_, '_>| {
        state.parent().is_some_and(|parent| parent.has_attribute("transform"))
    };
    for state in of_class("state").iter().filter(is_drawn) {
        for border in state.children().filter(|child| child.has_tag_name("rect")) {
            let measure = |name| number(border.attribute(name));
            let (left, top) = (measure("x") + shift[0], measure("y") + shift[1]);
            assert!(left >= 0.0 && left + measure("width") <= width, "{source}");
            assert!(top >= 0.0 && top + measure("height") <= height, "{source}");
        }
    }
    let ways: Vec<&str> = of_class("way").iter().filter_map(|way| way.attribute("d")).collect();
    for (place, way) in ways.iter().enumerate() {
        assert!(!ways[place + 1..].contains(way), "two arrows are one: {source}");
    }
}

#[test]
fn shipped_agents_are_drawn_in_full() {
    for (_, source) in SHIPPED {
        check(source);
    }
}

#[test]
fn the_signs_of_states_are_as_the_states_are() {
    let (_, source) = SHIPPED[3];
    let text = drawn(source).unwrap();
    assert!(source.contains("(define rewoo"));
    assert!(text.contains("<g class=\"state environment\"><title>Solver: [Answer]; written by the environment; a run can end here</title>"));
    assert!(text.contains(">environment: solve</text>"));
    assert!(text.contains("<title>Ques: [Question]; a run can begin here</title>"));
}

#[test]
fn text_in_a_picture_is_text() {
    let source = r#"(define odd
      (:states (a (:text "<b>&\"'</b>")) (b (:text "[茶 with a prompt that is much too long for any picture]")))
      (:behavior (next a b)))"#;
    check(source);
    let text = drawn(source).unwrap();
    let picture = Document::parse(&text).unwrap();
    let texts: Vec<&str> = picture.descendants().filter_map(|node| node.text()).collect();
    assert!(texts.contains(&r#"<b>&"'</b>"#), "{texts:?}");
    assert!(texts.contains(&"[茶 with a prompt that is much too long f…"), "{texts:?}");
    assert!(texts.iter().any(|text| text.starts_with("b: [茶 with") && text.contains("any picture]")));
}

#[test]
fn what_is_too_large_is_said_to_be() {
    let count = DRAWN_STATES_MAX + 1;
    let states: String = (0..count).map(|index| format!("(s{index} (:text \"[s{index}]\"))")).collect();
    let all: String = (0..count).map(|index| format!("s{index} ")).collect();
    let source = format!("(define d (:states {states}) (:behavior (next {all})))");
    assert_eq!(drawn(&source), Err(DrawingError::TooLarge { states: count, ways: count - 1 }));
}

/// Formulas over five states, as text.
fn formula() -> impl Strategy<Value = String> {
    let state = (0..5).prop_map(|number| format!("s{number}"));
    state.prop_recursive(3, 8, 3, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(f, g)| format!("(or {f} {g})")),
            (inner.clone(), inner.clone()).prop_map(|(f, g)| format!("(next {f} {g})")),
            (inner.clone(), inner).prop_map(|(f, g)| format!("(until {f} {g})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_behaviour_is_drawn_in_full(first in formula(), second in formula()) {
        let prompts = ["[a]", "[bb]", "[a longer prompt]", "[d]", "[e]"];
        let states: String = (0..).zip(prompts).map(|(number, prompt): (u32, _)| format!("(s{number} (:text \"{prompt}\"))")).collect();
        check(&format!("(define d (:states {states}) (:behavior (next {first} {second})))"));
    }
}
