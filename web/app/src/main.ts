// Entry of the page.
import { mount } from 'svelte';
import { ask } from './api/offer';
import './app.css';
import App from './App.svelte';
import { app } from './store/app.svelte';
import { read } from './store/url';
import { view } from './views';

// The view and what the server offers are awaited at the same time.
void view(read(location.hash).mode);
void ask().then(() => {
  app.ui.mode = read(location.hash).mode;
  mount(App, { target: document.getElementById('app') as HTMLElement });
});
