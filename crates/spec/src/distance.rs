//! The distance of two texts, in characters inserted, deleted or replaced (Levenshtein's distance).

/// Edits from one whole text to the other. Takes time in the product of their lengths.
pub(crate) fn edits(from: &str, to: &str) -> usize {
    last_row(from, to).last().copied().unwrap_or(0)
}

/// Edits from `word` to the nearest prefix of `text`.
pub(crate) fn edits_to_start(word: &str, text: &str) -> usize {
    last_row(word, text).into_iter().min().unwrap_or(0)
}

/// Edits from `from` to each prefix of `to`, the empty one first.
fn last_row(from: &str, to: &str) -> Vec<usize> {
    let to: Vec<char> = to.chars().collect();
    // One row of the table at a time. `diagonal` keeps the entry above to the left, which the row overwrites.
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (index, here) in from.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = index + 1;
        for (column, there) in to.iter().enumerate() {
            let replaced = diagonal + usize::from(here != *there);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "ab"), 2);
        assert_eq!(edits_to_start("[Thought]", "Thought: I wonder"), 2);
        assert_eq!(edits_to_start("[Thought]", ""), 9);
    }
}
