// Entry of the page.
import { mount } from 'svelte';
import { askEarly } from './api/client';
import { offered } from './api/offer';
import 'virtual:tokens.css';
import './app.css';
import App from './App.svelte';
import { textOf, watchFaults } from './faults';
import { replay } from './replay/replay.svelte';
import { app } from './store/app.svelte';
import { workOffline } from './store/offline';
import { modeOf, read } from './store/url';
import { view } from './views';

/** Period of questions to a server that does not answer, ms. */
const RETRY_MS = 1500;

const place = document.getElementById('app') as HTMLElement;

/** Shows a text in place of the page. */
function say(text: string): void {
  const line = document.createElement('p');
  line.className = 'empty bad';
  line.setAttribute('role', 'alert');
  line.textContent = text;
  place.replaceChildren(line);
}

async function begin(): Promise<void> {
  // The view and what the server offers are awaited at the same time; the page shows why a view did not come.
  view(modeOf(location.hash)).catch(() => undefined);
  for (;;) {
    const fault = await offered().then(
      () => null,
      (fault: unknown) => fault,
    );
    if (fault === null) break;
    say(`${textOf(fault)} The page asks again by itself.`);
    await new Promise((done) => setTimeout(done, RETRY_MS));
  }
  const { mode } = read(location.hash);
  app.ui.mode = mode;
  if (mode !== 'live') askEarly('/api/v1/terrain/area', '/api/v1/presets/roles');
  if (mode === 'plan') askEarly('/api/v1/deployments');
  // The view hears of a failure.
  if (mode === 'replay') replay.begin().catch(() => undefined);
  watchFaults((text) => app.ui.tell(text, true, true));
  // Another address in the same tab, as a link that was pasted, or a step back: what the page writes itself is no such
  // change.
  addEventListener('hashchange', () => location.reload());
  place.replaceChildren();
  mount(App, { target: place });
  workOffline();
}

begin().catch((fault: unknown) => say(`The page has not begun: ${textOf(fault)}. Reload the page.`));
