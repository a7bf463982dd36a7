// What is shown and selected; nothing here is stored on the server.
import type { Surroundings } from '../api/client';
import type { LatLon } from '../geo';
import { PER_NODE } from '../map/ranked';
import { PHONE_MAX_PX } from '../breakpoints';
import { SELECTED_MAX } from './url';
import type { Units } from '../units';

/** Views of the page. */
export type Mode = 'plan' | 'live' | 'replay';
export type Tab = 'nodes' | 'links' | 'coverage' | 'tools';
export type Tool = 'select' | 'add' | 'link' | 'scan';
export type Theme = 'system' | 'light' | 'dark';
export type Sheet = 'map' | Tab;

export interface PlaceMenu {
  x: number;
  y: number;
  place: LatLon;
  node?: string;
}

export type Drawer = 'folded' | 'low' | 'tall';

const DRAWERS: readonly Drawer[] = ['folded', 'low', 'tall'];

export interface Message {
  id: number;
  text: string;
  bad: boolean;
  /** What can be done about it while it is shown. */
  action?: Action | undefined;
}

export interface Action {
  label: string;
  act: () => void;
}

/** Values under the pointer. */
export interface Readout {
  place: LatLon;
  ground_m: number | null;
  missing: boolean;
  /** Trees or buildings there, where land cover is known. */
  cover?: { kind: Surroundings; height_agl_m: number } | null;
}

export function stored<T extends string>(key: string, allowed: readonly T[], usual: T): T {
  try {
    const found = localStorage.getItem(`groundwave.${key}`) as T | null;
    return found && allowed.includes(found) ? found : usual;
  } catch {
    return usual;
  }
}

export function store(key: string, value: string): void {
  try {
    localStorage.setItem(`groundwave.${key}`, value);
  } catch {
    // A browser that stores nothing forgets the choice; the page works.
  }
}

/** Copies a text; false where the browser does not allow it, as without HTTPS, where it has no clipboard. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

const MESSAGE_SHOWN_MS = 6000;
/** The same of a message with an action, ms. */
const ACTION_SHOWN_MS = 10_000;

export class Ui {
  mode = $state<Mode>('plan');
  tab = $state<Tab>('nodes');
  sheet = $state<Sheet>('map');
  tool = $state<Tool>('select');
  /** Ids of the selected nodes, in the order of selection. */
  selected = $state.raw<string[]>([]);
  filter = $state('');
  readout = $state.raw<Readout | null>(null);
  /** Nodes on one spot that are spread. */
  fan = $state.raw<string[] | null>(null);
  /** The node or link below the pointer, and its point of the map, px. */
  hover = $state.raw<{ node?: string; link?: [string, string]; x: number; y: number } | null>(null);
  /** A place of the map, and of the screen in px, whose actions are offered. */
  placeMenu = $state.raw<PlaceMenu | null>(null);
  messages = $state.raw<Message[]>([]);
  theme = $state<Theme>(stored('theme', ['system', 'light', 'dark'], 'system'));
  units = $state<Units>(stored('units', ['metric', 'imperial'], 'metric'));
  /** A screen as narrow as a phone's, where panels are sheets. */
  phone = $state(innerWidth <= PHONE_MAX_PX);
  /** The first pointer is a finger. */
  coarse = $state(matchMedia('(pointer: coarse)').matches);
  systemDark = $state(matchMedia('(prefers-color-scheme: dark)').matches);
  dialog = $state<'none' | 'deployment' | 'help' | 'import' | 'environment' | 'pattern' | 'print'>('none');
  /** Height of the drawer with the profile. */
  profile = $state<Drawer>(stored('profile', DRAWERS, 'low'));
  /** The panel at the side is there; the lists in it are unfolded. */
  panelOpen = $state(stored('panel', ['open', 'closed'], 'open') === 'open');
  listOpen = $state(true);
  /** The key of the links is unfolded. */
  keyOpen = $state(stored('key', ['open', 'closed'], 'closed') === 'open');
  /** Links of each node that the map draws of many. */
  perNode = $state(PER_NODE);
  /** Ground in three dimensions. */
  raised = $state(false);
  serverGone = $state(false);
  /** Time of the last answer of the server before it was gone; of a plan that this device has kept, that of the plan. */
  answered = $state.raw<Date | null>(null);
  /** What is shown was kept on this device. */
  isKept = $state(false);
  /** Ground is coloured by its height, and has contour lines. */
  tint = $state(stored('tint', ['on', 'off'], 'on') === 'on');
  contours = $state(stored('contours', ['on', 'off'], 'off') === 'on');
  relief = $derived({ tint: this.tint, contours: this.contours });
  /** Roads and names below the mesh, where the server has a base map. */
  basemap = $state(stored('basemap', ['on', 'off'], 'on') === 'on');

  dark = $derived(this.theme === 'dark' || (this.theme === 'system' && this.systemDark));
  chosen = $derived(new Set(this.selected));

  #next = 0;

  setProfile(next: Drawer): void {
    this.profile = next;
    store('profile', next);
  }

  setPanel(open: boolean): void {
    this.panelOpen = open;
    store('panel', open ? 'open' : 'closed');
  }

  setTint(on: boolean): void {
    this.tint = on;
    store('tint', on ? 'on' : 'off');
  }

  setContours(on: boolean): void {
    this.contours = on;
    store('contours', on ? 'on' : 'off');
  }

  setKey(open: boolean): void {
    this.keyOpen = open;
    store('key', open ? 'open' : 'closed');
  }

  /** Shows a message for a while; one that lasts, until it is dismissed. */
  tell(text: string, bad = false, lasts = false): void {
    const id = this.#show({ text, bad });
    if (!lasts) setTimeout(() => this.dismiss(id), bad ? MESSAGE_SHOWN_MS * 2 : MESSAGE_SHOWN_MS);
  }

  /** Shows a message with an action, which can be taken once. */
  propose(text: string, label: string, act: () => void): void {
    const once = () => {
      this.dismiss(id);
      act();
    };
    const id = this.#show({ text, bad: false, action: { label, act: once } });
    setTimeout(() => this.dismiss(id), ACTION_SHOWN_MS);
  }

  #show(message: Omit<Message, 'id'>): number {
    const id = ++this.#next;
    this.messages = [...this.messages.filter((other) => other.text !== message.text), { ...message, id }].slice(-4);
    return id;
  }

  dismiss(id: number): void {
    this.messages = this.messages.filter((message) => message.id !== id);
  }

  /** Selects one node; `extend` adds it, or takes it out of the selection. */
  pick(id: string, extend: boolean): void {
    if (!extend) this.selected = [id];
    else if (this.chosen.has(id)) this.selected = this.selected.filter((other) => other !== id);
    else this.selected = [...this.selected, id];
  }

  /** Copies an address of the page. */
  async share(address: string): Promise<void> {
    const text = (await copied(address)) ? 'The address of this view is copied.' : 'Copy the address of this view from the address bar.';
    const without = this.mode === 'plan' && this.selected.length > SELECTED_MAX;
    this.tell(
      without ? `${text} It has no selection: ${this.selected.length} nodes are selected, an address holds ${SELECTED_MAX}.` : text,
    );
  }
}
