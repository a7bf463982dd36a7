"""Tests of the installed package, beside the program GROUNDWAVE and the data of `make data` in GROUNDWAVE_DATA.

    GROUNDWAVE=.../groundwave GROUNDWAVE_DATA=.data .data/wheel/bin/python io/python/tests/test_groundwave.py
"""

import inspect
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
from importlib import metadata

import numpy as np

import groundwave as gw

ROOT = pathlib.Path(__file__).resolve().parents[3]
DATA = pathlib.Path(os.environ["GROUNDWAVE_DATA"])
PROGRAM = os.environ["GROUNDWAVE"]
ENDS = [(57.7142, 11.9367, 30.0), (57.8868, 11.5880, 20.0)]


def ground():
    return gw.Terrain.open(DATA / "srtm", geoid=DATA / "geoid/WW15MGH.DAC")


def program(*arguments, codes=(0,)):
    """Standard output of the program."""
    environment = {"HOME": "/nonexistent", "GROUNDWAVE_DATA": str(DATA), "PATH": os.environ["PATH"]}
    command = [PROGRAM, *map(str, arguments)]
    output = subprocess.run(command, capture_output=True, text=True, env=environment, cwd=ROOT)
    assert output.returncode in codes, output.stderr
    return output.stdout


def place(end):
    return ",".join(map(str, end))


