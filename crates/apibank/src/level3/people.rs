//! User accounts, members of organisations, and their travel status.

use super::tables::{Outcome, argument, field, is_original, list, lookup, part, part_mut, single, unknown};
use crate::api::ApiFault;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

/// The tool whose list of accounts is used. In the original, each of the two tools has its own list.
const ACCOUNTS: &str = "AccountInfo";

pub(super) fn account_info(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let found = account(&arguments, world);
    ApiRecord::new(Some("AccountInfo"), arguments, found)
}

fn account(arguments: &Dict, world: &ApiWorld) -> Outcome {
    let accounts = list(world, ACCOUNTS, "database")?;
    let info = accounts.iter().find_map(|row| match row.as_list()? {
        [who, info] if is_login(who, arguments) => Some(info.clone()),
        _ => None,
    });
    let info = info.ok_or_else(|| ApiFault::caught("User not found."))?;
    if is_original(world) {
        return Ok(info);
    }
    Ok(PythonValue::Dict(Dict::from([
        ("status".to_owned(), "success".into()),
        ("account_info".to_owned(), info),
    ])))
}

fn is_login(who: &PythonValue, arguments: &Dict) -> bool {
    who.as_list() == Some(&[argument(arguments, "username").clone(), argument(arguments, "password").clone()])
}

pub(super) fn personal_info_update(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let table = if is_original(world) { "PersonalInfoUpdate" } else { ACCOUNTS };
    let found = update(&arguments, world, table);
    ApiRecord::new(Some("PersonalInfoUpdate"), arguments, found)
}

fn update(arguments: &Dict, world: &mut ApiWorld, table: &str) -> Outcome {
    let PythonValue::List(accounts) = part_mut(world, table, "database")? else {
        return Err(ApiFault::caught("User not found."));
    };
    for row in accounts {
        if let PythonValue::List(row) = row
            && let [who, PythonValue::Dict(info)] = row.as_mut_slice()
            && is_login(who, arguments)
        {
            info.insert("address".to_owned(), argument(arguments, "address").clone());
            return Ok(single("status", "success".into()));
        }
    }
    Err(ApiFault::caught("User not found."))
}

pub(super) fn organization_members(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let name = argument(&arguments, "organization");
    let found = part(world, "OrganizationMembers", "database").and_then(|organizations| {
        let members = lookup(organizations, name);
        members.cloned().ok_or_else(|| unknown(world, "organisation", name))
    });
    let found = found.map(|members| single("members", members));
    ApiRecord::new(Some("OrganizationMembers"), arguments, found)
}

pub(super) fn travel_status(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let name = argument(&arguments, "member_name");
    let found = part(world, "TravelStatus", "database").and_then(|people| {
        let status = lookup(people, name);
        status.cloned().ok_or_else(|| unknown(world, "member", name))
    });
    let found = found.map(|status| if is_original(world) { status } else { single("status", status) });
    ApiRecord::new(Some("TravelStatus"), arguments, found)
}

/// The login of the account in this row: name and password.
pub(super) fn login(row: &PythonValue) -> Option<(&str, &str)> {
    let [who, _] = row.as_list()? else { return None };
    let [name, password] = who.as_list()? else { return None };
    Some((name.as_text()?, password.as_text()?))
}

/// A field of the account in this row, such as `email`.
pub(super) fn account_field<'v>(row: &'v PythonValue, name: &str) -> Option<&'v str> {
    let [_, info] = row.as_list()? else { return None };
    field(info, name)?.as_text()
}
