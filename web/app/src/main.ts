// Entry of the page.
import { mount } from 'svelte';
import { askEarly } from './api/client';
import { offered } from './api/offer';
import './app.css';
import App from './App.svelte';
import { replay } from './replay/replay.svelte';
import { app } from './store/app.svelte';
import { modeOf, read } from './store/url';
import { view } from './views';

async function begin(): Promise<void> {
  // The view and what the server offers are awaited at the same time; the page shows why a view did not come.
  view(modeOf(location.hash)).catch(() => undefined);
  await offered();
  const { mode } = read(location.hash);
  app.ui.mode = mode;
  if (mode !== 'live') askEarly('/api/v1/terrain/area', '/api/v1/presets/roles');
  if (mode === 'plan') askEarly('/api/v1/deployments');
  // The view hears of a failure.
  if (mode === 'replay') replay.begin().catch(() => undefined);
  mount(App, { target: document.getElementById('app') as HTMLElement });
}

void begin();
