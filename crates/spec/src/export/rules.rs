//! Regular expressions of content rules, in a form for grammars.

use regex_syntax::hir::{Hir, HirKind, Look};

use super::ExportError;
use crate::{Pattern, State};

/// The expression of a content rule without features that grammars do not support: a leading `^` and a trailing `$`,
/// which are redundant because the whole content is matched, are removed, and so are group names, flags and comments.
/// An expression without any of them is unchanged.
///
/// # Errors
/// It has other look-around, such as `\b`.
pub(super) fn expression(state: &State, pattern: &Pattern) -> Result<String, ExportError> {
    let source = pattern.as_str();
    // It has been compiled, so it can be parsed; otherwise it is unchanged.
    let Ok(hir) = regex_syntax::parse(source) else { return Ok(source.to_owned()) };
    let has_looks = !hir.properties().look_set().is_empty();
    // Groups without a name are harmless; any other `(?` is a name, a flag or a comment.
    if !has_looks && !source.replace("(?:", "(").contains("(?") {
        return Ok(source.to_owned());
    }
    let plain = without_looks(&hir, true, true)
        .map_err(|look| ExportError::LookAround { state: state.name.value.clone(), look: written(look) })?;
    Ok(plain.to_string())
}

/// The same without group names, and without `^` where nothing can precede it and `$` where nothing can follow it.
/// The error is any other look-around.
fn without_looks(hir: &Hir, at_start: bool, at_end: bool) -> Result<Hir, Look> {
    Ok(match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) => hir.clone(),
        HirKind::Look(Look::Start) if at_start => Hir::empty(),
        HirKind::Look(Look::End) if at_end => Hir::empty(),
        HirKind::Look(look) => return Err(*look),
        HirKind::Repetition(repetition) => {
            // In a repetition, the beginning of one match may be the end of another.
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
