//! Arguments with the types that a tool declares.

use super::literal::{literal, number};
use crate::api::PythonError;
use crate::catalogue::ApiSpec;
use crate::python::strip;
use crate::value::{Dict, PythonValue};

/// Converts the arguments of a call to the types that the tool declares, whether they are texts or already typed.
///
/// # Errors
/// `AssertionError` for a parameter that the tool does not have or for a value that cannot be converted, in the words
/// of the original.
pub fn typed(spec: &ApiSpec, arguments: &Dict) -> Result<Dict, PythonError> {
    let mut typed = Dict::new();
    for (name, value) in arguments {
        let Some(parameter) = spec.input(name) else {
            return Err(PythonError::assertion(format!("invalid parameter name. parameter: {name}")));
        };
        let value = match parameter.kind.as_str() {
            "int" => integer(value),
            "float" => decimal(value),
            "bool" => truth(value),
            "list" | "list(str)" => list(value),
            "str" => Some(text(value)),
            _ => Some(value.clone()),
        };
        let value = value.ok_or_else(|| {
            let given = arguments.get(name).map(PythonValue::to_text).unwrap_or_default();
            PythonError::assertion(format!("invalid parameter type. parameter: {given}"))
        })?;
        typed.insert(name.clone(), value);
    }
    Ok(typed)
}

fn integer(value: &PythonValue) -> Option<PythonValue> {
    match value {
        PythonValue::Int(_) => Some(value.clone()),
        // Below this bound, floats hold whole numbers exactly.
        PythonValue::Float(float) if float.fract() == 0.0 && float.abs() < 1e15 => {
            Some(PythonValue::Int(*float as i128))
        }
        // Read as any number first, so that the text `3.0` is as good as the number.
        PythonValue::Text(text) => number(strip(text)).and_then(|number| match number {
            PythonValue::Text(_) => None,
            other => integer(&other),
        }),
        _ => None,
    }
}

fn decimal(value: &PythonValue) -> Option<PythonValue> {
    match value {
        PythonValue::Int(number) => Some(PythonValue::Float(*number as f64)),
        PythonValue::Float(_) => Some(value.clone()),
        PythonValue::Text(text) => number(strip(text)).and_then(|number| match number {
            PythonValue::Text(_) => None,
            other => decimal(&other),
        }),
        _ => None,
    }
}

fn truth(value: &PythonValue) -> Option<PythonValue> {
    match value {
        PythonValue::Bool(_) => Some(value.clone()),
        PythonValue::Text(text) => match strip(text).to_ascii_lowercase().as_str() {
            "true" => Some(PythonValue::Bool(true)),
            "false" => Some(PythonValue::Bool(false)),
            _ => None,
        },
        _ => None,
    }
}

fn list(value: &PythonValue) -> Option<PythonValue> {
    match value {
        PythonValue::List(_) => Some(value.clone()),
        PythonValue::Text(text) => literal(text).filter(|value| value.as_list().is_some()),
        _ => None,
    }
}

/// Numbers and truth values become texts as Python writes them.
fn text(value: &PythonValue) -> PythonValue {
    match value {
        PythonValue::Bool(_) | PythonValue::Int(_) | PythonValue::Float(_) => value.to_text().into(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Parameter;
    use crate::python::repr;

    fn of(kind: &str, value: PythonValue) -> Result<String, String> {
        let parameter = Parameter { name: "x".to_owned(), kind: kind.to_owned(), description: String::new() };
        let spec = ApiSpec {
            name: "A".to_owned(),
            description: String::new(),
            inputs: vec![parameter],
            outputs: Vec::new(),
            database: None,
        };
        let typed = typed(&spec, &Dict::from([("x".to_owned(), value)]));
        typed.map(|typed| repr(&typed["x"])).map_err(|raised| raised.text)
    }

    #[test]
    fn values_get_their_types() {
        for (kind, text, expected) in [
            ("int", "-3", "-3"),
            ("int", " 4.0 ", "4"),
            ("float", "40.7128", "40.7128"),
            ("float", "-3", "-3.0"),
            ("bool", "true", "True"),
            ("bool", "False", "False"),
            ("list(str)", "['a', \"b\"]", "['a', 'b']"),
            ("str", "7", "'7'"),
        ] {
            assert_eq!(of(kind, text.into()), Ok(expected.to_owned()));
        }
        assert_eq!(of("bool", true.into()), Ok("True".to_owned()));
        assert_eq!(of("str", PythonValue::Int(7)), Ok("'7'".to_owned()));
        for (kind, text) in [("int", "4.5"), ("int", "x"), ("float", "inf"), ("bool", "1"), ("list", "a, b")]
        {
            assert_eq!(of(kind, text.into()), Err(format!("invalid parameter type. parameter: {text}")));
        }
    }
}
