//! A simulated model's script for a request: its calls, then its answer.

use std::collections::BTreeSet;

use planproof_constraint::{Order, Variable};
use planproof_model::simulated::NO_TASKS;
use planproof_model::{ChatRequest, Message};
use planproof_synth::{ACTIONS_MAX, Draw};

use crate::SimKind;
use crate::day::{self, DayScript};
use crate::failing;
use crate::follow_guard::{self, Progress};
use crate::messages::{self, Asked};
use crate::reading::{Found, Stated, is_among, read_paragraph, task_of, user_texts};
use crate::report::{self, REPORTED, Report};
use crate::step::{ALL_DONE, Slip, Step};

/// What a model will do in a run.
#[derive(Debug)]
pub(crate) enum Script {
    /// All turns, known from the start. `free` gives for each how many of the turns right before it could just as
    /// well come after it, as far as the model knows, `after` the set of those that have to come before it.
    Turns { calls: Box<[Step]>, end: Step, free: Box<[u8]>, after: Box<[u64]>, report: Option<Report> },
    /// Turns that depend on what the tools answer.
    Day(DayScript),
}

/// A hash of everything that determines the script: the user's text, the tools and the seed (FNV-1a, 64 bits, which
/// never changes).
pub(crate) fn key(request: &ChatRequest) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    for message in &request.messages {
        if let Message::User { text } | Message::System { text } = message {
            add(text.as_bytes());
            // A separator, so that the border between two texts counts.
            add(&[0]);
        }
    }
    for tool in request.tools.iter() {
        add(tool.name.as_bytes());
        add(&[0]);
    }
    add(&request.settings.seed.unwrap_or_default().to_le_bytes());
    hash
}

