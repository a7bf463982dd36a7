#!/bin/sh
# Groundwave beside SPLAT! 1.4.2 (Debian), in one run: same tiles, transmitter, receiver height,
# frequency, radius and ITM parameters. Timed are whole commands, from start to exit: SPLAT! with its
# map (-o), `sweep` with all products it makes unless others are named ("whole"), the same with
# --compression zstd ("zstd") and without products ("units", --shard 1/1).
# Prints wall and CPU seconds, medians of five in turn, and how many times as long SPLAT! takes; then
# how far the two agree, and which difference between them accounts for how much of the rest.
#
#   benches/splat.sh                 # tile N57E011 (made by `make data`): 20 km, 10 km at 1", 50 km
#   benches/splat.sh FOLDER          # the Calgary block and N48W125 from a folder of tiles instead
#   AGREEMENT=no benches/splat.sh    # times only
#
# At 10 km the tile is interpolated to 1"; at 50 km the tiles east and west of N57E011 are copies of it, so that no program skips cells.
# Signal-Server is in no registry of packages: where SIGNAL_SERVER names the program, it is timed with its
# map as well; over tiles of 1" the program of the same name with HD behind it, where there is one.
#
# Needs root for apt-get when splat is not installed, python3, cargo, and the Python of `make gis` for
# the agreement of whole rasters.
set -eu

here=$(cd "$(dirname "$0")/.." && pwd)
shared=${1:-}
data=${GROUNDWAVE_DATA:-$here/.data}
program=${GROUNDWAVE:-${CARGO_TARGET_DIR:-$here/target}/release/groundwave}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

[ -x "$program" ] || { echo "build first: cargo build --release, or set GROUNDWAVE" >&2; exit 1; }
command -v splat > /dev/null || {
    apt-get update -qq && apt-get install -y -qq --no-install-recommends splat > /dev/null
}

# tile FOLDER NAME: puts NAME.hgt into $work/hgt, unpacked.
tile() {
    mkdir -p "$work/hgt"
    for file in "$1/$2.hgt" "$1/$2.hgt.zip"; do
        case $file in
        *.zip) [ -f "$file" ] && python3 -c 'import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
n = [n for n in z.namelist() if n.lower().endswith(".hgt")][0]
open(sys.argv[2], "wb").write(z.read(n))' "$file" "$work/hgt/$2.hgt" && return ;;
        *) [ -f "$file" ] && cp "$file" "$work/hgt/" && return ;;
        esac
    done
    return 1
}

# Seconds of wall and of CPU of a command, in $wall and $cpu.
timed() {
    python3 - "$work/times" "$@" <<'PY' || return
import resource, subprocess, sys, time
start = time.monotonic()
subprocess.run(sys.argv[2:], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
wall = time.monotonic() - start
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write(f"{wall:.3f} {usage.ru_utime + usage.ru_stime:.3f}\n")
PY
    read -r wall cpu < "$work/times"
}

# How often each program runs, and which commands of groundwave.
rounds=${ROUNDS:-1 2 3 4 5}
modes=${MODES:-whole zstd units}

# signal_server PROGRAM LAT LON RADIUS_KM: Signal-Server over the same tiles, with its map. Threads of one
# version read outside of an array, which ends about every second run: the first that draws a map counts.
signal_server() {
    for _ in 1 2 3 4 5 6 7 8 9; do
        rm -f out.png coverage.ppm
        timed "$1" -sdf "$work/sdf" -lat "$2" -lon "$3" -txh 15 -rxh 3 -f 900 -erp 61 -m -dbm \
            -rt -200 -pm 1 -rel 50 -conf 50 -terdic 15 -tercon 0.005 -cl 5 -R "$4" -o coverage \
            2> signal_server.log || continue
        # Its exit status does not tell that it drew nothing. One version calls its map out.png.
        if [ -s out.png ] || [ -s coverage.ppm ]; then
            return
        fi
    done
    echo "$1 drew no map" >&2
    exit 1
}

# median NAME: the run of NAME with the median wall, in $wall and $cpu.
median() {
    middle=$(($(wc -l < "$work/runs-$1") / 2 + 1))
    read -r wall cpu << EOT
$(sort -n "$work/runs-$1" | sed -n ${middle}p)
EOT
}

# scenario NAME LAT LON ARCSEC RADIUS_KM: the same link as SPLAT's, with isotropic antennas.
scenario() {
    cat > "$work/$1.toml" <<TOML
[scenario]
title = "$1"
duration_s = 1
[terrain]
tiles = []
directory = "$work/hgt"
[environment]
climate = "continental_temperate"
refractivity_n_units = 301
permittivity = 15
conductivity_s_m = 0.005
[[radio]]
id = "uhf"
base = "lora_915_us"
frequency_mhz = 900
tx_power_dbm = 50
[[antenna]]
id = "isotropic"
base = "omni_2_15"
gain_dbi = 0
azimuth_beamwidth_deg = 360
elevation_beamwidth_deg = 360
[[node]]
name = "tx"
lat_deg = $2
lon_deg = $3
height_agl_m = 15
radio = "uhf"
antenna = "isotropic"
[coverage]
radius_km = $5
cell_arcsec = $4
[coverage.receiver]
height_agl_m = 3
antenna = "isotropic"
TOML
}

# race NAME SPLAT LAT LON ARCSEC RADIUS_KM
race() {
    name=$1 splat=$2 lat=$3 lon=$4 arcsec=$5 radius=$6
    west=$(python3 -c "print(-($lon))")
    folder="$work/$name"
    mkdir -p "$folder"
    (
        cd "$folder"
        printf '%s\n%s\n%s\n15 meters\n' tx "$lat" "$west" > tx.qth
        printf '%s\n' 15.0 0.005 301.0 900.0 5 1 0.5 0.5 0.0 > tx.lrp
    )
    scenario "$name" "$lat" "$lon" "$arcsec" "$radius"
    # In turn, and the median of each: what else the machine does then hits all alike.
    rm -f "$work"/runs-*
    for _ in $rounds; do
        (
            cd "$folder"
            # Without an ERP the answer is path loss; 250 dB leaves no cell of the circle out.
            timed "$splat" -t tx.qth -L 3 -R "$radius" -metric -d "$work/sdf/" -N -olditm -db 250 \
                -o out.ppm
        )
        cat "$work/times" >> "$work/runs-splat"
        signal=${SIGNAL_SERVER:+$SIGNAL_SERVER$([ "$arcsec" = 3 ] || echo HD)}
        if [ -n "$signal" ] && { [ "$arcsec" = 3 ] || [ -x "$signal" ]; }; then
            (cd "$folder" && signal_server "$signal" "$lat" "$lon" "$radius")
            cat "$work/times" >> "$work/runs-signal"
        fi
        for mode in $modes; do
            case $mode in
            whole) flags="" ;;
            zstd) flags="--compression zstd" ;;
            units) flags="--shard 1/1" ;;
            esac
            rm -rf "${folder:?}/$mode"
            # shellcheck disable=SC2086  # flags or nothing
            timed "$program" sweep "$work/$name.toml" -o "$folder/$mode" $flags
            cat "$work/times" >> "$work/runs-$mode"
        done
    done
    median splat
    splat_wall=$wall splat_cpu=$cpu
    if [ -e "$work/runs-signal" ]; then
        median signal
        echo "$name: Signal-Server $wall s wall, $cpu s CPU"
    fi
    for mode in $modes; do
        median "$mode"
        python3 - "$name" "$mode" "$splat_wall" "$splat_cpu" "$wall" "$cpu" <<'PY'
