//! Plans in memory.

use std::collections::{HashMap, HashSet};

use planproof_trace::{Catalogue, Signature};
use serde_json::Value as Json;

use super::arguments;
use super::fault::{PlanSite, StepFault, VerificationFault};
use crate::plan::{ArgumentValue, Plan, Reference, Step, TextPiece};
use crate::text::OPENING;

/// All faults of a plan, step by step. Empty if it can be executed.
///
/// Takes time in proportion to the size of the plan, except that each output that comes [from further
/// back](crate::verify) may require a search of all steps in between.
pub fn verify(plan: &Plan, catalogue: &Catalogue) -> Vec<VerificationFault> {
    if plan.steps.is_empty() {
        return vec![VerificationFault::new(PlanSite::Plan, StepFault::NoStep)];
    }
    let mut verifier = Verifier::new(&plan.steps, catalogue);
    (0..plan.steps.len()).flat_map(|place| verifier.step(place)).collect()
}

/// All faults of a step that follows these.
pub fn verify_next(earlier: &Plan, step: &Step, catalogue: &Catalogue) -> Vec<VerificationFault> {
    let steps: Vec<Step> = earlier.steps.iter().chain([step]).cloned().collect();
    Verifier::new(&steps, catalogue).step(earlier.steps.len())
}

/// The faults of a single step: its tool, its arguments, and the form of its references.
pub fn verify_step(step: &Step, catalogue: &Catalogue) -> Vec<VerificationFault> {
    let site = PlanSite::Step { place: 0, id: step.id };
    let Some(signature) = catalogue.find(&step.tool) else {
        return vec![VerificationFault::new(site, arguments::unknown_tool(&step.tool, catalogue))];
    };
    let mut problems = arguments::check(signature, step.arguments.iter().map(|(name, _)| name.as_str()));
    problems.extend(malformed(step));
    problems.into_iter().map(|problem| VerificationFault::new(site, problem)).collect()
}

/// Texts that look like references and are none.
fn malformed(step: &Step) -> Vec<StepFault> {
    let problem = |(name, value): &(String, ArgumentValue)| match value {
        ArgumentValue::Text(parts) => {
            let is_malformed =
                |part: &TextPiece| matches!(part, TextPiece::Words(words) if words.contains(OPENING));
            let argument = name.clone();
            parts.iter().any(is_malformed).then_some(StepFault::ReferenceMalformed { argument })
        }
        ArgumentValue::Json(json) => {
            holds_opening(json).then(|| StepFault::ReferenceInValue { argument: name.clone() })
        }
    };
    step.arguments.iter().filter_map(problem).collect()
}

fn holds_opening(json: &Json) -> bool {
    match json {
        Json::String(text) => text.contains(OPENING),
        Json::Array(items) => items.iter().any(holds_opening),
        Json::Object(entries) => entries.values().any(holds_opening),
        _ => false,
    }
}

struct Verifier<'p> {
    steps: &'p [Step],
    catalogue: &'p Catalogue,
    /// The first step of each id.
    places: HashMap<u64, usize>,
    /// For each step the last search, from another step backwards, that visited it.
    visited: Vec<usize>,
    visits: usize,
}

/// A reference to an earlier step.
struct Input<'p> {
    argument: &'p str,
    from: usize,
    giver: &'p Signature,
}

impl<'p> Verifier<'p> {
    fn new(steps: &'p [Step], catalogue: &'p Catalogue) -> Self {
        let mut places = HashMap::with_capacity(steps.len());
        for (place, step) in steps.iter().enumerate() {
            // The first step keeps a repeated id; the others are reported as faults.
            places.entry(step.id).or_insert(place);
        }
        Self { steps, catalogue, places, visited: vec![0; steps.len()], visits: 0 }
    }

