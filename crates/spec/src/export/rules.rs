//! Regular expressions of content rules, as grammars take them.

use regex_syntax::hir::{Hir, HirKind, Look};

use super::ExportError;
use crate::{Pattern, State};

/// The expression of a content rule without anything that a grammar does not know: `^` at its beginning and
/// `$` at its end, which say nothing where the whole content is matched, are left out, and so are names of
/// groups, flags and comments. An expression without any of them stays as it is written.
///
/// # Errors
/// It looks around itself elsewhere, as `\b` does.
pub(super) fn expression(state: &State, pattern: &Pattern) -> Result<String, ExportError> {
    let source = pattern.as_str();
    // It has been compiled, so it can be parsed; and if not, then it stays as it is.
    let Ok(hir) = regex_syntax::parse(source) else { return Ok(source.to_owned()) };
    let has_looks = !hir.properties().look_set().is_empty();
    if !has_looks && !source.replace("(?:", "(").contains("(?") {
        return Ok(source.to_owned());
    }
    let plain = without_looks(&hir, true, true)
        .map_err(|look| ExportError::LookAround { state: state.name.value.clone(), look: written(look) })?;
    Ok(plain.to_string())
}

/// The same without groups' names, and without `^` where nothing can come before it and `$` where nothing can
/// come after it. The error is what looks around itself elsewhere.
fn without_looks(hir: &Hir, at_start: bool, at_end: bool) -> Result<Hir, Look> {
    Ok(match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) => hir.clone(),
        HirKind::Look(Look::Start) if at_start => Hir::empty(),
        HirKind::Look(Look::End) if at_end => Hir::empty(),
        HirKind::Look(look) => return Err(*look),
        HirKind::Repetition(repetition) => {
            // Repeated, the beginning of one may be the end of another.
            let once = without_looks(&repetition.sub, false, false)?;
            let mut repetition = repetition.clone();
            repetition.sub = Box::new(once);
            Hir::repetition(repetition)
        }
        HirKind::Capture(capture) => without_looks(&capture.sub, at_start, at_end)?,
        HirKind::Concat(parts) => {
            let is_empty = |part: &Hir| part.properties().maximum_len() == Some(0);
            let parts = parts.iter().enumerate().map(|(place, part)| {
                let at_start = at_start && parts[..place].iter().all(is_empty);
                let at_end = at_end && parts[place + 1..].iter().all(is_empty);
                without_looks(part, at_start, at_end)
            });
            Hir::concat(parts.collect::<Result<_, Look>>()?)
        }
        HirKind::Alternation(parts) => {
            let parts = parts.iter().map(|part| without_looks(part, at_start, at_end));
            Hir::alternation(parts.collect::<Result<_, Look>>()?)
        }
    })
}

fn written(look: Look) -> &'static str {
    match look {
        Look::Start => "`^`",
        Look::End => "`$`",
        Look::StartLF | Look::StartCRLF => "`^` for the beginning of a line",
        Look::EndLF | Look::EndCRLF => "`$` for the end of a line",
        Look::WordAsciiNegate | Look::WordUnicodeNegate => r"`\B`",
        _ => r"`\b`",
    }
}
