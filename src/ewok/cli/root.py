"""The command itself: what all its subcommands share.

A mistake of the person who types is one line on the error output and an exit code, whichever subcommand it was
made in; `--debug`, wherever it stands, shows where it came from.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
import traceback
import warnings
from typing import Annotated, Any, final

import typer
from typer.core import TyperGroup

from ewok.errors import EwokError, MissingExtraError

FAILED, MISTAKE, MISSING, MACHINE, STOPPED = 1, 2, 3, 4, 130
_EXIT_CODES = (
    "Exit codes: 0 done; 1 done, but something in it failed; 2 cannot be done as asked; 3 a package is missing; "
    "4 the machine could not (disk full, no connection); 130 stopped by Ctrl-C."
)
# Of these the path that was typed is the cause; what else goes wrong with files is the machine's.
_WRONG_PATH = (FileNotFoundError, FileExistsError, IsADirectoryError, NotADirectoryError, PermissionError)


@final
class Commands(TyperGroup):
    """All subcommands."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ours = args[: args.index("--")] if "--" in args else args
        if "--debug" in ours:  # it belongs to no subcommand, so it may stand anywhere
            args = ["--debug", *(arg for arg in ours if arg != "--debug"), *args[len(ours) :]]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        with warnings.catch_warnings():
            if not ctx.params["debug"]:
                warnings.showwarning = _show_warning
            try:
                return super().invoke(ctx)
            except (EwokError, OSError, ImportError) as error:
                code = exit_code(error)
                if code is None:
                    raise
                typer.echo(_text(error, ctx.params["debug"]), err=True)
                raise typer.Exit(code) from error


def exit_code(error: Exception) -> int | None:
    """What the command ends with after this error; None where the shell is to handle it."""
    if isinstance(error, MissingExtraError):
        return MISSING
    number = getattr(error, "errno", None)
    if isinstance(error, EwokError) and isinstance(error, ConnectionError):
        return MACHINE
    if isinstance(error, (EwokError, ImportError, *_WRONG_PATH)) or number in (errno.EROFS, errno.ENAMETOOLONG):
        return MISTAKE
    return None if number == errno.EPIPE else MACHINE


def load(module: str, extra: str) -> Any:
    """A module of ours that a subcommand needs, with the line that installs what it needs where that is missing."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = str(error.name).partition(".")[0]
        if package == "ewok":
            raise
        raise MissingExtraError(f"{package} is not installed. Install it: pip install 'ewok[{extra}]'") from error


def find_own_modules() -> None:
    """Look for a `module:object` where one stands too: that is where a module of yours most likely is.

    Only for commands that are given one, or a study or a model that may name one. Libraries try to import packages that
    may not be there: a command that only reads would run a file of such a name that lies in a stranger's folder.
    """
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())


def _text(error: Exception, debug: bool) -> str:
    if debug:
        return "".join(traceback.format_exception(error)).rstrip()
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    return str(error) or type(error).__name__


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    typer.echo(f"warning: {message}", err=True)


app = typer.Typer(
    name="ewok",
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(epilog=_EXIT_CODES)
def _root(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of what went wrong.")] = False,
) -> None:
    """Robust policies from any reinforcement-learning algorithm.

    Example: ewok stress model.zip --world cartpole
    """