import json, sys
name, mode = sys.argv[1:3]
splat_wall, splat_cpu, wall, cpu = map(float, sys.argv[3:7])
print(f"{name:12} {mode:5}  splat {splat_wall:6.2f} s wall {splat_cpu:6.2f} s CPU"
      f"  groundwave {wall:6.3f} s wall {cpu:6.3f} s CPU"
      f"  ratio wall {splat_wall/wall:5.1f}  CPU {splat_cpu/cpu:5.1f}")
PY
    done
    [ "${AGREEMENT:-yes}" = yes ] || return 0
    (cd "$folder" && "$splat" -t tx.qth -L 3 -R "$radius" -metric -d "$work/sdf/" -N -olditm -db 250 \
        -ano loss.ano -o out.ppm > /dev/null 2>&1)
    python="$data/gis/bin/python"
    if [ -x "$python" ]; then
        "$python" "$here/benches/splat_agreement.py" "$folder/loss.ano" "$folder"/whole/sites/*.tif \
            50 "$lat" "$lon" "$arcsec"
    fi
    (cd "$here" && cargo bench --quiet --bench agreement -- "$folder/loss.ano" "$work/hgt" "$lat" "$lon")
}

# sdf CONVERT NAME: tile NAME as the others read it.
sdf() {
    (cd "$work/sdf" && "$1" "$work/hgt/$2.hgt" > /dev/null 2>&1)
    # Some versions of Signal-Server join the edges of a tile by "_", and take a missing one for sea.
    for colons in "$work"/sdf/*:*; do
        ln -f "$colons" "$work/sdf/$(basename "$colons" | tr : _)"
    done
}

# prepare CONVERT FOLDER NAME...: tiles for all programs.
prepare() {
    rm -rf "$work/hgt" "$work/sdf"
    mkdir -p "$work/sdf"
    convert=$1
    folder=$2
    shift 2
    for name in "$@"; do
        tile "$folder" "$name" || return 1
        sdf "$convert" "$name"
    done
}

if [ -n "$shared" ] && prepare srtm2sdf "$shared" N50W114 N50W115 N51W114 N51W115; then
    race calgary-20 splat 51.0 -114.0 3 20
    race calgary-50 splat 51.0 -114.0 3 50
    prepare srtm2sdf-hd "$shared" N48W125 && race olympic-10 splat-hd 48.15 -124.35 1 10
else
    prepare srtm2sdf "$data/srtm" N57E011
    race goteborg-20 splat 57.5 11.5 3 20
    for name in N57E010 N57E012; do
        cp "$work/hgt/N57E011.hgt" "$work/hgt/$name.hgt"
        sdf srtm2sdf "$name"
    done
    race goteborg-50 splat 57.5 11.5 3 50
    mkdir -p "$work/fine"
    python3 "$here/benches/finer.py" "$work/hgt/N57E011.hgt" "$work/fine/N57E011.hgt"
    prepare srtm2sdf-hd "$work/fine" N57E011
    race goteborg-10 splat-hd 57.5 11.5 1 10
fi
