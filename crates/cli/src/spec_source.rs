//! Specifications by name: files, and those that are shipped.

use std::path::Path;

use miette::{LabeledSpan, MietteDiagnostic, NamedSource};
use planproof_spec::{Compat, Diagnostic, FaultySpec, Loaded, SHIPPED, Severity, load, shipped};

use crate::failure::Failure;
use crate::select;

/// A specification's text, with the name that messages give it.
pub(crate) struct Source {
    pub(crate) name: String,
    text: String,
}

impl Source {
    /// Reads a file, or takes a shipped specification. A file of that name comes first.
    pub(crate) fn find(name: &str) -> Result<Self, Failure> {
        let path = Path::new(name);
        match shipped(name).filter(|_| !path.exists()) {
            Some(text) => Ok(Self { name: format!("{name} (shipped)"), text: text.to_owned() }),
            None if name != "-" && !path.exists() => {
                let names = SHIPPED.map(|(name, _)| name).join(", ");
                Err(Failure::usage(format!(
                    "there is no file {name}, and no specification of that name is shipped; there are {names}"
                )))
            }
            None => Ok(Self { name: name.to_owned(), text: select::read_text(path)? }),
        }
    }

    /// A shipped specification.
    pub(crate) fn shipped(name: &str) -> Option<Self> {
        Some(Self { name: format!("{name} (shipped)"), text: shipped(name)?.to_owned() })
    }

    pub(crate) fn load(&self, compat: Compat) -> Result<Loaded, FaultySpec> {
        load(&self.text, compat)
    }

    /// As [`load`](Self::load), with what is wrong with it on stderr; warnings, too, if `shows_warnings`.
    pub(crate) fn load_or_explain(&self, compat: Compat, shows_warnings: bool) -> Result<Loaded, Failure> {
        let loaded = self.load(compat).map_err(|faulty| {
            self.show(&faulty.diagnostics);
            Failure::usage(format!("{} cannot be used", self.name))
        })?;
        if shows_warnings {
            self.show(&loaded.warnings);
        }
        Ok(loaded)
    }

    /// Prints diagnostics to stderr, with the lines they speak of.
    pub(crate) fn show(&self, diagnostics: &[Diagnostic]) {
        for diagnostic in diagnostics {
            let labels = diagnostic.labels.iter().map(|label| {
                let text = (!label.text.is_empty()).then(|| label.text.clone());
                LabeledSpan::new(text, label.span.start, label.span.end - label.span.start)
            });
            let severity = match diagnostic.severity {
                Severity::Error => miette::Severity::Error,
                Severity::Warning => miette::Severity::Warning,
            };
            let shown = MietteDiagnostic::new(&diagnostic.message)
                .with_code(format!("planproof::spec::{}", diagnostic.code))
                .with_severity(severity)
                .with_labels(labels);
            let shown = match &diagnostic.help {
                Some(help) => shown.with_help(help),
                None => shown,
            };
            let source = NamedSource::new(&self.name, self.text.clone());
            eprintln!("{:?}", miette::Report::new(shown).with_source_code(source));
        }
    }
}
