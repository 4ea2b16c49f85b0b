//! Salaries and taxes.

use super::tables::{
    Outcome, argument, field, is_original, list, lookup, number, number_argument, part, single,
};
use crate::api::ApiFault;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) fn get_occupation_salary(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let found = part(world, "GetOccupationSalary", "salary_info").and_then(|salaries| {
        let salary = lookup(salaries, argument(&arguments, "occupation"));
        salary.cloned().ok_or_else(|| ApiFault::caught("The occupation is not in the database."))
    });
    let found = found.map(|salary| single("salary", salary));
    ApiRecord::new(Some("GetOccupationSalary"), arguments, found)
}

pub(super) fn tax_calculator(arguments: Dict, world: &mut ApiWorld) -> Result<ApiRecord, ApiFault> {
    let found = after_tax(&arguments, world);
    ApiRecord::new(Some("TaxCalculator"), arguments, found)
}

/// The whole salary is taxed at the rate of the highest threshold that it reaches.
fn after_tax(arguments: &Dict, world: &ApiWorld) -> Outcome {
    let salary = number_argument(arguments, "salary")?;
    let rates = list(world, "TaxCalculator", "tax_rates")?;
    let rates = rates.iter().filter_map(|row| {
        let threshold = match field(row, "key")? {
            PythonValue::Text(text) if text == "inf" => f64::INFINITY,
            key => number(key)?,
        };
        Some((threshold, number(field(row, "value")?)?))
    });
    let reached = rates.filter(|(threshold, _)| salary >= *threshold);
    let rate = reached.max_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, rate)| rate);
    // The original searches with an iterator, and reaching its end raises an error without a text.
    let none = || ApiFault::caught(if is_original(world) { "" } else { "There is no rate for this salary." });
    let rate = rate.ok_or_else(none)?;
    Ok(single("salary_after_tax", (salary - salary * rate).into()))
}
