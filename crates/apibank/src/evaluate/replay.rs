//! The state that the calls of a dialogue leave behind.

use super::dialogue::DialogueCall;
use super::judge::carry_out;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

/// Executes a gold call for its side effects, and replaces the number or token drawn now with the recorded one, so
/// that later calls of the dialogue can refer to it. A call that fails changes nothing.
pub fn replay(gold: &DialogueCall, world: &mut ApiWorld) {
    // The arguments of the record have their types. Those of the dialogue are texts, even the lists.
    let arguments = gold.result.input.as_dict().unwrap_or(&gold.arguments);
    let Ok(record) = carry_out(&gold.api_name, arguments, world) else { return };
    match gold.api_name.as_str() {
        "RegisterUser" => adopt_token(&record.input, &gold.result.output, world),
        "AppointmentRegistration" => adopt_number(&record.output, &gold.result.output, world),
        _ => {}
    }
}

fn adopt_token(input: &PythonValue, output: &PythonValue, world: &mut ApiWorld) {
    let name = input.as_dict().and_then(|it| it.get("username")).and_then(PythonValue::as_text);
    let token = output.as_dict().and_then(|it| it.get("token"));
    let accounts = world.get_mut("Account").and_then(PythonValue::as_dict_mut);
    if let (Some(name), Some(token), Some(accounts)) = (name, token, accounts)
        && let Some(account) = accounts.get_mut(name).and_then(PythonValue::as_dict_mut)
    {
        account.insert("token".to_owned(), token.clone());
    }
}

fn adopt_number(drawn: &PythonValue, gold: &PythonValue, world: &mut ApiWorld) {
    let appointments = world.get_mut("Appointments").and_then(PythonValue::as_dict_mut);
    if let (Some(drawn), Some(gold), Some(appointments)) = (drawn.as_text(), gold.as_text(), appointments) {
        rename(appointments, drawn, gold);
    }
}

fn rename(table: &mut Dict, from: &str, to: &str) {
    // If the gold number is taken, renaming would overwrite another appointment.
    if !table.contains_key(to)
        && let Some(row) = table.shift_remove(from)
    {
        table.insert(to.to_owned(), row);
    }
}
