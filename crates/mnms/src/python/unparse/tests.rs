use ruff_python_ast::Stmt;

use super::unparse;
use crate::python::source::parse;

/// Expressions, and what `ast.unparse` of Python 3.11 writes for them.
#[rustfmt::skip]
const EXPRESSIONS: &[(&str, &str)] = &[
    ("1_000", "1000"),
    ("0x10", "16"),
    ("1e3", "1000.0"),
    ("1.50", "1.5"),
    ("1e400", "1e309"),
    ("1j", "1j"),
    ("1e400j", "1e309j"),
    ("2.5j", "2.5j"),
    ("00", "0"),
    ("True", "True"),
    ("...", "..."),
    ("None", "None"),
    ("\"a\" \"b\"", "'ab'"),
    ("'it''s'", "'its'"),
    ("\"it's\"", "\"it's\""),
    ("'say \"hi\"'", "'say \"hi\"'"),
    ("\"it's \\\"q\\\"\"", "'it\\'s \"q\"'"),
    ("\"tab\\t nl\\n\"", "'tab\\t nl\\n'"),
    ("r\"\\d\"", "'\\\\d'"),
    ("u\"a\"", "u'a'"),
    ("u\"a\" \"b\"", "u'ab'"),
    ("b\"x\\xff\"", "b'x\\xff'"),
    ("\"\"\"a\tb\"\"\"", "'a\\tb'"),
    ("\"\\x41\\u00e9\\N{BULLET}\"", "'Aé•'"),
    ("\"\u{2028}\"", "'\\u2028'"),
    ("\"a\"+\"b\"", "'a' + 'b'"),
    ("a+b*c", "a + b * c"),
    ("(a+b)*c", "(a + b) * c"),
    ("a-(b-c)", "a - (b - c)"),
    ("a-b-c", "a - b - c"),
    ("a**b**c", "a ** b ** c"),
    ("(a**b)**c", "(a ** b) ** c"),
    ("a**-b", "a ** (-b)"),
    ("-a**b", "-a ** b"),
    ("(-a)**b", "(-a) ** b"),
    ("not a", "not a"),
    ("not (a and b)", "not (a and b)"),
    ("a and b or c", "a and b or c"),
    ("a and (b or c)", "a and (b or c)"),
    ("a or b or c", "a or b or c"),
    ("a<b<=c", "a < b <= c"),
    ("(a<b)<c", "(a < b) < c"),
    ("a if b else c", "a if b else c"),
    ("(a if b else c) if d else e", "(a if b else c) if d else e"),
    ("lambda: 0", "lambda: 0"),
    ("lambda x, /, y=1, *z, k, **w: x", "lambda x, /, y=1, *z, k, **w: x"),
    ("lambda *, k=1: k", "lambda *, k=1: k"),
    ("(lambda: 0)()", "(lambda: 0)()"),
    ("[1,2,  3]", "[1, 2, 3]"),
    ("(1,)", "(1,)"),
    ("()", "()"),
    ("(1, 2)", "(1, 2)"),
    ("{1, 2}", "{1, 2}"),
    ("{\"a\":1, **b}", "{'a': 1, **b}"),
    ("[x for x in y if z if w]", "[x for x in y if z if w]"),
    ("(x for x, y in z)", "(x for x, y in z)"),
    ("{k: v for k, v in z}", "{k: v for k, v in z}"),
    ("{x async for x in y}", "{x async for x in y}"),
    ("f(x for x in y)", "f((x for x in y))"),
    ("f(a, *b, k=1, **c)", "f(a, *b, k=1, **c)"),
    ("a[1]", "a[1]"),
    ("a[1:2]", "a[1:2]"),
    ("a[::2]", "a[::2]"),
    ("a[1, 2]", "a[1, 2]"),
    ("a[()]", "a[()]"),
    ("a[1:2, ...]", "a[1:2, ...]"),
    ("a.b[\"c\"].d()", "a.b['c'].d()"),
    ("1 .real", "1 .real"),
    ("1.0.real", "1.0.real"),
    ("True.real", "True .real"),
    ("\"a\".b", "'a'.b"),
    ("(a).b", "a.b"),
    ("(a+b).c", "(a + b).c"),
    ("(x:=5)", "(x := 5)"),
    ("(yield)", "(yield)"),
    ("(yield a)", "(yield a)"),
    ("(yield from a)", "(yield from a)"),
    ("await x", "await x"),
    ("(await x).y", "(await x).y"),
    ("await x ** 2", "await x ** 2"),
    ("f\"\"", "f''"),
    ("f\"a\"", "f'a'"),
    ("f\"a{b}c{d['e']}f\"", "f\"a{b}c{d['e']}f\""),
    ("f'a{b[\"c\"]}'", "f\"a{b['c']}\""),
    ("f\"{a!r:>10}\"", "f'{a!r:>10}'"),
    ("f\"{a + b}\"", "f'{a + b}'"),
    ("f\"{a:{b}}\"", "f'{a:{b}}'"),
    ("f\"{a=}\"", "f'a={a!r}'"),
    ("f\"{ a = }\"", "f' a = {a!r}'"),
    ("f\"{a=!s}\"", "f'a={a!s}'"),
    ("f\"{a=:>3}\"", "f'a={a:>3}'"),
    ("f\"{{x}}\"", "f'{{x}}'"),
    ("f\"{ {1} }\"", "f'{ {1}}'"),
    ("f\"it's {a}\"", "f\"it's {a}\""),
    ("\"a\" f\"{b}\" \"c\"", "f'a{b}c'"),
    ("f\"\\n{a}\"", "f'\\n{a}'"),
    ("f\"{a}\\\"'\"", "f\"\"\"{a}\"'\"\"\""),
    ("f\"{'x'}\"", "f\"{'x'}\""),
    ("f\"{f(1)}\"", "f'{f(1)}'"),
    ("f\"{(lambda: 1)}\"", "f'{(lambda: 1)}'"),
    ("f\"{a,}\"", "f'{(a,)}'"),
    ("f\"{-1}\"", "f'{-1}'"),
    ("f\"'''{a}\\\"\\\"\\\"\"", "f'''\\'\\'\\'{a}\"\"\"'''"),
    ("0xFFFFFFFFFFFFFFFFFFFF", "1208925819614629174706175"),
    ("é.ñ", "é.ñ"),
    ("ﬁ", "fi"),
];

#[test]
fn expressions_are_written_as_python_writes_them() {
    for (source, written) in EXPRESSIONS {
        let module = parse(&format!("o = {source}")).unwrap();
        let [Stmt::Assign(assignment)] = &module.body[..] else { panic!("{source}") };
        assert_eq!(unparse(&assignment.value).as_deref(), Ok(*written), "{source}");
    }
}

#[test]
fn what_python_cannot_write_is_refused() {
    // A line separator would need an escape sequence in a field.
    let module = parse("o = f\"{'\u{2028}'}\"").unwrap();
    let [Stmt::Assign(assignment)] = &module.body[..] else { panic!("no assignment") };
    assert!(unparse(&assignment.value).is_err());
}