class Links(unittest.TestCase):
    def test_link_equals_that_of_the_program_to_the_bit(self):
        compared = 0
        for radio, antenna, environment, options in [
            ("ptp_5g8", "dish_30", None, []),
            ("lora_868_eu", "omni_5", {"model": "p1812", "time_percent": 10}, ["--model", "p1812", "--time", "10"]),
        ]:
            ends = [gw.station(*end, radio=radio, antenna=antenna) for end in ENDS]
            here = gw.link(*ends, terrain=ground(), environment=environment)
            names = ["--radio", radio, "--antenna", antenna, *options]
            there = json.loads(program("link", *map(place, ENDS), *names, "--json"))
            for way in ("forward", "backward"):
                for name in ("tx_node_id", "rx_node_id"):
                    there[way].pop(name)
                    here[way].pop(name, None)
            for key in ("forward", "backward", "percentiles", "assumptions", "samples", "verdict"):
                # JSON writes the shortest text of a float: equal texts are equal bits.
                self.assertEqual(json.dumps(here[key]), json.dumps(there[key]), key)
                compared += 1
        self.assertEqual(compared, 12)

    def test_link_over_land_cover_equals_that_of_the_program_to_the_bit(self):
        ends = ((57.72, 11.95, 40), (57.86, 11.98, 4))
        cover = ROOT / "examples/land-cover"
        terrain = gw.Terrain.open(DATA / "srtm", geoid=DATA / "geoid/WW15MGH.DAC", land_cover=cover)
        stations = [gw.station(*end, radio="lora_868_eu") for end in ends]
        options = ["--radio", "lora_868_eu", "--land-cover", cover, "--json"]
        there = json.loads(program("link", *map(place, ends), *options))
        here = gw.link(*stations, terrain=terrain)
        self.assertEqual(here["forward"]["model"], "p1812")
        losses = [json.dumps(link["forward"]["losses"]) for link in (here, there)]
        self.assertEqual(*losses)
        bare = gw.link(*stations, terrain=ground())
        self.assertEqual(bare["forward"]["model"], "itm")
        self.assertNotEqual(bare["forward"]["losses"], here["forward"]["losses"])
        named = gw.link(*stations, terrain=terrain, environment={"model": "itm"})
        self.assertEqual(named["forward"]["model"], "itm")
        with self.assertRaises(ValueError) as caught:
            gw.Terrain.open(land_cover="/nonexistent")
        self.assertIn("/nonexistent", str(caught.exception))

    def test_link_over_the_heights_of_its_profile_is_the_same_link(self):
        ends = [gw.station(*end, radio="lora_868_eu") for end in ENDS]
        # Heights alone have no geoid.
        terrain = gw.Terrain.open(DATA / "srtm")
        path = gw.profile(*ends, terrain=terrain)
        over = gw.link(*ends, heights=path["elevation_msl_m"])
        there = gw.link(*ends, terrain=terrain)
        self.assertEqual(over["forward"]["losses"], there["forward"]["losses"])
        self.assertEqual(over["samples"], len(path["elevation_msl_m"]))

    def test_link_without_terrain_has_no_verdict(self):
        self.assertEqual(gw.link(*ENDS)["verdict"], "no_terrain_data")
        self.assertNotEqual(gw.link(*ENDS, terrain=gw.Terrain.flat())["verdict"], "no_terrain_data")

    def test_invalid_values_give_errors_with_their_keys(self):
        low = gw.station(57.7, 11.9, -2)
        for call, parts in [
            (lambda: gw.link(ENDS[0], low), ("to.station.height_agl_m", "-2", "[0, 20000]")),
            (lambda: gw.link((97, 11), ENDS[0]), ("invalid from", "97")),
            (lambda: gw.link((57, 11, 5, 1), ENDS[0]), ("4 numbers",)),
            (lambda: gw.link(gw.station(57, 11, radio="lora"), ENDS[0]), ("from.station.radio", "lora_868_eu")),
            (lambda: gw.link(*ENDS, environment={"modell": "itm"}), ("modell", "model")),
            (lambda: gw.link(*ENDS, heights=[1.0, float("nan")]), ("heights", "NaN at 1")),
            (lambda: gw.link(*ENDS, heights=[1.0, 2.0], terrain=gw.Terrain.flat()), ("heights", "terrain")),
            (lambda: gw.Terrain.array([[1, 2]], (11, 58, 12, 57)), ("south below north",)),
            (lambda: gw.Terrain.open("/nonexistent"), ("/nonexistent",)),
            (lambda: gw.Terrain.open(posts="linear"), ("linear", "interpolated, nearest")),
            (lambda: gw.itm([1, 2, 3], 90, tx_agl_m=0, rx_agl_m=2, frequency_mhz=868), ("0 m", "0.5 to 3000 m")),
            (
                lambda: gw.itm([1, 2], 90, tx_agl_m=9, rx_agl_m=2, frequency_mhz=868, climate="polar"),
                ("polar", "equatorial"),
            ),
        ]:
            with self.assertRaises(ValueError) as caught:
                call()
            for part in parts:
                self.assertIn(part, str(caught.exception))
        with self.assertRaises(TypeError):
            gw.link(*ENDS, terrain="srtm")


class Profiles(unittest.TestCase):
    def test_profile_equals_that_of_the_program_to_the_bit(self):
        path = gw.profile(*ENDS, terrain=ground(), samples=64)
        there = json.loads(program("profile", *map(place, ENDS), "--samples", 64, "--json"))
        self.assertEqual(path.distance_m, there["distance_m"])
        for name in path:
            # The program leaves out what is unknown.
            values = np.array([sample.get(name, np.nan) for sample in there["samples"]], dtype=float)
            self.assertTrue(np.array_equal(path[name], values, equal_nan=True), name)
        self.assertEqual(len(path), 9)

    def test_profile_as_xarray_lies_along_the_distance(self):
        data = gw.profile(*ENDS, terrain=ground()).to_xarray()
        self.assertEqual(float(data["elevation_msl_m"][0]), float(ground().heights(*ENDS[0][:2])))


