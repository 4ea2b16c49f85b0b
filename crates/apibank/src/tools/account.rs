//! Accounts and their tokens. Only `GetUserToken` and `ModifyPassword` put their names into their records.

use super::parts::{SUCCESS, all_equal, argument, dict, fail, field, tool, user_of};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) const TOOLS: [ApiTool; 6] = [
    tool!("CheckToken", check_token, all_equal, unnamed),
    tool!("DeleteAccount", delete_account, all_equal, unnamed),
    tool!(
        "ForgotPassword",
        forgot_password,
        all_equal,
        unnamed,
        optional: ["username", "email", "verification_code", "new_password"]
    ),
    tool!("GetUserToken", get_user_token, all_equal),
    tool!("ModifyPassword", modify_password, all_equal),
    tool!("RegisterUser", register_user, is_same_registration, unnamed),
];

/// The verification code, which is the same for everybody.
const CODE: i64 = 970_420;

/// The table with the user who asked for a code.
const RESET: &str = "ForgotPassword";

/// The length of a token.
const TOKEN_LENGTH: usize = 18;

/// Letters and digits with the frequencies of the original, which draws from both cases and then converts to lower
/// case.
const TOKEN_LETTERS: &[u8; 62] = b"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz0123456789";

fn check_token(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let user = user_of(argument(arguments, "token")?, world)?;
    Ok(dict([("username", user.into())]))
}

fn delete_account(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let user = user_of(argument(arguments, "token")?, world)?;
    if world.table_mut("Account")?.shift_remove(&user).is_none() {
        return fail("No such user.");
    }
    Ok(dict([("status", SUCCESS.into())]))
}

fn get_user_token(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    // A name that is not a text is no key of the table, so that no account has it.
    let name = argument(arguments, "username")?.as_text();
    let Some(account) =
        name.map(|name| world.table("Account").map(|table| table.get(name))).transpose()?.flatten()
    else {
        return fail("The username does not exist.");
    };
    if field(account, "password")? != argument(arguments, "password")? {
        return fail("The password is incorrect.");
    }
    Ok(dict([("token", field(account, "token")?.clone())]))
}

fn modify_password(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let user = user_of(argument(arguments, "token")?, world)?;
    let account = world.table_mut("Account")?.get_mut(&user).ok_or_else(|| PythonError::key(&user))?;
    if field(account, "password")? != argument(arguments, "old_password")? {
        return fail("The old password is incorrect.");
    }
    set(account, "password", argument(arguments, "new_password")?);
    Ok(dict([("status", SUCCESS.into())]))
}

fn set(row: &mut PythonValue, name: &str, value: &PythonValue) {
    if let Some(row) = row.as_dict_mut() {
        row.insert(name.to_owned(), value.clone());
    }
}

/// Takes two calls: the first requests the code, the second submits it with a new password. Omitted arguments are
/// not recorded either.
fn forgot_password(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    arguments.retain(|_, value| !value.is_none());
    let status = argument(arguments, "status")?.as_text().unwrap_or_default();
    match status {
        "Forgot Password" => {
            let (Some(name), Some(email)) = (arguments.get("username"), arguments.get("email")) else {
                return fail("The username and email are required for the first call.");
            };
            let name = name.as_text().unwrap_or_default();
            let Some(account) = world.table("Account")?.get(name) else {
                return fail("The username does not exist.");
            };
            if field(account, "email")? != email {
                return fail("The email is incorrect.");
            }
            // In the original, the tool itself remembers the user, and the evaluator creates a new one for every call.
            world.put(RESET, name.into());
            Ok(CODE.into())
        }
        "Verification Code" => {
            let Some(user) = world.get(RESET).and_then(PythonValue::as_text).map(str::to_owned) else {
                return fail("You need to call the API with status 'Forgot Password' at first.");
            };
            let (Some(password), Some(code)) =
                (arguments.get("new_password"), arguments.get("verification_code"))
            else {
                return fail("The new password and verification code are required for the second call.");
            };
            if *code != PythonValue::from(CODE) {
                return fail("The verification code is incorrect.");
            }
            let account =
                world.table_mut("Account")?.get_mut(&user).ok_or_else(|| PythonError::key(&user))?;
            set(account, "password", password);
            Ok(SUCCESS.into())
        }
        _ => fail("The status is only 'Forgot Password' or 'Verification Code'."),
    }
}

fn register_user(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let name = argument(arguments, "username")?.to_text();
    if world.table("Account")?.contains_key(&name) {
        return fail("The username already exists.");
    }
    let token: String =
        (0..TOKEN_LENGTH).map(|_| char::from(TOKEN_LETTERS[world.draw.place(TOKEN_LETTERS.len())])).collect();
    let token = PythonValue::from(token);
    let account = dict([
        ("password", argument(arguments, "password")?.clone()),
        ("token", token.clone()),
        ("email", argument(arguments, "email")?.clone()),
    ]);
    world.table_mut("Account")?.insert(name, account);
    Ok(dict([("token", token)]))
}

/// The token is random and is not compared.
fn is_same_registration(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    if gold.output.is_none() && !predicted.output.is_none() {
        return Ok(false);
    }
    Ok(predicted.input == gold.input && predicted.exception == gold.exception)
}
