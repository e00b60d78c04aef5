"""Drawing next states from the nominal kernel."""

from ewok.nominal.families import register_all

register_all()
