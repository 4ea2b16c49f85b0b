//! What an agent of some name uses outside of planproof: nobody who has only stored or recorded a name may have it
//! used.

use super::{AgentForm, AgentKind, AgentOptions, AgentSpec, EvaluatorName, PairedWith, SpecName};

/// Something outside that an agent uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach<'a> {
    /// A program is started by this command.
    Program(&'a str),
    /// A service at this URL is asked.
    Service(&'a str),
    /// This file is read.
    File(&'a str),
    /// The model of this name is asked, or what answers in its place.
    Model(&'a str),
}

impl AgentSpec {
    /// All that the agent uses outside of planproof. Every field of a name is named here, without a rest, so that a new
    /// one compiles only once somebody has decided whether it reaches outside.
    pub fn reaches(&self) -> Vec<Reach<'_>> {
        let Self { text: _, is_guarded: _, form } = self;
        let mut all = Vec::new();
        match form {
            AgentForm::Command(command) | AgentForm::Worker(command) => all.push(Reach::Program(command)),
            AgentForm::Url(url) => all.push(Reach::Service(url)),
            AgentForm::OfSuite(_) => {}
            AgentForm::Asking { kind, model } => {
                all.push(Reach::Model(model));
                match kind {
                    AgentKind::Tools(_, options)
                    | AgentKind::Planning(options)
                    | AgentKind::SubTasks(_, options)
                    | AgentKind::TwoStage(options)
                    | AgentKind::Team(options) => options.reach(&mut all),
                    AgentKind::Specified(spec, options) => {
                        spec.reach(&mut all);
                        options.reach(&mut all);
                    }
                    AgentKind::Pair(spec, paired, options) => {
                        spec.reach(&mut all);
                        match paired {
                            PairedWith::Tools => {}
                            PairedWith::Specified(other) => other.reach(&mut all),
                        }
                        options.reach(&mut all);
                    }
                }
            }
        }
        all
    }
}

impl SpecName {
    fn reach<'a>(&'a self, all: &mut Vec<Reach<'a>>) {
        match self {
            Self::Shipped(_) => {}
            Self::File(file) => all.push(Reach::File(file)),
        }
    }
}

impl AgentOptions {
    fn reach<'a>(&'a self, all: &mut Vec<Reach<'a>>) {
        let Self {
            samples: _,
            summary: _,
            evaluator,
            continuation: _,
            examples: _,
            grammar: _,
            correction: _,
            compat: _,
            format: _,
            strategy: _,
            feedback: _,
            replies: _,
            form: _,
            prompt,
            deliver: _,
            supervisor: _,
            manager: _,
            parallel: _,
            compose: _,
            text_calls: _,
            roles,
            judge,
            memory: _,
            planner,
            written: _,
        } = self;
        match evaluator {
            None | Some(EvaluatorName::Nobody | EvaluatorName::OwnModel) => {}
            Some(EvaluatorName::Model(model)) => all.push(Reach::Model(model)),
            Some(EvaluatorName::Program(command)) => all.push(Reach::Program(command)),
        }
        // The file can name further models, which are used only where the file is.
        all.extend([roles, prompt].into_iter().filter_map(|file| file.as_deref().map(Reach::File)));
        all.extend([judge, planner].into_iter().filter_map(|model| model.as_deref().map(Reach::Model)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_program_service_file_and_model_is_found() {
        for (name, expected) in [
            ("command:python a.py", vec![Reach::Program("python a.py")]),
            ("repair:worker:w", vec![Reach::Program("w")]),
            ("url:http://h/x", vec![Reach::Service("http://h/x")]),
            ("greedy", vec![]),
            ("tools@sim/perfect", vec![Reach::Model("sim/perfect")]),
            ("spec:my.spec@openai/x", vec![Reach::Model("openai/x"), Reach::File("my.spec")]),
            ("fallback:direct,spec:b.spec@openai/x", vec![Reach::Model("openai/x"), Reach::File("b.spec")]),
            (
                "react:evaluator=program:judge -x@sim/perfect",
                vec![Reach::Model("sim/perfect"), Reach::Program("judge -x")],
            ),
            (
                "react:evaluator=openai/y@sim/perfect",
                vec![Reach::Model("sim/perfect"), Reach::Model("openai/y")],
            ),
            ("team:roles=r.toml@sim/perfect", vec![Reach::Model("sim/perfect"), Reach::File("r.toml")]),
            ("plan:prompt=p.txt@sim/perfect", vec![Reach::Model("sim/perfect"), Reach::File("p.txt")]),
            ("plan:judge=openai/j@sim/perfect", vec![Reach::Model("sim/perfect"), Reach::Model("openai/j")]),
            (
                "two-stage:planner=openai/p@sim/perfect",
                vec![Reach::Model("sim/perfect"), Reach::Model("openai/p")],
            ),
        ] {
            assert_eq!(AgentSpec::parse(name).unwrap().reaches(), expected, "{name}");
        }
    }
}
