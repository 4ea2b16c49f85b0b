//! `planproof shard plan`: a campaign in shards, for the schedulers that people have.

use std::io::Write as _;

use clap::Parser as _;
use planproof_report::shell_word;
use planproof_suite::grouped;

use crate::arguments::{
    Arguments, Command, Global, Scheduler, ShardArguments, ShardCommand, ShardPlanArguments,
};
use crate::failure::{ExitCode, Failure};
use crate::values::CaseCount;
use crate::{progress, terminal};

pub(crate) fn run(arguments: &ShardArguments, global: &Global) -> Result<ExitCode, Failure> {
    let ShardCommand::Plan(plan) = &arguments.command;
    let line = checked(plan)?;
    let folder = plan.folder.display().to_string();
    let whole = Plan { shards: plan.shards.get(), folder: &folder, image: &plan.image, line: &line.words };
    let text = match plan.scheduler {
        Scheduler::Slurm => whole.slurm(),
        Scheduler::Kubernetes => whole.kubernetes(),
        Scheduler::Github => whole.github(),
        Scheduler::Parallel => whole.parallel(),
    };
    write!(terminal::text(), "{text}")?;
    if let Some(runs) = line.runs {
        let shards = u64::from(plan.shards.get());
        let each = runs.div_ceil(shards);
        progress::say(global, &format!("{shards} shards of up to {} runs each", grouped(each)));
    }
    Ok(ExitCode::Passed)
}

/// A command line that can be cut into shards.
struct Line {
    /// Quoted for a shell.
    words: String,
    /// How many runs it makes, if the command line says it.
    runs: Option<u64>,
}

/// Reads the command line as `planproof` itself would.
fn checked(plan: &ShardPlanArguments) -> Result<Line, Failure> {
    // A line of a script or of YAML cannot hold them.
    let folder = plan.folder.to_string_lossy();
    let mut texts = plan.line.iter().map(String::as_str).chain([&*folder, &plan.image]);
    if let Some(text) = texts.find(|text| text.contains(char::is_control)) {
        return Err(Failure::usage(format!(
            "a plan has one line for the campaign, and this argument has a line break or another control character: {}",
            terminal::inline(text)
        )));
    }
    let words = std::iter::once("planproof").chain(plan.line.iter().map(String::as_str));
    let read = Arguments::try_parse_from(words).map_err(|error| {
        Failure::usage(format!("the campaign cannot be read: {}", error.to_string().trim()))
    })?;
    let (campaign, all, runs) = match &read.command {
        Command::Test(test) => {
            let cases = match CaseCount::from(test.cases) {
                CaseCount::Number(count) if test.from.is_none() && test.scenarios.is_none() => Some(count),
                CaseCount::Number(_) => None,
                CaseCount::Auto => {
                    return Err(Failure::usage("--cases auto is not for shards: name a number"));
                }
            };
            let shards = u64::from(plan.shards.get());
            if let Some(cases) = cases.filter(|cases| *cases < shards) {
                return Err(Failure::usage(format!(
                    "there are {cases} cases, and so at most {cases} shards"
                )));
            }
            (&test.campaign, &test.all, cases.map(|cases| cases * u64::from(test.all.repeat.get())))
        }
        Command::Bench(bench) => (&bench.campaign, &bench.all, None),
        _ => return Err(Failure::usage("only `test` and `bench` are cut into shards")),
    };
    if all.shard.is_some() || plan.line.iter().any(|word| word == "--store" || word.starts_with("--store=")) {
        return Err(Failure::usage("leave --shard and --store out: the plan adds them to each shard"));
    }
    if campaign.resume.is_some() || campaign.recording.replay.is_some() {
        return Err(Failure::usage("--resume and --replay are not for shards"));
    }
    let words: Vec<String> = plan.line.iter().map(|word| shell_word(word)).collect();
    Ok(Line { words: words.join(" "), runs })
}

/// What is written for a scheduler.
struct Plan<'a> {
    shards: u32,
    folder: &'a str,
    image: &'a str,
    line: &'a str,
}

