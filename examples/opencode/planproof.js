// Holds OpenCode to rules: planproof decides on each call of a tool. Copy this file into ~/.config/opencode/plugin, where
// the agent does not work, and change the paths.
import { spawnSync } from "node:child_process"

const HOOK = ["planproof", "hook", "opencode", "--rules", "/srv/agents/guard-rules.yaml", "--enforce",
  "--state", "/srv/agents/guard"]

/** Milliseconds that a decision may take. */
const TIME_MAX = 30_000

/** What planproof says of an event; nothing where it cannot be asked. */
function ask(event) {
  const [program, ...words] = HOOK
  const child = spawnSync(program, words, { input: JSON.stringify(event), encoding: "utf8", timeout: TIME_MAX })
  try {
    return JSON.parse(child.stdout)
  } catch {
    return {}
  }
}

function eventOf(name, input) {
  return { event: name, session: input.sessionID, call: input.callID, tool: input.tool }
}

export const Planproof = async () => ({
  "tool.execute.before": async (input, output) => {
    const answer = ask({ ...eventOf("tool.execute.before", input), arguments: output.args })
    // Anything but a yes is a no, also where planproof cannot be started.
    if (answer.allow !== true) {
      throw new Error(answer.reason ?? "The call is denied: planproof did not answer.")
    }
  },
  "tool.execute.after": async (input, output) => {
    ask({ ...eventOf("tool.execute.after", input), arguments: input.args, result: output.output })
  },
})
