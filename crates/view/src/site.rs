//! The pages of some stores: reads what they show, and has them rendered.

mod fault;
mod figures;
mod following;
mod rows;

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use axum::http::StatusCode;
use planproof_campaign::Budgets;
use planproof_engine::Outcome;
use planproof_store::{CampaignRow, ListedRun, RunStanding, Store, StoreError, Unit};
use planproof_suite::Case;

use crate::address::{ListQuery, RunQuery, Wanted};
use crate::library::{KnownCampaign, Library};
use crate::limits::{
    CAMPAIGNS_EXAMINED_MAX, CAMPAIGNS_PER_PAGE, LIST_FIGURES_MAX, RUNS_PER_PAGE, STARTED_SHOWN_MAX,
};
use crate::pages::{campaign, list, run};
use crate::rates::Rates;
use crate::snapshot::Snapshot;
pub(crate) use fault::Fault;
pub(crate) use figures::{Figures, FiguresCache};
pub(crate) use following::Following;
pub(crate) use rows::RowCache;

/// Some stores, and what was found out about their campaigns.
pub(crate) struct Site {
    pub(crate) stores: Vec<PathBuf>,
    pub(crate) library: Arc<dyn Library>,
    pub(crate) token: String,
    pub(crate) figures: FiguresCache,
    pub(crate) rates: Rates,
    pub(crate) rows: RowCache,
}

/// A campaign with what its row does not say.
pub(crate) struct Shown {
    /// The place of its store.
    pub(crate) store: usize,
    pub(crate) row: CampaignRow,
    /// Whether a process runs it.
    pub(crate) is_running: bool,
    /// Runs per minute, if enough was seen.
    pub(crate) rate: Option<f64>,
    pub(crate) figures: Option<Figures>,
    /// Its budgets in words.
    pub(crate) budgets: String,
}

/// A page of the list of campaigns.
pub(crate) struct ListPage {
    pub(crate) campaigns: Vec<Shown>,
    pub(crate) next: Option<ListQuery>,
    /// How many campaigns were looked through.
    pub(crate) examined: usize,
    /// Stores that cannot be read, and why.
    pub(crate) faults: Vec<String>,
}

/// A page of a campaign.
pub(crate) struct CampaignPage {
    pub(crate) shown: Shown,
    pub(crate) runs: Vec<ListedRun>,
    pub(crate) started: Vec<ListedRun>,
    pub(crate) next: Option<RunQuery>,
    /// How many runs were looked through.
    pub(crate) examined: u32,
}

/// A page of a run.
pub(crate) struct RunPage {
    pub(crate) row: CampaignRow,
    pub(crate) store: usize,
    pub(crate) unit: Unit,
    pub(crate) case: Arc<dyn Case>,
    pub(crate) run: Option<ListedRun>,
    /// The events so far, or those up to the finished call that is asked for.
    pub(crate) following: Following,
    /// What came of it, if it is finished and all of it is shown.
    pub(crate) outcome: Option<Outcome>,
    /// The finished call up to which it is shown; `None` for all of it.
    pub(crate) after: Option<usize>,
    /// How many calls are finished.
    pub(crate) calls: usize,
    pub(crate) is_running: bool,
    /// The runs before and after it, by case and repeat.
    pub(crate) neighbours: [Option<Unit>; 2],
}

impl Site {
    /// Opens the store with this place.
    pub(crate) fn open(&self, store: usize) -> Result<Store, Fault> {
        let path = self.path(store)?;
        // SQLite would say only that it cannot open it.
        if !path.exists() {
            let what =
                format!("the run store {} is not there any more: it was removed or renamed", path.display());
            return Err(Fault::new(StatusCode::SERVICE_UNAVAILABLE, what));
        }
        Ok(Store::open_read_only(path)?)
    }

    pub(crate) fn path(&self, store: usize) -> Result<&Path, Fault> {
        let unknown = || Fault::new(StatusCode::NOT_FOUND, format!("this server has no store {store}"));
        self.stores.get(store).map(PathBuf::as_path).ok_or_else(unknown)
    }

    /// The whole page.
    pub(crate) fn page(&self, wanted: &Wanted) -> Result<String, Fault> {
        match wanted {
            Wanted::List(query) => {
                let page = self.list(query, |store| self.open(store).map(Rc::new));
                Ok(list::page(self, query, &page).into_string())
            }
            Wanted::Campaign(store, id, query) => {
                let page = self.campaign(&self.open(*store)?, *store, id, query)?;
                Ok(campaign::page(self, query, &page).into_string())
            }
            Wanted::Run(store, id, unit, after) => {
                let page = self.run(&self.open(*store)?, *store, id, *unit, *after, None)?;
                Ok(run::page(self, &page).into_string())
            }
            Wanted::Report(store, id) => {
                let opened = self.open(*store)?;
                let row = opened.campaign(id)?;
                let mut out = Vec::new();
                let report = self.library.write_report(&opened, &row.id, &mut out);
                report.map_err(|what| Fault::new(StatusCode::SERVICE_UNAVAILABLE, what))?;
                // Pages are written as UTF-8.
                Ok(String::from_utf8_lossy(&out).into_owned())
            }
        }
    }

