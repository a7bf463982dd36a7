from collections.abc import Iterable, Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Literal, NamedTuple, TypedDict, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

__version__: str

_Path = str | PathLike[str]
_Climate = Literal[
    "equatorial",
    "continental_subtropical",
    "maritime_subtropical",
    "desert",
    "continental_temperate",
    "maritime_temperate_land",
    "maritime_temperate_sea",
]

class Site(TypedDict):
    lat_deg: float
    lon_deg: float
    station: dict[str, Any]

class LinkDocument(TypedDict):
    samples: int
    ground: Literal["known", "partial", "unknown"]
    verdict: str
    assumptions: dict[str, Any]
    forward: dict[str, Any]
    backward: dict[str, Any]
    percentiles: list[dict[str, float]]

_End = Site | Sequence[float]

class Terrain:
    @classmethod
    def open(
        cls,
        *folders: _Path,
        geoid: _Path | None = None,
        posts: Literal["interpolated", "nearest"] = "interpolated",
        flat_earth: bool = False,
        land_cover: _Path | None = None,
    ) -> Terrain: ...
    @classmethod
    def flat(cls, elevation_msl_m: float = 0.0) -> Terrain: ...
    @classmethod
    def array(
        cls, heights: ArrayLike, bounds: Sequence[float], *, undulation_m: float | None = None
    ) -> Terrain: ...
    def heights(self, lat_deg: ArrayLike, lon_deg: ArrayLike) -> NDArray[np.float64]: ...
    def describe(self) -> dict[str, Any]: ...

class Profile(Mapping[str, NDArray[np.float64]]):
    distance_m: float
    azimuth_deg: float
    back_azimuth_deg: float
    void_samples: int
    missing_samples: int
    def __getitem__(self, name: str) -> NDArray[np.float64]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def to_xarray(self) -> Any: ...

class Coverage(Mapping[str, NDArray[Any]]):
    bounds: tuple[float, float, float, float]
    transform: tuple[float, float, float, float, float, float]
    crs: str
    shape: tuple[int, int]
    first_row: int
    grid_rows: int
    terrain: dict[str, Any]
    @property
    def lat(self) -> NDArray[np.float64]: ...
    @property
    def lon(self) -> NDArray[np.float64]: ...
    def __getitem__(self, name: str) -> NDArray[Any]: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...
    def to_xarray(self) -> Any: ...
    def rasterio_profile(self, *, count: int = 1, dtype: str = "float32") -> dict[str, Any]: ...

class Frame:
    @property
    def tick(self) -> int: ...
    @property
    def time_s(self) -> float: ...
    @property
    def nodes(self) -> list[dict[str, Any]]: ...
    @property
    def links(self) -> list[dict[str, Any]]: ...
    @property
    def flows(self) -> list[dict[str, Any]]: ...
    @property
    def digest(self) -> str: ...
    def document(self) -> dict[str, Any]: ...

class Frames(Iterator[Frame]):
    @property
    def title(self) -> str: ...
    @property
    def outcome(self) -> dict[str, Any] | None: ...
    def __iter__(self) -> Frames: ...
    def __next__(self) -> Frame: ...

class Study(NamedTuple):
    runs: Any
    summary: Any

def table(frames: Iterable[Frame], part: Literal["nodes", "links", "flows"] = "links") -> Any: ...
def read_study(folder: str | PathLike[str]) -> Study: ...
def station(
    lat_deg: float,
    lon_deg: float,
    height_agl_m: float = 10.0,
    *,
    radio: str | dict[str, Any] = "wifi_5g_mesh",
    antenna: str | dict[str, Any] = "omni_9",
    pointing: dict[str, float] | None = ...,
    surroundings: str = ...,
    indoor: str = ...,
) -> Site: ...
def link(
    a: _End,
    b: _End,
    *,
    terrain: Terrain | None = None,
    heights: ArrayLike | None = None,
    environment: dict[str, Any] | None = None,
    packet_bytes: int = 1500,
    samples: int | None = None,
) -> LinkDocument: ...
def profile(
    a: _End,
    b: _End,
    *,
    terrain: Terrain | None = None,
    environment: dict[str, Any] | None = None,
    samples: int | None = None,
) -> Profile: ...
def coverage(
    site: _End,
    *,
    radius_km: float,
    cell_arcsec: float,
    terrain: Terrain | None = None,
    receiver: dict[str, Any] | None = None,
    environment: dict[str, Any] | None = None,
    packet_bytes: int = 1500,
    rows: Sequence[int] | None = None,
) -> Coverage: ...
def itm(
    heights: ArrayLike,
    step_m: float,
    *,
    tx_agl_m: float,
    rx_agl_m: float,
    frequency_mhz: float,
    climate: _Climate = "continental_temperate",
    refractivity_n_units: float = 301.0,
    polarization: Literal["vertical", "horizontal"] = "vertical",
    permittivity: float = 15.0,
    conductivity_s_m: float = 0.005,
    mdvar: int = 12,
    time_percent: float = 50.0,
    location_percent: float = 50.0,
    situation_percent: float = 50.0,
) -> Any: ...
def presets() -> dict[str, list[dict[str, Any]]]: ...
@overload
def validate(path: _Path) -> dict[str, Any]: ...
@overload
def validate(path: None = None, *, text: str) -> dict[str, Any]: ...
def run(
    path: _Path | None = None,
    *,
    text: str | None = None,
    terrain: Terrain | None = None,
    until_s: float | None = None,
) -> Frames: ...
def replay(path: _Path, *, terrain: Terrain | None = None) -> Frames: ...
