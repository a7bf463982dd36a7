// Numbers, units and words of the page, and an undo beside other clients.
import { test as base } from '@playwright/test';
import { readingName, readingUnit } from '../src/live/readings';
import { coverOf, NO_POWER, NO_VALUE } from '../src/store/grid';
import { area, count, fieldUnit, inward, plain, shortTime } from '../src/units';
import { expect, nodesOf, open, plan, test } from './server';

base('a stored number has no digits that binary fractions add', () => {
  expect([0.1 + 0.2, 868.1 * 3, -40, 2437.5000000000005].map(plain)).toEqual(['0.3', '2604.3', '−40', '2437.5']);
});

base('one thing is singular', () => {
  expect([0, 1, 2].map((hops) => count(hops, 'hop'))).toEqual(['0 hops', '1 hop', '2 hops']);
  expect(count(1, 'node was', 'nodes were')).toBe('1 node was');
});

base('short times have the unit that fits', () => {
  expect([12.34, 999, 59_942].map(shortTime)).toEqual(['12.3 ms', '999.0 ms', '59.9 s']);
});

base('areas and fields have the chosen units', () => {
  expect([area(12.34, 'metric'), area(2.589988, 'imperial'), area(1234, 'metric')]).toEqual(['12.3 km²', '1.0 mi²', '1234 km²']);
  expect(fieldUnit('height', 'imperial')).toEqual({ name: 'ft', size: 0.3048 });
  expect(fieldUnit('distance', 'imperial')).toEqual({ name: 'mi', size: 1.609344 });
});

base('names of readings are words, with the unit beside them', () => {
  for (const [metric, name, unit] of [
    ['mesh.tx_mbps', 'Mesh: transmitted', 'Mbit/s'],
    ['wifi.signal_dbm', 'Wi-Fi: signal', 'dBm'],
    ['sys.temp_c', 'Sys: temperature', '°C'],
    ['battery', 'Battery', ''],
    ['dbm', 'Dbm', ''],
  ] as const)
    expect([readingName(metric), readingUnit(metric, null)]).toEqual([name, unit]);
  expect(readingUnit('battery', 'percent')).toBe('%');
});

base('a limit of few digits is within the limit', () => {
  expect([inward(500 / 1.609344, 5, false), inward(0.1 / 1.609344, 5, true), inward(20000 / 0.3048, 5, false), inward(0, 5, true)]).toEqual(
    [310.68, 0.062138, 65616, 0],
  );
  expect([inward(250, 5, false), inward(0.3, 5, true), inward(-40, 5, true)]).toEqual([250, 0.3, -40]);
});

test('fields take and show heights in feet where units are imperial', async ({ page, request }) => {
  await page.addInitScript(() => localStorage.setItem('groundwave.units', 'imperial'));
  const { id, nodes } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
  const field = page.getByLabel('Antenna height, ft');
  await expect(field).toHaveValue('65.617');
  await field.fill('100');
  await field.press('Enter');
  await expect.poll(async () => (await nodesOf(request, id))[0]!.height_agl_m).toBeCloseTo(30.48, 9);
  await expect(field).toHaveValue('100');
  await field.fill('65620');
  await field.press('Enter');
  await expect(page.locator('.messages')).toContainText('invalid Antenna height, ft: found 65620, allowed 0 to 65616');
  // The limit that is named is allowed.
  await field.fill('65616');
  await field.press('Enter');
  await expect.poll(async () => (await nodesOf(request, id))[0]!.height_agl_m).toBeCloseTo(65616 * 0.3048, 6);
});

test('an undo leaves what another client changed since', async ({ page, request }) => {
  const { id, nodes } = await plan(request, ['Ramberget']);
  await open(page, `/#d=${id}&sel=${nodes['Ramberget']}`);
  const name = page.locator('[name=name]');
  const height = page.locator('[name=height_agl_m]');
  await name.fill('Hill');
  await name.press('Enter');
  await expect.poll(async () => (await nodesOf(request, id))[0]!.name).toBe('Hill');
  await height.fill('25');
  await height.press('Enter');
  await expect.poll(async () => (await nodesOf(request, id))[0]!.height_agl_m).toBe(25);
  await request.patch(`/api/v1/nodes/${nodes['Ramberget']}`, { data: { height_agl_m: 40 } });
  await expect(height).toHaveValue('40');
  const undo = page.getByRole('button', { name: 'Undo' });
  await undo.click();
  await expect(page.locator('.messages')).toContainText('Hill was changed by another client since');
  expect((await nodesOf(request, id))[0]!.height_agl_m).toBe(40);
  // The change before that one is this page's alone.
  await undo.click();
  await expect.poll(async () => (await nodesOf(request, id))[0]!.name).toBe('Ramberget');
  expect((await nodesOf(request, id))[0]!.height_agl_m).toBe(40);
});

base('cells are counted that are drawn, of those whose ground is known, with their area', () => {
  const shape = { rows: 2, columns: 2, bounds: { south: 60, north: 60.02, west: 179.99, east: -179.99 } };
  const grid = {
    shape,
    power: Int16Array.of(-9000, NO_POWER, NO_VALUE, -9900),
    meta: new Uint8Array(4),
    percent: Uint8Array.of(99, 0, 0, 40),
  };
  const { known, drawn, area_km2 } = coverOf(grid, (cell) => grid.percent[cell]! >= 0);
  expect([known, drawn]).toEqual([3, 2]);
  // Two cells of 1,114 m by 558 m.
  expect(area_km2).toBeCloseTo(2 * 1.1142 * 0.558, 2);
  expect(coverOf(grid, (cell) => grid.percent[cell]! >= 50).drawn).toBe(1);
});
