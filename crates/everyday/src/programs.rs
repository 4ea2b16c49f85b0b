//! The tools `shell` and `java`.

use planproof_media::ToolFailure;
use serde_json::{Map, Value};

use crate::arguments::text;
use crate::confine::{Confinement, Finished, ProcessEnd, ProgramLimits};

/// Longest command, and longest program, in bytes.
pub const PROGRAM_BYTES_MAX: usize = 64 << 10;

/// Memory of the Java machine, in bytes: its heap, the compiler, and what it needs itself.
pub const JAVA_MEMORY_BYTES: u64 = 768 << 20;

/// Address space of the Java machine, in bytes: it reserves far more than it uses.
pub const JAVA_ADDRESS_BYTES: u64 = 3 << 30;

/// Heap of a program in Java.
pub const JAVA_HEAP: &str = "-Xmx256m";

/// Options that keep the Java machine within its limits.
const JAVA_OPTIONS: [&str; 6] = [
    JAVA_HEAP,
    "-XX:+UseSerialGC",
    "-XX:ReservedCodeCacheSize=48m",
    "-XX:CompressedClassSpaceSize=48m",
    "-XX:MaxMetaspaceSize=96m",
    "-XX:-UsePerfData",
];

/// Writes its first argument to a file, and runs that.
const JAVA_SCRIPT: &str = "printf %s \"$1\" > Main.java && shift && exec java \"$@\" Main.java";

/// A shell's status for a missing program.
const NOT_FOUND: i32 = 127;

/// Runs commands of a shell.
pub(crate) async fn shell(
    confinement: &Confinement,
    limits: &ProgramLimits,
    arguments: &Map<String, Value>,
) -> Result<String, ToolFailure> {
    let command = text(arguments, "command", PROGRAM_BYTES_MAX)?;
    let finished = confinement.run(&["sh", "-c", &command], limits).await;
    answered(finished.map_err(|error| ToolFailure::world(error.to_string()))?, limits)
}

/// Runs a program in Java.
pub(crate) async fn java(
    confinement: &Confinement,
    limits: &ProgramLimits,
    arguments: &Map<String, Value>,
) -> Result<String, ToolFailure> {
    let program = text(arguments, "code", PROGRAM_BYTES_MAX)?;
    let limits = ProgramLimits {
        memory_bytes: limits.memory_bytes.max(JAVA_MEMORY_BYTES),
        address_bytes: limits.address_bytes.max(JAVA_ADDRESS_BYTES),
        ..*limits
    };
    let mut words = vec!["sh", "-c", JAVA_SCRIPT, "sh", &program];
    words.extend(JAVA_OPTIONS);
    let finished = confinement.run(&words, &limits).await;
    let finished = finished.map_err(|error| ToolFailure::world(error.to_string()))?;
    // A program can exit with this status, too, and print what a shell would, so Java is asked itself.
    if finished.ended == ProcessEnd::Exited(NOT_FOUND) && !has_java(confinement, &limits).await? {
        return Err(ToolFailure::world("there is no `java` in /usr/bin: install a Java development kit"));
    }
    answered(finished, &limits)
}

/// Whether the sandbox has a working Java machine.
async fn has_java(confinement: &Confinement, limits: &ProgramLimits) -> Result<bool, ToolFailure> {
    let mut words = vec!["java"];
    words.extend(JAVA_OPTIONS);
    words.push("-version");
    let finished = confinement.run(&words, limits).await;
    let finished = finished.map_err(|error| ToolFailure::world(error.to_string()))?;
    Ok(finished.ended == ProcessEnd::Exited(0))
}

/// What the agent is answered.
fn answered(finished: Finished, limits: &ProgramLimits) -> Result<String, ToolFailure> {
    let Finished { mut output, ended } = finished;
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    match ended {
        ProcessEnd::Exited(0) if output.is_empty() => Ok("(no output)".to_owned()),
        ProcessEnd::Exited(0) => Ok(output),
        ProcessEnd::Exited(code) => Err(ToolFailure::call(format!("{output}(exit status {code})"))),
        ProcessEnd::Killed => Err(ToolFailure::call(format!(
            "{output}(the program was killed; it may have taken too much time of the processor)"
        ))),
        ProcessEnd::Memory => Err(ToolFailure::call(format!(
            "{output}(the program took more than {} MiB of memory, together with its files, and was killed)",
            limits.memory_bytes >> 20
        ))),
        ProcessEnd::Processes => Err(ToolFailure::call(format!(
            "{output}(the program started more than {} processes and threads and was killed)",
            limits.processes
        ))),
        ProcessEnd::Time => Err(ToolFailure::call(format!(
            "{output}(the program did not end within {:?} and was killed)",
            limits.time
        ))),
        ProcessEnd::Output => Err(ToolFailure::call(format!(
            "{output}(the program wrote more than {} bytes and was killed)",
            limits.output_bytes
        ))),
    }
}
