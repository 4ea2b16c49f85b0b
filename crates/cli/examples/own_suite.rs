//! A kind of case of one's own: the whole command, with a suite that planproof does not come with. Try it with
//! `cargo run --example own_suite -- bench doubles direct@sim/gold`.

use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use planproof::suite::{
    Card, Case, CaseError, CaseSelection, Class, ClassInfo, Concluded, Data, Figure, Followed, Gold, NoTools,
    OpenSequel, OptionForm, OptionUse, OwnedData, RunResult, Scored, Section, Sequel, SequelCase,
    SequelRounds, Suite, SuiteOption, Toolbox, Unscored, Verdict, runs::Ended, studies::Study,
};
use planproof::trace::Event;
use serde_json::{Value, json};

/// The suite, with the values of its options.
#[derive(Clone, Default)]
struct Doubles {
    at_least: u64,
    is_polite: bool,
}

/// The command has them as `--at-least` and `--politely`, and a configuration file as keys.
static OPTIONS: [SuiteOption; 3] = [
    SuiteOption {
        name: "at-least",
        form: OptionForm::Count,
        of: &[OptionUse::Chosen],
        value: "N",
        help: "Take only numbers from this one on",
        details: "",
    },
    SuiteOption {
        name: "politely",
        form: OptionForm::Switch,
        of: &[OptionUse::Asked],
        value: "",
        help: "Say please",
        details: "",
    },
    SuiteOption {
        name: "next",
        form: OptionForm::Count,
        of: &[OptionUse::Sequel],
        value: "N",
        help: "Ask for the next N numbers after each failure",
        details: "",
    },
];

/// A number that is to be doubled, with what is asked, and all that it is read from.
#[derive(Debug)]
struct Double(u64, Card, String, String);

static CLASSES: [ClassInfo; 1] =
    [ClassInfo { name: "not-double", meaning: "The answer is not the double.", rank: 0 }];

fn double(number: u64, is_polite: bool) -> Arc<dyn Case> {
    let please = if is_polite { "Please: " } else { "" };
    let text = format!("{please}What is {number} plus {number}? Answer with the number alone.");
    // All that the case is made from: it is read again from here.
    let line = format!("{number}{}", if is_polite { " please" } else { "" });
    Arc::new(Double(number, Card::new(format!("double-{number}"), 1), text, line))
}

/// The case that asks for the number that stands so many after one that was failed.
fn double_after(failed: u64, step: u64) -> Arc<dyn Case> {
    let number = failed + step;
    let text = format!("What is {number} plus {number}? Answer with the number alone.");
    // Its id has to differ from that of the case of the same number.
    let card = Card::new(format!("double-{failed}.next-{step}"), 1);
    Arc::new(Double(number, card, text, format!("{failed} next {step}")))
}

impl Case for Double {
    fn card(&self) -> &Card {
        &self.1
    }
    fn prompt(&self) -> &str {
        &self.2
    }
    fn to_line(&self) -> String {
        self.3.clone()
    }
    fn toolbox(&self) -> Result<Arc<dyn Toolbox>, CaseError> {
        Ok(Arc::new(NoTools::default()))
    }
    fn judge(&self, events: &[Event]) -> Result<Verdict, Unscored> {
        let is_right = Ended::of(self, events)?.answer().is_some_and(|answer| answer.trim() == self.target());
        let class = if is_right { None } else { Class::find(&CLASSES, "not-double") };
        Ok(Verdict { scored: Scored { class, ..Scored::default() }, detail: "{}".to_owned() })
    }
    fn target(&self) -> String {
        (2 * u128::from(self.0)).to_string()
    }
    fn gold(&self) -> Option<Gold> {
        Some(Gold { answer: self.target(), wrong_answer: self.0.to_string(), ..Gold::default() })
    }
}

/// A sequel: the numbers after each one that was failed, until one of them is right.
struct Next;

