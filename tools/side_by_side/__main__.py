"""Writes the page to the standard output."""

from tools.side_by_side.runner import page

if __name__ == "__main__":
    print(page(), end="")