    fn step(&mut self, place: usize) -> Vec<VerificationFault> {
        let step = &self.steps[place];
        let site = PlanSite::Step { place, id: step.id };
        let mut problems = Vec::new();
        if let Some(first) = self.places.get(&step.id).copied().filter(|first| *first != place) {
            problems.push(StepFault::IdTwice { first });
        }
        let signature = self.catalogue.find(&step.tool);
        let mut inputs: Vec<Input<'p>> = Vec::new();
        match signature {
            Some(signature) => {
                let names = step.arguments.iter().map(|(name, _)| name.as_str());
                problems.extend(arguments::check(signature, names));
            }
            None => problems.push(arguments::unknown_tool(&step.tool, self.catalogue)),
        }
        problems.extend(malformed(step));
        for (name, value) in &step.arguments {
            let is_among_words = value.as_reference().is_none();
            // A reference that occurs several times in one argument is one fault.
            let mut seen = HashSet::new();
            for reference in value.references().filter(|reference| seen.insert(*reference)) {
                match self.input(place, name, reference, signature, is_among_words) {
                    Ok(input) => inputs.extend(input),
                    Err(problem) => problems.push(problem),
                }
            }
        }
        if let Some(signature) = signature {
            problems.extend(self.connections(signature, &inputs));
        }
        problems.into_iter().map(|problem| VerificationFault::new(site, problem)).collect()
    }

    /// The reference, if it is valid; `None` if its tool is unknown, which is a fault of that step.
    fn input(
        &self,
        place: usize,
        argument: &'p str,
        reference: &Reference,
        taker: Option<&Signature>,
        is_among_words: bool,
    ) -> Result<Option<Input<'p>>, StepFault> {
        let (name, number) = (argument.to_owned(), reference.step);
        let Some(&from) = self.places.get(&number) else {
            return Err(StepFault::StepMissing { argument: name, step: number });
        };
        if from >= place {
            let is_itself = from == place;
            return Err(StepFault::StepNotEarlier { argument: name, step: number, is_itself });
        }
        // Reported for that step, and not for each step that refers to it.
        let Some(giver) = self.catalogue.find(&self.steps[from].tool) else { return Ok(None) };
        let Some(output) = giver.outputs.iter().find(|output| output.name == reference.key) else {
            return Err(arguments::unknown_key(argument, giver, &reference.key));
        };
        let port = taker.and_then(|taker| taker.arguments.iter().find(|port| port.name == argument));
        match port.and_then(|port| arguments::check_kind(port, giver, output, is_among_words)) {
            Some(problem) => Err(problem),
            None => Ok(Some(Input { argument, from, giver })),
        }
    }

    /// The inputs that come neither from tools that this one may follow, nor from further back.
    fn connections(&mut self, taker: &Signature, inputs: &[Input<'_>]) -> Vec<StepFault> {
        let (direct, others): (Vec<_>, Vec<_>) =
            inputs.iter().partition(|input| self.catalogue.may_follow(&input.giver.name, &taker.name));
        // The search needs to go no further back than this.
        let Some(earliest) = others.iter().map(|input| input.from).min() else { return Vec::new() };
        // A new number for each search, so that the marks need not be cleared.
        self.visits += 1;
        let mut open: Vec<usize> = direct.iter().map(|input| input.from).collect();
        while let Some(place) = open.pop() {
            let references = self.steps[place].arguments.iter().flat_map(|(_, value)| value.references());
            let places = references.filter_map(|reference| self.places.get(&reference.step).copied());
            for from in places.filter(|from| (earliest..place).contains(from)) {
                if self.visited[from] != self.visits {
                    self.visited[from] = self.visits;
                    open.push(from);
                }
            }
        }
        let is_further_back = |input: &&&Input<'_>| self.visited[input.from] == self.visits;
        let wrong = others.iter().filter(|input| !is_further_back(input));
        wrong
            .map(|input| arguments::may_not_follow(input.argument, input.giver, taker, self.catalogue))
            .collect()
    }
}
