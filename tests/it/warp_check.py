#!/usr/bin/env python3
"""Compare rasters in metres with what GDAL makes of the same rasters in degrees.

    python warp_check.py EPSG FOLDER FILE.tif ...

FOLDER has the rasters in degrees under the same names. Categories must be those of the nearest cell,
levels those of four cells by their nearness. Ends with status 1 when anything is wrong.
"""

import pathlib
import sys

import numpy
import rasterio
from rasterio.warp import Resampling, reproject
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
        for band in range(1, raster.count + 1):
            want = numpy.full(raster.shape, numpy.nan, "f4")
            cells = degrees.read(band, masked=True).astype("f4").filled(numpy.nan)
            reproject(
                cells,
                want,
                src_transform=degrees.transform,
                src_crs=degrees.crs,
                src_nodata=numpy.nan,
                dst_transform=raster.transform,
                dst_crs=raster.crs,
                dst_nodata=numpy.nan,
                resampling=Resampling.bilinear if is_level else Resampling.nearest,
                tolerance=0,
            )
            got = raster.read(band, masked=True).astype("f4").filled(numpy.nan)
            known = ~numpy.isnan(want)
            # Where a position lies on the edge of a cell, the last bit decides; at the edge of data GDAL's
            # choice of cells differs.
            if (known != ~numpy.isnan(got)).mean() > 0.01:
                yield f"band {band}: {(known != ~numpy.isnan(got)).sum()} cells have no data in one alone"
            both = known & ~numpy.isnan(got)
            if both.sum() < 1000:
                yield f"band {band}: {both.sum()} cells with data"
            gap = numpy.abs(got[both] - want[both])
            wrong = (gap > (0.05 if is_level else 0)).mean()
            if wrong > 0.002:
                yield f"band {band}: {wrong:.2%} of cells differ, by up to {gap.max()}"


def main(epsg, folder, paths):
    bad = 0
    for path in map(pathlib.Path, paths):
        found = list(faults(path, pathlib.Path(folder) / path.name, int(epsg)))
        bad += bool(found)
        print(f"{path.name}: {'; '.join(found) or 'ok'}")
    return 1 if bad or not paths else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3], sys.argv[3:]))
