// The ground under a link, the ray over it, and its first Fresnel zone.

export function drawProfile(canvas, analysis) {
  const { profile, result } = analysis;
  const g = canvas.getContext('2d');
  const [w, h, pad] = [canvas.width, canvas.height, 28];
  const all = profile.total_distance_m;
  const geometry = result.geometry;
  const radius = geometry.effective_earth_radius_m;
  const wavelength = 299.792458 / result.frequency_mhz;
  const points = profile.samples.map((s) => {
    const [d1, d2] = [s.distance_m, all - s.distance_m];
    const ray = geometry.tx_antenna_msl_m + (geometry.rx_antenna_msl_m - geometry.tx_antenna_msl_m) * (all ? d1 / all : 0);
    return {
      d: d1,
      missing: Boolean(s.missing),
      ground: s.elevation_msl_m + d1 * d2 / (2 * radius),
      ray,
      fresnel: all ? Math.sqrt(wavelength * d1 * d2 / all) : 0,
    };
  });
  const low = Math.min(...points.map((p) => Math.min(p.ground, p.ray - p.fresnel)));
  const high = Math.max(...points.map((p) => Math.max(p.ground, p.ray + p.fresnel)));
  const x = (d) => pad + (w - pad - 8) * (all ? d / all : 0);
  const y = (m) => h - 20 - (h - 30) * (m - low) / Math.max(1, high - low);
  g.clearRect(0, 0, w, h);
  const path = (of) => { g.beginPath(); points.forEach((p, i) => (i ? g.lineTo : g.moveTo).call(g, x(p.d), y(of(p)))); };
  path((p) => p.ground);
  g.lineTo(x(all), h - 20);
  g.lineTo(x(0), h - 20);
  g.fillStyle = '#b9ad92';
  g.fill();
  // Hatched where there is no terrain data.
  g.strokeStyle = '#b3261e';
  g.lineWidth = 1;
  g.beginPath();
  points.filter((p) => p.missing).forEach((p) => {
    g.moveTo(x(p.d), y(p.ground));
    g.lineTo(x(p.d) - 6, h - 20);
  });
  g.stroke();
  canvas.dataset.missing = String(points.filter((p) => p.missing).length);
  g.beginPath();
  points.forEach((p) => g.lineTo(x(p.d), y(p.ray + p.fresnel)));
  [...points].reverse().forEach((p) => g.lineTo(x(p.d), y(p.ray - p.fresnel)));
  g.fillStyle = '#0b6aa830';
  g.fill();
  path((p) => p.ray);
  g.strokeStyle = '#0b6aa8';
  g.lineWidth = 1.5;
  g.stroke();
  g.fillStyle = '#1b2328';
  g.font = '11px system-ui, sans-serif';
  g.fillText(`${high.toFixed(0)} m`, 0, 12);
  g.fillText(`${low.toFixed(0)} m`, 0, h - 22);
  g.fillText('0', x(0), h - 6);
  g.textAlign = 'right';
  g.fillText(`${(all / 1000).toFixed(2)} km`, w - 8, h - 6);
  g.textAlign = 'left';
}

// The verdict in words; without terrain data it would say nothing.
export function verdict(analysis, direction) {
  return analysis.terrain_known ? direction.verdict.replace('_', ' ') : 'no terrain data';
}

export function budgetRows(analysis) {
  const { result, reverse } = analysis;
  const rate = (r) => r.rate.data_rate_bps ? `${(r.rate.data_rate_bps / 1e6).toPrecision(3)} Mbit/s` : '–';
  const row = (name, of) => [name, of(result), of(reverse)];
  return [
    ['', 'there', 'back'],
    row('Verdict', (r) => verdict(analysis, r)),
    row('Received', (r) => `${r.receiver.rx_power_dbm.toFixed(1)} dBm`),
    row('SNR', (r) => `${r.receiver.snr_db.toFixed(1)} dB`),
    row('Margin', (r) => `${r.margin.link_margin_db.toFixed(1)} dB`),
    row('Path loss', (r) => `${r.losses.total_path_loss_db.toFixed(1)} dB`),
    row('Beyond free space', (r) => `${r.losses.excess_loss_db.toFixed(1)} dB`),
    row('Rate', rate),
    row('Line of sight', (r) => r.clearance.line_of_sight ? 'yes' : 'no'),
    row('Model', (r) => r.model),
  ];
}
