//! Accounts at the bank.

use super::parts::{
    SUCCESS, all_equal, argument, fail, field, has_same_result, same_stripped, stripped, tool, user_of,
};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::{ApiCompat, ApiWorld};

pub(super) const TOOLS: [ApiTool; 2] =
    [tool!("OpenBankAccount", open, all_equal), tool!("QueryBalance", query, is_same_query)];

/// The table of the names of opened accounts. The original has them in its code, initially with one name.
const OPENED: &str = "OpenBankAccount";
const FIRST_ACCOUNT: &str = "test";

fn open(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let account = argument(arguments, "account")?;
    let mut accounts = match world.get(OPENED).and_then(PythonValue::as_list) {
        Some(accounts) => accounts.to_vec(),
        None => vec![FIRST_ACCOUNT.into()],
    };
    if accounts.contains(account) {
        return Ok("failed".into());
    }
    accounts.push(account.clone());
    world.put(OPENED, PythonValue::List(accounts));
    Ok(SUCCESS.into())
}

/// The original trims the token but then uses it untrimmed.
fn query(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let token = argument(arguments, "token")?;
    // The original trims as well, so a token that is not a text fails in both modes.
    let trimmed = stripped(arguments, "token").map(PythonValue::from);
    let user = match (trimmed, world.compat) {
        (Ok(trimmed), ApiCompat::Right) => user_of(&trimmed, world),
        (Ok(_), ApiCompat::Original) => user_of(token, world),
        (Err(raised), _) => Err(raised.into()),
    };
    // The original reports every error of the look-up as this one.
    let user = match user {
        Err(ApiFault::Caught(_) | ApiFault::Raised(_)) => return fail("The token is incorrect."),
        other => other?,
    };
    let Some(account) = world.table("Bank")?.get(&user) else {
        return fail("The user does not have an account.");
    };
    Ok(field(account, "balance")?.clone())
}

fn is_same_query(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(same_stripped(predicted, gold, "token")? && has_same_result(predicted, gold))
}
