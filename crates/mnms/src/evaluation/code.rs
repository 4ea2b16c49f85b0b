//! How similar programs are as programs: equal trees, and CodeBLEU (Ren et al., arXiv 2009.10297) as we reconstructed
//! it. The page `docs/mnms-metrics.md` says how it differs from other versions.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use ruff_python_ast::comparable::ComparableStmt;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, TraversalSignal, walk_body};
use ruff_python_ast::{AnyNodeRef, Expr, ModModule, Stmt};

use super::bleu::{Bleu, smoothed};
use crate::python::source::parse;

/// Words with full weight in CodeBLEU.
pub(super) const KEYWORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// The weight of any other word.
const OTHER_WEIGHT: f64 = 0.2;

/// Whether two programs have the same syntax tree. A program that cannot be parsed equals nothing.
pub fn same_tree(one: &str, other: &str) -> bool {
    let (Ok(one), Ok(other)) = (parse(one), parse(other)) else { return false };
    one.body.len() == other.body.len()
        && one
            .body
            .iter()
            .zip(&other.body)
            .all(|(one, other)| ComparableStmt::from(one) == ComparableStmt::from(other))
}

/// CodeBLEU of a corpus of programs, by its parts. All are shares from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CodeLikeness {
    /// BLEU of the words.
    pub n_grams: f64,
    /// The recall of n-grams, with keywords weighted more than other words.
    pub weighted_n_grams: f64,
    /// The share of the right programs' subtrees that are found.
    pub syntax: f64,
    /// The share of the right programs' data-flow edges that are found; 1 if they have none.
    pub data_flow: f64,
}

impl CodeLikeness {
    /// The mean of the parts: CodeBLEU.
    pub fn score(&self) -> f64 {
        (self.n_grams + self.weighted_n_grams + self.syntax + self.data_flow) / 4.0
    }
}

/// Programs with the right ones, accumulated for CodeBLEU.
#[derive(Debug, Clone, Default)]
pub struct CodeCorpus {
    samples: u64,
    words: Bleu,
    weighted: Bleu,
    syntax: [u64; 2],
    data_flow: [u64; 2],
}

impl CodeCorpus {
    /// Adds a program and the right one. If a program cannot be parsed, only its words count.
    pub fn add(&mut self, candidate: &str, reference: &str) {
        let words: [Vec<&str>; 2] = [candidate, reference].map(|text| text.split_whitespace().collect());
        self.samples += 1;
        self.words.add(&words[0], &words[1]);
        let weight = |word: &str| if KEYWORDS.contains(&word) { 1.0 } else { OTHER_WEIGHT };
        self.weighted.add_recall(&words[0], &words[1], weight);
        let [found, right] = [candidate, reference].map(|text| parse(text).ok());
        let [found, right] = [&found, &right].map(Option::as_ref);
        count(&mut self.syntax, found.map(subtrees), right.map(subtrees));
        count(&mut self.data_flow, found.map(flow), right.map(flow));
    }

    /// The total; `None` without programs.
    pub fn likeness(&self) -> Option<CodeLikeness> {
        let share = |[found, all]: [u64; 2]| if all == 0 { 1.0 } else { found as f64 / all as f64 };
        (self.samples > 0).then(|| CodeLikeness {
            n_grams: smoothed(&self.words),
            weighted_n_grams: smoothed(&self.weighted),
            syntax: share(self.syntax),
            data_flow: share(self.data_flow),
        })
    }
}

/// Adds how many of the right features are found, each counted at most as often as it occurs, and how many there are.
fn count<T: Eq + Hash>(sums: &mut [u64; 2], found: Option<Vec<T>>, right: Option<Vec<T>>) {
    let mut left: HashMap<T, u64> = HashMap::new();
    for feature in found.into_iter().flatten() {
        *left.entry(feature).or_default() += 1;
    }
    for feature in right.into_iter().flatten() {
        sums[1] += 1;
        if let Some(count) = left.get_mut(&feature)
            && *count > 0
        {
            *count -= 1;
            sums[0] += 1;
        }
    }
}

