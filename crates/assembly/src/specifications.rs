//! Specifications by name: files, and those that are shipped.

use std::path::{Path, PathBuf};

use miette::{LabeledSpan, MietteDiagnostic, NamedSource};
use planproof_agents::behaviour::Schemas;
use planproof_output::digest::sha256;
use planproof_output::failure::Failure;
use planproof_output::terminal::{before_wrapping, from_ansi};
use planproof_output::text_files::must_be_below;
use planproof_output::{tell, text_files};
use planproof_spec::{
    Compat, Diagnostic, FaultySpec, Loaded, SHIPPED, Severity, Spec, load_as_published, load_with_schemas,
    shipped,
};

/// Most diagnostics that are shown for one specification; `spec check --json` shows all.
const SHOWN_MAX: usize = 50;
/// Longest line that is quoted, in bytes. For longer ones only the position is named.
const QUOTED_LINE_BYTES_MAX: usize = 1000;

/// A specification's text, with the name that messages give it.
pub struct SpecSource {
    pub name: String,
    text: String,
    /// It comes with planproof.
    is_shipped: bool,
}

impl SpecSource {
    /// Reads a file, or takes a shipped specification. A file of that name comes first.
    pub fn find(name: &str) -> Result<Self, Failure> {
        let path = Path::new(name);
        match shipped(name).filter(|_| !path.exists()) {
            Some(text) => Ok(Self::of_shipped(name, text)),
            // Otherwise the message would be about a missing file without a name.
            None if name.is_empty() => {
                let names = SHIPPED.map(|(name, _)| name).join(", ");
                Err(Failure::usage(format!("the specification has no name: give a file, or one of {names}")))
            }
            None if name != "-" && !path.exists() => {
                let names = SHIPPED.map(|(name, _)| name).join(", ");
                Err(Failure::usage(format!(
                    "there is no file {name}, and no specification of that name is shipped; there are {names}"
                )))
            }
            None => Ok(Self { name: name.to_owned(), text: text_files::read_text(path)?, is_shipped: false }),
        }
    }

    /// A shipped specification.
    pub fn shipped(name: &str) -> Option<Self> {
        Some(Self::of_shipped(name, shipped(name)?))
    }

    fn of_shipped(name: &str, text: &str) -> Self {
        Self { name: format!("{name} (shipped)"), text: text.to_owned(), is_shipped: true }
    }

    /// Whether a model is shown its examples by default. Those of a file are part of its author's work; those of
    /// shipped ones would change the established meaning of their names, and cost tokens with each request.
    pub(crate) fn shows_examples(&self) -> bool {
        !self.is_shipped
    }

    /// The file of rules that the specification names, as seen from the current folder: its own path is seen from that
    /// of the specification.
    ///
    /// # Errors
    /// It is not in that folder or below it.
    pub fn rules(&self, spec: &Spec) -> Result<Option<PathBuf>, Failure> {
        let folder = Path::new(&self.name).parent().filter(|_| !self.is_shipped).unwrap_or(Path::new(""));
        let Some(path) = spec.rules.as_ref().map(|rules| folder.join(&rules.value)) else { return Ok(None) };
        must_be_below(folder, &path)?;
        Ok(Some(path))
    }

    /// The SHA-256 of its text, which defines it completely, in hexadecimal digits.
    pub fn sha256(&self) -> String {
        sha256(self.text.as_bytes())
    }

    pub fn load(&self, compat: Compat) -> Result<Loaded, FaultySpec> {
        load_with_schemas(&self.text, compat, &Schemas::default())
    }

    /// As [`load`](Self::load), with its faults on stderr; warnings, too, if `shows_warnings`.
    pub fn load_or_explain(&self, compat: Compat, shows_warnings: bool) -> Result<Loaded, Failure> {
        let loaded = self.load(compat).map_err(|faulty| self.explained(&faulty))?;
        if shows_warnings {
            self.show(&loaded.warnings);
        }
        Ok(loaded)
    }

    /// The specification of an agent, with its faults on stderr. With [`Compat::Original`] it may be as its paper
    /// prints it, without handlers and content rules.
    pub(crate) fn for_agent(&self, compat: Compat) -> Result<Loaded, Failure> {
        let loaded = match compat {
            Compat::Ours => self.load(compat),
            Compat::Original => load_as_published(&self.text, &Schemas::default()),
        };
        loaded.map_err(|faulty| self.explained(&faulty))
    }

    fn explained(&self, faulty: &FaultySpec) -> Failure {
        self.show(&faulty.diagnostics);
        Failure::usage(format!("{} cannot be used", self.name))
    }

    /// Prints diagnostics to stderr, with the lines they speak of; at most [`SHOWN_MAX`], and no line of more than
    /// [`QUOTED_LINE_BYTES_MAX`].
    pub fn show(&self, diagnostics: &[Diagnostic]) {
        // A label is shown with the lines before and after it.
        let is_quotable = self.text.lines().all(|line| line.len() <= QUOTED_LINE_BYTES_MAX);
        for diagnostic in diagnostics.iter().take(SHOWN_MAX) {
            let labels = diagnostic.labels.iter().map(|label| {
                let text = (!label.text.is_empty()).then(|| before_wrapping(&label.text).into_owned());
                LabeledSpan::new(text, label.span.start, label.span.end - label.span.start)
            });
            let severity = match diagnostic.severity {
                Severity::Error => miette::Severity::Error,
                Severity::Warning => miette::Severity::Warning,
            };
            let shown = MietteDiagnostic::new(before_wrapping(&diagnostic.message))
                .with_code(format!("planproof::spec::{}", diagnostic.code))
                .with_severity(severity);
            let shown = match &diagnostic.help {
                Some(help) => shown.with_help(before_wrapping(help)),
                None => shown,
            };
            if is_quotable {
                let source = NamedSource::new(&self.name, self.text.clone());
                let shown = miette::Report::new(shown.with_labels(labels)).with_source_code(source);
                tell!("{}", from_ansi(&format!("{shown:?}")));
            } else {
                let shown = miette::Report::new(self.with_places(shown, diagnostic));
                tell!("{}", from_ansi(&format!("{shown:?}")));
            }
        }
        if diagnostics.len() > SHOWN_MAX {
            tell!(
                "and {} more, not shown; `planproof --json spec check` shows all\n",
                diagnostics.len() - SHOWN_MAX
            );
        }
    }

    /// The diagnostic with its places in words.
    fn with_places(&self, mut shown: MietteDiagnostic, diagnostic: &Diagnostic) -> MietteDiagnostic {
        for label in &diagnostic.labels {
            let before = self.text.get(..label.span.start).unwrap_or(&self.text);
            let line = before.matches('\n').count() + 1;
            // Characters and not bytes, as editors count.
            let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
            shown.message += &format!("\nin {}, line {line}, column {column}", self.name);
            if !label.text.is_empty() {
                shown.message += &format!(": {}", before_wrapping(&label.text));
            }
        }
        shown
    }
}
