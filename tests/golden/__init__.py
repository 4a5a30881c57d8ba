"""Figures from an independent implementation, as decimals and as IEEE-754 bits."""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent


def load(name: str) -> Any:
    """Return the content of one JSON file of this folder."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def float_of(figure: dict[str, Any]) -> float:
    """Return the float64 whose bits a figure gives in hex."""
    return struct.unpack(">d", bytes.fromhex(figure["hex"][2:]))[0]


def array_of(figure: dict[str, Any]) -> np.ndarray:
    """Return the array whose elements' bits a figure gives in hex, in its shape if it has one."""
    words = [int(text, 16) for text in figure["hex"]]
    values = np.array(words, dtype=np.uint64).view(np.float64)
    return values.reshape(figure.get("shape", values.shape))