class Coverages(unittest.TestCase):
    SITE = gw.station(57.7, 11.85, 20, radio="wifi_2g4_mesh", antenna="omni_5")
    SCENARIO = """
        [scenario]
        title = "a site"
        duration_s = 1
        [terrain]
        tiles = ["N57E011"]
        [[node]]
        name = "mast"
        lat_deg = 57.7
        lon_deg = 11.85
        height_agl_m = 20
        radio = "wifi_2g4_mesh"
        antenna = "omni_5"
        [coverage]
        radius_km = 3
        cell_arcsec = 6
        """

    def coverage(self, **keys):
        return gw.coverage(self.SITE, radius_km=3, cell_arcsec=6, terrain=ground(), **keys)

    def test_coverage_equals_the_raster_of_a_sweep_to_the_bit(self):
        import rasterio

        here = self.coverage()
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            (folder / "site.toml").write_text(inspect.cleandoc(self.SCENARIO))
            products = ["--products", "margin,power,path_loss,field_strength", "--exact-rasters"]
            out = folder / "out"
            program("sweep", folder / "site.toml", "-o", out, *products, "--scale", "margin=auto")
            names = {
                "link_margin_db": "margin",
                "rx_power_dbm": "rx_power",
                "path_loss_db": "path_loss",
                "field_strength_dbuv_m": "field_strength",
            }
            for plane, name in names.items():
                paths = [path for path in out.rglob("*.tif") if name in path.name]
                self.assertEqual(len(paths), 1, (name, list(out.rglob("*"))))
                with rasterio.open(paths[0]) as raster:
                    self.assertEqual(raster.shape, here.shape)
                    self.assertTrue(np.allclose(raster.bounds, here.bounds, rtol=0, atol=1e-9))
                    cells = raster.read(1, masked=True)
                known = ~np.ma.getmaskarray(cells) & ~np.isnan(here[plane])
                self.assertGreater(known.sum(), here[plane].size // 2)
                bits = [plane_of.view("u4") for plane_of in (cells.data[known], here[plane][known])]
                self.assertTrue((bits[0] == bits[1]).all(), plane)

    def test_planes_have_a_georeference_for_rasterio_and_xarray(self):
        import rasterio

        here = self.coverage()
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "margin.tif"
            with rasterio.open(path, "w", **here.rasterio_profile()) as raster:
                raster.write(here["link_margin_db"], 1)
            with rasterio.open(path) as raster:
                self.assertEqual(raster.crs.to_epsg(), 4326)
                row, column = raster.index(11.86, 57.71)
                sample = next(raster.sample([(11.86, 57.71)]))[0]
        data = here.to_xarray()
        near = data["link_margin_db"].sel(lat=57.71, lon=11.86, method="nearest")
        self.assertEqual(float(near), float(sample))
        self.assertEqual(float(here["link_margin_db"][row, column]), float(sample))
        self.assertEqual(here["flags"].dtype, np.uint16)
        self.assertEqual(here["flags"][0, 0] & 1, 1)

    def test_parts_have_the_bits_of_the_whole(self):
        whole = self.coverage()
        rows = whole.shape[0]
        parts = [self.coverage(rows=rows) for rows in ([0, 11], [11, rows])]
        for name in whole:
            both = np.concatenate([part[name] for part in parts])
            self.assertTrue((both.view("u1") == whole[name].view("u1")).all(), name)
        self.assertAlmostEqual(parts[1].bounds[3], parts[0].bounds[1])
        self.assertEqual(parts[1].first_row, 11)

    def test_an_array_of_heights_is_terrain(self):
        bounds = (11.7, 57.6, 12.0, 57.8)
        north = np.linspace(57.8, 57.6, 241)[:-1] - 0.2 / 480
        east = np.linspace(11.7, 12.0, 361)[:-1] + 0.3 / 720
        heights = ground().heights(north[:, None], east[None, :])
        array = gw.Terrain.array(heights, bounds)
        self.assertAlmostEqual(float(array.heights(57.7, 11.85)), float(ground().heights(57.7, 11.85)), delta=1.5)
        planes = gw.coverage(self.SITE, radius_km=3, cell_arcsec=6, terrain=array)
        known = ~np.isnan(planes["link_margin_db"])
        difference = np.abs(planes["link_margin_db"] - self.coverage()["link_margin_db"])[known]
        self.assertLess(np.median(difference), 1.0)
        self.assertTrue(np.isnan(array.heights(50.0, 11.8)))


class Scenarios(unittest.TestCase):
    PATH = ROOT / "scenarios/two_nodes.toml"

    def test_run_comes_to_the_digest_of_the_program(self):
        there = json.loads(program("run", self.PATH, "--json"))
        frames = gw.run(self.PATH)
        self.assertIsNone(frames.outcome)
        ticks = [frame.tick for frame in frames]
        self.assertEqual(ticks, list(range(1, len(ticks) + 1)))
        self.assertEqual(frames.outcome["digest"], there["digest"])
        self.assertEqual(frames.title, gw.validate(self.PATH)["title"])

    def test_run_over_tiles_needs_terrain_and_comes_to_the_digest_of_the_program(self):
        path = ROOT / "scenarios/gothenburg.toml"
        there = json.loads(program("run", path, "--until", 5, "--json"))
        with self.assertRaises(ValueError) as caught:
            gw.run(path)
        self.assertIn("`terrain` argument", str(caught.exception))
        frames = gw.run(path, terrain=ground(), until_s=5)
        links = [len(frame.links) for frame in frames]
        self.assertEqual(links[-1], len(there["links"]))
        self.assertEqual(frames.outcome["digest"], there["digest"])

    def test_replay_has_the_frames_of_the_run_and_stops_where_its_iterator_is_dropped(self):
        with tempfile.TemporaryDirectory() as folder:
            log = pathlib.Path(folder) / "two.gwlog"
            program("record", self.PATH, "-o", log)
            frames = gw.replay(log)
            last = None
            for frame in frames:
                last = frame
            self.assertGreaterEqual(frames.outcome["marks_compared"], 1)
            self.assertEqual(last.digest, frames.outcome["digest"])
            self.assertGreater(len(last.nodes), 1)
            self.assertEqual(last.document()["tick"], last.tick)
            for _ in range(50):
                next(gw.replay(log))

    def test_invalid_scenarios_give_every_error(self):
        text = self.PATH.read_text().replace("lat_deg = 5", "lat_deg = 95").replace("duration_s", "duration")
        with self.assertRaises(ValueError) as caught:
            gw.validate(text=text)
        self.assertIn("duration", str(caught.exception))
        with self.assertRaises(FileNotFoundError):
            gw.validate("/nonexistent.toml")
        with self.assertRaises(ValueError):
            gw.run(self.PATH, until_s=-1)


    def test_tables_have_a_row_for_each_document_of_each_frame(self):
        links = gw.table(gw.run(self.PATH), "links")
        count = sum(len(frame.links) for frame in gw.run(self.PATH))
        self.assertEqual(len(links), count)
        last = list(gw.run(self.PATH))[-1]
        of_last = links[links["tick"] == last.tick]
        margins = [link["budget"]["forward"]["link_margin_db"] for link in last.links]
        self.assertEqual(of_last["budget.forward.link_margin_db"].tolist(), margins)
        with self.assertRaises(ValueError):
            gw.table([], "cells")

    def test_tables_of_a_study_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "rain"
            vary = "environment.rain_rate_mm_h=0,40"
            program("study", self.PATH, "--vary", vary, "--seeds", 2, "-o", out)
            study = gw.read_study(out)
            self.assertEqual(study.runs["environment.rain_rate_mm_h"].tolist(), [0, 0, 40, 40])
            self.assertEqual(study.runs["seed"].tolist(), [1, 2, 1, 2])
            rain = gw.run(text=self.PATH.read_text() + "\n[environment]\nrain_rate_mm_h = 40\n")
            list(rain)
            self.assertIn(rain.outcome["digest"], study.runs["digest"].tolist()[2:])
            means = study.summary.query("measure == 'links_usable'")["mean"].tolist()
            self.assertEqual(means, study.runs.groupby("environment.rain_rate_mm_h")["links_usable"].mean().tolist())


class Notebooks(unittest.TestCase):
    def test_cells_of_notebooks_run_in_their_order(self):
        import matplotlib

        matplotlib.use("Agg")
        os.environ["GROUNDWAVE_SCENARIOS"] = str(ROOT / "scenarios")
        books = sorted((ROOT / "io/python/notebooks").glob("*.ipynb"))
        self.assertGreaterEqual(len(books), 2)
        for path in books:
            cells = json.loads(path.read_text())["cells"]
            names = {}
            for number, cell in enumerate(cells):
                self.assertFalse(cell.get("outputs"), f"{path.name}: outputs are not part of it")
                if cell["cell_type"] == "code":
                    code = compile("".join(cell["source"]), f"{path.name}[{number}]", "exec")
                    exec(code, names)
            self.assertTrue(matplotlib.pyplot.get_fignums(), path.name)
            matplotlib.pyplot.close("all")


class Package(unittest.TestCase):
    def test_stubs_name_every_function_with_its_parameters(self):
        import ast

        stub = ast.parse(pathlib.Path(gw.__file__).with_suffix(".pyi").read_text())
        functions = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
        names = {node.name for node in stub.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        self.assertLessEqual(set(gw.__all__), names)
        self.assertTrue(pathlib.Path(gw.__file__).with_name("py.typed").exists())
        for name in ("link", "profile", "coverage", "itm", "run", "replay"):
            stated = functions[name].args
            stated = [argument.arg for argument in stated.args + stated.kwonlyargs]
            self.assertEqual(stated, list(inspect.signature(getattr(gw, name)).parameters), name)

    def test_itm_of_rows_is_that_of_each(self):
        rows = np.random.default_rng(57).uniform(0, 300, (5, 60))
        keys = {"tx_agl_m": 10, "rx_agl_m": 2, "frequency_mhz": 868}
        losses = gw.itm(rows, 90.0, **keys)
        self.assertEqual(losses.tolist(), [gw.itm(row, 90.0, **keys) for row in rows])

    def test_presets_have_names_that_stations_take(self):
        presets = gw.presets()
        self.assertIn("lora_868_eu", [radio["id"] for radio in presets["radios"]])
        for antenna in presets["antennas"]:
            gw.link(gw.station(57, 11, antenna=antenna["id"]), (57.1, 11), terrain=gw.Terrain.flat())


class Wheel(unittest.TestCase):
    def test_tag_of_the_wheel_has_the_c_library_that_its_module_needs(self):
        """PEP 600: manylinux_X_Y runs over glibc X.Y and later, so no symbol may be of a later version."""
        tags = re.findall(r"^Tag: (\S+)$", metadata.distribution("groundwave").read_text("WHEEL"), re.M)
        self.assertEqual(len(tags), 1, tags)
        self.assertTrue(tags[0].startswith("cp310-abi3-manylinux_"), tags)
        tag = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)_", tags[0]).groups()))
        module = pathlib.Path(gw._native.__file__).read_bytes()
        versions = {tuple(map(int, version.split(b"."))) for version in re.findall(rb"\x00GLIBC_([0-9.]+)(?=\x00)", module)}
        self.assertTrue(versions)
        self.assertLessEqual(max(versions), tag, tags)
        # Libraries of other packages would not be on the machine.
        libraries = set(re.findall(rb"\x00(lib[a-z_+-]+\.so\.[0-9]+)(?=\x00)", module))
        allowed = {b"libc.so.6", b"libm.so.6", b"libgcc_s.so.1", b"libpthread.so.0", b"libdl.so.2", b"librt.so.1"}
        self.assertLessEqual(libraries, allowed)


if __name__ == "__main__":
    unittest.main()
