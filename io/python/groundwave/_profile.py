"""Terrain profiles as columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


class Profile(Mapping):
    """Columns of a terrain profile by their names, each an array with a value per sample."""

    def __init__(self, columns, facts):
        self._columns = columns
        self.distance_m = facts["distance_m"]
        self.azimuth_deg = facts["azimuth_deg"]
        self.back_azimuth_deg = facts["back_azimuth_deg"]
        self.void_samples = facts["void_samples"]
        self.missing_samples = facts["missing_samples"]

    @classmethod
    def _of(cls, facts, values):
        names = facts["columns"]
        values = np.frombuffer(values, dtype="<f8").reshape(len(names), facts["samples"])
        return cls(dict(zip(names, values)), facts)

    def __getitem__(self, name):
        return self._columns[name]

    def __iter__(self):
        return iter(self._columns)

    def __len__(self):
        return len(self._columns)

    def to_xarray(self):
        """An ``xarray.Dataset`` along ``distance_m``."""
        import xarray

        columns = {name: ("distance_m", values) for name, values in self._columns.items() if name != "distance_m"}
        return xarray.Dataset(columns, coords={"distance_m": self._columns["distance_m"]})

    def __repr__(self):
        samples = len(self._columns["distance_m"])
        return f"<groundwave.Profile: {self.distance_m:.0f} m, {samples} samples>"
