"""The tools of a billing agent, to be tested with (docs/topics.md). planproof lists them and never calls them.

Needs the package `mcp`.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

try:
    from mcp.server import MCPServer
except ImportError:  # Before version 2 of the SDK it had another name.
    from mcp.server.fastmcp import FastMCP as MCPServer

server = MCPServer("billing")


class Line(BaseModel):
    item: str
    price: Annotated[float, Field(gt=0)]


@server.tool()
def get_invoice(invoice_id: int) -> str:
    """Gets one invoice by its number."""
    raise NotImplementedError


@server.tool()
def list_open_invoices(customer: str | None = None) -> str:
    """Lists invoices that are not paid."""
    raise NotImplementedError


@server.tool()
def create_invoice(customer: str, lines: Annotated[list[Line], Field(min_length=1)]) -> str:
    """Makes an invoice with these lines."""
    raise NotImplementedError


@server.tool()
def send_reminder(invoice_id: int, text: Annotated[str, Field(min_length=20)]) -> str:
    """Sends a reminder to whoever has not paid."""
    raise NotImplementedError


@server.tool()
def refund_payment(amount: Annotated[float, Field(ge=1, le=500)], currency: Literal["EUR", "USD"]) -> str:
    """Pays money back."""
    raise NotImplementedError


@server.tool()
def export_report(month: str) -> str:
    """Exports the month's figures as a file."""
    raise NotImplementedError


if __name__ == "__main__":
    server.run()
