//! The twelve tools of the paper (section 3.1.2), by all the names that the paper and agents use for them.

use serde::{Deserialize, Serialize};

/// A tool. The first two are under test; the others are distractors.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ToolName {
    Sql,
    Python,
    Weather,
    ImageGenerator,
    /// Reads the text of a picture.
    TextExtractor,
    Translator,
    WebSearch,
    /// Runs commands of a shell.
    Shell,
    Java,
    Wikipedia,
    Office,
    /// Plays films.
    MoviePlayer,
}

/// How many tools are under test.
const TESTED: usize = 2;

impl ToolName {
    /// All of them, those under test first.
    pub const ALL: [Self; 12] = [
        Self::Sql,
        Self::Python,
        Self::Weather,
        Self::ImageGenerator,
        Self::TextExtractor,
        Self::Translator,
        Self::WebSearch,
        Self::Shell,
        Self::Java,
        Self::Wikipedia,
        Self::Office,
        Self::MoviePlayer,
    ];

    /// Those offered in an evaluation: the two under test, or all.
    pub fn shown(with_unrelated: bool) -> &'static [Self] {
        if with_unrelated { &Self::ALL } else { &Self::ALL[..TESTED] }
    }

    /// Its name in plans, as the paper has it.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Sql => "SQL generator",
            Self::Python => "Python generator",
            Self::Weather => "Weather query tool",
            Self::ImageGenerator => "Image generator",
            Self::TextExtractor => "Text extractor",
            Self::Translator => "Translator",
            Self::WebSearch => "Bing searcher",
            Self::Shell => "Shell generator",
            Self::Java => "Java generator",
            Self::Wikipedia => "Wikipedia searcher",
            Self::Office => "Office software",
            Self::MoviePlayer => "Movie player",
        }
    }

    /// Its name where it can be called.
    pub const fn call_name(self) -> &'static str {
        match self {
            Self::Sql => "sql",
            Self::Python => "python",
            Self::Weather => "weather",
            Self::ImageGenerator => "image_generator",
            Self::TextExtractor => "text_extractor",
            Self::Translator => "translator",
            Self::WebSearch => "web_search",
            Self::Shell => "shell",
            Self::Java => "java",
            Self::Wikipedia => "wikipedia",
            Self::Office => "office",
            Self::MoviePlayer => "movie_player",
        }
    }

    /// What it does, in a sentence.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Sql => "Takes a question about the tables of the database, and queries them with SQLite.",
            Self::Python => "Takes a calculation with all that it needs, and runs Python code for it.",
            Self::Weather => "Takes a place, and reports the weather there.",
            Self::ImageGenerator => "Takes a description, and draws a picture.",
            Self::TextExtractor => {
                "Takes the address of a picture, and reads the text in it with its position."
            }
            Self::Translator => "Takes a text, and translates it into another language.",
            Self::WebSearch => "Takes a text, and searches the web for it.",
            Self::Shell => "Takes a task, and runs shell commands for it.",
            Self::Java => "Takes a task, and runs Java code for it.",
            Self::Wikipedia => "Takes a text, and searches Wikipedia for it.",
            Self::Office => "Takes a description, and makes a document, a spreadsheet or slides.",
            Self::MoviePlayer => "Takes the title of a film, and plays it.",
        }
    }

    /// Its other names, in lower-case letters and digits alone.
    const fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::Sql => &["sqlgenerator", "sqltool"],
            Self::Python => &["pythongenerator", "pythonrepl", "pythontool"],
            Self::Weather => &["weatherquerytool", "weatherquery"],
            Self::ImageGenerator => &[],
            Self::TextExtractor => &[],
            Self::Translator => &[],
            Self::WebSearch => &["bingsearcher", "bingsearch", "websearcher"],
            Self::Shell => &["shellgenerator"],
            Self::Java => &["javagenerator"],
            Self::Wikipedia => &["wikipediasearcher", "wikipediasearch"],
            Self::Office => &["officesoftware"],
            Self::MoviePlayer => &[],
        }
    }

    /// Whether it is none of the two under test.
    pub fn is_unrelated(self) -> bool {
        !Self::ALL[..TESTED].contains(&self)
    }

    /// The tool with that name, ignoring case, blanks and punctuation.
    pub fn find(name: &str) -> Option<Self> {
        let plain = |text: &str| -> String {
            text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
        };
        let wanted = plain(name);
        Self::ALL.into_iter().find(|tool| {
            tool.aliases().contains(&&*wanted)
                || [tool.call_name(), tool.title()].map(plain).contains(&wanted)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_are_found_by_all_of_their_names() {
        for (name, tool) in [
            ("SQL Generator", ToolName::Sql),
            ("sql", ToolName::Sql),
            ("PythonREPL", ToolName::Python),
            ("python generator", ToolName::Python),
            ("Bing Searcher", ToolName::WebSearch),
            ("web_search", ToolName::WebSearch),
            ("Movie player", ToolName::MoviePlayer),
        ] {
            assert_eq!(ToolName::find(name), Some(tool), "{name}");
        }
        assert_eq!(ToolName::find("calculator"), None);
        assert_eq!(ToolName::find(""), None);
        assert!(ToolName::ALL.iter().all(|tool| ToolName::find(tool.call_name()) == Some(*tool)));
        assert_eq!(ToolName::ALL.iter().filter(|tool| tool.is_unrelated()).count(), 10);
    }
}
