//! Worked solutions with annotations such as `<<16-3-4=9>>`, which mark the published model's uses of its calculator.

use planproof_tools::calculator;

/// What an annotation begins and ends with.
const BEGIN: &str = "<<";
const END: &str = ">>";

/// A solution, taken apart.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Solution {
    /// How many annotations there are.
    pub(super) annotations: usize,
    /// The expressions in the annotations, in order, in the form of the built-in calculator. Those that it cannot
    /// read, such as `x+1`, are left out.
    pub(super) expressions: Vec<String>,
    /// The text without annotations.
    pub(super) words: String,
}

impl Solution {
    pub(super) fn read(text: &str) -> Self {
        let mut solution = Self { annotations: 0, expressions: Vec::new(), words: String::new() };
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(BEGIN) {
            // An annotation that is never closed is text.
            let Some((inside, behind)) = after.split_once(END) else { break };
            solution.words.push_str(before);
            solution.annotations += 1;
            let (left, _) = inside.split_once('=').unwrap_or((inside, ""));
            let expression = left.replace(',', "").trim().to_owned();
            // An agent that is right makes these calls, so each has to have a result.
            if calculator::evaluate(&expression).is_ok() {
                solution.expressions.push(expression);
            }
            rest = behind;
        }
        solution.words.push_str(rest);
        solution.words.truncate(solution.words.trim_end().len());
        solution
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solutions_are_taken_apart() {
        let solution =
            Solution::read("It is 3*4=$<<3*4=12>>12.\nThen <<1,000 / 8=125>>125 and <<x+1=4>>4.\n");
        assert_eq!(solution.annotations, 3);
        assert_eq!(solution.expressions, ["3*4", "1000 / 8"]);
        assert_eq!(solution.words, "It is 3*4=$12.\nThen 125 and 4.");
        let without = Solution::read("a << b");
        assert_eq!((without.annotations, without.words.as_str()), (0, "a << b"));
    }
}