impl Plan<'_> {
    /// The command of a shard, whose number this is in the words of a shell. Failed cases are results, and no reason to
    /// repeat the shard.
    fn command(&self, number: &str) -> String {
        let Self { shards, line, .. } = self;
        let folder = shell_word(self.folder);
        format!("planproof {line} --shard {number}/{shards} --store {folder}/{number}.db -q || [ $? -eq 1 ]")
    }

    fn merge(&self) -> String {
        format!("planproof runs merge {}/*.db --into all.db", shell_word(self.folder))
    }

    fn slurm(&self) -> String {
        format!(
            "#!/bin/sh\n\
             # Submit with `sbatch FILE`. Tasks that are repeated resume. When all have ended:\n\
             #   {merge}\n\
             #SBATCH --job-name=planproof\n\
             #SBATCH --array=1-{shards}\n\
             #SBATCH --requeue\n\
             #SBATCH --open-mode=append\n\
             mkdir -p {folder}\n\
             {command}\n",
            merge = self.merge(),
            shards = self.shards,
            folder = shell_word(self.folder),
            command = self.command("\"$SLURM_ARRAY_TASK_ID\""),
        )
    }

    fn parallel(&self) -> String {
        let folder = shell_word(self.folder);
        format!(
            "mkdir -p {folder}\n\
             seq {shards} | parallel --retries 3 {command}\n\
             {merge}\n",
            shards = self.shards,
            command = shell_word(&self.command("{}")),
            merge = self.merge(),
        )
    }

    fn github(&self) -> String {
        let numbers: Vec<String> = (1..=self.shards).map(|number| number.to_string()).collect();
        // An expression of GitHub, which is replaced before a shell reads the line.
        let command = self.command("${{ matrix.shard }}");
        let folder = shell_word(self.folder);
        format!(
            "# Put this into .github/workflows/. It needs planproof on the path of the runners.\n\
             name: planproof\n\
             on: workflow_dispatch\n\
             jobs:\n\
             \x20 shard:\n\
             \x20   runs-on: ubuntu-latest\n\
             \x20   strategy:\n\
             \x20     fail-fast: false\n\
             \x20     matrix:\n\
             \x20       shard: [{numbers}]\n\
             \x20   steps:\n\
             \x20     - uses: actions/checkout@v5\n\
             \x20     - run: |\n\
             \x20         mkdir -p {folder}\n\
             \x20         {command}\n\
             \x20     - uses: actions/upload-artifact@v5\n\
             \x20       if: always()\n\
             \x20       with:\n\
             \x20         name: shard-${{{{ matrix.shard }}}}\n\
             \x20         path: {folder}/${{{{ matrix.shard }}}}.db\n\
             \x20 merge:\n\
             \x20   needs: shard\n\
             \x20   if: always()\n\
             \x20   runs-on: ubuntu-latest\n\
             \x20   steps:\n\
             \x20     - uses: actions/download-artifact@v6\n\
             \x20       with:\n\
             \x20         path: {folder}\n\
             \x20         merge-multiple: true\n\
             \x20     - run: {merge}\n\
             \x20     - uses: actions/upload-artifact@v5\n\
             \x20       if: always()\n\
             \x20       with:\n\
             \x20         name: campaign\n\
             \x20         path: all.db\n",
            numbers = numbers.join(", "),
            merge = self.merge(),
        )
    }

    fn kubernetes(&self) -> String {
        let Self { shards, image, .. } = self;
        let on_volume = Plan { folder: "/shards", ..*self };
        // The completion index counts from 0.
        let command = on_volume.command("$SHARD");
        let image = serde_json::Value::from(*image);
        format!(
            "# Apply with `kubectl apply -f FILE`. Pods that are repeated resume. Merge in a pod with the same volume:\n\
             #   {merge}\n\
             apiVersion: v1\n\
             kind: PersistentVolumeClaim\n\
             metadata:\n\
             \x20 name: planproof-shards\n\
             spec:\n\
             \x20 accessModes: [ReadWriteMany]\n\
             \x20 resources:\n\
             \x20   requests:\n\
             \x20     storage: 10Gi\n\
             ---\n\
             apiVersion: batch/v1\n\
             kind: Job\n\
             metadata:\n\
             \x20 name: planproof\n\
             spec:\n\
             \x20 completionMode: Indexed\n\
             \x20 completions: {shards}\n\
             \x20 parallelism: {parallelism}\n\
             \x20 backoffLimitPerIndex: 3\n\
             \x20 template:\n\
             \x20   spec:\n\
             \x20     restartPolicy: Never\n\
             \x20     containers:\n\
             \x20       - name: planproof\n\
             \x20         image: {image}\n\
             \x20         command: [sh, -c]\n\
             \x20         args:\n\
             \x20           - |\n\
             \x20             SHARD=$((JOB_COMPLETION_INDEX + 1))\n\
             \x20             {command}\n\
             \x20         volumeMounts:\n\
             \x20           - name: shards\n\
             \x20             mountPath: /shards\n\
             \x20     volumes:\n\
             \x20       - name: shards\n\
             \x20         persistentVolumeClaim:\n\
             \x20           claimName: planproof-shards\n",
            merge = on_volume.merge(),
            parallelism = shards.min(&PARALLELISM_MAX),
        )
    }
}

/// Most pods at once where nothing else is said.
const PARALLELISM_MAX: u32 = 50;
