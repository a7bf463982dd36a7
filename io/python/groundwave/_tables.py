"""Runs and studies as tables of pandas."""

from __future__ import annotations

import json
import pathlib
from typing import NamedTuple

_PARTS = ("nodes", "links", "flows")


class Study(NamedTuple):
    """Tables of a study: a row for each run, and a row for each value and measure."""

    runs: object
    summary: object


def table(frames, part="links"):
    """A ``pandas.DataFrame`` with a row for each of the ``nodes``, ``links`` or ``flows`` of each frame.

    Columns are ``tick`` and ``time_s``, then the keys of the documents, those of inner ones after a dot:
    ``forward.snr_db``.
    """
    import pandas

    if part not in _PARTS:
        raise ValueError(f"invalid part: found {part!r}, allowed {', '.join(_PARTS)}")
    rows = [
        {"tick": frame.tick, "time_s": frame.time_s, **document}
        for frame in frames
        for document in getattr(frame, part)
    ]
    return pandas.json_normalize(rows)


def read_study(folder):
    """Tables of the folder that ``groundwave study -o FOLDER`` wrote; seeds and digests identify each run."""
    import pandas

    folder = pathlib.Path(folder)
    # Values that were varied are words of the scenario: `true`, `none` and `40` stay apart.
    vary = [name for axis in json.loads((folder / "study.json").read_text())["vary"] for name in axis]
    keys = {name.split("=", 1)[0] for name in vary}
    options = {"keep_default_na": False, "na_values": [""]}
    runs = pandas.read_csv(folder / "runs.csv", dtype={"digest": "string"}, **options)
    summary = pandas.read_csv(folder / "summary.csv", **options)
    missing = keys - set(runs.columns)
    if missing:
        raise ValueError(f"invalid study: found no column {', '.join(sorted(missing))} in runs.csv")
    return Study(runs, summary)
