// The planning page: deployments, nodes, links, coverage, over the public interface only.

import { Map, VERDICTS } from './map.js';
import { budgetRows, drawProfile, verdict } from './profile.js';

const $ = (id) => document.getElementById(id);
let deployment = null;
let selected = [];
let source = null;

async function api(method, path, body) {
  const response = await fetch(path, {
    method,
    headers: body ? { 'content-type': 'application/json' } : {},
    body: body && JSON.stringify(body),
  });
  if (response.status === 204) return null;
  const found = await response.json();
  if (!response.ok) {
    tell(found.detail, true);
    throw new Error(found.detail);
  }
  return found;
}

function tell(text, bad = false) {
  $('hint').textContent = text;
  $('hint').className = bad ? 'bad' : '';
}

const map = new Map($('map'), { onPick: pick, onAdd: add });
map.onTerrain = (known) => { $('terrain').hidden = known; };

async function start() {
  for (const role of await api('GET', '/api/v1/presets/roles')) map.colours[role.id] = role.color;
  $('legend').replaceChildren(...Object.values(VERDICTS).map(([colour, text]) => {
    const [item, swatch] = [document.createElement('li'), document.createElement('i')];
    swatch.style.background = colour || '#fff';
    item.append(swatch, text);
    return item;
  }));
  await list();
}

async function list(choose) {
  const all = await api('GET', '/api/v1/deployments');
  $('deployment').replaceChildren(...all.map((d) => new Option(d.name, d.id)));
  deployment = all.find((d) => d.id === (choose || deployment?.id)) || all[0] || null;
  if (!deployment) {
    tell('Make a deployment to begin with.');
    map.show([]);
    return;
  }
  $('deployment').value = deployment.id;
  if (deployment.center) map.center = { ...deployment.center };
  select([]);
  await refresh();
}

async function refresh() {
  const nodes = await api('GET', `/api/v1/deployments/${deployment.id}/nodes`);
  selected = selected.map((s) => nodes.find((n) => n.id === s.id)).filter(Boolean);
  map.selected = selected;
  map.show(nodes);
  $('nodes').replaceChildren(...nodes.map(item));
}

function item(node) {
  const [li, dot, name, more, gone] = ['li', 'i', 'span', 'small', 'button'].map((t) => document.createElement(t));
  dot.style.background = map.colours[node.role];
  name.textContent = node.name;
  more.textContent = `${node.role}, ${node.height_agl_m} m, ${node.radio.frequency_mhz} MHz`;
  gone.textContent = '×';
  gone.title = `Delete ${node.name}`;
  gone.addEventListener('click', async (e) => {
    e.stopPropagation();
    await api('DELETE', `/api/v1/nodes/${node.id}`);
    select(selected.filter((s) => s.id !== node.id));
    await refresh();
  });
  li.setAttribute('aria-selected', String(selected.some((s) => s.id === node.id)));
  li.addEventListener('click', () => pick(node));
  li.append(dot, name, more, gone);
  return li;
}

async function add({ lat, lon }) {
  if (!deployment) return tell('Make a deployment first.', true);
  const name = prompt('Name of the node');
  if (!name) return;
  await api('POST', `/api/v1/deployments/${deployment.id}/nodes`, { name, lat, lon });
  await refresh();
}

function pick(node) {
  const others = selected.filter((s) => s.id !== node.id);
  select(others.length === selected.length ? [...selected, node].slice(-2) : others);
}

async function select(nodes) {
  selected = nodes;
  map.selected = nodes;
  $('coverage').hidden = nodes.length !== 1;
  $('link').hidden = nodes.length !== 2;
  map.draw();
  if (deployment) $('nodes').replaceChildren(...map.nodes.map(item));
  if (nodes.length === 2) await link();
}

async function link() {
  const [tx, rx] = selected;
  const found = await api('POST', '/api/v1/links/analyze', { tx_node_id: tx.id, rx_node_id: rx.id });
  drawProfile($('profile'), found);
  $('budget').replaceChildren(...budgetRows(found).map((cells) => {
    const row = document.createElement('tr');
    row.append(...cells.map((text) => Object.assign(document.createElement('td'), { textContent: text })));
    return row;
  }));
  tell(`${tx.name} – ${rx.name}: ${verdict(found, found.result)}`, !found.terrain_known);
}

$('coverage-form').addEventListener('submit', async (e) => {
  e.preventDefault();
  source?.close();
  const asked = Object.fromEntries([...new FormData(e.target)].map(([k, v]) => [k, Number(v)]));
  const { job_id } = await api('POST', '/api/v1/coverage', { source_node_id: selected[0].id, ...asked });
  const { bounds, rows, cols } = await api('GET', `/api/v1/coverage/${job_id}`);
  const width = ((bounds.east - bounds.west + 360) % 360 || 360) / cols;
  map.coverage = { rows, cols, tiles: [], height: (bounds.north - bounds.south) / rows, width };
  [$('progress').hidden, $('legend').hidden] = [false, false];
  source = new EventSource(`/api/v1/coverage/${job_id}/stream`);
  source.addEventListener('tile', (event) => map.coverage.tiles.push(JSON.parse(event.data)));
  source.addEventListener('row_done', (event) => {
    $('progress').value = (JSON.parse(event.data).row + 1) / rows;
    requestAnimationFrame(() => map.draw());
  });
  source.addEventListener('failed', (event) => { source.close(); tell(JSON.parse(event.data).detail, true); });
  source.addEventListener('done', async () => {
    source.close();
    $('progress').hidden = true;
    const { statistics: s } = await api('GET', `/api/v1/coverage/${job_id}`);
    $('statistics').textContent = `${s.covered_percent.toFixed(1)} % covered, ${s.covered_area_km2.toFixed(1)} km²`;
    map.draw();
  });
});

$('deployment').addEventListener('change', (e) => { map.coverage = null; list(e.target.value); });
$('new-deployment').addEventListener('click', async () => {
  const name = prompt('Name of the deployment');
  if (!name) return;
  const made = await api('POST', '/api/v1/deployments', { name, center: map.center });
  await list(made.id);
  tell('Double-click the map to add nodes.');
});

start().catch((err) => tell(err.message, true));
