// Serves an agent's module to `planproof test url:...`: service.mjs FILE, whose port is printed. The module exports a
// function `answer(query, mcpUrl, model)`, where `model` has `base_url`, `api_key` and `name`.

import { createServer } from "node:http";
import { pathToFileURL } from "node:url";

const { answer } = await import(pathToFileURL(process.argv[2]).href);

const server = createServer(async (request, response) => {
  let text = "";
  for await (const piece of request) text += piece;
  const question = JSON.parse(text);
  let body;
  try {
    body = { answer: String(await answer(question.query, question.mcp_url, question.model)) };
    response.statusCode = 200;
  } catch (error) {
    console.error(error);
    body = { error: String(error) };
    response.statusCode = 500;
  }
  response.setHeader("Content-Type", "application/json");
  response.end(JSON.stringify(body));
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
