"""`ewok worlds`: what can be moved, and how far."""

from __future__ import annotations

from typing import Annotated

import typer

from ewok.cli.root import app, find_own_modules, load


@app.command()
def worlds(
    name: Annotated[str | None, typer.Argument(help='A world, or "module:object" of yours; all by default.')] = None,
) -> None:
    """The worlds there are, and by which parameters each can be moved.

    Example: ewok worlds cartpole
    """
    listing = load("ewok.worlds.listing", extra="lab")
    if name is not None and ":" in name:
        find_own_modules()
    typer.echo(listing.all_worlds() if name is None else listing.one_world(name))
