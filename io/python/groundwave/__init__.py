"""Link budgets, coverage and simulation of wireless meshes over terrain.

Stations, environments and results are dictionaries with the keys of scenario files; heights and planes are NumPy
arrays. Values out of range raise ``ValueError`` with the key, the value found and the values allowed.
"""

from __future__ import annotations

import json
import os

import numpy as np

from . import _native
from ._coverage import Coverage
from ._native import Frame, Frames
from ._profile import Profile
from ._tables import Study, read_study, table
from ._terrain import Terrain

__all__ = [
    "Coverage",
    "Frame",
    "Frames",
    "Profile",
    "Study",
    "Terrain",
    "coverage",
    "itm",
    "link",
    "presets",
    "profile",
    "read_study",
    "replay",
    "run",
    "station",
    "table",
    "validate",
]
__version__ = _native.version()

_CLIMATES = {
    "equatorial": 1,
    "continental_subtropical": 2,
    "maritime_subtropical": 3,
    "desert": 4,
    "continental_temperate": 5,
    "maritime_temperate_land": 6,
    "maritime_temperate_sea": 7,
}
_POLARIZATIONS = {"horizontal": 0, "vertical": 1}


def station(lat_deg, lon_deg, height_agl_m=10.0, *, radio="wifi_5g_mesh", antenna="omni_2_15", **keys):
    """A station at a position.

    ``radio`` and ``antenna`` are names of presets (see :func:`presets`) or documents; further keys are
    ``pointing``, ``surroundings`` and ``indoor``.
    """
    document = {"height_agl_m": float(height_agl_m), "radio": radio, "antenna": antenna, **keys}
    return {"lat_deg": float(lat_deg), "lon_deg": float(lon_deg), "station": document}


def _end(end):
    """A station, or a position with the station of defaults."""
    if isinstance(end, dict):
        return end
    numbers = tuple(end)
    if len(numbers) not in (2, 3):
        raise ValueError(
            f"invalid station: found {len(numbers)} numbers, allowed latitude, longitude and, if wanted, height"
        )
    return station(*numbers)


def _environment(environment, terrain):
    """The environment with the model over its terrain, where it names none."""
    if terrain is None or "model" in (environment or {}):
        return environment
    return {**(environment or {}), "model": _native_terrain(terrain).model}


def _request(a, b, environment, packet_bytes, samples):
    request = {"from": _end(a), "to": _end(b), "packet_bytes": packet_bytes}
    if environment is not None:
        request["environment"] = environment
    if samples is not None:
        request["samples"] = samples
    return json.dumps(request)


def _native_terrain(terrain):
    if terrain is None:
        return None
    if isinstance(terrain, Terrain):
        return terrain._native
    raise TypeError(f"invalid terrain: found {type(terrain).__name__}, allowed groundwave.Terrain or None")


def link(a, b, *, terrain=None, heights=None, environment=None, packet_bytes=1500, samples=None):
    """Budget of a link from ``a`` to ``b`` and back.

    Over ``terrain``, or over ``heights``: evenly spaced along the path from ``a`` to ``b``, both included, m above
    mean sea level.
    """
    request = _request(a, b, _environment(environment, terrain), packet_bytes, samples)
    if heights is None:
        return json.loads(_native.link(request, _native_terrain(terrain)))
    if terrain is not None:
        raise ValueError("invalid heights: found terrain too, allowed either of them")
    heights = np.ascontiguousarray(heights, dtype="<f8")
    if heights.ndim != 1:
        raise ValueError(f"invalid heights: found {heights.ndim} dimensions, allowed 1")
    return json.loads(_native.link_over(request, heights.tobytes()))


def profile(a, b, *, terrain=None, environment=None, samples=None):
    """Ground between ``a`` and ``b`` with Earth bulge, ray and Fresnel zone, as arrays."""
    request = _request(a, b, _environment(environment, terrain), 1500, samples)
    text, values = _native.path(request, _native_terrain(terrain))
    return Profile._of(json.loads(text), values)


def coverage(
    site,
    *,
    radius_km,
    cell_arcsec,
    terrain=None,
    receiver=None,
    environment=None,
    packet_bytes=1500,
    rows=None,
):
    """Coverage around ``site`` as planes of 32-bit floats, NaN where a cell has no answer.

    The receiver has the radio of the site with ``omni_2_15`` at 1.5 m by default. ``rows`` restricts the work to
    some rows, for parts on several machines: any partition gives the same bits.
    """
    request = {
        "site": _end(site),
        "radius_km": radius_km,
        "cell_arcsec": cell_arcsec,
        "packet_bytes": packet_bytes,
    }
    environment = _environment(environment, terrain)
    for key, value in (("receiver", receiver), ("environment", environment), ("rows", rows)):
        if value is not None:
            request[key] = value
    text, values = _native.coverage(json.dumps(request), _native_terrain(terrain))
    return Coverage._of(json.loads(text), values)


def itm(
    heights,
    step_m,
    *,
    tx_agl_m,
    rx_agl_m,
    frequency_mhz,
    climate="continental_temperate",
    refractivity_n_units=301.0,
    polarization="vertical",
    permittivity=15.0,
    conductivity_s_m=0.005,
    mdvar=12,
    time_percent=50.0,
    location_percent=50.0,
    situation_percent=50.0,
):
    """Basic transmission loss by the Irregular Terrain Model, dB.

    ``heights`` are evenly spaced by ``step_m``, m above mean sea level: one path, or a path in each row.
    """
    for name, value, codes in (
        ("climate", climate, _CLIMATES),
        ("polarization", polarization, _POLARIZATIONS),
    ):
        if value not in codes:
            raise ValueError(f"invalid {name}: found {value!r}, allowed {', '.join(codes)}")
    heights = np.ascontiguousarray(heights, dtype="<f8")
    if heights.ndim not in (1, 2):
        raise ValueError(f"invalid heights: found {heights.ndim} dimensions, allowed 1 or 2")
    losses = _native.itm(
        heights.tobytes(),
        heights.shape[-1],
        step_m,
        tx_agl_m,
        rx_agl_m,
        _CLIMATES[climate],
        refractivity_n_units,
        frequency_mhz,
        _POLARIZATIONS[polarization],
        permittivity,
        conductivity_s_m,
        mdvar,
        [time_percent, location_percent, situation_percent],
    )
    losses = np.frombuffer(losses, dtype="<f8")
    return float(losses[0]) if heights.ndim == 1 else losses


def presets():
    """Radios and antennas to begin with: lists of documents with ``id``, ``name`` and ``source``."""
    return json.loads(_native.presets())


def _scenario(path, text):
    if path is not None:
        # The errors of the file system are those of Python.
        os.stat(path)
    return {"path": path, "text": text}


def validate(path=None, *, text=None):
    """Title, nodes and duration of a scenario; ``ValueError`` with every error in it."""
    return _native.validate(**_scenario(path, text))


def run(path=None, *, text=None, terrain=None, until_s=None):
    """Simulates a scenario; an iterator of frames, one a tick."""
    return _native.run(**_scenario(path, text), terrain=_native_terrain(terrain), until_s=until_s)


def replay(path, *, terrain=None):
    """Replays a log; an iterator of frames. A digest that differs from that in the log raises ``ValueError``."""
    os.stat(path)
    return _native.replay(path, terrain=_native_terrain(terrain))
