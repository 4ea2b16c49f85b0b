//! How an agent gets to know the rules of drawn cases, and the sentences of a policy that state them.

use std::collections::BTreeMap;

use crate::limits::POLICY_BYTES_MAX;

/// How an agent gets to know the rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RulesShown {
    /// They stand in words below the query.
    Stated,
    /// A text before the query states them, with the sentences that state some of them, by their ids.
    Policy {
        /// The text, as the agent gets it.
        text: String,
        /// By the ids of rules: the sentence, as it stands in the text.
        said: BTreeMap<String, String>,
    },
    /// The agent has them from elsewhere, and is shown nothing.
    Hidden,
}

impl RulesShown {
    /// A policy in which a sentence may end with the ids of the rules that it states: `Refund only what was looked up.
    /// [look-first]`, or `[a, b]`. The ids are removed from what the agent gets.
    ///
    /// # Errors
    /// The text is empty or too long, or names a rule that there is not: where (`LINE:COLUMN`), and what to write.
    pub fn policy(text: &str, rules: &[&str]) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err(
                "1:1: the policy is empty; write what the agent has to know, or use `stated`".to_owned()
            );
        }
        if text.len() > POLICY_BYTES_MAX {
            return Err(format!(
                "1:1: the policy has {} bytes, and at most {POLICY_BYTES_MAX} are read; shorten it",
                text.len()
            ));
        }
        let (mut shown, mut said) = (String::new(), BTreeMap::new());
        let mut rest = text;
        while let Some(start) = rest.find('[') {
            shown.push_str(&rest[..start]);
            let at = text.len() - rest.len() + start;
            rest = &rest[start..];
            let Some(ids) = rest.find(']').map(|end| &rest[1..end]).filter(|ids| !ids.contains('\n')) else {
                shown.push('[');
                rest = &rest[1..];
                continue;
            };
            let named: Vec<&str> = ids.split(',').map(str::trim).collect();
            if !named.iter().any(|id| rules.contains(id)) && !is_like_ids(&named) {
                shown.push('[');
                rest = &rest[1..];
                continue;
            }
            if let Some(unknown) = named.iter().find(|id| !rules.contains(id)) {
                let line = text[..at].matches('\n').count() + 1;
                let column = text[..at].rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1;
                let known = rules.join(", ");
                return Err(format!(
                    "{line}:{column}: no rule has the id `{unknown}`; the rules are {known}. A text in brackets that \
                     is not an id has a blank in it"
                ));
            }
            let sentence = last_sentence(&shown);
            for id in named {
                said.entry(id.to_owned()).or_insert_with(|| sentence.to_owned());
            }
            // The blank before the ids goes with them.
            shown.truncate(shown.trim_end_matches(' ').len());
            rest = &rest[ids.len() + 2..];
        }
        shown.push_str(rest);
        Ok(Self::Policy { text: shown.trim().to_owned(), said })
    }
}

/// Whether these are names as rules have them, and not a remark in brackets.
fn is_like_ids(named: &[&str]) -> bool {
    named
        .iter()
        .all(|id| !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)))
        && named.iter().any(|id| id.contains(['-', '_']))
}

/// The last sentence of a text, without blanks around it.
fn last_sentence(text: &str) -> &str {
    let text = text.trim_end();
    let body = text.trim_end_matches(['.', '!', '?', ';']);
    let ends = [". ", "! ", "? ", ".\n", "!\n", "?\n", "\n\n", "\n- ", "\n* "];
    let start = ends.iter().filter_map(|end| body.rfind(end).map(|at| at + end.len())).max().unwrap_or(0);
    text[start..].trim_start_matches(['-', '*', '#', ' ', '\n'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(text: &str) -> Result<(String, Vec<(String, String)>), String> {
        match RulesShown::policy(text, &["look-first", "small", "once"])? {
            RulesShown::Policy { text, said } => Ok((text, said.into_iter().collect())),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn ids_are_removed_and_their_sentences_are_kept() {
        let (text, said) = policy(
            "Be kind. Refund only what was looked up. [look-first] At most 100 dollars! [small, once]\n\nSign [your name].\n",
        )
        .expect("a policy");
        assert_eq!(
            text,
            "Be kind. Refund only what was looked up. At most 100 dollars!\n\nSign [your name]."
        );
        let of = |id: &str, sentence: &str| (id.to_owned(), sentence.to_owned());
        assert_eq!(
            said,
            [
                of("look-first", "Refund only what was looked up."),
                of("once", "At most 100 dollars!"),
                of("small", "At most 100 dollars!"),
            ]
        );
        let (text, said) = policy("# Policy\n- Look first [look-first].\n- Once [once]\n").expect("a policy");
        assert_eq!(text, "# Policy\n- Look first.\n- Once");
        assert_eq!(said, [of("look-first", "Look first"), of("once", "Once")]);
    }

    #[test]
    fn an_unknown_id_is_named_with_its_place() {
        let error = policy("Be kind.\nLook first. [look-frist]").expect_err("a slip");
        assert!(
            error
                .starts_with("2:13: no rule has the id `look-frist`; the rules are look-first, small, once."),
            "{error}"
        );
        assert!(policy("  \n").expect_err("nothing").contains("empty"));
    }
}