impl Sequel for Next {
    fn name(&self) -> &'static str {
        "next"
    }
    fn doing(&self) -> &'static str {
        "looking beyond"
    }
    fn option(&self) -> &'static str {
        "next"
    }
    fn asked(&self, options: &[(&str, &str)]) -> Result<Option<Value>, CaseError> {
        let asked = options.iter().find(|(name, _)| *name == self.option());
        asked.map(|(_, value)| value.parse::<u64>().map(Value::from).map_err(CaseError::new)).transpose()
    }
    fn check(&self, how: &Value) -> Result<(), CaseError> {
        how.as_u64().map(drop).ok_or_else(|| CaseError::new("`next` is not a number"))
    }
    fn open(&self, of: &Followed<'_>, how: &Value) -> Result<Box<dyn OpenSequel>, CaseError> {
        let most = how.as_u64().unwrap_or_default();
        let number = |line: &str| line.split(' ').next().unwrap_or_default().parse().map_err(CaseError::new);
        let failed = of.results.iter().filter(|it| it.verdict.as_ref().is_ok_and(|it| it.class().is_some()));
        let cases = failed.filter_map(|it| of.cases.get(it.ordinal as usize));
        let failed = cases.map(|case| number(&case.to_line())).collect::<Result<Vec<u64>, _>>()?;
        Ok(Box::new(OpenNext { most, failed, seed: of.seed }))
    }
}

/// The numbers that were failed, and how many are asked for after each.
struct OpenNext {
    most: u64,
    failed: Vec<u64>,
    seed: u64,
}

impl OpenSequel for OpenNext {
    fn failures(&self) -> usize {
        self.failed.len()
    }
    fn seed(&self) -> u64 {
        self.seed.wrapping_add(1)
    }
    fn repeats(&self) -> NonZeroU32 {
        NonZeroU32::MIN
    }
    fn rounds(
        &self,
        known: &[SequelCase],
        results: &[RunResult],
    ) -> Result<Box<dyn SequelRounds + '_>, CaseError> {
        let mut rounds =
            NextRounds { of: self, made: known.to_vec(), is_right: BTreeMap::new(), halted: Vec::new() };
        results.iter().cloned().for_each(|result| rounds.take(result));
        Ok(Box::new(rounds))
    }
}

/// Its rounds: a case says in its origin which number was failed, and which one after it it asks for.
struct NextRounds<'a> {
    of: &'a OpenNext,
    made: Vec<SequelCase>,
    /// Which cases were right, by their places.
    is_right: BTreeMap<u32, bool>,
    halted: Vec<u64>,
}

impl NextRounds<'_> {
    /// The case after this failure that decides what comes next: the place of one that was made, or its origin.
    fn open(&self, failed: u64) -> Option<Result<u32, String>> {
        for step in 1..=self.of.most {
            let origin = format!("{failed}+{step}");
            let Some(place) = self.made.iter().position(|made| made.origin == origin) else {
                return Some(Err(origin));
            };
            match self.is_right.get(&(place as u32)) {
                Some(true) => return None,
                Some(false) => {}
                None => return Some(Ok(place as u32)),
            }
        }
        None
    }
}