    /// The changing parts of the page. `followed` keeps the events of a run from one state to the next.
    pub(crate) fn snapshot(
        &self,
        wanted: &Wanted,
        stores: &mut dyn FnMut(usize) -> Result<Rc<Store>, Fault>,
        followed: &mut Option<Following>,
    ) -> Result<Snapshot, Fault> {
        match wanted {
            Wanted::List(query) => Ok(list::snapshot(self, query, &self.list(query, stores))),
            Wanted::Campaign(store, id, query) => {
                let page = self.campaign(&*stores(*store)?, *store, id, query)?;
                Ok(campaign::snapshot(self, query, &page))
            }
            Wanted::Run(store, id, unit, after) => {
                let page = self.run(&*stores(*store)?, *store, id, *unit, *after, followed.take())?;
                let snapshot = run::snapshot(self, &page);
                *followed = Some(page.following);
                Ok(snapshot)
            }
            Wanted::Report(..) => Err(Fault::new(StatusCode::NOT_FOUND, "a report does not change")),
        }
    }

    fn list(&self, query: &ListQuery, mut open: impl FnMut(usize) -> Result<Rc<Store>, Fault>) -> ListPage {
        let (mut campaigns, mut faults, mut examined) = (Vec::new(), Vec::new(), 0);
        let (first, mut before) =
            query.after.as_ref().map_or((0, None), |(store, id)| (*store, Some(id.clone())));
        let mut runs_left = LIST_FIGURES_MAX;
        for place in first..self.stores.len() {
            let store = match open(place) {
                Ok(store) => store,
                Err(fault) => {
                    faults.push(fault.what);
                    continue;
                }
            };
            loop {
                let next = |id: &str| ListQuery { after: Some((place, id.to_owned())), ..query.clone() };
                let most = CAMPAIGNS_PER_PAGE as u32;
                let question = format!("before {}", before.as_deref().unwrap_or_default());
                let read = || store.campaign_page(before.as_deref(), most);
                let rows = match self.rows.of((place, &self.stores[place]), &question, read) {
                    Ok(rows) => rows,
                    Err(error) => {
                        faults.push(error.to_string());
                        break;
                    }
                };
                let is_last = rows.len() < CAMPAIGNS_PER_PAGE;
                for row in rows {
                    examined += 1;
                    let id = row.id.clone();
                    if query.matches(&row) {
                        let is_affordable = row.finished() <= runs_left;
                        runs_left -= if is_affordable { row.finished() } else { 0 };
                        campaigns.push(self.shown(&store, place, row, is_affordable));
                    }
                    if campaigns.len() >= CAMPAIGNS_PER_PAGE || examined >= CAMPAIGNS_EXAMINED_MAX {
                        return ListPage { campaigns, next: Some(next(&id)), examined, faults };
                    }
                    before = Some(id);
                }
                if is_last {
                    break;
                }
            }
            before = None;
        }
        ListPage { campaigns, next: None, examined, faults }
    }

    /// A campaign with what its row does not say.
    fn shown(&self, store: &Store, place: usize, row: CampaignRow, is_affordable: bool) -> Shown {
        // Where its options cannot be read, its row is still shown.
        let known = self.library.known(&row).ok();
        let is_running = store.is_held(&row.id).unwrap_or(false);
        let rate = self.rates.note(place, &row.id, row.finished(), Instant::now()).filter(|_| is_running);
        let figures = known.as_ref().and_then(|known| {
            let KnownCampaign { suite, options } = known;
            self.figures.of((place, store), &row, suite, options, is_affordable)
        });
        // Those that cannot be read are reported when the campaign is resumed.
        let budgets = Budgets::stored(&row.progress).unwrap_or_default().in_words();
        Shown { store: place, row, is_running, rate, figures, budgets }
    }

    fn campaign(
        &self,
        store: &Store,
        place: usize,
        id: &str,
        query: &RunQuery,
    ) -> Result<CampaignPage, Fault> {
        let row = self.exactly(store, place, id)?;
        let is_affordable = row.finished() <= crate::limits::FIGURES_AT_ONCE_MAX;
        let shown = self.shown(store, place, row, is_affordable);
        let id = &shown.row.id;
        let started = store.started_runs(
            id,
            u32::try_from(shown.row.started).map_or(STARTED_SHOWN_MAX, |it| it.min(STARTED_SHOWN_MAX)),
        )?;
        let (runs, next, examined) = if query.standing == Some(RunStanding::Started) {
            (started.iter().filter(|run| query.matches(run)).cloned().collect(), None, 0)
        } else {
            let page = store
                .run_page(id, query.standing, query.runs_after(), RUNS_PER_PAGE, |run| query.matches(run))?;
            (page.runs, page.next.map(|next| query.at(next)), page.examined)
        };
        Ok(CampaignPage { shown, runs, started, next, examined })
    }

