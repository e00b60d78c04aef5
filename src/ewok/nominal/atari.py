"""The Arcade Learning Environment, saved by its own emulator."""

from __future__ import annotations

from typing import Any, final

from ewok.errors import SnapshotError


@final
class AtariSaver:
    """Clones the emulator. Sticky actions must be off: the emulator does not save the action that sticks."""

    def save(self, env: Any) -> Any:
        sticky = env.ale.getFloat("repeat_action_probability")
        if sticky > 0:
            raise SnapshotError(
                f"`repeat_action_probability` must be 0 to save an Atari environment, but it is {sticky:g}: "
                "the emulator does not save the action that would be repeated. Make it with "
                "repeat_action_probability=0, and use `ewok.RandomAction` for randomness."
            )
        return env.ale.cloneState()

    def load(self, env: Any, saved: Any) -> None:
        env.ale.restoreState(saved)