impl SequelRounds for NextRounds<'_> {
    fn cases(&self) -> &[SequelCase] {
        &self.made
    }
    fn next(&mut self) -> Vec<(u32, u32)> {
        let mut units = Vec::new();
        for &failed in &self.of.failed {
            match self.open(failed).filter(|_| !self.halted.contains(&failed)) {
                Some(Ok(place)) => units.push((place, 0)),
                Some(Err(origin)) => {
                    let step = origin.split_once('+').and_then(|(_, step)| step.parse::<u64>().ok());
                    let case = double_after(failed, step.unwrap_or_default());
                    units.push((self.made.len() as u32, 0));
                    self.made.push(SequelCase { case, origin });
                }
                None => {}
            }
        }
        units
    }
    fn take(&mut self, result: RunResult) {
        match result.verdict {
            Ok(verdict) => drop(self.is_right.insert(result.ordinal, verdict.passed())),
            Err(_) => self.halt(result.ordinal, result.repeat),
        }
    }
    fn halt(&mut self, ordinal: u32, _repeat: u32) {
        let origin = self.made.get(ordinal as usize).map(|made| made.origin.clone()).unwrap_or_default();
        self.halted.extend(origin.split_once('+').and_then(|(failed, _)| failed.parse::<u64>().ok()));
    }
    fn conclude(self: Box<Self>) -> Concluded {
        let right = self.is_right.values().filter(|is_right| **is_right).count();
        let section = Section {
            key: "next",
            title: "The numbers after failures",
            intro: String::new(),
            figures: vec![Figure {
                name: "right",
                value: right.to_string(),
                note: format!("of {}", self.made.len()),
            }],
            tables: Vec::new(),
            lines: vec![format!("{right} of {} numbers after failures were right.", self.made.len())],
            json: json!({ "asked": self.made.len(), "right": right }),
        };
        Concluded {
            study: Study::Sections(vec![section]),
            is_complete: self.of.failed.iter().all(|failed| self.open(*failed).is_none()),
            found: Vec::new(),
        }
    }
}

impl Suite for Doubles {
    fn name(&self) -> &'static str {
        "doubles"
    }
    fn about(&self) -> &'static str {
        "twice a number"
    }
    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        let number =
            |text: &str| text.parse::<u64>().map_err(|_| CaseError::new(format!("{line:?} is not a number")));
        match line.trim().split(' ').collect::<Vec<_>>()[..] {
            [failed, "next", step] => Ok(double_after(number(failed)?, number(step)?)),
            [text, "please"] => Ok(double(number(text)?, true)),
            _ => Ok(double(number(line.trim())?, false)),
        }
    }
    fn options(&self) -> &'static [SuiteOption] {
        &OPTIONS
    }
    fn with_options(&self, options: &[(&str, &str)]) -> Result<Option<Arc<dyn Suite>>, CaseError> {
        let mut suite = self.clone();
        for (name, value) in options {
            match *name {
                "at-least" => suite.at_least = value.parse().map_err(CaseError::new)?,
                _ => suite.is_polite = true,
            }
        }
        Ok(Some(Arc::new(suite)))
    }
    /// A folder of text files with numbers, of which the suite makes one text.
    fn data(&self, path: &Path) -> Result<Option<OwnedData>, CaseError> {
        let file = path.display().to_string();
        let fail = |error: std::io::Error| CaseError::new(format!("cannot read {file}: {error}"));
        let mut files = Vec::new();
        for entry in fs::read_dir(path).map_err(fail)? {
            files.push(entry.map_err(fail)?.path());
        }
        files.sort();
        let texts =
            files.iter().map(|file| fs::read_to_string(file).map_err(fail)).collect::<Result<Vec<_>, _>>()?;
        Ok(Some(OwnedData { text: texts.join("\n"), file }))
    }
    fn load(
        &self,
        data: Option<Data<'_>>,
        taken: &CaseSelection,
        limit: Option<usize>,
    ) -> Result<Vec<Arc<dyn Case>>, CaseError> {
        let numbers = match data {
            None => (1..=40).collect(),
            Some(Data { text, file }) => text
                .split_whitespace()
                .map(|word| {
                    word.parse().map_err(|_| CaseError::new(format!("{file}: {word:?} is not a number")))
                })
                .collect::<Result<Vec<u64>, _>>()?,
        };
        let numbers = numbers.into_iter().filter(|number| *number >= self.at_least);
        taken.take(numbers.map(|number| double(number, self.is_polite)).collect(), limit)
    }
    fn sequels(&self) -> Vec<Arc<dyn Sequel>> {
        vec![Arc::new(Next)]
    }
    fn classes(&self) -> &'static [ClassInfo] {
        &CLASSES
    }
}

fn main() {
    planproof::main([Arc::new(Doubles::default()) as Arc<dyn Suite>]);
}
