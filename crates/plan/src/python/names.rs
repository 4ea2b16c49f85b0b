//! Names that Python reserves.

/// Words that cannot be names of arguments, with the one name that cannot be assigned.
const KEYWORDS: [&str; 36] = [
    "False",
    "None",
    "True",
    "__debug__",
    "and",
    "as",
    "assert",
    "async",
    "await",
    "break",
    "class",
    "continue",
    "def",
    "del",
    "elif",
    "else",
    "except",
    "finally",
    "for",
    "from",
    "global",
    "if",
    "import",
    "in",
    "is",
    "lambda",
    "nonlocal",
    "not",
    "or",
    "pass",
    "raise",
    "return",
    "try",
    "while",
    "with",
    "yield",
];

/// Functions, types and exceptions that every program has.
const BUILTINS: [&str; 84] = [
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "BaseException",
    "EOFError",
    "Exception",
    "FileNotFoundError",
    "IndexError",
    "KeyError",
    "KeyboardInterrupt",
    "LookupError",
    "NameError",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "RecursionError",
    "RuntimeError",
    "StopIteration",
    "SyntaxError",
    "TimeoutError",
    "TypeError",
    "UnicodeError",
    "ValueError",
    "ZeroDivisionError",
    "abs",
    "all",
    "any",
    "ascii",
    "bin",
    "bool",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "locals",
    "map",
    "max",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "sorted",
    "str",
    "sum",
    "super",
    "tuple",
    "zip",
];

/// Whether a text can be a name unchanged. Names with letters beyond ASCII are excluded, because Python normalises
/// some of them.
pub(crate) fn is_plain(name: &str) -> bool {
    crate::text::is_key(name) && KEYWORDS.binary_search(&name).is_err()
}

/// Whether it is a function or type that every program has.
pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.binary_search(&name).is_ok()
}

/// The name of the variable for a step's output.
pub(crate) fn variable(id: u64) -> String {
    format!("output{id}")
}

/// The number in the name of such a variable.
pub(crate) fn number(variable: &str) -> Option<u64> {
    let digits = variable.strip_prefix("output")?;
    // `output01` is another variable than `output1`, and `output+1` is none.
    let is_canonical = digits == "0" || !digits.starts_with(['0', '+']);
    digits.parse().ok().filter(|_| is_canonical)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_for_the_search() {
        assert!(KEYWORDS.is_sorted() && BUILTINS.is_sorted());
        assert!(
            is_plain("image") && !is_plain("from") && !is_plain("") && !is_plain("1a") && !is_plain("größe")
        );
    }

    #[test]
    fn variables_tell_their_numbers() {
        assert_eq!(number(&variable(12)), Some(12));
        for other in ["output", "output01", "output+1", "out1", "output1x", "output99999999999999999999"] {
            assert_eq!(number(other), None, "{other}");
        }
    }
}
