// A map on a canvas: shaded relief from terrain profiles, coverage cells, nodes, a scale bar.

export const VERDICTS = {
  excellent: ['#1f4e8c', '20 dB or more to spare'],
  good: ['#3f8fc4', '10 dB or more'],
  marginal: ['#f0c75e', '3 dB or more'],
  poor: ['#e08a3c', '0 dB or more'],
  no_link: [null, 'no link'],
  no_data: ['#9a9a9a', 'ground not known'],
  path_missing: ['repeating-linear-gradient(45deg, #b3261e 0 2px, #fff 2px 6px)', 'no terrain data on the path, 0 m assumed'],
};

const METRES_PER_DEGREE = 111320;

export class Map {
  constructor(canvas, { onPick, onAdd }) {
    this.canvas = canvas;
    this.center = { lat: 57.7, lon: 11.9 };
    this.metresPerPixel = 60;
    this.nodes = [];
    this.selected = [];
    this.colours = {};
    this.coverage = null;
    this.relief = null;
    let from = null;
    let moved = false;
    canvas.addEventListener('pointerdown', (e) => { from = [e.offsetX, e.offsetY]; moved = false; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener('pointermove', (e) => {
      if (!from) return;
      const [dx, dy] = [e.offsetX - from[0], e.offsetY - from[1]];
      if (Math.hypot(dx, dy) < 3 && !moved) return;
      moved = true;
      const to = this.place(this.canvas.clientWidth / 2 - dx, this.canvas.clientHeight / 2 - dy);
      this.center = to;
      from = [e.offsetX, e.offsetY];
      this.draw();
    });
    canvas.addEventListener('pointerup', (e) => {
      from = null;
      if (moved) { this.shade(); return; }
      const hit = this.nodes.find((n) => {
        const [x, y] = this.pixel(n.lat, n.lon);
        return Math.hypot(x - e.offsetX, y - e.offsetY) < 10;
      });
      if (hit) onPick(hit);
    });
    canvas.addEventListener('dblclick', (e) => onAdd(this.place(e.offsetX, e.offsetY)));
    canvas.addEventListener('wheel', (e) => {
      e.preventDefault();
      const before = this.place(e.offsetX, e.offsetY);
      this.metresPerPixel = Math.min(2000, Math.max(2, this.metresPerPixel * Math.exp(e.deltaY * 0.0015)));
      const after = this.place(e.offsetX, e.offsetY);
      this.center.lat += before.lat - after.lat;
      this.center.lon += before.lon - after.lon;
      this.draw();
      clearTimeout(this.settling);
      this.settling = setTimeout(() => this.shade(), 250);
    }, { passive: false });
    new ResizeObserver(() => { this.draw(); this.shade(); }).observe(canvas);
  }

  get widthFactor() { return Math.max(0.01, Math.cos(this.center.lat * Math.PI / 180)); }

  pixel(lat, lon) {
    const scale = METRES_PER_DEGREE / this.metresPerPixel;
    return [
      this.canvas.clientWidth / 2 + (lon - this.center.lon) * scale * this.widthFactor,
      this.canvas.clientHeight / 2 - (lat - this.center.lat) * scale,
    ];
  }

  place(x, y) {
    const scale = METRES_PER_DEGREE / this.metresPerPixel;
    const clamp = (v, most) => Math.min(most, Math.max(-most, v));
    return {
      lat: clamp(this.center.lat - (y - this.canvas.clientHeight / 2) / scale, 89),
      lon: clamp(this.center.lon + (x - this.canvas.clientWidth / 2) / scale / this.widthFactor, 180),
    };
  }

  show(nodes) {
    this.nodes = nodes;
    if (nodes.length && !nodes.some((n) => this.inside(n))) {
      this.center = { lat: mean(nodes.map((n) => n.lat)), lon: mean(nodes.map((n) => n.lon)) };
      this.shade();
    }
    this.draw();
  }

  inside(n) {
    const [x, y] = this.pixel(n.lat, n.lon);
    return x > 0 && y > 0 && x < this.canvas.clientWidth && y < this.canvas.clientHeight;
  }

  // Relief of the view: one terrain profile per row of blocks.
  async shade() {
    const [w, h] = [this.canvas.clientWidth, this.canvas.clientHeight];
    if (!w || !h) return;
    const block = 6;
    const [cols, rows] = [Math.ceil(w / block) + 1, Math.ceil(h / block) + 1];
    const turn = this.turn = (this.turn || 0) + 1;
    const edges = { nw: this.place(0, 0), se: this.place(cols * block, rows * block) };
    const heights = new Array(rows);
    const next = Array.from({ length: rows }, (_, i) => i);
    const worker = async () => {
      while (next.length && turn === this.turn) {
        const row = next.pop();
        const lat = edges.nw.lat + (edges.se.lat - edges.nw.lat) * row / (rows - 1);
        const body = { from: { lat, lon: edges.nw.lon }, to: { lat, lon: edges.se.lon }, samples: cols };
        const response = await fetch('/api/v1/terrain/profile', {
          method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
        });
        if (!response.ok) return;
        heights[row] = (await response.json()).samples.map((s) => (s.missing ? NaN : s.elevation_msl_m));
      }
    };
    await Promise.all([worker(), worker(), worker(), worker()]);
    if (turn !== this.turn || heights.includes(undefined)) return;
    const image = new ImageData(cols, rows);
    const cell = block * this.metresPerPixel;
    let unknown = false;
    for (let r = 0; r < rows; r++) {
      for (let c = 0; c < cols; c++) {
        const at = (y, x) => heights[Math.min(rows - 1, Math.max(0, y))][Math.min(cols - 1, Math.max(0, x))];
        if (Number.isNaN(at(r, c))) {
          // Hatched: no terrain data here. Never the colour of the sea.
          unknown = true;
          image.data.set([...((r + c) % 4 < 1 ? [150, 110, 110] : [246, 246, 246]), 255], 4 * (r * cols + c));
          continue;
        }
        const east = (at(r, c + 1) - at(r, c - 1)) / (2 * cell);
        const north = (at(r - 1, c) - at(r + 1, c)) / (2 * cell);
        const steep = Math.hypot(east * 4, north * 4, 1);
        const light = Math.max(0, (east * 4 * 0.5 - north * 4 * 0.5 + 0.707) / steep);
        const sea = at(r, c) <= 0.5;
        const base = sea ? [214, 226, 232] : [238, 236, 228];
        const shade = sea ? 1 : 0.62 + 0.54 * light;
        image.data.set([...base.map((v) => Math.min(255, v * shade)), 255], 4 * (r * cols + c));
      }
    }
    const picture = new OffscreenCanvas(cols, rows);
    picture.getContext('2d').putImageData(image, 0, 0);
    this.relief = { picture, ...edges };
    this.canvas.dataset.terrain = unknown ? 'missing' : 'known';
    this.onTerrain?.(!unknown);
    this.canvas.dataset.shaded = String(turn);
    this.draw();
  }

  draw() {
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [this.canvas.clientWidth, this.canvas.clientHeight];
    this.canvas.width = w * ratio;
    this.canvas.height = h * ratio;
    const g = this.canvas.getContext('2d');
    g.scale(ratio, ratio);
    g.fillStyle = '#eef1f2';
    g.fillRect(0, 0, w, h);
    if (this.relief) {
      const [x0, y0] = this.pixel(this.relief.nw.lat, this.relief.nw.lon);
      const [x1, y1] = this.pixel(this.relief.se.lat, this.relief.se.lon);
      g.drawImage(this.relief.picture, x0, y0, x1 - x0, y1 - y0);
    }
    if (this.coverage) this.paintCoverage(g);
    if (this.selected.length === 2) {
      const ends = this.selected.map((n) => this.pixel(n.lat, n.lon));
      g.strokeStyle = '#1b2328';
      g.lineWidth = 2;
      g.beginPath();
      g.moveTo(...ends[0]);
      g.lineTo(...ends[1]);
      g.stroke();
    }
    g.font = '13px system-ui, sans-serif';
    for (const node of this.nodes) {
      const [x, y] = this.pixel(node.lat, node.lon);
      const chosen = this.selected.includes(node);
      g.beginPath();
      g.arc(x, y, chosen ? 8 : 6, 0, 7);
      g.fillStyle = this.colours[node.role] || '#fff';
      g.fill();
      g.lineWidth = chosen ? 3 : 1.5;
      g.strokeStyle = '#1b2328';
      g.stroke();
      g.lineWidth = 3;
      g.strokeStyle = '#ffffffd0';
      g.strokeText(node.name, x + 11, y + 4);
      g.fillStyle = '#1b2328';
      g.fillText(node.name, x + 11, y + 4);
    }
    this.scaleBar(g, h);
  }

  paintCoverage(g) {
    const { rows, cols, tiles, height, width } = this.coverage;
    g.globalAlpha = 0.62;
    for (const tile of tiles) {
      const colour = VERDICTS[tile.verdict][0];
      if (!colour) continue;
      const [x0, y0] = this.pixel(tile.lat + height / 2, tile.lon - width / 2);
      const [x1, y1] = this.pixel(tile.lat - height / 2, tile.lon + width / 2);
      g.fillStyle = colour;
      g.fillRect(Math.floor(x0), Math.floor(y0), Math.ceil(x1) - Math.floor(x0), Math.ceil(y1) - Math.floor(y0));
    }
    g.globalAlpha = 1;
    // Cells whose paths lack terrain data: their verdict assumes 0 m.
    g.strokeStyle = '#b3261e';
    g.lineWidth = 1;
    g.beginPath();
    for (const tile of tiles.filter((t) => t.path_missing)) {
      const [x0, y0] = this.pixel(tile.lat + height / 2, tile.lon - width / 2);
      const [x1, y1] = this.pixel(tile.lat - height / 2, tile.lon + width / 2);
      g.moveTo(x0, y1);
      g.lineTo(x1, y0);
    }
    g.stroke();
    this.canvas.dataset.cells = `${tiles.length}/${rows * cols}`;
  }

  scaleBar(g, h) {
    const most = 140 * this.metresPerPixel;
    const power = 10 ** Math.floor(Math.log10(most));
    const length = [5, 2, 1].map((f) => f * power).find((m) => m <= most);
    const px = length / this.metresPerPixel;
    g.fillStyle = '#ffffffd0';
    g.fillRect(10, h - 34, px + 16, 26);
    g.fillStyle = '#1b2328';
    g.fillRect(18, h - 16, px, 3);
    g.fillText(length >= 1000 ? `${length / 1000} km` : `${length} m`, 18, h - 20);
  }
}

function mean(values) { return values.reduce((a, b) => a + b, 0) / values.length; }
