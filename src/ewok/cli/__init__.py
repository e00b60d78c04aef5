"""The command line: one file per group of subcommands, each thin over the library.

Subcommands reach what they need by `root.load`, so that the base install runs those it can.
"""

from ewok.cli import doctor, practice, report, studies, tables, tuning, worlds
from ewok.cli.root import app

__all__ = ["app", "doctor", "practice", "report", "studies", "tables", "tuning", "worlds"]
