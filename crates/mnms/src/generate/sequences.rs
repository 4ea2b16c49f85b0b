//! Sequences of tools: walks over the tool graph, drawn so that all tools occur about equally often.

use std::ops::RangeInclusive;

use planproof_trace::Draw;

use super::graph::ToolGraph;

/// Maximum number of walks to list. The published graph has 818 walks of up to 3 tools and some 60,000 of up to 6.
pub const LISTED_WALKS_MAX: u128 = 500_000;

/// Why no sequences can be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SequenceError {
    /// The range of lengths is empty or starts at 0.
    #[error("a sequence has at least 1 tool, and at most as many as are allowed: not {from} to {to}")]
    Lengths {
        /// The minimum number of tools requested.
        from: usize,
        /// The maximum number of tools requested.
        to: usize,
    },
    /// There are too many walks to list.
    #[error(
        "there are more than {LISTED_WALKS_MAX} walks of {from} to {to} tools, too many to list and draw from; ask for \
             shorter ones"
    )]
    TooMany {
        /// The minimum number of tools requested.
        from: usize,
        /// The maximum number of tools requested.
        to: usize,
    },
}

/// Sequences, and statistics of the walks that they were drawn from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sequences {
    /// The drawn sequences without repetitions, ordered by length and then by catalogue order.
    pub drawn: Vec<Vec<usize>>,
    /// The number of walks of each length.
    pub walks: Vec<(usize, u128)>,
    /// The number of walks of all lengths that qualify.
    pub fit: usize,
}

/// Draws `count` different walks of the given lengths among those that qualify, or all if there are no more.
///
/// Walks are drawn one at a time. Each draw takes the tool that has been used least, then a length, uniformly among
/// those that still have a walk through that tool, and then such a walk, also uniformly. Thus rare tools occur as
/// often as their walks allow. Time and memory are those of listing all walks.
///
/// # Errors
/// The lengths are invalid, or there are more than [`LISTED_WALKS_MAX`] walks.
pub fn draw_sequences(
    graph: &ToolGraph,
    lengths: RangeInclusive<usize>,
    count: usize,
    seed: u64,
    is_fit: impl Fn(&[usize]) -> bool,
) -> Result<Sequences, SequenceError> {
    let (from, to) = (*lengths.start(), *lengths.end());
    if from == 0 || from > to {
        return Err(SequenceError::Lengths { from, to });
    }
    let mut walks = Vec::new();
    let mut sum = Some(0u128);
    for tools in lengths {
        // Walks are counted before any is listed, so a range that is too large allocates nothing.
        let more = graph.walks(tools);
        sum = sum.zip(more).and_then(|(sum, more)| sum.checked_add(more));
        match (sum, more) {
            (Some(sum), Some(more)) if sum <= LISTED_WALKS_MAX => walks.push((tools, more)),
            _ => return Err(SequenceError::TooMany { from, to }),
        }
    }
    let fit: Vec<Vec<usize>> =
        walks.iter().flat_map(|(tools, _)| listed(graph, *tools)).filter(|walk| is_fit(walk)).collect();
    let mut chosen = balanced(graph.names().len(), &fit, (from, to), count, seed);
    // Walks are listed by length and then in catalogue order, so the order of their indices is the promised one.
    chosen.sort_unstable();
    let drawn = chosen.into_iter().map(|place| fit[place].clone()).collect();
    Ok(Sequences { drawn, walks, fit: fit.len() })
}

/// All walks of `tools` tools, in catalogue order.
fn listed(graph: &ToolGraph, tools: usize) -> Vec<Vec<usize>> {
    let mut walks: Vec<Vec<usize>> = (0..graph.names().len()).map(|first| vec![first]).collect();
    for _ in 1..tools {
        let longer = |walk: &Vec<usize>| {
            let last = walk.last().copied().unwrap_or_default();
            graph.successors(last).iter().map(|next| [&walk[..], &[*next]].concat()).collect::<Vec<_>>()
        };
        walks = walks.iter().flat_map(longer).collect();
    }
    walks
}

