//! A plan of shards as each scheduler takes it.

use std::fmt::Write as _;

use planproof_output::terminal;
use planproof_tools::process::shell_word;

/// What is written for a scheduler.
pub(super) struct Plan<'a> {
    pub(super) shards: u32,
    pub(super) folder: &'a str,
    pub(super) image: &'a str,
    /// The campaign, quoted for a shell.
    pub(super) line: &'a str,
    /// Variables of the environment that hold keys.
    pub(super) keys: &'a [&'a str],
    /// Files for the pods of Kubernetes: name and content.
    pub(super) files: &'a [(String, String)],
}

impl Plan<'_> {
    /// The command of a shard, whose number this is in the words of a shell. Failed cases are results, and no reason to
    /// repeat the shard.
    fn command(&self, number: &str) -> String {
        let Self { shards, line, .. } = self;
        let folder = shell_word(self.folder);
        format!("planproof {line} --shard {number}/{shards} --store {folder}/{number}.db -q || [ $? -eq 1 ]")
    }

    /// The same plan with the folder of the shards' stores and the campaign in another form.
    fn with<'b>(&'b self, folder: &'b str, line: &'b str) -> Plan<'b> {
        Plan { folder, line, ..*self }
    }

    fn merge(&self) -> String {
        format!("planproof runs merge {}/*.db --into all.db", shell_word(self.folder))
    }

    pub(super) fn slurm(&self) -> String {
        format!(
            "#!/bin/sh\n\
             # Submit with `sbatch FILE`. Tasks that are repeated resume. When all have ended:\n\
             #   {merge}\n\
             {keys}\
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
            keys = self.comment_on_keys("Set {} where you submit: tasks get the environment of sbatch."),
        )
    }

    pub(super) fn parallel(&self) -> String {
        // Lines that GNU parallel reads are commands as a whole. In a command of its own it would replace `{}` and its
        // like in the words of the user, and evaluate what is between `{=` and `=}`.
        let commands: String =
            (1..=self.shards).map(|number| self.command(&number.to_string()) + "\n").collect();
        format!(
            "mkdir -p {folder}\n\
             PARALLEL_SHELL=/bin/sh parallel --retries 3 <<'SHARDS'\n\
             {commands}\
             SHARDS\n\
             {merge}\n",
            folder = shell_word(self.folder),
            merge = self.merge(),
        )
    }

    pub(super) fn github(&self) -> String {
        let numbers: Vec<String> = (1..=self.shards).map(|number| number.to_string()).collect();
        // GitHub replaces its expressions before a shell reads the line, so those of the user are escaped last. No text
        // of the user has a control character.
        let of_user = |text: &str| without_expressions(text).replace(SHARD, "${{ matrix.shard }}");
        let (command, merge) = (of_user(&self.command(SHARD)), of_user(&self.merge()));
        let folder = of_user(&shell_word(self.folder));
        let [stores, all] = ["/${{ matrix.shard }}.db", ""]
            .map(|file| yaml_text(&(without_expressions(&without_wildcards(self.folder)) + file)));
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
             {keys}\
             \x20     - uses: actions/upload-artifact@v5\n\
             \x20       if: always()\n\
             \x20       with:\n\
             \x20         name: shard-${{{{ matrix.shard }}}}\n\
             \x20         path: {stores}\n\
             \x20 merge:\n\
             \x20   needs: shard\n\
             \x20   if: always()\n\
             \x20   runs-on: ubuntu-latest\n\
             \x20   steps:\n\
             \x20     - uses: actions/download-artifact@v6\n\
             \x20       with:\n\
             \x20         path: {all}\n\
             \x20         merge-multiple: true\n\
             \x20     - run: |\n\
             \x20         {merge}\n\
             \x20     - uses: actions/upload-artifact@v5\n\
             \x20       if: always()\n\
             \x20       with:\n\
             \x20         name: campaign\n\
             \x20         path: all.db\n",
            numbers = numbers.join(", "),
            keys = self.secrets_of_github(),
        )
    }

    pub(super) fn kubernetes(&self) -> String {
        let Self { shards, image, .. } = self;
        // The kubelet replaces `$(NAME)`, also in quotes, and makes one `$` of two.
        let line = self.line.replace('$', "$$");
        let on_volume = self.with("/shards", &line);
        let has_files = !self.files.is_empty();
        let working_directory = if has_files { "          workingDir: /campaign\n" } else { "" };
        let mounted_files = match has_files {
            true => "            - name: files\n              mountPath: /campaign\n",
            false => "",
        };
        let volume_of_files = match has_files {
            true => "        - name: files\n          configMap:\n            name: planproof-files\n",
            false => "",
        };
        // The completion index counts from 0.
        let command = on_volume.command("$SHARD");
        let image = yaml_text(image);
        format!(
            "# Apply with `kubectl apply -f FILE`. Pods that are repeated resume. Merge in a pod with the same volume:\n\
             #   {merge}\n\
             {keys}\
             {config_map}\
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
             {working_directory}\
             {environment}\
             \x20         volumeMounts:\n\
             \x20           - name: shards\n\
             \x20             mountPath: /shards\n\
             {mounted_files}\
             \x20     volumes:\n\
             {volume_of_files}\
             \x20       - name: shards\n\
             \x20         persistentVolumeClaim:\n\
             \x20           claimName: planproof-shards\n",
            merge = on_volume.merge(),
            keys = self.comment_on_secret(),
            config_map = self.config_map(),
            environment = self.secrets_of_kubernetes(),
            parallelism = shards.min(&PARALLELISM_MAX),
        )
    }

    /// A line of a comment with the variables instead of `{}`; nothing without any.
    fn comment_on_keys(&self, text: &str) -> String {
        if self.keys.is_empty() {
            return String::new();
        }
        format!("# {}\n", text.replace("{}", &self.keys.join(" and ")))
    }

    fn comment_on_secret(&self) -> String {
        let literals: String =
            self.keys.iter().map(|key| format!(" --from-literal={key}=\"${key}\"")).collect();
        self.comment_on_keys(&format!(
            "The key is taken from a secret, which you create before:\n#   kubectl create secret generic planproof-keys{literals}"
        ))
    }

    fn secrets_of_github(&self) -> String {
        let mut lines = String::new();
        for key in self.keys {
            if lines.is_empty() {
                lines += "        env:\n";
            }
            let _ = writeln!(lines, "          {key}: ${{{{ secrets.{key} }}}}");
        }
        lines
    }

    fn secrets_of_kubernetes(&self) -> String {
        let mut lines = String::new();
        for key in self.keys {
            if lines.is_empty() {
                lines += "          env:\n";
            }
            let _ = write!(
                lines,
                "            - name: {key}\n\
                 \x20             valueFrom:\n\
                 \x20               secretKeyRef:\n\
                 \x20                 name: planproof-keys\n\
                 \x20                 key: {key}\n"
            );
        }
        lines
    }

    fn config_map(&self) -> String {
        if self.files.is_empty() {
            return String::new();
        }
        let mut text =
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: planproof-files\ndata:\n".to_owned();
        for (name, content) in self.files {
            let [name, content] = [name, content].map(|text| yaml_text(text));
            let _ = writeln!(text, "  {name}: {content}");
        }
        text += "---\n";
        text
    }
}

/// A text as a scalar of YAML, whatever it holds. Texts of JSON are such scalars, except that YAML breaks lines at more
/// characters and reads no pairs of surrogates.
fn yaml_text(text: &str) -> String {
    let mut out = String::new();
    for c in serde_json::Value::from(text).to_string().chars() {
        match terminal::is_hidden(c) {
            true => drop(write!(out, "\\U{:08x}", u32::from(c))),
            false => out.push(c),
        }
    }
    out
}

/// A text in which GitHub finds no expression, and that it makes this text of.
fn without_expressions(text: &str) -> String {
    text.replace("${{", "${{ '${{' }}")
}

/// A path that actions of GitHub take for itself, and not for a pattern.
fn without_wildcards(path: &str) -> String {
    let mut out = if path.starts_with(['!', '#', '~']) { "./".to_owned() } else { String::new() };
    for c in path.chars() {
        match c {
            '*' | '?' | '[' => out.extend(['[', c, ']']),
            c => out.push(c),
        }
    }
    out
}

/// Stands for the number of a shard in a text that is not complete.
const SHARD: &str = "\0";

/// Most pods at once where nothing else is said.
const PARALLELISM_MAX: u32 = 50;
