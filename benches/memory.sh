#!/bin/sh
# Memory of a whole sweep over a raster of 20,000 by 20,000 cells, all products on: peak of the
# process, wall and CPU seconds, and what it leaves on the disk.
#
#   benches/memory.sh                # 3 by 3 sites of 4 km radius, over the tile of `make data`
#   benches/memory.sh FOLDER         # the same, its products kept in FOLDER
#   SITES=16 RADIUS_KM=3 benches/memory.sh
#
#   benches/memory.sh --tiles        # units of 40 sites on 40 tiles of 1", within --memory 220
#
# SITES is the number along each side of a square of sites, STACKED the number of masts at each.
# Wants 30 GB of disk where it writes. Prints one line and ends with 1 when the peak is 300 MB or more.
# The 40 tiles are names of one, the tile of `make data` interpolated to 1".
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
data=${GROUNDWAVE_DATA:-$here/.data}
program=${GROUNDWAVE:-${CARGO_TARGET_DIR:-$here/target}/release/groundwave}
sites=${SITES:-3} stacked=${STACKED:-1} radius=${RADIUS_KM:-4} arcsec=${CELL_ARCSEC:-0.15}
choose=${CHOOSE:-3}
[ -x "$program" ] || { echo "build first: cargo build --release, or set GROUNDWAVE" >&2; exit 1; }
work=$(mktemp -d "${TMPDIR:-/tmp}/groundwave-memory.XXXXXX")
trap 'rm -rf "$work"' EXIT

# measure SCENARIO OUT TILES BOUND_MB FLAGS...: one sweep, its peak, wall and CPU.
measure() {
    python3 - "$program" "$@" <<'PY'
import json, os, resource, subprocess, sys, time

program, scenario, out, tiles, bound_mb, *flags = sys.argv[1:]
start = time.monotonic()
subprocess.run([program, "sweep", scenario, "-o", out, "--srtm-dir", tiles, *flags],
               check=True, stdout=subprocess.DEVNULL)
wall = time.monotonic() - start
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
cpu, peak = usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
grid = json.load(open(os.path.join(out, "manifest.json")))["grid"]
held = sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(out) for name in names)
sites = open(scenario).read().count("[[node]]")
print(f"{grid['cols']} x {grid['rows']} cells, {sites} sites: peak {peak / 1e6:.0f} MB, {wall:.0f} s wall, "
      f"{cpu:.0f} s CPU, {held / 1e9:.1f} GB left")
sys.exit(peak >= float(bound_mb) * 1e6)
PY
}

if [ "${1:-}" = --tiles ]; then
    # The tile at the posts of 1", between them in straight lines, under 40 names; a mast by the western
    # edge of each, so that its circle lies on two.
    python3 "$here/benches/finer.py" "$data/srtm/N57E011.hgt" "$work/fine.hgt"
    python3 - "$work" <<'PY'
import os, sys

work = sys.argv[1]
tiles = os.path.join(work, "tiles")
os.mkdir(tiles)
names = [(lat, lon) for lat in range(55, 59) for lon in range(10, 20)]
for lat, lon in names:
    os.link(os.path.join(work, "fine.hgt"), os.path.join(tiles, f"N{lat}E{lon:03}.hgt"))
with open(os.path.join(work, "tiles.toml"), "w") as scenario:
    print("""[scenario]
title = "40 sites on 40 tiles"
duration_s = 1
[terrain]
tiles = ["N55E010"]
[coverage]
radius_km = 8
cell_arcsec = 1
[coverage.receiver]
height_agl_m = 1.5""", file=scenario)
    for lat, lon in names:
        print(f"""[[node]]
name = "mast-{lat}-{lon}"
lat_deg = {lat + 0.5}
lon_deg = {lon + 0.05}
height_agl_m = 25
radio = "lora_868_eu\"""", file=scenario)
PY
    measure "$work/tiles.toml" "$work/out" "$work/tiles" 300 --shard 1/1 --memory "${MEMORY_MB:-220}"
    exit
fi
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

measure "$work/wide.toml" "$out" "$data/srtm" 300 --cells
