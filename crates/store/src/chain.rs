//! The chain of a campaign as the file has it: walked along and checked, so that it can be shown or continued.

use std::collections::HashMap;

use rusqlite::{Connection, Row};

use crate::digest::{Digest, Fields};
use crate::seal::{Chain, is_signed};
use crate::values::{bytes, integer, unit};
use crate::{Fingerprint, Unit};

/// Which signatures of a chain to check. Each takes about 0.1 ms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signatures {
    None,
    /// The first, the last and the end signature of each key. A signature covers all links before it, so if these
    /// are valid, nothing that a report shows can differ.
    Ends,
    /// All signatures, because one in the middle may be damaged too.
    All,
}

/// A row of the chain.
struct LinkRow {
    number: i64,
    seal: i64,
    run: i64,
    unit: Unit,
    digest: Option<Vec<u8>>,
    signature: Option<Vec<u8>>,
}

/// Checks a chain while walking along it.
pub(crate) struct Walk {
    signatures: Signatures,
    pub(crate) chain: Chain,
    pub(crate) fingerprints: Vec<Fingerprint>,
    pub(crate) faults: Vec<String>,
    pub(crate) is_ended: bool,
    /// The runs that ended and were not deleted in order to be run again.
    pub(crate) ends: HashMap<i64, (Unit, Vec<u8>)>,
}

/// What campaigns whose row differs from what was sealed have wrong.
const STATE_FAULT: &str = "the number of its cases, what ended it, its budgets, or the isolation of its agent is not as it was signed";

impl Walk {
    pub(crate) fn new(signatures: Signatures) -> Self {
        Self {
            signatures,
            chain: Chain::new(),
            fingerprints: Vec::new(),
            faults: Vec::new(),
            is_ended: false,
            ends: HashMap::new(),
        }
    }

    fn holds(&self, public_key: &[u8], digest: &Digest, signature: &[u8]) -> bool {
        self.signatures == Signatures::None || is_signed(public_key, digest, signature)
    }

    fn link(&mut self, link: LinkRow, is_last: bool, public_key: &[u8]) {
        let LinkRow { number, run, unit, digest, signature, .. } = link;
        if number != self.chain.links {
            self.faults.push(missing_links(self.chain.links, number));
            // Counted on from here: the links after a gap are not missing, and a resumed campaign must continue after
            // the highest number.
            self.chain.links = self.chain.links.max(number);
        }
        self.chain.link(run, unit.ordinal.into(), unit.repeat.into(), digest.as_deref());
        // A signature covers all links before it, so only the last link of a key needs one. Without that, anybody could
        // have added the links at the end.
        let is_covered = signature.is_some() || !is_last;
        let is_checked = is_last || self.signatures == Signatures::All;
        let is_right = signature
            .is_none_or(|signature| !is_checked || self.holds(public_key, &self.chain.head, &signature));
        if !is_covered || !is_right {
            self.faults.push(format!("the signature of link {number} of the chain is wrong"));
        }
        match digest {
            // Without a digest, the link says that the run was deleted in order to be repeated.
            Some(digest) => self.ends.insert(run, (unit, digest)),
            None => self.ends.remove(&run),
        };
    }
}

