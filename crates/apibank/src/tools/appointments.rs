//! Appointments of patients with doctors.

use super::parts::{
    SUCCESS, argument, dict, fail, field, has_same_result, same_stripped, stripped, tool, with_method,
};
use crate::api::{ApiFault, ApiTool, PythonError};
use crate::dates::{DateFormat, are_equal, lenient};
use crate::python::strip;
use crate::record::ApiRecord;
use crate::value::{Dict, PythonValue};
use crate::world::ApiWorld;

pub(super) const TOOLS: [ApiTool; 4] = [
    tool!("AppointmentRegistration", register, is_same_registration),
    tool!("CancelRegistration", cancel, is_same_cancellation),
    tool!("ModifyRegistration", modify, is_same_change, optional: ["new_appointment_date", "new_appointment_doctor"]),
    tool!("QueryRegistration", query, is_same_query),
];

const TABLE: &str = "Appointments";

/// The range from which appointment numbers are drawn.
const FIRST_NUMBER: u32 = 10_000_000;
const NUMBERS: u32 = 90_000_000;

/// A day in the form used for comparison.
fn day(value: &PythonValue) -> Result<Result<String, PythonError>, PythonError> {
    let text = with_method(value, "strip")?;
    Ok(lenient(text, DateFormat::Date).map(|day| day.write(DateFormat::Date)))
}

/// The appointments of a patient on a day.
fn of_patient(table: &Dict, patient: &str, date: &str) -> Result<Vec<(String, PythonValue)>, PythonError> {
    let mut found = Vec::new();
    for (number, row) in table {
        if field(row, "patient_name")?.as_text() == Some(patient)
            && day(field(row, "date")?)?.as_deref() == Ok(date)
        {
            found.push((number.clone(), row.clone()));
        }
    }
    Ok(found)
}

fn register(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let (patient, doctor) = (stripped(arguments, "patient_name")?, stripped(arguments, "doctor_name")?);
    if patient.is_empty() || doctor.is_empty() {
        return fail("Patient name or doctor name cannot be empty.");
    }
    let date = day(argument(arguments, "date")?)??;
    if let Some((_, row)) = of_patient(world.table(TABLE)?, patient, &date)?.first() {
        return fail(if field(row, "doctor_name")?.as_text() == Some(doctor) {
            "This appointment has already been registered."
        } else {
            "This patient has already been registered in this day."
        });
    }
    let mut number = world.draw.below(NUMBERS);
    let table = world.table_mut(TABLE)?;
    // If a number is taken, the next one is tried, so the search terminates.
    let text = |number: u32| (FIRST_NUMBER + number % NUMBERS).to_string();
    while table.contains_key(&text(number)) {
        number += 1;
    }
    let row = dict([("patient_name", patient.into()), ("date", date.into()), ("doctor_name", doctor.into())]);
    table.insert(text(number), row);
    Ok(text(number).into())
}

fn cancel(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    if world.table_mut(TABLE)?.shift_remove(stripped(arguments, "appointment_id")?).is_none() {
        return fail("The appointment ID is incorrect.");
    }
    Ok(SUCCESS.into())
}

fn query(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let patient = stripped(arguments, "patient_name")?;
    let date = day(argument(arguments, "date")?)??;
    let found = of_patient(world.table(TABLE)?, patient, &date)?;
    if found.is_empty() {
        return fail("No appointments found.");
    }
    Ok(PythonValue::Dict(found.into_iter().collect()))
}

fn modify(arguments: &mut Dict, world: &mut ApiWorld) -> Result<PythonValue, ApiFault> {
    let number = stripped(arguments, "appointment_id")?;
    let Some(row) = world.table_mut(TABLE)?.get_mut(number) else {
        return fail("The appointment ID does not exist.");
    };
    let date = argument(arguments, "new_appointment_date")?;
    let date = if date.is_none() { None } else { Some(day(date)?) };
    let doctor = argument(arguments, "new_appointment_doctor")?;
    let doctor = if doctor.is_none() { None } else { Some(strip(with_method(doctor, "strip")?)) };
    if doctor == Some("") {
        return fail("Fail because the doctor name is empty.");
    }
    // An error in the date is reported only after a blank name of the doctor.
    let date = date.transpose()?;
    let is_same_date = match &date {
        Some(date) => field(row, "date")?.as_text() == Some(date),
        None => false,
    };
    let is_same_doctor = match doctor {
        Some(doctor) => field(row, "doctor_name")?.as_text() == Some(doctor),
        None => false,
    };
    match (&date, doctor) {
        (None, None) => return fail("Fail because no modification is made."),
        (Some(_), Some(_)) if is_same_date && is_same_doctor => {
            return fail("Fail because no modification is made.");
        }
        (Some(_), _) if is_same_date => return fail("Fail because date is not changed."),
        (_, Some(_)) if is_same_doctor => return fail("Fail because doctor is not changed."),
        _ => {}
    }
    let row = row.as_dict_mut().ok_or_else(|| PythonError::key(number))?;
    if let Some(date) = date {
        row.insert("date".to_owned(), date.into());
    }
    if let Some(doctor) = doctor {
        row.insert("doctor_name".to_owned(), doctor.into());
    }
    Ok(SUCCESS.into())
}

fn has_same_day(predicted: &ApiRecord, gold: &ApiRecord) -> Result<bool, PythonError> {
    Ok(are_equal(&day(predicted.argument("date")?)?, &day(gold.argument("date")?)?))
}

/// The number is random and is not compared.
fn is_same_registration(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    // `&` does not short-circuit: the original looks up all arguments before it compares any, and a look-up may raise.
    Ok(same_stripped(predicted, gold, "patient_name")?
        & has_same_day(predicted, gold)?
        & same_stripped(predicted, gold, "doctor_name")?
        && (!gold.output.is_none() || predicted.output.is_none())
        && predicted.exception == gold.exception)
}

fn is_same_cancellation(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(same_stripped(predicted, gold, "appointment_id")? && has_same_result(predicted, gold))
}

fn is_same_query(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    Ok(same_stripped(predicted, gold, "patient_name")? & has_same_day(predicted, gold)?
        && has_same_result(predicted, gold))
}

fn is_same_change(predicted: &mut ApiRecord, gold: &mut ApiRecord) -> Result<bool, PythonError> {
    let is_same_date =
        match (predicted.argument("new_appointment_date")?, gold.argument("new_appointment_date")?) {
            (PythonValue::None, PythonValue::None) => true,
            (PythonValue::None, other) | (other, PythonValue::None) => {
                // Only for its error: a value that is not a text raises.
                drop(day(other)?);
                false
            }
            (one, other) => are_equal(&day(one)?, &day(other)?),
        };
    let doctor = |record| -> Result<Option<&str>, PythonError> {
        match ApiRecord::argument(record, "new_appointment_doctor")? {
            PythonValue::None => Ok(None),
            other => Ok(Some(strip(with_method(other, "strip")?))),
        }
    };
    let is_same_doctor = doctor(predicted)? == doctor(gold)?;
    Ok(same_stripped(predicted, gold, "appointment_id")?
        && is_same_date
        && is_same_doctor
        && has_same_result(predicted, gold))
}
