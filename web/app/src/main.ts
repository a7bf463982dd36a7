// Entry of the page.
import { mount } from 'svelte';
import { ask } from './api/offer';
import './app.css';
import App from './App.svelte';
import { app } from './store/app.svelte';
import { read } from './store/url';

void ask().then(() => {
  app.ui.mode = read(location.hash).mode;
  mount(App, { target: document.getElementById('app') as HTMLElement });
});
