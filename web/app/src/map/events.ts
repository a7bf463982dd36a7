// What a map takes from its page and gives to it.
import type { LayerSpecification } from 'maplibre-gl';
import type { View } from './camera';
import type { PointerEvents } from './pointer';
import type { MapTheme } from './theme';

/** Sources and layers of a view, above those of all. */
export interface MoreLayers {
  sources: readonly string[];
  layers(theme: MapTheme): LayerSpecification[];
}

export interface MapEvents extends PointerEvents {
  moved(view: View): void;
  failed(text: string): void;
}
