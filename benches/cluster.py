#!/usr/bin/env python3
"""Sweeps on a cluster beside one process, and a model of many workers, from what was measured.

    make test-cluster          # builds the program
    benches/cluster.py         # GROUNDWAVE=PROGRAM, ROUNDS=3

Timed are whole commands, from start to exit, medians of ROUNDS in turn: `sweep --threads 1`, the same on a
cluster of one and of two executors with a thread each, all on this machine, with the layers `margin` and
`best_server`. The parts of the model: evaluations a second of a worker (units alone, `--shard 1/1`), intake
(a second driver that finds all units in the store), fold and products (`sweep merge`, 1 and 2 threads). Needs the tile of
`make data`.
"""
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent.parent
CACHE = os.environ.get("GROUNDWAVE_CACHE", str(pathlib.Path.home() / ".cache/groundwave"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
PRODUCTS = ["--products", "margin,best_server"]
# Assumptions of the model that nothing here measures.
CORE_HOUR_USD = 0.04  # a core of a common machine on demand
PUT_USD, GET_USD = 5e-6, 4e-7  # requests to a bucket
NETWORK_BYTES_S = 1.25e9  # of the driver: 10 Gbit/s


def program():
    if "GROUNDWAVE" in os.environ:
        return os.environ["GROUNDWAVE"]
    release = subprocess.run(["rustc", "-V"], capture_output=True, text=True, check=True)
    return f"{CACHE}/target-{release.stdout.split()[1]}-cluster/cluster/groundwave"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def scenario(folder, name, nodes, terrain, coverage):
    text = f'[scenario]\ntitle = "{name}"\nduration_s = 1\n[terrain]\n{terrain}\n'
    for number, (lat, lon) in enumerate(nodes):
        text += (f'[[node]]\nname = "s{number}"\nlat_deg = {lat:.4f}\nlon_deg = {lon:.4f}\n'
                 'height_agl_m = 30\nradio = "wifi_2g4_mesh"\nantenna = "omni_5"\n')
    path = folder / f"{name}.toml"
    path.write_text(f"{text}[coverage]\n{coverage}\n")
    return str(path)


class Bench:
    def __init__(self, folder):
        self.folder = folder
        self.env = dict(os.environ, PLAN_SRTM_DIR=str(HERE / ".data/srtm"), RUST_LOG="warn")
        self.program = program()

    def command(self, *arguments, threads=1):
        return [self.program, "--threads", str(threads), *map(str, arguments)]

    def timed(self, *arguments, threads=1):
        begin = time.monotonic()
        done = subprocess.run(self.command(*arguments, threads=threads), env=self.env, capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"{arguments}: {done.stderr}")
        return time.monotonic() - begin, done.stdout

    def start(self, *arguments):
        return subprocess.Popen(self.command(*arguments), env=self.env, stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def on_cluster(self, path, executors, out, store):
        address = f"127.0.0.1:{free_port()}"
        processes = [self.start("cluster", "scheduler", "--listen", address)]
        time.sleep(1)
        processes += [self.start("cluster", "executor", "--scheduler", f"df://{address}", "--store", store,
                                 "--listen", f"127.0.0.1:{free_port()}") for _ in range(executors)]
        time.sleep(2)
        try:
            took, _ = self.timed("sweep", path, "-o", out, *PRODUCTS, "--cluster", f"df://{address}",
                                 "--store", store)
        finally:
            for process in processes:
                process.kill()
                process.wait()
        return took


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="groundwave-cluster-"))
    try:
        run(folder)
    finally:
        shutil.rmtree(folder)


def run(folder):
    bench = Bench(folder)
    nodes = [(57.35 + 0.1 * row, 11.35 + 0.2 * col) for row in range(3) for col in range(3)]
    path = scenario(folder, "cluster", nodes, 'tiles = ["N57E011"]', "radius_km = 12\ncell_arcsec = 0.6")
    size = json.loads(bench.timed("sweep", path, "--dry-run", "--json")[1])
    times = {"one process": [], "1 executor": [], "2 executors": []}
    units, intake, merge, merge_2 = [], [], [], []
    for number in range(ROUNDS):
        out = lambda name: folder / f"{name}{number}"
        times["one process"].append(bench.timed("sweep", path, "-o", out("one"), *PRODUCTS)[0])
        for executors in (1, 2):
            store = out(f"store{executors}")
            took = bench.on_cluster(path, executors, out(f"on{executors}"), store)
            times["1 executor" if executors == 1 else "2 executors"].append(took)
        units.append(bench.timed("sweep", path, "-o", out("units"), "--shard", "1/1")[0])
        merge.append(bench.timed("sweep", "merge", out("units"), *PRODUCTS)[0])
        merge_2.append(bench.timed("sweep", "merge", out("units"), *PRODUCTS, threads=2)[0])
        intake.append(bench.on_cluster(path, 1, out("again"), out("store1")))
        stored = sum(file.stat().st_size for file in out("store1").rglob("*.unit"))
        for name in ("one", "on1", "on2", "units", "again", "store1", "store2"):
            shutil.rmtree(out(name))
    median = {name: statistics.median(found) for name, found in times.items()}
    print(f"{size['evaluations']} evaluations in {size['units']} units, {stored / 1e6:.0f} MB\n")
    print("| | wall | speed-up |\n|---|---|---|")
    for name, wall in median.items():
        print(f"| {name} | {wall:.1f} s | {median['1 executor'] / wall:.2f} |")
    evaluations = size["evaluations"]
    fold_s = statistics.median(merge)
    take_s = max(statistics.median(intake) - fold_s, 0.01)
    rate = evaluations / statistics.median(units)
    print(f"\nof a worker: {rate / 1e3:.0f} k evaluations/s, {stored / evaluations:.2f} bytes each")
    print(f"of the driver: intake {stored / take_s / 1e6:.0f} MB/s, fold and products {evaluations / fold_s / 1e6:.1f} M/s, "
          f"{evaluations / statistics.median(merge_2) / 1e6:.1f} M/s with two threads")
    model(bench, folder, rate, stored / evaluations, stored / take_s, evaluations / statistics.median(merge_2))


def model(bench, folder, rate, unit_bytes, intake_bytes_s, fold_rate):
    nodes = [(36 + 0.35 * row, -9 + 0.35 * col) for row in range(69) for col in range(112)]
    path = scenario(folder, "continent", nodes, "flat_msl_m = 0",
                    "radius_km = 30\ncell_arcsec = 3")
    took, text = bench.timed("sweep", path, "--dry-run", "--json")
    size = json.loads(text)
    cols, rows = size["raster_cells"]
    stored = size["evaluations"] * unit_bytes
    squares = 26 * 41
    print(f"\nContinent: {len(nodes)} sites, 30 km, 3″: raster {cols} x {rows}, {size['cells'] / 1e9:.2f} G cells near "
          f"sites, {size['units']} units, {size['evaluations'] / 1e9:.1f} G evaluations, {stored / 1e9:.0f} GB of units, "
          f"{squares * 2.88e6 / 1e9:.1f} GB of tiles; planned in {took:.1f} s\n")
    print("| workers (a core each), driver of 2 cores | evaluation | intake | fold and products | whole | cost | bottleneck |")
    print("|---|---|---|---|---|---|---|")
    for workers in (1, 100, 1000):
        evaluation = size["evaluations"] / rate / workers
        intake = stored / min(intake_bytes_s, NETWORK_BYTES_S)
        fold = size["evaluations"] / fold_rate
        # Units are taken in while others are evaluated; the fold follows.
        whole = max(evaluation, intake) + fold
        cost = (workers * evaluation + 2 * whole) / 3600 * CORE_HOUR_USD + size["units"] * (PUT_USD + 2 * GET_USD)
        parts = {"evaluation": evaluation, "intake": intake, "fold": fold}
        hours = lambda s: f"{s / 3600:.2f} h"
        print(f"| {workers} | {hours(evaluation)} | {hours(intake)} | {hours(fold)} | {hours(whole)} | "
              f"{cost:.2f} USD | {max(parts, key=parts.get)} |")


main()
