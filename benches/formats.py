#!/usr/bin/env python3
"""Time and memory of reading recordings of 500,000 rows: benches/formats.py PROGRAM [ROWS].

Each document is read twice, with a quarter of the rows and with all of them: a reader in linear time takes four
times as long. Reading alone is a conversion to a scenario, which takes fewer positions than that and refuses them
when all is read. With --log documents become logs as well: their world runs second by second.
"""

import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

ORIGIN = ["--origin", "57.7,11.9"]


def place(row, node):
    return 57.7 + 0.02 * math.sin(row / 5000 + node), 11.9 + 0.04 * math.cos(row / 7000 + node)


def date(second):
    return f"2026-01-{1 + second // 86400:02d}T{second // 3600 % 24:02d}:{second // 60 % 60:02d}:{second % 60:02d}Z"


def table(rows):
    yield "t,tx,rx,rssi,snr\n"
    for row in range(rows):
        yield f"{row / 50:.2f},n{row % 100},n{(row * 7 + 1) % 100},{-60 - row % 40},{row % 30}\n"


def nmea(rows):
    def sentence(body):
        check = 0
        for octet in body.encode():
            check ^= octet
        return f"${body}*{check:02X}\r\n"

    for row in range(rows):
        second = row // 2
        lat, lon = place(second, 0)
        north = f"{int(lat):02d}{(lat - int(lat)) * 60:08.5f},N"
        east = f"{int(lon):03d}{(lon - int(lon)) * 60:08.5f},E"
        time = f"{second // 3600 % 24:02d}{second // 60 % 60:02d}{second % 60:02d}.00"
        if row % 2:
            yield sentence(f"GPRMC,{time},A,{north},{east},1.0,0.0,{1 + second // 86400:02d}0126,,")
        else:
            yield sentence(f"GPGGA,{time},{north},{east},1,08,0.9,10.0,M,40.0,M,,")


def bonnmotion(rows):
    for node in range(1000):
        points = range(rows // 1000)
        yield " ".join(f"{k * 2} {(k * 13 + node) % 900}.5 {(k * 7 + node * 3) % 900}.25" for k in points) + "\n"


def ns2(rows):
    for node in range(100):
        yield f"$node_({node}) set X_ {node}.0\n$node_({node}) set Y_ {node * 2}.0\n"
    for row in range(rows - 200):
        node = row % 100
        where = f"{row * 13 % 900}.5 {row * 7 % 900}.25"
        yield f'$ns_ at {row // 100 * 2}.{node:02d} "$node_({node}) setdest {where} 2.5"\n'


def sumo(rows):
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<fcd-export>\n'
    for second in range(rows // 100):
        yield f'<timestep time="{second}.00">\n'
        for node in range(100):
            lat, lon = place(second, node)
            yield f'<vehicle id="v{node}" x="{lon:.6f}" y="{lat:.6f}" angle="0" type="c" speed="10" lane="a"/>\n'
        yield "</timestep>\n"
    yield "</fcd-export>\n"


def gpx(rows):
    yield '<?xml version="1.0"?>\n<gpx version="1.1" creator="x"><trk><name>a</name><trkseg>\n'
    for row in range(rows):
        lat, lon = place(row, 0)
        yield f'<trkpt lat="{lat:.7f}" lon="{lon:.7f}"><time>{date(row)}</time></trkpt>\n'
    yield "</trkseg></trk></gpx>\n"


MAPPING = """step_s = 1
[time]
column = "t"
unit = "seconds"
[link]
from = "tx"
to = "rx"
[values]
rx_power_dbm = "rssi"
snr_db = "snr"
"""

# Name, rows, ending, options.
FORMATS = [
    ("CSV table", table, "csv", ["--mapping", "mapping.toml"]),
    ("NMEA", nmea, "nmea", []),
    ("BonnMotion", bonnmotion, "movements", ORIGIN),
    ("ns-2", ns2, "ns2", ORIGIN),
    ("SUMO FCD", sumo, "xml", []),
    ("GPX", gpx, "gpx", []),
]


def measure(words, folder):
    """CPU time, s, and memory, MB, of a command; its exit code."""
    with open(os.devnull, "w", encoding="utf-8") as none:
        process = subprocess.Popen(words, cwd=folder, stdout=none, stderr=none)
        _, status, usage = os.wait4(process.pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, os.waitstatus_to_exitcode(status)


def main():
    words = [word for word in sys.argv[1:] if word != "--log"]
    program, rows = str(pathlib.Path(words[0]).resolve()), int(words[1]) if len(words) > 1 else 500_000
    print(f"| {rows} rows of | a quarter | all | ratio | memory |{' as a log |' if '--log' in sys.argv else ''}")
    for name, generate, ending, options in FORMATS:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "mapping.toml").write_text(MAPPING, encoding="utf-8")
            times = []
            for count in (rows // 4, rows):
                with open(pathlib.Path(folder, f"a.{ending}"), "w", encoding="utf-8", newline="") as document:
                    document.writelines(generate(count))
                words = [program, "convert", f"a.{ending}", "out.toml", "--force", *options]
                times.append(measure(words, folder))
            line = f"| {name} | {times[0][0]:.2f} s | {times[1][0]:.2f} s | {times[1][0] / times[0][0]:.1f} | {times[1][1]:.0f} MB |"
            if "--log" in sys.argv:
                cpu_s, _, code = measure([program, "convert", f"a.{ending}", "out.gwlog", *options], folder)
                line += f" {cpu_s:.1f} s{'' if code == 0 else ' (failed)'} |"
            print(line, flush=True)


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    main()
