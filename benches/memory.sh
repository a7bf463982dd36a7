#!/bin/sh
# Memory of a whole sweep over a raster of 20,000 by 20,000 cells, all products on: peak of the
# process, wall and CPU seconds, and what it leaves on the disk.
#
#   benches/memory.sh                # 3 by 3 sites of 4 km radius, over the tile of `make data`
#   benches/memory.sh FOLDER         # the same, its products kept in FOLDER
#   SITES=16 RADIUS_KM=3 benches/memory.sh
#
# SITES is the number along each side of a square of sites, STACKED the number of masts at each.
# Wants 30 GB of disk where it writes. Prints one line and ends with 1 when the peak is 2 GB or more.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
data=${GROUNDWAVE_DATA:-$here/.data}
program=${GROUNDWAVE:-${CARGO_TARGET_DIR:-$here/target}/release/groundwave}
sites=${SITES:-3} stacked=${STACKED:-1} radius=${RADIUS_KM:-4} arcsec=${CELL_ARCSEC:-0.15}
choose=${CHOOSE:-3}
[ -x "$program" ] || { echo "build first: cargo build --release, or set GROUNDWAVE" >&2; exit 1; }
work=$(mktemp -d "${TMPDIR:-/tmp}/groundwave-memory.XXXXXX")
trap 'rm -rf "$work"' EXIT
out=${1:-$work/out}

python3 - "$sites" "$stacked" "$radius" "$arcsec" "$choose" "$data/srtm" > "$work/wide.toml" <<'PY'
import math, sys

sites, stacked, radius_km, arcsec, choose = int(sys.argv[1]), int(sys.argv[2]), *map(float, sys.argv[3:6])
# The circles at the rim end at the raster's edges, whose sides are 20,000 cells.
side_deg = 20_000 * arcsec / 3600
south, west = 57.0 + (1 - side_deg) / 2, 11.0 + (1 - side_deg) / 2
high = radius_km / 111.3
def wide(lat): return math.degrees(math.asin(math.sin(radius_km / 6356.752) / math.cos(math.radians(lat)))) * 1.01
print(f'''[scenario]
title = "A raster of 20,000 by 20,000 cells"
duration_s = 1
[terrain]
tiles = ["N57E011"]
[coverage]
radius_km = {radius_km}
cell_arcsec = {arcsec}
choose = {int(choose)}
margin_db = 6
[coverage.receiver]
height_agl_m = 1.5''')
for i in range(sites):
    for j in range(sites):
        def along(low, length, margin, k):
            at = k / (sites - 1) if sites > 1 else 0.5
            return low + margin + at * (length - 2 * margin)
        lat = along(south, side_deg, high, i)
        lon = along(west, side_deg, wide(south + side_deg - high), j)
        for k in range(stacked):
            print(f'''[[node]]
name = "mast-{i}-{j}-{k}"
lat_deg = {lat + 1e-4 * k:.6f}
lon_deg = {lon:.6f}
height_agl_m = {25 + 5 * k}
radio = "lora_868_eu"''')
PY

python3 - "$program" "$work/wide.toml" "$out" "$data/srtm" <<'PY'
import json, os, resource, subprocess, sys, time

program, scenario, out, tiles = sys.argv[1:]
start = time.monotonic()
subprocess.run([program, "sweep", scenario, "-o", out, "--cells", "--srtm-dir", tiles],
               check=True, stdout=subprocess.DEVNULL)
wall = time.monotonic() - start
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
cols, rows = json.load(open(os.path.join(out, "summary.json")))["raster_cells"]
held = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(out) for name in names)
sites = open(scenario).read().count("[[node]]")
print(f"{cols} x {rows} cells, {sites} sites: peak {peak / 1e6:.0f} MB, {wall:.0f} s wall, {cpu:.0f} s CPU, "
      f"{held / 1e9:.1f} GB left")
sys.exit(peak >= 2e9)
PY
