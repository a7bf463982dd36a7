#!/usr/bin/env python3
"""How far SPLAT!'s path loss and ours agree, cell by cell.

    splat_agreement.py LOSS.ano SITE.tif TX_POWER_DBM

LOSS.ano is SPLAT!'s table of latitude, west longitude, azimuth, elevation and path loss; SITE.tif
our raster of received power with isotropic antennas, so that power and loss add up to TX_POWER_DBM.
"""

import sys

import numpy
import rasterio

loss, raster, power = sys.argv[1], sys.argv[2], float(sys.argv[3])
rows = []
with open(loss, encoding="ascii", errors="replace") as table:
    for line in table:
        cells = line.split(";")[0].replace("*", "").split(",")
        if len(cells) == 5:
            rows.append([float(cell) for cell in cells])
splat = numpy.array(rows)
with rasterio.open(raster) as source:
    band = source.read(1)
    col = numpy.floor((-splat[:, 1] - source.transform.c) / source.transform.a).astype(int)
    row = numpy.floor((splat[:, 0] - source.transform.f) / source.transform.e).astype(int)
inside = (row >= 0) & (col >= 0) & (row < band.shape[0]) & (col < band.shape[1])
ours = power - band[row[inside], col[inside]]
known = ~numpy.isnan(ours)
difference = (ours - splat[inside, 4])[known]
far = numpy.abs(difference)
share = lambda db: 100 * numpy.mean(far <= db)
print(
    f"  agreement over {far.size} cells: {share(1):.1f} % within 1 dB, {share(3):.1f} % within 3 dB,"
    f" {share(6):.1f} % within 6 dB; median {numpy.median(difference):+.2f} dB,"
    f" mean {difference.mean():+.2f} dB"
)
