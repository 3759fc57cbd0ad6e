"""The official Python client of MCP against a Forge server, over HTTP and over `forge mcp`.

It is given one argument, JSON: the URL of `/mcp`, how the bridge is started, and a repository for each way.
"""

import asyncio
import json
import sys

from mcp import Client, StdioServerParameters


async def scenario(way: str, client: Client, repository: str) -> None:
    tools = (await client.list_tools()).tools
    names = {tool.name for tool in tools}
    assert {"list_projects", "create_and_start_task", "wait_for_attempt"} <= names, names

    async def call(tool: str, arguments: dict) -> dict:
        # The client checks what is answered against the output schema.
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result
        assert json.loads(result.content[0].text) == result.structured_content, result
        return result.structured_content

    made = await call("create_project", {"name": way, "git_repo_path": repository})
    started = await call(
        "create_and_start_task",
        {
            "project_id": made["project_id"],
            "task": {"title": "Say it", "description": f"say hello over {way}"},
            "executor": "SCRIPTED",
        },
    )
    waited = await call("wait_for_attempt", {"attempt_id": started["attempt_id"]})
    assert waited["last_message"] == f"hello over {way}", waited
    refused = await client.call_tool("get_task", {"task_id": "banana"})
    assert refused.is_error and "`task_id`" in refused.content[0].text, refused
    print(f"{way}: done", flush=True)


async def main() -> None:
    settings = json.loads(sys.argv[1])
    async with Client(settings["url"]) as client:
        await scenario("http", client, settings["repositories"][0])
    bridge = StdioServerParameters(**settings["bridge"])
    async with Client(bridge) as client:
        await scenario("stdio", client, settings["repositories"][1])


asyncio.run(main())
