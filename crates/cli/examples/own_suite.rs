//! A kind of case of one's own: the whole command, with a suite that planproof does not come with. Try it with
//! `cargo run --example own_suite -- bench doubles direct@sim/gold`.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use planproof::suite::{
    Card, Case, CaseError, CaseSelection, Class, ClassInfo, Data, Gold, NoTools, OptionForm, OptionUse,
    OwnedData, Scored, Suite, SuiteOption, Toolbox, Unscored, Verdict, runs::Ended,
};
use planproof::trace::Event;

/// The suite, with the values of its options.
#[derive(Clone, Default)]
struct Doubles {
    at_least: u64,
    is_polite: bool,
}

/// The command has them as `--at-least` and `--politely`, and a configuration file as keys.
static OPTIONS: [SuiteOption; 2] = [
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
];

/// A number that is to be doubled, with what is asked.
#[derive(Debug)]
struct Double(u64, Card, String);

static CLASSES: [ClassInfo; 1] =
    [ClassInfo { name: "not-double", meaning: "The answer is not the double.", rank: 0 }];

fn double(number: u64, is_polite: bool) -> Arc<dyn Case> {
    let card = Card::new(format!("double-{number}"), 1);
    let please = if is_polite { "Please: " } else { "" };
    let text = format!("{please}What is {number} plus {number}? Answer with the number alone.");
    Arc::new(Double(number, card, text))
}

impl Case for Double {
    fn card(&self) -> &Card {
        &self.1
    }
    fn prompt(&self) -> &str {
        &self.2
    }
    fn to_line(&self) -> String {
        // All that the case is made from: it is read again from here.
        let please = if self.2.starts_with("Please") { " please" } else { "" };
        format!("{}{please}", self.0)
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

impl Suite for Doubles {
    fn name(&self) -> &'static str {
        "doubles"
    }
    fn about(&self) -> &'static str {
        "twice a number"
    }
    fn read(&self, line: &str) -> Result<Arc<dyn Case>, CaseError> {
        let line = line.trim();
        let number = line.strip_suffix(" please").unwrap_or(line);
        let number: u64 = number.parse().map_err(|_| CaseError::new(format!("{line:?} is not a number")))?;
        Ok(double(number, line.len() > number.to_string().len()))
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
    fn classes(&self) -> &'static [ClassInfo] {
        &CLASSES
    }
}

fn main() {
    planproof::main([Arc::new(Doubles::default()) as Arc<dyn Suite>]);
}
