//! What models put around marks, as in `**[Thought]:** ...`: it belongs neither to the mark nor to any content.

use super::{Author, Monitor, content};

/// Characters of markup that may stand before a mark on its line.
const BEFORE: [char; 6] = ['*', '_', '#', '>', '`', '-'];

/// Characters of emphasis that a mark may stand between.
const AROUND: [char; 2] = ['*', '_'];

impl Monitor {
    /// Passes a colon and the end of emphasis right behind the last mark. False if the text may still go on with
    /// them.
    pub(super) fn pass_decoration(&mut self, is_whole: bool) -> bool {
        let ours = !self.shared.options.corrects_as_published();
        let Some(part) = self.sections.last_mut().filter(|part| part.author == Author::Model) else {
            return true;
        };
        if !ours || self.has_passed_decoration {
            return true;
        }
        let state = self.shared.automaton.state(part.state);
        let start = part.content.start;
        let is_emphasised = self.text[..start]
            .strip_suffix(state.prompt.value.as_str())
            .is_some_and(|before| before.ends_with(AROUND));
        let rest = &self.text[start..];
        let mut after = rest;
        if is_emphasised {
            after = after.trim_start_matches(AROUND);
        }
        after = after.strip_prefix(':').unwrap_or(after);
        if is_emphasised {
            after = after.trim_start_matches(AROUND);
        }
        if after.is_empty() && !is_whole {
            return false;
        }
        self.has_passed_decoration = true;
        let length = rest.len() - after.len();
        // A pattern that begins with a colon says that the colon is content.
        let is_content = rest
            .get(..1)
            .zip(content::pattern(state))
            .is_some_and(|(first, pattern)| pattern.begins_with(first));
        if length > 0 && !is_content {
            part.content.start = start + length;
            self.progress = content::Progress::new(state, start + length);
            self.scanned = start + length;
        }
        true
    }

    /// Where the content of the last section ends before a mark that begins at a byte: markup alone on the line of the
    /// mark is not content.
    pub(super) fn undecorated(&self, mark: usize) -> usize {
        let Some(part) = self.sections.last().filter(|part| part.author == Author::Model) else {
            return mark;
        };
        if self.shared.options.corrects_as_published() {
            return mark;
        }
        let from = part.content.start;
        let content = &self.text[from..mark];
        let bare = content.trim_end_matches(|c| BEFORE.contains(&c) || c == ' ');
        let is_markup = content[bare.len()..].contains(BEFORE);
        if is_markup && (bare.is_empty() || bare.ends_with('\n')) { from + bare.len() } else { mark }
    }

    /// The byte after markup that begins at a byte where a mark has to come.
    pub(super) fn after_decoration(&self, start: usize) -> usize {
        let rest = &self.text[start..];
        match self.shared.options.corrects_as_published() {
            true => start,
            false => start + rest.len() - rest.trim_start_matches(|c| BEFORE.contains(&c) || c == ' ').len(),
        }
    }
}
