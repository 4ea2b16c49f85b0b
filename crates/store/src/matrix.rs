//! Matrices: campaigns that were requested together, over the same cases.

use rusqlite::{TransactionBehavior, params};

use crate::schema::MATRIX_VERSION;
use crate::{CampaignRow, NewCampaign, NewCase, Store, StoreError};

/// Campaigns that were requested together: combinations of agents, models and settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matrix {
    pub id: String,
    /// When it was created, in milliseconds since 1970.
    pub created_ms: u64,
    /// The command line that created it.
    pub command_line: String,
    /// The budgets shared by all of its campaigns, as JSON; stored unchanged.
    pub budgets: String,
}

impl Store {
    /// Creates a matrix of these campaigns, in this order, each over all of `cases`, in one transaction: after a
    /// crash, either everything is stored or nothing.
    ///
    /// # Errors
    /// [`StoreError::CampaignExists`], and write errors; nothing is created then.
    pub fn create_matrix(
        &self,
        matrix: &Matrix,
        campaigns: &[NewCampaign<'_>],
        cases: &[NewCase],
    ) -> Result<(), StoreError> {
        self.must_be_writable()?;
        let insert = || {
            let transaction =
                rusqlite::Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let inserted = transaction.execute(
                "INSERT INTO matrix (id, created_ms, command_line, budgets) VALUES (?1, ?2, ?3, ?4)
                 ON CONFLICT (id) DO NOTHING",
                params![
                    matrix.id,
                    i64::try_from(matrix.created_ms).unwrap_or(i64::MAX),
                    matrix.command_line,
                    matrix.budgets
                ],
            )?;
            if inserted == 0 {
                // Dropping the transaction rolls it back, here and below.
                return Ok(Some(&*matrix.id));
            }
            let key = transaction.last_insert_rowid();
            let mut created = Vec::with_capacity(campaigns.len());
            for campaign in campaigns {
                let Some((row, digests)) =
                    Self::insert_campaign(&transaction, campaign, cases.iter().cloned())?
                else {
                    return Ok(Some(campaign.id));
                };
                let sql = "UPDATE campaign SET matrix = ?2 WHERE key = ?1";
                transaction.execute(sql, params![row, key])?;
                created.push((row, digests));
            }
            transaction.commit()?;
            self.created.borrow_mut().extend(created);
            Ok(None)
        };
        match insert().map_err(|error| self.place.error(error))? {
            None => Ok(()),
            Some(id) => Err(StoreError::CampaignExists { id: id.to_owned() }),
        }
    }

    /// The matrix with this id, or the only one whose id starts with it; for `last`, the matrix that the newest
    /// campaign belongs to. `None` if there is no such matrix, or if the id of a campaign outside it starts the
    /// same way.
    ///
    /// # Errors
    /// Read errors.
    pub fn matrix(&self, name: &str) -> Result<Option<Matrix>, StoreError> {
        if self.version < MATRIX_VERSION || name.is_empty() {
            return Ok(None);
        }
        let exact = self.select_matrices("WHERE id = ?1", name)?;
        if !exact.is_empty() {
            return Ok(exact.into_iter().next());
        }
        if name == "last" {
            let newest = self.campaigns()?.into_iter().next();
            return newest.map_or(Ok(None), |newest| self.matrix_of(&newest.id));
        }
        let mut found = self.select_matrices("WHERE substr(id, 1, length(?1)) = ?1", name)?;
        // The ids of combinations begin with that of their matrix, so only campaigns outside a matrix make the name
        // ambiguous.
        let sql = "SELECT count(*) FROM campaign
                   WHERE matrix IS NULL AND parent IS NULL AND substr(id, 1, length(?1)) = ?1";
        let others: i64 = self.select(sql, &[&name], |row| row.get(0))?.pop().unwrap_or_default();
        Ok(if found.len() == 1 && others == 0 { found.pop() } else { None })
    }

    /// The matrix that a campaign (its full id) belongs to.
    ///
    /// # Errors
    /// Read errors.
    pub fn matrix_of(&self, campaign: &str) -> Result<Option<Matrix>, StoreError> {
        if self.version < MATRIX_VERSION {
            return Ok(None);
        }
        let clause = "WHERE key = (SELECT matrix FROM campaign WHERE id = ?1)";
        Ok(self.select_matrices(clause, campaign)?.pop())
    }

    /// The campaigns of a matrix (its full id), in the order of its combinations.
    ///
    /// # Errors
    /// Read errors.
    pub fn campaigns_of_matrix(&self, matrix: &str) -> Result<Vec<CampaignRow>, StoreError> {
        if self.version < MATRIX_VERSION {
            return Ok(Vec::new());
        }
        let clause = "WHERE matrix = (SELECT key FROM matrix WHERE id = ?1) ORDER BY key";
        self.select_campaigns(clause, &[&matrix])
    }

    /// Replaces the budgets of a matrix (its full id).
    ///
    /// # Errors
    /// Write errors.
    pub fn set_matrix_budgets(&self, matrix: &str, budgets: &str) -> Result<(), StoreError> {
        self.must_be_writable()?;
        let sql = "UPDATE matrix SET budgets = ?2 WHERE id = ?1";
        let set = self.connection.execute(sql, params![matrix, budgets]);
        set.map(|_| ()).map_err(|error| self.place.error(error))
    }

    fn select_matrices(&self, clause: &str, parameter: &str) -> Result<Vec<Matrix>, StoreError> {
        let sql = format!("SELECT id, created_ms, command_line, budgets FROM matrix {clause}");
        self.select(&sql, &[&parameter], |row| {
            let created_ms: i64 = row.get(1)?;
            Ok(Matrix {
                id: row.get(0)?,
                created_ms: u64::try_from(created_ms).unwrap_or_default(),
                command_line: row.get(2)?,
                budgets: row.get(3)?,
            })
        })
    }
}
