// An agent of Vercel's AI SDK, as its documentation shows it.

import { createMCPClient } from "@ai-sdk/mcp";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, stepCountIs } from "ai";

export async function answer(query, mcpUrl, model) {
  const client = await createMCPClient({ transport: { type: "http", url: mcpUrl } });
  try {
    const openai = createOpenAI({ baseURL: model.base_url, apiKey: model.api_key });
    const tools = await client.tools();
    const stopWhen = stepCountIs(60);
    const { text } = await generateText({ model: openai.chat(model.name), tools, stopWhen, prompt: query });
    return text;
  } finally {
    await client.close();
  }
}
