"""Make a text in which a few phrases come again and again."""

import random
from pathlib import Path

import typer

PHRASES = (
    "the silver river",
    "the king of the northern hills",
    "salt and pepper",
    "early in the morning",
    "a matter of time",
)
WORDS = ("walks", "sees", "and", "slowly", "old", "green", "far", "bird", "never")


def main(output: Path, n_lines: int = 200, seed: int = 0) -> None:
    """Write a text of random words with phrases in between, a sentence a line."""
    chance = random.Random(seed)
    output.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for _ in range(n_lines):
        parts = chance.choices(WORDS, k=chance.randint(2, 5))
        for phrase in chance.sample(PHRASES, k=chance.randint(1, 2)):
            parts.insert(chance.randint(0, len(parts)), phrase)
        lines.append(" ".join(parts) + " .")
    output.write_text("\n".join(lines) + "\n", encoding="utf8")


if __name__ == "__main__":
    typer.run(main)