/// Walks along the chain of a campaign.
pub(crate) fn walk_chain(connection: &Connection, campaign: i64, walk: &mut Walk) -> rusqlite::Result<()> {
    let of_campaign = campaign_digest(connection, campaign)?;
    let (state_now, mut is_state_sound) = (state_digest(connection, campaign)?, true);
    let sql = "SELECT key, links, public_key, signature, ended, end_signature FROM seal WHERE campaign = ?1 ORDER BY key";
    let mut seals = connection.prepare_cached(sql)?;
    let mut seals = seals.query([campaign])?;
    let sql = "SELECT number, seal, run, ordinal, repeat, digest, signature FROM link WHERE campaign = ?1 ORDER BY number";
    let mut links = connection.prepare_cached(sql)?;
    let mut links = links.query([campaign])?;
    // Seals and links are each read once, in order, and merged: a seal is followed by the links that it covers.
    let mut next = links.next()?.map(link_row).transpose()?;
    while let Some(seal) = seals.next()? {
        let key = integer(seal, 0)?;
        let public_key = bytes(seal, 2)?.unwrap_or_default().to_vec();
        let fingerprint = Fingerprint::of(&public_key);
        walk.chain.begin(&of_campaign, &public_key);
        let begins_here = integer(seal, 1)? == Some(walk.chain.links);
        if !begins_here || !walk.holds(&public_key, &walk.chain.head, bytes(seal, 3)?.unwrap_or_default()) {
            let what = format!("seal {fingerprint} does not fit the campaign and what was sealed before it");
            walk.faults.push(what);
        }
        walk.fingerprints.push(fingerprint);
        while let Some(link) = next.take_if(|link| Some(link.seal) == key) {
            next = links.next()?.map(link_row).transpose()?;
            let is_last = next.as_ref().is_none_or(|next| Some(next.seal) != key);
            walk.link(link, is_last, &public_key);
        }
        let holds = |digest: &Digest, signature: &[u8]| walk.holds(&public_key, digest, signature);
        let end = bytes(seal, 5)?;
        // Each seal overwrites these, so that the last one decides.
        let (is_ended, is_sound) = match (integer(seal, 4)?, end) {
            (None, None) => (false, true),
            (Some(links), Some(end)) if links == walk.chain.links && walk.chain.is_end(end, holds) => {
                (true, true)
            }
            _ => (false, false),
        };
        let state = end.and_then(Chain::state_of);
        is_state_sound = state.is_none_or(|signature| holds(&walk.chain.state(&state_now), signature));
        walk.is_ended = is_ended;
        if !is_sound {
            walk.faults.push(format!("the end of seal {fingerprint} is not as it was signed"));
        }
    }
    if walk.is_ended && !is_state_sound {
        walk.faults.push(STATE_FAULT.to_owned());
    }
    if next.is_some() {
        walk.faults.push(format!("link {} of the chain belongs to no seal", walk.chain.links));
        while let Some(link) = next {
            // A resumed campaign must continue after the highest number, since a number that is taken stops the writer.
            walk.chain.links = link.number.saturating_add(1);
            next = links.next()?.map(link_row).transpose()?;
        }
    }
    Ok(())
}

/// Says which links are missing before the one with this number.
fn missing_links(first: i64, number: i64) -> String {
    match number.saturating_sub(1) {
        last if last > first => format!("links {first} to {last} of the chain are missing"),
        _ => format!("link {first} of the chain is missing"),
    }
}

/// The chain of a campaign as stored in the file, so that it can be continued.
pub(crate) fn chain_so_far(connection: &Connection, campaign: i64) -> rusqlite::Result<Chain> {
    let mut walk = Walk::new(Signatures::None);
    walk_chain(connection, campaign, &mut walk)?;
    Ok(walk.chain)
}

/// The digest of a campaign's row, which holds what was requested.
pub(crate) fn campaign_digest(connection: &Connection, campaign: i64) -> rusqlite::Result<Digest> {
    let sql = "SELECT id, created_ms, command_line, agent, model, simulated, options, repeats FROM campaign WHERE key = ?1";
    connection.query_row(sql, [campaign], |row| {
        // The order of the fields is part of the digest. Columns that may change while the campaign runs or later are
        // left out: its number of cases, its spending, budgets and label.
        let mut fields = Fields::new("campaign");
        for column in [0, 2, 3, 4, 6] {
            fields = fields.optional(bytes(row, column)?);
        }
        for column in [1, 5, 7] {
            fields = fields.optional_number(integer(row, column)?);
        }
        Ok(fields.finish())
    })
}

/// The digest of what a campaign says of itself besides what was asked for: how many cases it has, what ended it, its
/// budgets, and what is reported of its runs as a whole, such as the isolation of its agent. Spending is left out,
/// because it is still added to after the end.
pub(crate) fn state_digest(connection: &Connection, campaign: i64) -> rusqlite::Result<Digest> {
    let sql = "SELECT cases, ended_by, budgets, (SELECT count(*) FROM campaign_case WHERE campaign = ?1)
               FROM campaign WHERE key = ?1";
    connection.query_row(sql, [campaign], |row| {
        let fields = Fields::new("campaign at its end").optional_number(integer(row, 0)?);
        let fields = fields.optional(bytes(row, 1)?).optional(bytes(row, 2)?);
        Ok(fields.optional_number(integer(row, 3)?).finish())
    })
}

fn link_row(row: &Row<'_>) -> rusqlite::Result<LinkRow> {
    Ok(LinkRow {
        number: integer(row, 0)?.unwrap_or(-1),
        seal: integer(row, 1)?.unwrap_or(-1),
        run: integer(row, 2)?.unwrap_or(-1),
        unit: unit(row, 3)?,
        digest: bytes(row, 5)?.map(<[u8]>::to_vec),
        signature: bytes(row, 6)?.map(<[u8]>::to_vec),
    })
}