/// The same within this process, but much faster, because every turn of every run is looked up by it: eight bytes at
/// once, like the hash of the Rust compiler's own maps.
pub(crate) fn seen(request: &ChatRequest) -> u64 {
    let mut hash = request.settings.seed.unwrap_or_default();
    let mut add = |word: u64| hash = (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
    for text in user_texts(request).chain(request.tools.iter().map(|tool| tool.name.as_str())) {
        let (words, rest) = text.as_bytes().as_chunks();
        words.iter().for_each(|word| add(u64::from_le_bytes(*word)));
        rest.iter().for_each(|byte| add(u64::from(*byte)));
        add(text.len() as u64);
    }
    hash
}

impl Script {
    /// The turn after `made` calls, which are those of the request.
    pub(crate) fn step(&self, kind: SimKind, made: usize, request: &ChatRequest) -> Step {
        match self {
            Self::Turns { calls, end, report, after, .. } => {
                if failing::has_failures(request) {
                    return failing::next(kind, calls, after, *end, request);
                }
                let is_refused =
                    |it: &Message| matches!(it, Message::Tool { text, .. } if follow_guard::is_denied(text));
                // Without a denial, the number of calls is the position, and the conversation need not be replayed.
                if !request.messages.iter().any(is_refused) {
                    return calls.get(made).copied().unwrap_or(*end);
                }
                let progress = progress(kind, calls, request);
                progress.next(calls, *report).0.unwrap_or_else(|| progress.end(*end, *report))
            }
            Self::Day(script) => script.step(request),
        }
    }

    /// The reply after `made` calls: one turn, or several that the model writes at once.
    pub(crate) fn steps(&self, kind: SimKind, made: usize, request: &ChatRequest, key: u64) -> Vec<Step> {
        let step = self.step(kind, made, request);
        if kind != SimKind::Parallel || !matches!(step, Step::Call { .. }) {
            return vec![step];
        }
        let is_all_at_once = key & 1 == 0;
        match self {
            Self::Day(script) => script.steps(request, is_all_at_once),
            // Advice from a guard is followed one call at a time.
            Self::Turns { calls, .. } if calls.get(made) != Some(&step) => vec![step],
            Self::Turns { calls, free, .. } => {
                // A turn joins the reply if none of the turns in it has to precede this one.
                let is_free =
                    |turn: usize| free.get(turn).is_some_and(|free| usize::from(*free) >= turn - made);
                let count = (made..calls.len()).take_while(|turn| is_all_at_once || is_free(*turn)).count();
                calls[made..made + count.max(1)].to_vec()
            }
        }
    }

    pub(crate) fn write(kind: SimKind, request: &ChatRequest, key: u64) -> Self {
        let texts: Vec<&str> = request.tools.iter().map(task_of).collect();
        let Some(found) = find_paragraph(kind, request, &texts, key) else {
            return Self::Turns {
                calls: Box::default(),
                end: Step::Say(NO_TASKS),
                free: Box::default(),
                after: Box::default(),
                report: None,
            };
        };
        // In the time form, the next call depends on how long a task took, so nothing is planned in advance.
        if let Some(restart_tool) = day::restart_tool(&request.tools) {
            return Self::Day(DayScript::write(kind, request, &found, restart_tool, key));
        }
        if messages::may_be_several(request) {
            let asked = messages::turns(kind, request, &texts, found);
            return Self::of_turns(kind, request, asked);
        }
        let Found { pairs, mentioned, .. } = found;
        let draw = &mut Draw::new(request.settings.seed.unwrap_or_default(), key, "sim/1");
        let noticed = noticed(kind, &pairs, mentioned.len(), draw);
        let report = report::report_tool(&request.tools).map(|tool| {
            let sentences = pairs.iter().map(|pair| pair.place.0);
            let chance = kind.mistake_chance(mentioned.len());
            let holds = |set: u64| {
                let is_in = |pair: &&Stated| is_among(set, pair.place.0);
                report::is_order(
                    &mentioned,
                    pairs.iter().filter(|pair| noticed.contains(&pair.place)).filter(is_in),
                )
            };
            Report::look(kind, tool, sentences, chance, draw, holds)
        });
        // A conflict that the model sees replaces the whole plan.
        if let Some(report @ Report { tool, found: sentences @ 1.., .. }) = report {
            let mut calls = Vec::new();
            add_call(kind, Call { tool, sentences }, mentioned.len(), draw, &mut calls);
            let end = match kind {
                SimKind::Endless => Step::Call { tool, start: None, slip: Slip::None, sentences },
                _ => Step::Say(REPORTED),
            };
            let (free, after) = (Box::default(), Box::default());
            return Self::Turns { calls: calls.into(), end, free, after, report: Some(report) };
        }
        let Planned { calls, free, after } = Planned::of(kind, &mentioned, &pairs, &noticed, draw);
        let end = match (kind, calls.last()) {
            (SimKind::Endless, Some(last)) => *last,
            _ => Step::Say(ALL_DONE),
        };
        Self::Turns { calls: calls.into(), end, free, after, report }
    }

    /// A conversation of several messages: the calls of all turns so far, each planned when its message came.
    fn of_turns(kind: SimKind, request: &ChatRequest, asked: Vec<Asked>) -> Self {
        let (mut calls, mut free, mut after) = (Vec::new(), Vec::new(), Vec::new());
        for Asked { tasks, pairs, messages } in asked {
            // What it drew in an earlier turn must not depend on what the user said since.
            let messages = request.messages.iter().take(messages).cloned().collect();
            let key = key(&ChatRequest { messages, ..request.clone() });
            let draw = &mut Draw::new(request.settings.seed.unwrap_or_default(), key, "sim/1");
            let noticed = noticed(kind, &pairs, tasks.len(), draw);
            let planned = Planned::of(kind, &tasks, &pairs, &noticed, draw);
            let shift = u32::try_from(calls.len()).unwrap_or(u32::MAX);
            after.extend(planned.after.iter().map(|set| set.checked_shl(shift).unwrap_or_default()));
            free.extend(planned.free);
            calls.extend(planned.calls);
        }
        let end = match (kind, calls.last()) {
            (SimKind::Endless, Some(last)) => *last,
            _ => Step::Say(ALL_DONE),
        };
        Self::Turns { calls: calls.into(), end, free: free.into(), after: after.into(), report: None }
    }
}

/// The calls for some tasks, with what may come before and after each; see [`Script::Turns`].
struct Planned {
    calls: Vec<Step>,
    free: Box<[u8]>,
    after: Box<[u64]>,
}

impl Planned {
    fn of(
        kind: SimKind,
        tasks: &[usize],
        pairs: &[Stated],
        noticed: &BTreeSet<(u32, u32)>,
        draw: &mut Draw,
    ) -> Self {
        let (plan, order) = plan(kind, tasks, pairs, noticed, draw);
        let mut calls = Vec::with_capacity(plan.len());
        for task in plan {
            // Providers accept far fewer tools than that.
            let tool = u16::try_from(task).unwrap_or(u16::MAX);
            add_call(kind, Call { tool, sentences: 0 }, tasks.len(), draw, &mut calls);
        }
        let free = free_turns(&calls, tasks, order.as_ref());
        let after = turns_before(&calls, tasks, order.as_ref());
        Self { calls, free, after }
    }
}

/// How far the conversation has got.
fn progress(kind: SimKind, calls: &[Step], request: &ChatRequest) -> Progress {
    let mut progress = Progress::default();
    for message in &request.messages {
        match message {
            Message::Assistant { calls: made, .. } => {
                // A mistake in the script was made as written, so the turn that corrects it is never skipped.
                made.iter().for_each(|_| progress.called(calls, |_| false));
            }
            Message::Tool { text, .. } => progress.answered(kind, calls, &request.tools, text),
            Message::System { .. } | Message::User { .. } => {}
        }
    }
    progress
}

/// Reads the first readable block of the user's text.
fn find_paragraph(kind: SimKind, request: &ChatRequest, texts: &[&str], key: u64) -> Option<Found> {
    let SimKind::Planted(fault) = kind else {
        return read_paragraph(user_texts(request), texts).map(|(_, found)| found);
    };
    let seen: Vec<String> = user_texts(request).map(|text| fault.see(text)).collect();
    let (paragraph, found) = read_paragraph(seen.iter().map(String::as_str), texts)?;
    let draw = &mut Draw::new(request.settings.seed.unwrap_or_default(), key, "sim-planted/1");
    Some(fault.misread(user_texts(request), paragraph, found, draw))
}

/// The sub-sentences that the model does not ignore.
fn noticed(kind: SimKind, pairs: &[Stated], tasks: usize, draw: &mut Draw) -> BTreeSet<(u32, u32)> {
    let places: BTreeSet<(u32, u32)> = pairs.iter().map(|pair| pair.place).collect();
    let chance = kind.mistake_chance(tasks);
    let mut is_noticed = |_: &(u32, u32)| kind != SimKind::Careless || draw.unit() >= chance;
    places.into_iter().filter(|place| is_noticed(place)).collect()
}

/// The tasks in the order in which the model will do them, and the constraints between them as it sees them; no
/// constraints if it considers the whole sequence binding.
fn plan(
    kind: SimKind,
    mentioned: &[usize],
    pairs: &[Stated],
    noticed: &BTreeSet<(u32, u32)>,
    draw: &mut Draw,
) -> (Vec<usize>, Option<Order>) {
    let chance = kind.mistake_chance(mentioned.len());
    match kind {
        SimKind::InOrder => (mentioned.to_vec(), None),
        SimKind::Perfect
        | SimKind::Parallel
        | SimKind::Clumsy
        | SimKind::Endless
        | SimKind::TextCalls
        | SimKind::Rambling
        | SimKind::NoRetry
        | SimKind::IgnoresFailures
        | SimKind::GivesUp
        | SimKind::RetriesForever
        | SimKind::ForgetsCorrections
        | SimKind::Planted(_) => keep_order(mentioned, pairs, |_| true, None),
        SimKind::Forgetful => {
            let (mut plan, order) = keep_order(mentioned, pairs, |_| true, None);
            plan.retain(|_| draw.unit() >= chance);
            (plan, order)
        }
        SimKind::Careless => keep_order(mentioned, pairs, |pair| noticed.contains(&pair.place), Some(draw)),
    }
}

/// A sequence that respects the noticed pairs: at each step the task mentioned first, or a drawn one. Also their
/// order, whose variables are indices into the mentioned tasks.
fn keep_order(
    mentioned: &[usize],
    pairs: &[Stated],
    notices: impl Fn(&Stated) -> bool,
    mut draw: Option<&mut Draw>,
) -> (Vec<usize>, Option<Order>) {
    let count = mentioned.len().min(ACTIONS_MAX);
    let Some(mut order) = Order::new(count) else { return (Vec::new(), None) };
    let place =
        |task: usize| mentioned.iter().position(|&other| other == task).filter(|&place| place < count);
    for pair in pairs.iter().filter(|pair| notices(pair)) {
        if let (Some(first), Some(second)) = (place(pair.first), place(pair.second)) {
            // A contradictory text cannot be respected; later statements give way.
            let _ = order.try_before(Variable::new(first), Variable::new(second));
        }
    }
    let mut done = 0u64;
    let mut plan = Vec::with_capacity(count);
    while plan.len() < count {
        // The order has no cycle, so some task can always come next.
        let next = order.correct_next(done);
        let chosen = match &mut draw {
            Some(draw) => draw.bit(next).map_or(0, usize::from),
            None => next.trailing_zeros() as usize,
        };
        done |= 1 << chosen;
        plan.push(mentioned[chosen]);
    }
    (plan, Some(order))
}

/// For each of the first 64 turns, the set of those that have to come before it.
fn turns_before(calls: &[Step], mentioned: &[usize], order: Option<&Order>) -> Box<[u64]> {
    let Some(order) = order else { return Box::default() };
    let variables: Vec<Option<Variable>> = calls.iter().map(|step| variable_of(step, mentioned)).collect();
    let before = |later: &Option<Variable>| {
        let Some(later) = *later else { return 0 };
        let earlier = variables.iter().take(u64::BITS as usize).enumerate();
        let earlier = earlier.filter(|(_, it)| it.is_some_and(|it| order.is_before(it, later)));
        earlier.fold(0, |set, (turn, _)| set | 1 << turn)
    };
    variables.iter().map(before).collect()
}

/// The task of a turn.
fn variable_of(step: &Step, mentioned: &[usize]) -> Option<Variable> {
    match step {
        Step::Call { tool, .. } => {
            mentioned.iter().position(|&task| task == usize::from(*tool)).map(Variable::new)
        }
        Step::Say(_) => None,
    }
}

/// For each turn, how many of those right before it call tasks that need not precede it.
fn free_turns(calls: &[Step], mentioned: &[usize], order: Option<&Order>) -> Box<[u8]> {
    let Some(order) = order else { return Box::default() };
    let variables: Vec<Option<Variable>> = calls.iter().map(|step| variable_of(step, mentioned)).collect();
    let is_free = |earlier: &Option<Variable>, later: Variable| {
        earlier.is_some_and(|earlier| earlier != later && !order.is_before(earlier, later))
    };
    let free = variables.iter().enumerate().map(|(turn, later)| {
        let Some(later) = *later else { return 0 };
        let count = variables[..turn].iter().rev().take_while(|earlier| is_free(earlier, later)).count();
        // There are far fewer tasks than that.
        u8::try_from(count).unwrap_or(u8::MAX)
    });
    free.collect()
}

/// A call without a start.
#[derive(Clone, Copy)]
struct Call {
    tool: u16,
    sentences: u64,
}

fn add_call(
    kind: SimKind,
    Call { tool, sentences }: Call,
    count: usize,
    draw: &mut Draw,
    calls: &mut Vec<Step>,
) {
    if kind == SimKind::Clumsy && draw.unit() < kind.mistake_chance(count) {
        let slip = if draw.chance(1, 2) { Slip::WrongName } else { Slip::ExtraArgument };
        calls.push(Step::Call { tool, start: None, slip, sentences });
        if draw.chance(1, 2) {
            return;
        }
    }
    calls.push(Step::Call { tool, start: None, slip: Slip::None, sentences });
}
