#!/usr/bin/env python3
"""Ask GDAL whether GeoTIFFs are what they claim to be.

    python cog_check.py FILE.tif[=OTHER.tif] ...

Needs `pip install rasterio rio-cogeo numpy`; with GDAL's own Python package it also runs GDAL's
validator. Beside FILE.tif may lie FILE.f32, the cells as little-endian 32-bit floats, row by row
from the north and in each row band after band: then every cell must read back as it says there.
Behind = is a raster, as a rule of another codec, that must have the same cells, overviews included.
Ends with status 1 when anything is wrong.
"""

import pathlib
import sys

import numpy
import rasterio
from rio_cogeo.cogeo import cog_validate


def faults(path, other):
    valid, errors, warnings = cog_validate(str(path), strict=True, quiet=True)
    yield from [] if valid else ["rio-cogeo: " + text for text in errors + warnings]
    try:
        from osgeo_utils.samples import validate_cloud_optimized_geotiff as gdal_validator
    except ImportError:
        print(f"{path}: GDAL's validator is not installed")
    else:
        warnings, errors, _ = gdal_validator.validate(str(path), full_check=True)
        yield from ["GDAL: " + text for text in errors + warnings]
    with rasterio.open(path) as raster:
        if raster.crs is None or raster.crs.to_epsg() != 4326:
            yield f"reference system is {raster.crs}"
        if raster.transform.e >= 0 or raster.transform.a <= 0:
            yield "north is not up"
        if raster.nodata is None:
            yield "nothing says what is no data"
        if not all(raster.descriptions):
            yield "a band has no name"
        if path.with_suffix(".f32").exists():
            yield from different(raster, path.with_suffix(".f32"))
        levels = len(raster.overviews(1))
    for level in [None, *range(levels)] if other else []:
        if not same(path, other, level):
            yield f"other cells than {other}, overview {level}"


def same(path, other, level):
    options = {} if level is None else {"overview_level": level}
    with rasterio.open(path, **options) as one, rasterio.open(other, **options) as two:
        if (one.shape, one.transform, one.dtypes) != (two.shape, two.transform, two.dtypes):
            return False
        one, two = one.read(masked=True), two.read(masked=True)
    is_masked = numpy.ma.getmaskarray(one)
    if not (is_masked == numpy.ma.getmaskarray(two)).all():
        return False
    return (one.data[~is_masked] == two.data[~is_masked]).all()


def different(raster, cells_path):
    shape = (raster.height, raster.count, raster.width)
    want = numpy.fromfile(cells_path, "<f4").reshape(shape).transpose(1, 0, 2)
    got = raster.read(masked=True)
    if not (numpy.ma.getmaskarray(got) == numpy.isnan(want)).all():
        yield "cells without data are others"
    known = ~numpy.isnan(want)
    if not (got.data[known] == want[known]).all():
        yield "values are others"
    # By position: the middle of cells drawn at random.
    draw = numpy.random.default_rng(57)
    rows, cols = (draw.integers(0, n, 100) for n in (raster.height, raster.width))
    east, south = raster.transform.a, raster.transform.e
    west, north = raster.transform.c, raster.transform.f
    places = [(west + (c + 0.5) * east, north + (r + 0.5) * south) for r, c in zip(rows, cols)]
    for (row, col), sample in zip(zip(rows, cols), raster.sample(places, masked=True)):
        expect = want[:, row, col]
        if not numpy.array_equal(sample.astype("f4").filled(numpy.nan), expect, equal_nan=True):
            yield f"row {row}, column {col} reads {sample}, not {expect}"


def main(paths):
    bad = 0
    for path, _, other in (path.partition("=") for path in paths):
        found = list(faults(pathlib.Path(path), other))
        bad += bool(found)
        print(f"{path}: {'; '.join(found) or 'ok'}")
    return 1 if bad or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
