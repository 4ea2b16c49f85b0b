//! The arguments of the commands.

pub mod doctor;
pub mod guard;
pub mod hook;

/// The name of a session of an agent. Sessions whose names an agent has not filled in would be one.
///
/// # Errors
/// It is none.
fn session_name(text: &str) -> Result<String, String> {
    match text {
        "" => Err("it is empty: is the variable set?".to_owned()),
        text if text.contains("${") => Err("the variable in it has not been replaced".to_owned()),
        text => Ok(text.to_owned()),
    }
}
