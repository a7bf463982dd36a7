"""Coverages as planes with a georeference."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np


class Coverage(Mapping):
    """Planes of a coverage by their names, north up, NaN where a cell has no answer."""

    def __init__(self, planes, facts):
        self._planes = planes
        self.bounds = tuple(facts["bounds_deg"])
        self.transform = tuple(facts["transform"])
        self.crs = facts["crs"]
        self.shape = (facts["rows"], facts["columns"])
        self.first_row = facts["first_row"]
        self.grid_rows = facts["grid_rows"]
        self.terrain = facts["terrain"]

    @classmethod
    def _of(cls, facts, values):
        shape = (len(facts["planes"]), facts["rows"], facts["columns"])
        values = np.frombuffer(values, dtype="<f4").reshape(shape)
        planes = dict(zip(facts["planes"], values))
        planes["flags"] = planes["flags"].astype("u2")
        return cls(planes, facts)

    def __getitem__(self, name):
        return self._planes[name]

    def __iter__(self):
        return iter(self._planes)

    def __len__(self):
        return len(self._planes)

    @property
    def lat(self):
        """Latitudes of the centres of rows, deg, from the north."""
        *_, height, north = self.transform
        return north + (np.arange(self.shape[0]) + 0.5) * height

    @property
    def lon(self):
        """Longitudes of the centres of columns, deg, from the west; beyond 180 across the antimeridian."""
        width, _, west, *_ = self.transform
        return west + (np.arange(self.shape[1]) + 0.5) * width

    def to_xarray(self):
        """An ``xarray.Dataset`` over ``lat`` and ``lon``, with the reference system as attributes."""
        import xarray

        planes = {name: (("lat", "lon"), plane) for name, plane in self._planes.items()}
        attributes = {"crs": self.crs, "transform": self.transform}
        return xarray.Dataset(planes, coords={"lat": self.lat, "lon": self.lon}, attrs=attributes)

    def rasterio_profile(self, *, count=1, dtype="float32"):
        """Keyword arguments of ``rasterio.open(path, "w", ...)`` for planes of this coverage."""
        import rasterio

        rows, columns = self.shape
        return {
            "driver": "GTiff",
            "width": columns,
            "height": rows,
            "count": count,
            "dtype": dtype,
            "crs": self.crs,
            "transform": rasterio.Affine(*self.transform),
            "nodata": float("nan") if dtype.startswith("float") else None,
        }

    def __repr__(self):
        rows, columns = self.shape
        return f"<groundwave.Coverage: {rows} x {columns} cells, {len(self._planes)} planes>"
