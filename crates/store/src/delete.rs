//! Deleting campaigns, and what users call them.

use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use crate::{Store, StoreError};

/// Longest label of a campaign, in characters.
pub const LABEL_CHARACTERS_MAX: usize = 80;

/// What was deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deleted {
    /// The ids of the campaigns, those that one led to behind it.
    pub campaigns: Vec<String>,
    /// How many runs they had.
    pub runs: u64,
    /// How many lessons these had taught.
    pub lessons: u64,
}

/// The campaigns of the one with key ?1, with what it led to, the last first.
const FAMILY: &str = "
    WITH RECURSIVE family (key) AS (
        SELECT ?1 UNION SELECT campaign.key FROM campaign JOIN family ON campaign.parent = family.key)
    SELECT key FROM family ORDER BY key DESC";

impl Store {
    /// Calls a campaign (its id in full) so, or by no name any more. What is longer than [`LABEL_CHARACTERS_MAX`] is
    /// for the caller to refuse.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and the errors of writing.
    pub fn set_label(&self, campaign: &str, label: Option<&str>) -> Result<(), StoreError> {
        self.must_be_writable()?;
        let set =
            self.connection.execute("UPDATE campaign SET label = ?2 WHERE id = ?1", params![campaign, label]);
        match set.map_err(|error| self.place.error(error))? {
            0 => Err(StoreError::UnknownCampaign { name: campaign.to_owned() }),
            _ => Ok(()),
        }
    }

    /// Deletes campaigns (their ids in full) with their cases, runs, lessons and what they led to, in one transaction.
    /// A matrix goes with the last of its campaigns. They should be [held](Self::hold). The file keeps its size
    /// until [`compact`](Self::compact).
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and the errors of writing. Nothing is deleted then.
    pub fn delete_campaigns(&self, campaigns: &[&str]) -> Result<Deleted, StoreError> {
        self.must_be_writable()?;
        let delete = || {
            let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let mut deleted = Deleted::default();
            for id in campaigns {
                let key = transaction
                    .query_row("SELECT key FROM campaign WHERE id = ?1", [id], |row| row.get(0))
                    .optional()?;
                let Some(key) = key else {
                    // It may have gone with the one that led to it.
                    if deleted.campaigns.iter().any(|gone| gone == id) {
                        continue;
                    }
                    return Ok(Err(StoreError::UnknownCampaign { name: (*id).to_owned() }));
                };
                delete_family(&transaction, key, &mut deleted)?;
            }
            let sql =
                "DELETE FROM matrix WHERE key NOT IN (SELECT matrix FROM campaign WHERE matrix IS NOT NULL)";
            transaction.execute(sql, [])?;
            transaction.commit()?;
            Ok(Ok(deleted))
        };
        delete().map_err(|error| self.place.error(error))?
    }

    /// Gives back to the disk what deleting has freed. Writes the whole file anew, for which the disk needs that much
    /// room again, and waits for everybody else who uses it.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while others use it, and the errors of writing. The store is as it was then.
    pub fn compact(&self) -> Result<(), StoreError> {
        self.must_be_writable()?;
        let compact = || {
            self.connection.execute_batch("VACUUM")?;
            // What was written stands in the log until it is moved into the file.
            self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        };
        compact().map_err(|error| self.place.error(error))
    }
}

fn delete_family(transaction: &Transaction<'_>, key: i64, deleted: &mut Deleted) -> rusqlite::Result<()> {
    let keys: Vec<i64> =
        transaction.prepare(FAMILY)?.query_map([key], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let count = |sql: &str, key: i64| {
        let count: i64 = transaction.query_row(sql, [key], |row| row.get(0))?;
        Ok::<u64, rusqlite::Error>(u64::try_from(count).unwrap_or_default())
    };
    let place = deleted.campaigns.len();
    for key in keys {
        let of_run = "SELECT count(*) FROM lesson JOIN run ON run.id = lesson.run WHERE run.campaign = ?1";
        deleted.lessons += count(of_run, key)?;
        deleted.runs += count("SELECT count(*) FROM run WHERE campaign = ?1", key)?;
        let id = transaction.query_row("SELECT id FROM campaign WHERE key = ?1", [key], |row| row.get(0))?;
        deleted.campaigns.insert(place, id);
        // Events and lessons go with their runs.
        for table in ["link", "seal", "run", "campaign_case"] {
            transaction.execute(&format!("DELETE FROM {table} WHERE campaign = ?1"), [key])?;
        }
        transaction.execute("DELETE FROM campaign WHERE key = ?1", [key])?;
    }
    Ok(())
}
