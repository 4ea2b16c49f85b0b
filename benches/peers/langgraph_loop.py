"""The agent loop of LangGraph, many runs at once in one process: the peer of planproof's own loop.

Takes cases of schema planproof/case/v1, one a line. The tools are local and do nothing, so what is measured is the
loop and its model client. The model is the endpoint at OPENAI_BASE_URL, for instance

    planproof synth --count 50 --json > cases.jsonl
    planproof serve-model sim/perfect --port 9400 &
    OPENAI_BASE_URL=http://127.0.0.1:9400/v1 \\
        .venvs/langgraph/bin/python benches/peers/langgraph_loop.py cases.jsonl --runs 200 --concurrency 20

A step is a model request. CPU time is that of this process alone; building the agents and one run to warm up are not
counted. Prints one JSON line, and exits with 1 when a run did not call every tool of its case once.
"""

import argparse
import asyncio
import json
import os
import resource
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from itertools import cycle, islice
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import StructuredTool
from langchain_openai import ChatOpenAI

Job = tuple[Any, dict[str, Any]]


def local_tool(tool: dict[str, Any]) -> StructuredTool:
    """A tool that says it is done and does nothing."""

    async def done() -> str:
        return "Done."

    return StructuredTool.from_function(coroutine=done, name=tool["name"], description=tool["description"])


def jobs(path: str, model: ChatOpenAI) -> list[Job]:
    """An agent for each case of the file, with the case."""
    with open(path, encoding="utf-8") as file:
        cases = [json.loads(line) for line in file if line.strip()]
    if not cases:
        sys.exit(f"{path} has no cases")
    return [(create_agent(model, [local_tool(tool) for tool in case["tools"]]), case) for case in cases]


async def run(job: Job) -> tuple[int, bool]:
    """One run: number of model requests, and whether every tool of the case's actions was called once."""
    agent, case = job
    state = await agent.ainvoke({"messages": [{"role": "user", "content": case["query"]}]})
    steps = sum(isinstance(message, AIMessage) for message in state["messages"])
    called = sorted(message.name for message in state["messages"] if isinstance(message, ToolMessage))
    return steps, called == sorted(action["tool"] for action in case["actions"])


async def run_all(waiting: Iterator[Job], concurrency: int) -> list[tuple[int, bool]]:
    """All runs, `concurrency` of them at a time."""
    results = []

    async def worker() -> None:
        for job in waiting:
            results.append(await run(job))

    await asyncio.gather(*(worker() for _ in range(concurrency)))
    return results


async def measure(options: argparse.Namespace) -> dict[str, Any]:
    """Runs the agents and says what it took."""
    model = ChatOpenAI(model=options.model, base_url=os.environ["OPENAI_BASE_URL"], timeout=600)
    agents = jobs(options.cases, model)
    # Warms up: connections, and what is imported late, are not part of a step.
    await run(agents[0])
    begin, begin_cpu = time.perf_counter(), time.process_time()
    results = await run_all(islice(cycle(agents), options.runs), options.concurrency)
    cpu_seconds, wall_seconds = time.process_time() - begin_cpu, time.perf_counter() - begin
    steps = sum(steps for steps, _ in results)
    return {
        "peer": f"langgraph {version('langgraph')}, langchain {version('langchain')}",
        "runs": len(results),
        "complete_runs": sum(complete for _, complete in results),
        "concurrency": options.concurrency,
        "steps": steps,
        "cpu_seconds": round(cpu_seconds, 3),
        "wall_seconds": round(wall_seconds, 3),
        "steps_per_cpu_second": round(steps / cpu_seconds, 1),
        "peak_memory_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
    }


def main() -> int:
    """Returns 0 when every run was complete, 1 otherwise."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("cases", help="file of cases")
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--concurrency", type=int, default=10)
    parser.add_argument("--model", default=os.environ.get("OPENAI_MODEL", "sim/perfect"))
    options = parser.parse_args()
    if "OPENAI_BASE_URL" not in os.environ:
        parser.error("set OPENAI_BASE_URL to the model endpoint")
    # Tracing would be measured as well, and would send the runs elsewhere.
    os.environ["LANGSMITH_TRACING"] = "false"
    os.environ.setdefault("OPENAI_API_KEY", "none")
    result = asyncio.run(measure(options))
    print(json.dumps(result))
    return 0 if result["complete_runs"] == result["runs"] else 1


if __name__ == "__main__":
    sys.exit(main())
