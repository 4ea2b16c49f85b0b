//! Derived campaigns: campaigns that another campaign leads to. Not all of their cases are known when they begin.

use rusqlite::{TransactionBehavior, params};

use crate::schema::PARENT_VERSION;
use crate::{CampaignRow, NewCampaign, NewCase, Store, StoreError};

/// A case that is added to a campaign while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedCase {
    pub case: NewCase,
    /// Where it comes from, as JSON; stored unchanged.
    pub origin: String,
}

impl Store {
    /// Creates a campaign without cases, derived from the campaign `parent` (its full id). It can be found only by
    /// its full id and through [`derived`](Self::derived), and appears in no listing.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], [`StoreError::CampaignExists`], and write errors; nothing is created then.
    pub fn create_derived(&self, parent: &str, campaign: &NewCampaign<'_>) -> Result<(), StoreError> {
        self.must_be_writable()?;
        let parent = self.find(parent)?.0;
        // In one transaction: a campaign left without its parent would be listed, and could not be created again.
        let insert = || {
            let transaction =
                rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            // An error or a taken id drops the transaction, which rolls it back.
            let none = std::iter::empty::<NewCase>();
            let Some((key, digests)) = Self::insert_campaign(&transaction, campaign, none)? else {
                return Ok(false);
            };
            transaction.execute("UPDATE campaign SET parent = ?2 WHERE key = ?1", params![key, parent])?;
            transaction.commit()?;
            self.created.borrow_mut().insert(key, digests);
            Ok(true)
        };
        match insert().map_err(|error| self.place.error(error))? {
            true => Ok(()),
            false => Err(StoreError::CampaignExists { id: campaign.id.to_owned() }),
        }
    }

    /// Adds cases to a campaign (its full id) after its existing `first` cases, in one transaction.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], [`StoreError::Failed`] if the number of existing cases is not `first`, and
    /// write errors; nothing is added then.
    pub fn add_cases(&self, campaign: &str, first: u32, cases: &[DerivedCase]) -> Result<(), StoreError> {
        self.must_be_writable()?;
        let (key, count, _) = self.find(campaign)?;
        if count != first {
            let what = format!("campaign {campaign} has {count} cases where {first} were expected");
            return Err(StoreError::Failed { path: self.place.path.clone(), what });
        }
        // Whoever runs the campaign holds it, so nobody else adds cases between this check and the transaction.
        let insert = || {
            let transaction =
                rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            {
                let mut insert = transaction.prepare_cached(
                    "INSERT INTO campaign_case (campaign, ordinal, case_id, json, summary, origin)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?;
                for (ordinal, DerivedCase { case, origin }) in (first..).zip(cases) {
                    insert.execute(params![key, ordinal, case.id, case.json, case.summary, origin])?;
                }
            }
            let added = u32::try_from(cases.len()).unwrap_or(u32::MAX);
            let sql = "UPDATE campaign SET cases = ?2 WHERE key = ?1";
            transaction.execute(sql, params![key, first.saturating_add(added)])?;
            transaction.commit()
        };
        insert().map_err(|error| self.place.error(error))
    }

    /// The campaigns derived from the campaign `parent` (its full id), oldest first.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors.
    pub fn derived(&self, parent: &str) -> Result<Vec<CampaignRow>, StoreError> {
        let key = self.find(parent)?.0;
        if self.version < PARENT_VERSION {
            return Ok(Vec::new());
        }
        self.select_campaigns("WHERE parent = ?1 ORDER BY key", &[&key])
    }

    /// The origin of each case of a campaign (its full id), in case order: as JSON, or `None` if the case was drawn
    /// or given.
    ///
    /// # Errors
    /// [`StoreError::UnknownCampaign`], and read errors.
    pub fn origins(&self, campaign: &str) -> Result<Vec<Option<String>>, StoreError> {
        let key = self.find(campaign)?.0;
        let origin = if self.version < PARENT_VERSION { "NULL" } else { "origin" };
        let sql = format!("SELECT {origin} FROM campaign_case WHERE campaign = ?1 ORDER BY ordinal");
        self.select(&sql, &[&key], |row| row.get(0))
    }
}