/// A number for each inner node of a tree, derived from its kind and all kinds below it, in order.
fn subtrees(module: &ModModule) -> Vec<u64> {
    struct Visitor {
        /// For each open node: its number so far, and whether it has nodes below it.
        open: Vec<(DefaultHasher, bool)>,
        closed: Vec<u64>,
    }
    impl<'a> SourceOrderVisitor<'a> for Visitor {
        fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
            // This constructor uses fixed keys, so equal trees of two programs get equal numbers.
            let mut hasher = DefaultHasher::new();
            std::mem::discriminant(&node).hash(&mut hasher);
            self.open.push((hasher, false));
            TraversalSignal::Traverse
        }

        fn leave_node(&mut self, _: AnyNodeRef<'a>) {
            let Some((hasher, is_inner)) = self.open.pop() else { return };
            let number = hasher.finish();
            // A leaf is not a subtree of its own; it counts only as a part of the nodes above it.
            if is_inner {
                self.closed.push(number);
            }
            if let Some((above, has_any)) = self.open.last_mut() {
                number.hash(above);
                *has_any = true;
            }
        }
    }
    let mut visitor = Visitor { open: Vec::new(), closed: Vec::new() };
    walk_body(&mut visitor, &module.body);
    visitor.closed
}

/// A name with the names its value comes from, all numbered by first appearance.
type Edge = (usize, Vec<usize>);

/// The data flow of a program: an edge for each assigned name.
fn flow(module: &ModModule) -> Vec<Edge> {
    struct Visitor {
        numbers: HashMap<String, usize>,
        edges: Vec<Edge>,
    }
    impl Visitor {
        fn names(&mut self, expression: &Expr) -> Vec<usize> {
            struct Names(Vec<String>);
            impl<'a> SourceOrderVisitor<'a> for Names {
                fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
                    if let AnyNodeRef::ExprName(name) = node {
                        self.0.push(name.id.as_str().to_owned());
                    }
                    TraversalSignal::Traverse
                }
            }
            let mut names = Names(Vec::new());
            names.visit_expr(expression);
            // Numbers stand for names, so that programs with other names of variables have the same edges.
            let number = |name: String| {
                let next = self.numbers.len();
                *self.numbers.entry(name).or_insert(next)
            };
            names.0.into_iter().map(number).collect()
        }
    }
    impl<'a> SourceOrderVisitor<'a> for Visitor {
        fn enter_node(&mut self, node: AnyNodeRef<'a>) -> TraversalSignal {
            if let AnyNodeRef::StmtAssign(assignment) = node {
                let sources = self.names(&assignment.value);
                for target in &assignment.targets {
                    // Each name of a tuple gets an edge from the whole value.
                    for name in self.names(target) {
                        self.edges.push((name, sources.clone()));
                    }
                }
            }
            TraversalSignal::Traverse
        }
    }
    let mut visitor = Visitor { numbers: HashMap::new(), edges: Vec::new() };
    let body: &[Stmt] = &module.body;
    walk_body(&mut visitor, body);
    visitor.edges
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "def solve():\n    output0 = count(objects=x)\n    return {0: output0}";

    fn likeness(candidate: &str, reference: &str) -> CodeLikeness {
        let mut corpus = CodeCorpus::default();
        corpus.add(candidate, reference);
        corpus.likeness().unwrap()
    }

    #[test]
    fn trees_are_equal_however_they_are_set() {
        let same = "def solve( ) :  # why\n\toutput0=(count)(objects = x)\n\n\treturn { 0x0:output0, }";
        assert!(same_tree(PROGRAM, same));
        for other in
            [PROGRAM.replace("output0", "out"), PROGRAM.replace("=x", "='x'"), String::new(), "(".to_owned()]
        {
            assert!(!same_tree(PROGRAM, &other), "{other}");
        }
        assert!(!same_tree("(", "("));
        assert!(same_tree("f(a='b')", "f(a=\"b\")") && !same_tree("f(a=1, b=2)", "f(b=2, a=1)"));
    }

    #[test]
    fn a_program_is_like_itself_and_unlike_others() {
        let itself = likeness(PROGRAM, PROGRAM);
        assert_eq!(itself.score(), 1.0, "{itself:?}");
        let renamed = likeness(&PROGRAM.replace("output0", "number"), PROGRAM);
        assert_eq!((renamed.syntax, renamed.data_flow), (1.0, 1.0));
        assert!(renamed.n_grams < 1.0);
        let other = likeness("print(1)", PROGRAM);
        assert!(other.score() < 0.3 && other.data_flow == 0.0, "{other:?}");
        for odd in ["", "(", "\0", &"(".repeat(100_000)] {
            assert!(likeness(odd, PROGRAM).score() < 0.1, "{odd:.10}");
            assert!(likeness(PROGRAM, odd).score() <= 1.0);
        }
        assert_eq!(CodeCorpus::default().likeness(), None);
    }
}
