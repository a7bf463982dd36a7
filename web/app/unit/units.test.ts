// Numbers as text, and text as numbers.
import { expect, test } from 'vitest';
import {
  area,
  count,
  distance,
  distanceUnit,
  fieldUnit,
  figure,
  height,
  inward,
  percent,
  plain,
  rate,
  readNumber,
  readQuantity,
  shortTime,
  signed,
  steps,
} from '../src/units';
import { shownIn } from '../src/live/readings';

test('numbers have true minus signs, and zero has none', () => {
  expect([figure(-3.14), figure(-0.04), figure(2, 0), signed(3), signed(-3), signed(0)]).toEqual([
    '−3.1',
    '0.0',
    '2',
    '+3.0',
    '−3.0',
    '0.0',
  ]);
});

test('quantities follow the units of the page', () => {
  expect([height(20, 'metric'), height(20.55, 'metric'), height(100.4, 'metric'), height(20, 'imperial')]).toEqual([
    '20 m',
    '20.6 m',
    '100 m',
    '66 ft',
  ]);
  expect([distance(999, 'metric'), distance(12_345, 'metric'), distance(123_456, 'metric')]).toEqual(['999 m', '12.35 km', '123 km']);
  expect([distance(300, 'imperial'), distance(1609.344, 'imperial')]).toEqual(['984 ft', '1.00 mi']);
  expect([area(12.34, 'metric'), area(2.589_988, 'imperial')]).toEqual(['12.3 km²', '1.0 mi²']);
  expect(fieldUnit('height', 'imperial')).toEqual({ name: 'ft', size: 0.3048 });
  expect(fieldUnit('distance', 'imperial').size).toBeCloseTo(1.609344, 9);
});

test('an axis of distances has the unit in which its length is written', () => {
  for (const units of ['metric', 'imperial'] as const)
    for (const length_m of [50, 321, 322, 999, 1000, 50_000]) {
      const { name, metres } = distanceUnit(units, length_m);
      expect(distance(length_m, units)).toContain(` ${name}`);
      expect(Number.parseFloat(distance(length_m, units)) * metres).toBeCloseTo(length_m, -2);
    }
});

test('readings of lengths follow the units, others stay', () => {
  expect(shownIn('m', 'imperial').factor * 0.3048).toBeCloseTo(1, 9);
  expect([shownIn('m', 'imperial').unit, shownIn('m', 'metric'), shownIn('dBm', 'imperial')]).toEqual([
    'ft',
    { unit: 'm', factor: 1 },
    { unit: 'dBm', factor: 1 },
  ]);
});

test('stored numbers are without the digits of binary fractions', () => {
  expect([plain(0.1 + 0.2), plain(-12.5), plain(868.1)]).toEqual(['0.3', '−12.5', '868.1']);
  expect([
    shortTime(12),
    shortTime(1500),
    rate(0),
    rate(980),
    rate(5470),
    rate(11_000_000),
    percent(0.1234, 1),
    count(1, 'hop'),
    count(2, 'hop'),
  ]).toEqual(['12.0 ms', '1.5 s', '–', '980 bit/s', '5.47 kbit/s', '11 Mbit/s', '12.3 %', '1 hop', '2 hops']);
});

test('rounded limits stay within the exact ones', () => {
  const feet = 20_000 / 0.3048;
  expect(inward(feet, 5, false)).toBeLessThanOrEqual(feet);
  expect(inward(feet, 5, false)).toBeGreaterThan(feet - 2);
  expect(inward(0.1 / 1.609344, 5, true)).toBeGreaterThanOrEqual(0.1 / 1.609344);
  expect([inward(0, 5, true), inward(Infinity, 5, false)]).toEqual([0, Infinity]);
});

test('steps of an axis are round and within it', () => {
  expect(steps(0, 10, 5)).toEqual([0, 2, 4, 6, 8, 10]);
  expect(steps(-3, 117, 4)).toEqual([0, 50, 100]);
});

test('numbers have a decimal point or comma; separators of thousands are refused', () => {
  for (const [text, value] of [
    ['12,5', 12.5],
    ['12.5', 12.5],
    ['−3', -3],
    [' 4 ', 4],
    ['1e3', 1000],
    ['.5', 0.5],
    ['0,125', 0.125],
  ] as const)
    expect(readNumber(text), text).toBe(value);
  for (const text of ['', 'a', '1,234', '1,234,567', '1.2.3', '12 5', '0x10', 'Infinity']) expect(readNumber(text), text).toBeNull();
});

test('a number may have the unit of its field behind it, or another one of the same quantity', () => {
  for (const [text, unit, value] of [
    ['20 dBm', 'dBm', 20],
    ['−3dBm', 'dBm', -3],
    ['868,3 MHz', 'MHz', 868.3],
    ['0.868 GHz', 'MHz', 868],
    ['868300 kHz', 'MHz', 868.3],
    ['33 ft', 'm', 10.0584],
    ['30.48m', 'ft', 100],
    ['45°', '°', 45],
    ['1e3', 'm', 1000],
    ['12.5', '', 12.5],
  ] as const)
    expect(readQuantity(text, unit), text).toBe(value);
  for (const [text, unit] of [
    ['20 W', 'dBm'],
    ['10 m', 'MHz'],
    ['1,000 m', 'm'],
    ['m', 'm'],
    ['3 m', ''],
    ['', 'm'],
  ] as const)
    expect(readQuantity(text, unit), text).toBeNull();
});
