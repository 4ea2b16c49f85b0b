//! The words of the eight tables: their names, their columns and the texts in them.

use std::sync::LazyLock;

use planproof_tools::sql::SqlValue;

use super::statement::Statement;
use crate::concepts::{concept, is_same, singular};
use crate::tables;
use crate::tokens::{Token, tokens};

/// Columns whose texts name nothing that a sub-task would ask for.
const PLAIN_COLUMNS: [&str; 9] = [
    "id",
    "phone",
    "info_985",
    "info_211",
    "Year",
    "First_Issue_Date",
    "Signing_Date",
    "Singer_ID",
    "Journal_ID",
];
/// Fewer texts than this are the whole choice that a column gives: male and female.
const CHOICE_MAX: usize = 3;
/// Words in names of columns and tables that are not attributes, or that texts use in other senses as well.
const NO_ATTRIBUTE: [&str; 23] = [
    "id",
    "info",
    "count",
    "first",
    "name",
    "year",
    "date",
    "issue",
    "signing",
    "sign",
    "competing",
    "nominated",
    "nominat",
    "work",
    "award",
    "edition",
    "person",
    "cover",
    "personality",
    "record",
    "organization",
    "golden",
    "melody",
];

/// A text of a column.
struct CellText {
    column: String,
    words: Vec<String>,
    text: String,
    /// It is a name or one of few choices, so that it means the same in any text.
    is_plain: bool,
}

#[derive(Default)]
struct Lexicon {
    texts: Vec<CellText>,
    /// Words of columns and tables for attributes.
    attributes: Vec<String>,
    /// Words of columns that hold counts.
    counted: Vec<String>,
    tables: Vec<String>,
}

/// Without a database there are no words to be confused, so the lexicon is empty.
static LEXICON: LazyLock<Lexicon> = LazyLock::new(|| {
    let mut lexicon = Lexicon::default();
    let Ok(database) = tables::database() else { return lexicon };
    for line in database.schema().lines() {
        let Some((table, columns)) = line.trim_end_matches(')').split_once('(') else { continue };
        let concepts = |name: &str| -> Vec<String> {
            tokens(name).iter().filter_map(Token::word).map(|it| concept(it).into_owned()).collect()
        };
        lexicon.tables.extend(concepts(table));
        lexicon.attributes.extend(concepts(table));
        for column in columns.split(", ").filter_map(|column| column.split(' ').next()) {
            lexicon.attributes.extend(concepts(column));
            if let Some(counted) = column.strip_suffix("_Count") {
                lexicon.counted.extend(concepts(counted));
            }
            if PLAIN_COLUMNS.contains(&column) {
                continue;
            }
            // Names come from our own schema.
            let Ok(rows) = database.run(&format!("SELECT DISTINCT {column} FROM {table}")) else { continue };
            let is_choice = rows.rows.len() < CHOICE_MAX;
            for row in &rows.rows {
                let [SqlValue::Text(text)] = &row[..] else { continue };
                let words = words(&tokens(text));
                let is_name = text.chars().next().is_some_and(char::is_uppercase) || words.len() > 1;
                let (column, text) = (column.to_lowercase(), text.clone());
                lexicon.texts.push(CellText { column, words, text, is_plain: is_choice || is_name });
            }
        }
    }
    lexicon.attributes.retain(|it| !NO_ATTRIBUTE.contains(&&**it));
    lexicon
});

/// Tokens as words that can be compared; signs are left out.
fn words(tokens: &[Token]) -> Vec<String> {
    let word = |token: &Token| match token {
        Token::Word(word) => Some(word.clone()),
        Token::Number(number) | Token::Ordinal(number) => Some(number.to_string()),
        Token::Sign(_) => None,
    };
    tokens.iter().filter_map(word).collect()
}

/// Whether a word names a column of counts, such as songs.
pub(super) fn is_counted(word: &str) -> bool {
    !word.is_empty() && LEXICON.counted.iter().any(|it| is_same(it, word))
}

/// Whether a word names a table.
pub(super) fn is_table(word: &str) -> bool {
    !word.is_empty() && LEXICON.tables.iter().any(|it| is_same(it, word))
}

/// A text of the tables that a sub-task names and neither the reference nor our own words do.
pub(super) fn other_value(text: &[Token], ours: &[Token], right: &Statement) -> Option<String> {
    let (said, ours) = (words(text), words(ours));
    let right_texts: Vec<Vec<String>> = right.texts.iter().map(|it| words(it)).collect();
    let is_same = |a: &String, b: &String| a == b || *concept(a) == **b || concept(a) == concept(b);
    let occurs = |wanted: &[String], within: &[String]| {
        !wanted.is_empty()
            && within
                .windows(wanted.len())
                .any(|window| window.iter().zip(wanted).all(|(a, b)| is_same(a, b)))
    };
    let is_right =
        |cell: &CellText| right_texts.iter().any(|it| occurs(&cell.words, it)) || occurs(&cell.words, &ours);
    // The beginning of a longer text is not named by that one.
    let named: Vec<&CellText> = LEXICON.texts.iter().filter(|cell| occurs(&cell.words, &said)).collect();
    let is_within = |cell: &CellText| {
        named.iter().any(|it| it.words.len() > cell.words.len() && occurs(&cell.words, &it.words))
    };
    let other = named.iter().find(|cell| {
        let is_meant = cell.is_plain || right.names.contains(&cell.column);
        is_meant && !is_right(cell) && !is_within(cell)
    });
    other.map(|cell| format!("it names `{}`", cell.text))
}

/// A column or table that a sub-task names and neither the reference nor our own words do.
pub(super) fn other_column(text: &[Token], ours: &[Token], right: &Statement) -> Option<String> {
    let is_attribute = |word: &str| LEXICON.attributes.iter().any(|it| is_same(it, word));
    let is_right = |word: &str| {
        right.concepts.iter().any(|it| is_same(it, word))
            || ours.iter().filter_map(Token::word).any(|it| is_same(it, word))
            || right.texts.iter().flatten().filter_map(Token::word).any(|it| is_same(it, word))
    };
    let named = text.iter().filter_map(Token::word);
    let other = named.filter(|word| is_attribute(word)).find(|word| !is_right(word));
    // "The names" and "the name of" are what is wanted, where the right answer may be a count.
    let lists_names = || {
        let words: Vec<&str> = text.iter().filter_map(Token::word).collect();
        let is_list = words.iter().any(|it| ["names", "titles"].contains(it))
            || words.windows(2).any(|pair| matches!(pair, ["name" | "title", "of"]));
        (is_list && !right.concepts.is_empty() && !is_right("name")).then_some("names")
    };
    other.or_else(lists_names).map(|word| format!("it names the {}", singular(word)))
}
