//! Deletes and labels campaigns.

use rusqlite::{OptionalExtension, Transaction, TransactionBehavior, params};

use crate::{Store, StoreError};

/// What was deleted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deleted {
    /// The ids of the campaigns; the campaigns derived from one follow it.
    pub campaigns: Vec<String>,
    /// Number of runs deleted with them.
    pub runs: u64,
    /// Number of lessons from those runs.
    pub lessons: u64,
}

/// The campaign with key ?1 and all campaigns derived from it, newest first.
const FAMILY: &str = "
    WITH RECURSIVE family (key) AS (
        SELECT ?1 UNION SELECT campaign.key FROM campaign JOIN family ON campaign.parent = family.key)
    SELECT key FROM family ORDER BY key DESC";

impl Store {
    /// Sets the label of a campaign (its full id), or removes it. The caller must reject a label longer than
    /// [`LABEL_CHARACTERS_MAX`](crate::LABEL_CHARACTERS_MAX).
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and write errors.
    pub fn set_label(&self, campaign: &str, label: Option<&str>) -> Result<(), StoreError> {
        self.must_be_writable()?;
        let set =
            self.connection.execute("UPDATE campaign SET label = ?2 WHERE id = ?1", params![campaign, label]);
        match set.map_err(|error| self.place.error(error))? {
            0 => Err(StoreError::UnknownCampaign { name: campaign.to_owned() }),
            _ => Ok(()),
        }
    }

    /// Deletes campaigns (their full ids) with their cases, runs, lessons and derived campaigns, in one
    /// transaction. A matrix is deleted with the last of its campaigns. The caller should [hold](Self::hold) the
    /// campaigns. The file keeps its size until [`compact`](Self::compact).
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and write errors; nothing is deleted then.
    pub fn delete_campaigns(&self, campaigns: &[&str]) -> Result<Deleted, StoreError> {
        self.must_be_writable()?;
        // The time grows with the number of runs.
        self.place.patience.begin_unlimited();
        let delete = || {
            let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let mut deleted = Deleted::default();
            for id in campaigns {
                let key = transaction
                    .query_row("SELECT key FROM campaign WHERE id = ?1", [id], |row| row.get(0))
                    .optional()?;
                let Some(key) = key else {
                    // It may have been deleted with the campaign it was derived from.
                    if deleted.campaigns.iter().any(|gone| gone == id) {
                        continue;
                    }
                    return Ok(Err(StoreError::UnknownCampaign { name: (*id).to_owned() }));
                };
                delete_family(&transaction, key, &mut deleted)?;
            }
            // `NOT IN` is never true for a list that contains NULL, hence the condition on the list.
            let sql =
                "DELETE FROM matrix WHERE key NOT IN (SELECT matrix FROM campaign WHERE matrix IS NOT NULL)";
            transaction.execute(sql, [])?;
            transaction.commit()?;
            Ok(Ok(deleted))
        };
        delete().map_err(|error| self.place.error(error))?
    }

    /// Returns the space freed by deletions to the disk. This rewrites the whole file, which needs the same amount
    /// of free disk space again, and waits for all other users of the file.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while others use the file, and write errors. The store is left unchanged then.
    pub fn compact(&self) -> Result<(), StoreError> {
        self.must_be_writable()?;
        let compact = || {
            self.place.patience.begin_unlimited();
            self.connection.execute_batch("VACUUM")?;
            // Written data stays in the log until it is moved into the file.
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
    // A derived campaign has a larger key than its parent and refers to it, so it is deleted first. Inserting at a
    // fixed place reverses this order, so that the parent is listed first.
    let place = deleted.campaigns.len();
    for key in keys {
        let of_run = "SELECT count(*) FROM lesson JOIN run ON run.id = lesson.run WHERE run.campaign = ?1";
        deleted.lessons += count(of_run, key)?;
        deleted.runs += count("SELECT count(*) FROM run WHERE campaign = ?1", key)?;
        let id = transaction.query_row("SELECT id FROM campaign WHERE key = ?1", [key], |row| row.get(0))?;
        deleted.campaigns.insert(place, id);
        // Events and lessons are deleted with their runs.
        for table in ["link", "seal", "run", "campaign_case"] {
            transaction.execute(&format!("DELETE FROM {table} WHERE campaign = ?1"), [key])?;
        }
        transaction.execute("DELETE FROM campaign WHERE key = ?1", [key])?;
    }
    Ok(())
}
