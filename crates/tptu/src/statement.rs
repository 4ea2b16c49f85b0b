//! The statement or the number in the text of an answer, to be run or compared.

/// The beginnings of reading statements.
const BEGINNINGS: [&str; 3] = ["select", "with", "values"];

/// How many bytes of a text tell whether a statement begins there.
const SHAPE_BYTES: usize = 1_000;

/// The statement of an answer in its code blocks: the last block with one. `None` if there is none.
pub fn in_blocks(answer: &str) -> Option<&str> {
    blocks(answer).filter(|block| begins(block)).last()
}

/// The content of fences, without the name of a language.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    // The odd pieces are inside fences; a fence that is never closed reaches to the end.
    let inner = text.split("```").enumerate().filter(|(place, _)| place % 2 == 1);
    inner.map(|(_, block)| {
        let (first, rest) = block.split_once('\n').unwrap_or(("", block));
        // The first line names a language, unless it begins a statement or has several words.
        let is_name = !begins(first) && first.split_whitespace().count() <= 1;
        if is_name { rest.trim() } else { block.trim() }
    })
}

/// The statement in the words of an answer: from the first line that begins one up to a semicolon, an empty line or the
/// end. `None` if there is none. It may still be a sentence, such as "Select queries gave 12.".
pub fn in_words(answer: &str) -> Option<&str> {
    let mut start = 0;
    for line in answer.split_inclusive('\n') {
        let trimmed = line.trim_start();
        // A label may precede the statement, as in `SQL: SELECT 1`.
        let behind = trimmed.find(':').map_or(trimmed, |colon| trimmed[colon + 1..].trim_start());
        let rest = |begun: &str| &answer[start + line.len() - begun.len()..];
        let found = [trimmed, behind].into_iter().find(|it| begins(it) && has_shape(rest(it)));
        if let Some(begun) = found {
            return Some(up_to_end(rest(begun)).trim());
        }
        start += line.len();
    }
    None
}

/// A text up to a semicolon, an empty line or its end.
fn up_to_end(text: &str) -> &str {
    let ends = [text.find(';').map(|end| end + 1), text.find("\n\n")];
    &text[..ends.into_iter().flatten().min().unwrap_or(text.len())]
}

/// Whether a text that begins with a statement's word goes on like a statement. Sentences begin with these words as
/// well: "With the query above I found 12 men."
fn has_shape(text: &str) -> bool {
    // Only its beginning, because each line of an answer may begin with such a word.
    let text = up_to_end(&text[..text.floor_char_boundary(SHAPE_BYTES)]).to_ascii_lowercase();
    let is_name = |it: char| it.is_alphanumeric() || it == '_';
    // `AS (`, `AS MATERIALIZED (` or `AS NOT MATERIALIZED (`, behind a name or its columns.
    let is_definition = |(place, word): (usize, &str)| {
        let behind = text[place + word.len()..].trim_start();
        !text[..place].ends_with(is_name)
            && ["(", "materialized", "not"].iter().any(|next| behind.starts_with(next))
    };
    match text.find(|it: char| !it.is_ascii_alphabetic()).map(|end| text.split_at(end)) {
        Some(("with", _)) => text.match_indices("as").any(is_definition),
        Some(("values", rest)) => rest.trim_start().starts_with('('),
        Some(("select", _)) => true,
        _ => false,
    }
}

/// Whether a text begins a statement; comments may stand before it.
fn begins(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).skip_while(|line| line.is_empty() || line.starts_with("--"));
    let word = lines.next().unwrap_or_default();
    let word: String = word.chars().take_while(char::is_ascii_alphabetic).collect();
    BEGINNINGS.iter().any(|beginning| beginning.eq_ignore_ascii_case(&word))
}

/// The last number of the last line that has one.
pub fn last_number(text: &str) -> Option<f64> {
    let number = |word: &str| {
        // Currencies, brackets and marks around a number do not matter.
        let word = word.trim_matches(|c: char| !c.is_ascii_digit() && !matches!(c, '-' | '+' | '.'));
        let word = word.trim_end_matches('.').replace(',', "");
        word.parse::<f64>().ok().filter(|number| number.is_finite())
    };
    text.lines().rev().find_map(|line| line.split_whitespace().rev().find_map(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statement(answer: &str) -> Option<&str> {
        in_blocks(answer).or_else(|| in_words(answer))
    }

    #[test]
    fn a_statement_is_found_where_models_write_it() {
        for answer in [
            "SELECT 1",
            "```sql\nSELECT 1\n```",
            "First ```sql\nSELECT 2\n``` and then ```\nSELECT 1\n```.",
            "```SELECT 1```",
            "The statement is:\n\nselect 1;\n\nIt counts.",
            "Answer: SELECT 1",
            "-- why\nSELECT 1\n\nas asked",
            "With care, I chose this:\n```sql\nSELECT 1\n```",
            "With care as always, I chose this: SELECT 1",
            "Values are counted here.\nWith care:\nSELECT 1",
        ] {
            let found = statement(answer).unwrap_or_else(|| panic!("{answer}"));
            assert_eq!(found.trim_end_matches(';').to_lowercase(), "select 1", "{answer}");
        }
        assert_eq!(statement("I cannot select anything."), None);
        assert_eq!(statement("```python\nprint(1)\n```"), None);
        assert_eq!(
            statement("```sql\n-- the sum\nWITH a AS (SELECT 1)\nSELECT * FROM a\n```")
                .unwrap()
                .lines()
                .count(),
            3
        );
        assert_eq!(statement(""), None);
        for sentence in ["With the query above I found 12 men.", "Values: 12", "with", "12: with care"] {
            assert_eq!(statement(sentence), None, "{sentence}");
        }
        for whole in [
            "WITH a(x) AS(SELECT 1) SELECT x FROM a",
            "with recursive a as not materialized (select 1)\nselect * from a",
            "with \"as\" as\n(select 1) select * from \"as\"",
            "VALUES(1)",
            "values (1), (2)",
        ] {
            assert_eq!(statement(whole), Some(whole));
        }
    }

    #[test]
    fn numbers_are_the_last_ones() {
        assert_eq!(last_number("20.085536923187668"), Some(20.085_536_923_187_668));
        assert_eq!(last_number("value: 1,200\nprinted nothing"), Some(1200.0));
        assert_eq!(last_number("The answer is 12."), Some(12.0));
        assert_eq!(last_number("(1.5e-3)"), Some(0.0015));
        assert_eq!(last_number("-7 dollars"), Some(-7.0));
        assert_eq!(last_number("$1,234.50"), Some(1234.5));
        assert_eq!(last_number("nothing at all, e.g. inf"), None);
    }
}
