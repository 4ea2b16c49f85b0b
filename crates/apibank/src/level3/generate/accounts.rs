//! Tasks about accounts.

use planproof_trace::Draw;

use super::english::inside;
use super::facts::{Account, Facts};
use super::script::{Place, Script};
use super::words::{Words, each, pick, say};
use crate::level3::tables::field;

pub(super) fn log_in(script: &mut Script, username: &str, password: &str, from: &[Place]) -> Option<Place> {
    script.call("AccountInfo", &[("username", username.into()), ("password", password.into())], from)
}

/// A field of the account that a call returned.
pub(super) fn info(script: &Script, place: Place, name: &str) -> Option<String> {
    Some(field(script.output(place, "account_info")?, name)?.as_text()?.to_owned())
}

/// The address in an account.
pub(super) fn address(script: &mut Script, username: &str, password: &str) -> Option<(Place, String)> {
    let place = log_in(script, username, password, &[])?;
    let address = info(script, place, "address")?;
    Some((place, address))
}

fn update(script: &mut Script, account: &Account, address: &str, from: &[Place]) -> Option<Place> {
    let arguments = [
        ("username", account.username.as_str().into()),
        ("password", account.password.as_str().into()),
        ("address", address.into()),
    ];
    script.call("PersonalInfoUpdate", &arguments, from)
}

/// Update the address in the account, look up the account, the coordinates of the address, and the weather there.
pub(super) fn moving(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let account = pick(draw, &facts.accounts)?;
    let new = pick(draw, &facts.addresses)?;
    let updated = update(script, account, new, &[])?;
    // The update returns only a status. Reading the account makes the address come from a call.
    let read = log_in(script, &account.username, &account.password, &[updated])?;
    let stored = info(script, read, "address")?;
    // The stored address rather than the drawn one, so that this call depends on the one before it.
    let located = script.call("Geocoding", &[("address", stored.as_str().into())], &[read])?;
    let [latitude, longitude] = [script.number(located, "latitude")?, script.number(located, "longitude")?];
    let (username, password) = (&account.username, &account.password);
    let requirement = say(
        draw,
        [
            format!(
                "I have moved to {new}. Put the new address into my account (username {username}, password \
                 {password}), read the account again to check it, and give me the coordinates of the address that \
                 is stored there now."
            ),
            format!(
                "Please change the address in my account to {new}; I log in as {username} with the password \
                 {password}. Then show me what the account says, and at which coordinates that address lies."
            ),
        ],
    )?;
    let reply = say(
        draw,
        [
            format!(
                "Your account now has the address {stored}. It lies at latitude {latitude} and longitude \
                 {longitude}."
            ),
            format!("The address is updated: {stored}, at latitude {latitude} and longitude {longitude}."),
        ],
    )?;
    Some(Words { requirement, reply, asks: each([latitude, longitude]) })
}

/// Copy the address of one account to another.
pub(super) fn two_accounts(draw: &mut Draw, facts: &Facts, script: &mut Script) -> Option<Words> {
    let (old, new) = (pick(draw, &facts.accounts)?, pick(draw, &facts.accounts)?);
    // With only one account there is nothing to copy.
    if old.username == new.username {
        return None;
    }
    let (place, address) = address(script, &old.username, &old.password)?;
    let updated = update(script, new, &address, &[place])?;
    // As the requirement demands: the update itself does not return the account.
    let read = log_in(script, &new.username, &new.password, &[updated])?;
    let stored = info(script, read, "address")?;
    let phone = info(script, read, "phone")?;
    let requirement = say(
        draw,
        [
            format!(
                "I am moving in with {}. We have agreed that you copy the address of that account (username {}, \
                 password {}) into mine (username {}, password {}). Read mine again afterwards, and tell me the \
                 address and the phone number in it.",
                old.name, old.username, old.password, new.username, new.password
            ),
            format!(
                "We are flatmates now. Take the address from the account {} with the password {} and store it in \
                 the account {} with the password {}. Then check which address and phone number the second account \
                 has.",
                old.username, old.password, new.username, new.password
            ),
        ],
    )?;
    let reply = say(
        draw,
        [
            // The address contains a comma, which a second one has to close within the sentence.
            format!(
                "The account {} now has the address {} and the phone number {phone}.",
                new.username,
                inside(&stored)
            ),
            format!(
                "Done: {} is the address of {}, with the phone number {phone}.",
                inside(&stored),
                new.username
            ),
        ],
    )?;
    Some(Words { requirement, reply, asks: each([&stored, &phone]) })
}
