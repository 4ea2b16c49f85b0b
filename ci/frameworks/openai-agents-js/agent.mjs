// An agent of the OpenAI Agents SDK for JavaScript, as its documentation shows it.

import { Agent, MCPServerStreamableHttp, OpenAIProvider, Runner, setTracingDisabled } from "@openai/agents";

setTracingDisabled(true);

export async function answer(query, mcpUrl, model) {
  const server = new MCPServerStreamableHttp({ name: "planproof", url: mcpUrl });
  await server.connect();
  try {
    // A plain provider, because the default one takes the part before "/" in a model's name for a provider's name.
    const modelProvider = new OpenAIProvider({ baseURL: model.base_url, apiKey: model.api_key });
    const agent = new Agent({ name: "Assistant", model: model.name, mcpServers: [server] });
    const result = await new Runner({ modelProvider }).run(agent, query, { maxTurns: 60 });
    return result.finalOutput;
  } finally {
    await server.close();
  }
}
