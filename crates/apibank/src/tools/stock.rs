//! Stock prices.

use super::parts::{argument, fail, field, has_same_result, tool, with_method};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::dates::{DateFormat, are_equal, lenient};
use crate::python::strip;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) const TOOLS: [ApiTool; 1] = [tool!("QueryStock", query, is_same)];

/// The code in capitals, and the day or the error in it.
fn read(
    code: &PythonValue,
    date: &PythonValue,
) -> Result<(String, Result<String, PythonError>), PythonError> {
    let code = strip(&with_method(code, "upper")?.to_uppercase()).to_owned();
    let date = lenient(with_method(date, "strip")?, DateFormat::Date).map(|day| day.write(DateFormat::Date));
    Ok((code, date))
}

fn query(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let (code, date) = read(argument(arguments, "stock_code")?, argument(arguments, "date")?)?;
    if code.is_empty() {
        return fail("The stock code cannot be empty.");
    }
    // The fault of a date is reported only after a blank code.
    let date = date?;
    let Some(prices) = world.table("Stock")?.get(&code) else {
        return fail("The stock code does not exist.");
    };
    field(prices, &date).cloned().or_else(|_| fail("The stock price of this date is not maintained."))
}

fn is_same(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    let read = |record: &ApiRecord| read(record.argument("stock_code")?, record.argument("date")?);
    let (one, other) = (read(predicted)?, read(gold)?);
    Ok(one.0 == other.0 && are_equal(&one.1, &other.1) && has_same_result(predicted, gold))
}
