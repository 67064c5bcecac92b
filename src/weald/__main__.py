"""``python -m weald`` is the ``weald`` command."""

from __future__ import annotations

from weald.cli import main

if __name__ == "__main__":
    main()
