#!/usr/bin/env python3
"""Compare rasters in metres with the same rasters in degrees, at the positions that PROJ gives.

    python warp_check.py EPSG FOLDER FILE.tif ...

FOLDER has the rasters in degrees under the same names. Categories must be those of the nearest cell,
levels those of four cells by their nearness (GDAL's warper takes positions 0.125 cells off). Ends with status
1 when anything is wrong.
"""

import pathlib
import sys

import numpy
import rasterio
from rasterio.warp import transform
from rio_cogeo.cogeo import cog_validate


def faults(path, source, epsg):
    valid, errors, warnings = cog_validate(str(path), strict=True, quiet=True)
    yield from [] if valid else ["rio-cogeo: " + text for text in errors + warnings]
    with rasterio.open(path) as raster, rasterio.open(source) as degrees:
        if raster.crs is None or raster.crs.to_epsg() != epsg:
            yield f"reference system is {raster.crs}"
            return
        if not raster.crs.is_projected or raster.crs.linear_units != "metre":
            yield "the unit is not the metre"
        if raster.transform.a != -raster.transform.e or raster.transform.a <= 0:
            yield "cells are not square with north up"
        if (raster.descriptions, raster.units) != (degrees.descriptions, degrees.units):
            yield "bands have other names or units"
        is_level = raster.dtypes[0] == "float32"
        col, row = positions(raster, degrees)
        for band in range(1, raster.count + 1):
            cells = degrees.read(band, masked=True).astype("f8").filled(numpy.nan)
            got = raster.read(band, masked=True).astype("f8").filled(numpy.nan)
            nearest = take(cells, numpy.floor(row), numpy.floor(col))
            want = bilinear(cells, row, col) if is_level else nearest
            if (numpy.isnan(nearest) != numpy.isnan(got)).mean() > 1e-4:
                yield f"band {band}: other cells have no data"
            both = ~numpy.isnan(want) & ~numpy.isnan(got)
            if both.sum() < 1000:
                yield f"band {band}: {both.sum()} cells with data"
            # A category at the edge of two cells hangs on the last bit of the position.
            gap = numpy.abs(got[both] - want[both])
            wrong = (gap > (1e-4 if is_level else 0)).mean()
            if wrong > 1e-4:
                yield f"band {band}: {wrong:.2%} of cells differ, by up to {gap.max()}"


def positions(raster, degrees):
    """Column and row in the raster in degrees of the middle of each cell, by PROJ."""
    rows, cols = numpy.mgrid[0 : raster.height, 0 : raster.width] + 0.5
    east, north = raster.transform * (cols.ravel(), rows.ravel())
    lon, lat = transform(raster.crs, degrees.crs, east, north)
    col, row = ~degrees.transform * (numpy.array(lon), numpy.array(lat))
    return col.reshape(raster.shape), row.reshape(raster.shape)


def take(cells, row, col):
    """Cells by row and column; NaN off the raster."""
    inside = (row >= 0) & (col >= 0) & (row < cells.shape[0]) & (col < cells.shape[1])
    values = numpy.full(row.shape, numpy.nan)
    values[inside] = cells[row[inside].astype(int), col[inside].astype(int)]
    return values


def bilinear(cells, row, col):
    """Mean of four cells by nearness; NaN where one of them has no data."""
    top, left = numpy.floor(row - 0.5), numpy.floor(col - 0.5)
    down, right = row - 0.5 - top, col - 0.5 - left
    north = take(cells, top, left) * (1 - right) + take(cells, top, left + 1) * right
    south = take(cells, top + 1, left) * (1 - right) + take(cells, top + 1, left + 1) * right
    return north * (1 - down) + south * down


def main(epsg, folder, paths):
    bad = 0
    for path in map(pathlib.Path, paths):
        found = list(faults(path, pathlib.Path(folder) / path.name, int(epsg)))
        bad += bool(found)
        print(f"{path.name}: {'; '.join(found) or 'ok'}")
    return 1 if bad or not paths else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3], sys.argv[3:]))
