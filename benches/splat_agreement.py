#!/usr/bin/env python3
"""How far SPLAT!'s path loss and ours agree, cell by cell.

    splat_agreement.py LOSS.ano SITE.tif TX_POWER_DBM LAT LON ARCSEC

LOSS.ano is SPLAT!'s table of latitude, west longitude, azimuth, elevation and path loss; SITE.tif
our raster of received power with isotropic antennas, so that power and loss add up to TX_POWER_DBM.
LAT and LON are the transmitter's, ARCSEC the spacing of posts.

Two comparisons: with our cell at the place of the row, and with our cell one sample nearer to the
transmitter, where the profile of SPLAT! 1.4.2 ends (see benches/README.md). Its samples lie one post
apart in the plane of latitude and longitude.
"""

import sys

import numpy
import rasterio

loss, raster = sys.argv[1:3]
power, lat, lon, arcsec = map(float, sys.argv[3:7])
rows = []
with open(loss, encoding="ascii", errors="replace") as table:
    for line in table:
        cells = line.split(";")[0].replace("*", "").split(",")
        if len(cells) == 5:
            rows.append([float(cell) for cell in cells])
splat = numpy.array(rows)
north = splat[:, 0] - lat
east = (180 - splat[:, 1] - lon) % 360 - 180
post = arcsec / 3600 / numpy.hypot(north, east)
with rasterio.open(raster) as source:
    band = source.read(1)
    transform = source.transform
for name, share in ("at the cell", 1), ("one sample nearer", 1 - post):
    col = numpy.floor((lon + share * east - transform.c) / transform.a).astype(int)
    row = numpy.floor((lat + share * north - transform.f) / transform.e).astype(int)
    inside = (row >= 0) & (col >= 0) & (row < band.shape[0]) & (col < band.shape[1])
    ours = power - band[row[inside], col[inside]]
    known = ~numpy.isnan(ours)
    difference = (ours - splat[inside, 4])[known]
    far = numpy.abs(difference)
    within = [100 * numpy.mean(far <= db) for db in (1, 3, 6)]
    print(
        f"  rasters, {name} ({far.size} cells): {within[0]:.1f} % within 1 dB, {within[1]:.1f} %"
        f" within 3 dB, {within[2]:.1f} % within 6 dB; median {numpy.median(difference):+.2f} dB,"
        f" mean {difference.mean():+.2f} dB"
    )
