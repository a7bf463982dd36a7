"""Terrain of links, profiles, coverages and scenarios."""

from __future__ import annotations

import json
import os

import numpy as np

from . import _native


class Terrain:
    """Ground heights above mean sea level, and a geoid."""

    __slots__ = ("_native",)

    def __init__(self, native):
        self._native = native

    @classmethod
    def open(cls, *folders, geoid=None, posts="interpolated", flat_earth=False, land_cover=None):
        """Folders of SRTM tiles or GeoTIFF files; ``geoid`` is the EGM96 grid WW15MGH.DAC or egm96_15.gtx.

        Ground without a tile is unknown, or at sea level with ``flat_earth``. ``land_cover`` is a folder of GeoTIFF
        files of trees and buildings; with it ITU-R P.1812 is the model where an environment names none.
        """
        folders = [os.fspath(folder) for folder in folders]
        geoid = None if geoid is None else os.fspath(geoid)
        land_cover = None if land_cover is None else os.fspath(land_cover)
        return cls(_native.Terrain.open(folders, geoid, posts, flat_earth, land_cover))

    @classmethod
    def flat(cls, elevation_msl_m=0.0):
        """Ground of one height, m above mean sea level."""
        return cls(_native.Terrain.flat(float(elevation_msl_m)))

    @classmethod
    def array(cls, heights, bounds, *, undulation_m=None):
        """An array of heights, row by row from the north, NaN where there is none.

        ``bounds`` are west, south, east and north of the outer edges of its cells, deg, as rasterio has them.
        """
        heights = np.ascontiguousarray(heights, dtype="<f4")
        if heights.ndim != 2:
            raise ValueError(f"invalid heights: found {heights.ndim} dimensions, allowed 2")
        west, south, east, north = (float(edge) for edge in bounds)
        rows, columns = heights.shape
        extent = {
            "west_deg": west,
            "south_deg": south,
            "east_deg": east,
            "north_deg": north,
            "rows": rows,
            "columns": columns,
            "undulation_m": undulation_m,
        }
        return cls(_native.Terrain.array(json.dumps(extent), heights.tobytes()))

    def heights(self, lat_deg, lon_deg):
        """Heights at positions, NaN where there is none; the arguments broadcast."""
        lat_deg, lon_deg = np.broadcast_arrays(
            np.asarray(lat_deg, dtype=float), np.asarray(lon_deg, dtype=float)
        )
        values = self._native.heights(lat_deg.ravel().tolist(), lon_deg.ravel().tolist())
        return np.frombuffer(values, dtype="<f8").reshape(lat_deg.shape)

    def describe(self):
        """Name, data sets with their licences and attributions, height between posts."""
        return self._native.describe()

    def __repr__(self):
        return f"<groundwave.Terrain: {self.describe()['name']}>"