/// The indices of the chosen walks.
fn balanced(
    tools: usize,
    fit: &[Vec<usize>],
    (from, to): (usize, usize),
    count: usize,
    seed: u64,
) -> Vec<usize> {
    let draw = &mut Draw::new(seed, 0, "mnms/walks/1");
    let lengths = to - from + 1;
    // The walks through each tool by length, in the order in which they are popped from the end.
    let mut through: Vec<Vec<Vec<usize>>> = vec![vec![Vec::new(); lengths]; tools];
    for (place, walk) in fit.iter().enumerate() {
        for (nth, tool) in walk.iter().enumerate() {
            // A walk that visits a tool twice is listed once for it.
            if !walk[..nth].contains(tool) {
                through[*tool][walk.len() - from].push(place);
            }
        }
    }
    // After a single shuffle, each pop is a uniform draw without replacement.
    through.iter_mut().flatten().for_each(|walks| draw.shuffle(walks));
    let mut is_chosen = vec![false; fit.len()];
    let mut uses = vec![0usize; tools];
    let mut chosen = Vec::new();
    while chosen.len() < count.min(fit.len()) {
        for walks in through.iter_mut().flatten() {
            // A walk is listed under each of its tools. It was popped from one list, and the others discard it here.
            while walks.last().is_some_and(|place| is_chosen[*place]) {
                walks.pop();
            }
        }
        let left = |tool: usize| through[tool].iter().any(|walks| !walks.is_empty());
        let Some(least) = (0..tools).filter(|tool| left(*tool)).map(|tool| uses[tool]).min() else { break };
        let rarest: Vec<usize> = (0..tools).filter(|tool| left(*tool) && uses[*tool] == least).collect();
        let tool = rarest[draw.place(rarest.len())];
        let open: Vec<usize> = (0..lengths).filter(|length| !through[tool][*length].is_empty()).collect();
        let length = open[draw.place(open.len())];
        if let Some(place) = through[tool][length].pop() {
            is_chosen[place] = true;
            fit[place].iter().for_each(|tool| uses[*tool] += 1);
            chosen.push(place);
        }
    }
    chosen
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::catalogue;
    use crate::generate::EdgeRule;

    fn graph() -> ToolGraph {
        ToolGraph::new(catalogue(), EdgeRule::Listed)
    }

    #[test]
    fn sequences_are_different_walks_and_follow_from_the_seed() {
        let graph = graph();
        let drawn = |seed| draw_sequences(&graph, 1..=3, 100, seed, |_| true).unwrap();
        let Sequences { drawn: sequences, walks, fit } = drawn(1);
        assert_eq!((sequences.len(), fit), (100, 818));
        assert_eq!(walks, [(1, 33), (2, 149), (3, 636)]);
        assert_eq!(sequences.iter().collect::<BTreeSet<_>>().len(), 100);
        for walk in &sequences {
            assert!(walk.windows(2).all(|pair| graph.joins(pair[0], pair[1])), "{walk:?}");
        }
        assert_eq!(drawn(1).drawn, sequences);
        assert_ne!(drawn(2).drawn, sequences);
    }

    #[test]
    fn rare_tools_come_about_as_often_as_frequent_ones() {
        let graph = graph();
        let sequences = draw_sequences(&graph, 1..=3, 100, 3, |_| true).unwrap().drawn;
        let uses = |tool| sequences.iter().flatten().filter(|other| **other == tool).count();
        let counts: Vec<usize> = (0..33).map(uses).collect();
        // Uniform draws would produce image generation (index 4) some fifty times, and love calculator twice.
        assert!(counts.iter().all(|count| (3..=20).contains(count)), "{counts:?}");
        let lengths = |length| sequences.iter().filter(|walk| walk.len() == length).count();
        assert!((1..=3).all(|length| lengths(length) >= 20), "{:?}", [lengths(1), lengths(2), lengths(3)]);
    }

    #[test]
    fn all_fit_walks_are_drawn_where_there_are_no_more() {
        let found = draw_sequences(&graph(), 2..=2, 1000, 1, |walk| walk[0] != 4).unwrap();
        assert_eq!((found.drawn.len(), found.fit), (139, 139));
        assert!(draw_sequences(&graph(), 1..=2, 10, 1, |_| false).unwrap().drawn.is_empty());
        assert!(draw_sequences(&graph(), 1..=2, 0, 1, |_| true).unwrap().drawn.is_empty());
    }

    #[test]
    fn lengths_that_make_no_sense_are_errors() {
        let fail = |lengths| draw_sequences(&graph(), lengths, 1, 1, |_| true).unwrap_err();
        assert_eq!(fail(0..=2), SequenceError::Lengths { from: 0, to: 2 });
        #[expect(clippy::reversed_empty_ranges, reason = "the point of the test")]
        let reversed = fail(3..=2);
        assert_eq!(reversed, SequenceError::Lengths { from: 3, to: 2 });
        assert_eq!(fail(1..=9), SequenceError::TooMany { from: 1, to: 9 });
        assert!(fail(1..=10_000).to_string().contains("1 to 10000 tools"));
    }
}
