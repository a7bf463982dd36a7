// Roads, waterways, boundaries and names of a PMTiles archive that the server was given: lines and names
// over the ground, without areas, so that relief and coverage stay visible.
import { addProtocol, type LayerSpecification, type Map as MapLibre } from 'maplibre-gl';
import { FONT } from './style';
import type { MapTheme } from './theme';

const SOURCE = 'basemap';

/** What the layers of the usual schemas (Protomaps, OpenMapTiles) are; others are lines and names. */
const BOUNDARIES: readonly string[] = ['boundaries', 'boundary'];
const WATERWAYS: readonly string[] = ['water', 'waterway'];
const PLACES: readonly string[] = ['places', 'place'];

interface Colours {
  road: string;
  water: string;
  boundary: string;
}

const COLOURS: Record<'light' | 'dark', Colours> = {
  light: { road: '#7d6c55', water: '#4a86b5', boundary: '#7b5c8e' },
  dark: { road: '#a08f78', water: '#5b93bd', boundary: '#a78fbc' },
};

/** Layers of a vector archive. */
function vectorLayers(names: readonly string[], theme: MapTheme): LayerSpecification[] {
  const colours = COLOURS[theme.name];
  const rank = (name: string) => (WATERWAYS.includes(name) ? 0 : BOUNDARIES.includes(name) ? 1 : PLACES.includes(name) ? 3 : 2);
  return [...names]
    .sort((a, b) => rank(a) - rank(b))
    .flatMap((name): LayerSpecification[] => {
      const common = { source: SOURCE, 'source-layer': name };
      const boundary = BOUNDARIES.includes(name);
      const colour = boundary ? colours.boundary : WATERWAYS.includes(name) ? colours.water : colours.road;
      return [
        {
          ...common,
          id: `basemap-${name}`,
          type: 'line',
          filter: ['==', ['geometry-type'], 'LineString'],
          paint: {
            'line-color': colour,
            'line-opacity': 0.75,
            'line-width': ['interpolate', ['linear'], ['zoom'], 8, 0.5, 14, 1.8],
            ...(boundary ? { 'line-dasharray': [3, 2] } : {}),
          },
        },
        {
          ...common,
          id: `basemap-${name}-names`,
          type: 'symbol',
          filter: ['all', ['has', 'name'], ['==', ['geometry-type'], 'Point']],
          layout: {
            'text-field': ['get', 'name'],
            'text-font': [FONT],
            'text-size': PLACES.includes(name) ? 12 : 10.5,
            'text-max-width': 8,
          },
          paint: { 'text-color': theme.text, 'text-opacity': 0.8, 'text-halo-color': theme.halo, 'text-halo-width': 1.4 },
        },
      ];
    });
}

/** A base map below the layer `before`. */
export class Basemap {
  #layers: (theme: MapTheme) => LayerSpecification[] = () => [];
  /** Names of its layers. */
  ids: readonly string[] = [];

  constructor(
    private readonly map: MapLibre,
    private readonly before: string,
  ) {}

  async open(path: string, theme: MapTheme): Promise<void> {
    const { PMTiles, Protocol, TileType } = await import('pmtiles');
    const url = `${location.origin}${path}`;
    const archive = new PMTiles(url);
    const protocol = new Protocol({ metadata: true });
    protocol.add(archive);
    addProtocol('pmtiles', protocol.tile);
    const [header, metadata] = await Promise.all([
      archive.getHeader(),
      archive.getMetadata() as Promise<{ vector_layers?: { id: string }[] }>,
    ]);
    const vector = header.tileType === TileType.Mvt;
    const names = (metadata.vector_layers ?? []).map(({ id }) => id);
    this.#layers = (now) =>
      vector ? vectorLayers(names, now) : [{ id: 'basemap-picture', type: 'raster', source: SOURCE, paint: { 'raster-opacity': 0.6 } }];
    this.map.addSource(SOURCE, { type: vector ? 'vector' : 'raster', url: `pmtiles://${url}`, ...(vector ? {} : { tileSize: 256 }) });
    const layers = this.#layers(theme);
    for (const layer of layers) this.map.addLayer(layer, this.before);
    this.ids = layers.map(({ id }) => id);
  }

  restyle(theme: MapTheme): void {
    for (const layer of this.#layers(theme))
      for (const [name, value] of Object.entries(layer.paint ?? {})) this.map.setPaintProperty(layer.id, name as never, value as never);
  }

  show(shown: boolean): void {
    for (const id of this.ids) this.map.setLayoutProperty(id, 'visibility', shown ? 'visible' : 'none');
  }
}
