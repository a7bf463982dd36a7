// Keys of the page. Fields and dialogs keep theirs.
import { wrapped, type LatLon } from './geo';
import { shown } from './map/camera';
import { app } from './store/app.svelte';
import type { Tab } from './store/ui.svelte';
import { isTyping } from './ui/typing';

const TABS: readonly Tab[] = ['nodes', 'links', 'coverage', 'tools'];
const STEP_PX = 1;
const BIG_STEP_PX = 10;

const MODIFIERS = ['Alt', 'Shift', 'Control', 'Meta'];
const ARROWS: Record<string, [number, number]> = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/** Wait after a key that moves nodes, so that its repeats are one change, ms. */
const NUDGED_MS = 300;
/** Nodes that keys have moved on the page, with their places before, by id; the server does not have these moves yet. */
const nudged = new Map<string, LatLon>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Sends what keys have moved, as one change. */
function settle(): void {
  clearTimeout(timer);
  const moves = [...nudged].flatMap(([id, from]) => {
    const node = app.plan.byId.get(id);
    return node ? [{ id, from, to: { lat: node.lat, lon: node.lon } }] : [];
  });
  nudged.clear();
  if (moves.length) void app.attempt(() => app.commands.move(moves));
}

/** Moves the selected nodes on the screen. */
function nudge(direction: [number, number], big: boolean): void {
  const map = app.map?.map;
  if (!map || !app.chosenNodes.length) return;
  const step = big ? BIG_STEP_PX : STEP_PX;
  for (const node of app.chosenNodes) {
    const at = map.project(shown(map, node));
    const to = map.unproject([at.x + direction[0] * step, at.y + direction[1] * step]);
    if (!nudged.has(node.id)) nudged.set(node.id, { lat: node.lat, lon: node.lon });
    app.plan.put({ ...node, lat: to.lat, lon: wrapped(to.lng) });
  }
  clearTimeout(timer);
  timer = setTimeout(settle, NUDGED_MS);
  addEventListener('pointerdown', settle, { once: true, capture: true });
}

/** Does what a key stands for. Returns true if it stands for something. */
export function press(event: KeyboardEvent): boolean {
  const { ui } = app;
  const control = event.ctrlKey || event.metaKey;
  const letter = event.key.toLowerCase();
  if (ui.dialog !== 'none' || event.defaultPrevented) return false;
  const arrow = event.altKey && !control && app.chosenNodes.length ? ARROWS[event.key] : undefined;
  if (!arrow && !MODIFIERS.includes(event.key)) settle();
  if (control && letter === 'p' && app.plan.deployment) ui.dialog = 'print';
  else if (control && letter === 'z' && !isTyping(event.target)) void (event.shiftKey ? app.redo() : app.undo());
  else if (control && letter === 'y' && !isTyping(event.target)) void app.redo();
  else if (isTyping(event.target)) return false;
  else if (control && letter === 'a') ui.selected = app.plan.nodes.map((node) => node.id);
  else if (arrow) nudge(arrow, event.shiftKey);
  else if (control || event.altKey) return false;
  else if (event.key === 'Escape') {
    if (ui.fan) ui.fan = null;
    else if (ui.tool !== 'select') ui.tool = 'select';
    else if (app.paths.free) app.paths.clear();
    else if (app.tools.drawn.length) {
      app.tools.clearDrawn();
    } else ui.selected = [];
  } else if ((event.key === 'Delete' || event.key === 'Backspace') && ui.selected.length)
    void app.attempt(() => app.commands.remove(ui.selected));
  else if (
    event.key === 'Enter' &&
    ui.tool !== 'select' &&
    !(event.target instanceof HTMLButtonElement || event.target instanceof HTMLInputElement)
  )
    app.actAtCentre();
  else if (event.key === '/') document.getElementById('search')?.focus();
  else if (event.key === '?') ui.dialog = 'help';
  else if (letter === 'n' && app.plan.deployment) {
    ui.tool = 'add';
    // Arrows move the map below the cross, Enter adds.
    app.map?.map.getCanvas().focus({ preventScroll: true });
  } else if (letter === 'l' && app.plan.deployment) ui.tool = 'link';
  else if (letter === 's' && app.plan.deployment) ui.tool = 'scan';
  else if (letter === 'v') ui.tool = 'select';
  else if (letter === 'f') app.frame();
  else if (letter === 't') ui.raised = !ui.raised;
  else if (/^[1-4]$/.test(event.key)) ui.tab = TABS[Number(event.key) - 1] as Tab;
  else return false;
  return true;
}