    fn run(
        &self,
        store: &Store,
        place: usize,
        id: &str,
        unit: Unit,
        after: Option<usize>,
        followed: Option<Following>,
    ) -> Result<RunPage, Fault> {
        let row = self.exactly(store, place, id)?;
        let known =
            self.library.known(&row).map_err(|what| Fault::new(StatusCode::SERVICE_UNAVAILABLE, what))?;
        let nothing = || {
            let what = format!("campaign {} has no repeat {} of case {}", row.id, unit.repeat, unit.ordinal);
            Fault::new(StatusCode::NOT_FOUND, what)
        };
        if unit.ordinal >= row.cases || unit.repeat >= row.repeats.max(1) {
            return Err(nothing());
        }
        let stored = store.case(&row.id, unit.ordinal)?.ok_or_else(nothing)?;
        let wrong = |what: String| Fault::new(StatusCode::SERVICE_UNAVAILABLE, what);
        let case = known.suite.read(&stored.json);
        let case =
            case.map_err(|error| wrong(format!("case {} of the store makes no sense: {error}", stored.id)))?;
        let run = store.listed_run(&row.id, unit)?;
        let is_running = store.is_held(&row.id).unwrap_or(false);
        let mut following = match (&run, followed) {
            // Of what was changed since it was written nothing is shown.
            (Some(run), _) if run.damage.is_some() => Following::default(),
            (Some(run), Some(followed)) if followed.is_of(run.run) => followed,
            (Some(run), _) => Following::of(run.run),
            (None, _) => Following::default(),
        };
        following.read_on(store)?;
        let calls = following.finished_calls();
        let is_finished =
            run.as_ref().is_some_and(|run| run.standing != RunStanding::Started && run.damage.is_none());
        let outcome = match after {
            None if is_finished && following.is_whole() => self.judged(store, &row, &known, unit)?,
            _ => None,
        };
        if let Some(after) = after {
            following.cut_after(after);
        }
        let neighbours = neighbours(&row, unit);
        Ok(RunPage {
            row,
            store: place,
            unit,
            case,
            run,
            following,
            outcome,
            after,
            calls,
            is_running,
            neighbours,
        })
    }

    /// The campaign with this id, and none whose id only begins with it.
    fn exactly(&self, store: &Store, place: usize, id: &str) -> Result<CampaignRow, Fault> {
        let read = || store.campaign(id).map(|row| vec![row]);
        let row = self.rows.of((place, store.path()), &format!("is {id}"), read)?.pop();
        let unknown = || StoreError::UnknownCampaign { name: id.to_owned() };
        Ok(row.filter(|row| row.id == id).ok_or_else(unknown)?)
    }

    /// What came of a finished run, judged again from its trace.
    fn judged(
        &self,
        store: &Store,
        row: &CampaignRow,
        known: &KnownCampaign,
        unit: Unit,
    ) -> Result<Option<Outcome>, Fault> {
        match planproof_campaign::read_one(store, row, &*known.suite, unit) {
            Ok((_, run)) => Ok(run.map(|(outcome, _)| outcome)),
            Err(error) => Err(Fault::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string())),
        }
    }
}

/// The units before and after one.
fn neighbours(row: &CampaignRow, unit: Unit) -> [Option<Unit>; 2] {
    let repeats = u64::from(row.repeats.max(1));
    let place = u64::from(unit.ordinal) * repeats + u64::from(unit.repeat);
    let at = |place: u64| {
        let [ordinal, repeat] = [place / repeats, place % repeats].map(u32::try_from);
        Some(Unit { ordinal: ordinal.ok()?, repeat: repeat.ok()? }).filter(|unit| unit.ordinal < row.cases)
    };
    [place.checked_sub(1).and_then(at), at(place + 1)]
}

impl ListQuery {
    fn matches(&self, row: &CampaignRow) -> bool {
        let has = |text: &str, part: &str| part.is_empty() || text.to_lowercase().contains(part);
        let texts = [&row.id, &row.command_line].into_iter().chain(&row.label).chain(&row.model);
        has(&row.agent, &self.agent)
            && (self.text.is_empty() || texts.into_iter().any(|text| has(text, &self.text)))
    }
}

impl RunQuery {
    fn matches(&self, run: &ListedRun) -> bool {
        let label = || {
            let card = run.case_summary.as_deref().and_then(planproof_engine::card_from_json);
            card.is_some_and(|card| card.label.to_lowercase().contains(&self.text))
        };
        let is_of_class = self.class.is_empty()
            || run.damage.is_none() && run.class.as_deref() == Some(self.class.as_str());
        is_of_class && (self.text.is_empty() || run.case.to_lowercase().contains(&self.text) || label())
    }
}
