// Undo and redo over several deployments, and the changes of deployments themselves.
import { expect, test } from 'vitest';
import { History, Overtaken, Unfinished, type Command } from '../src/store/history.svelte';

/** A history over one text, and the deployment that is shown. */
function page() {
  const state = { shown: 'a' as string | null, text: '' };
  const history = new History(
    () => undefined,
    () => state.shown,
  );
  const write = (letter: string, within?: string): Command => ({
    label: letter,
    within,
    do: async () => void (state.text += letter),
    undo: async () => void (state.text = state.text.replace(letter, '')),
  });
  const labels = () => [history.done, history.undone].map((commands) => commands.map(({ label }) => label));
  return { state, history, write, labels };
}

test('commands of another deployment stay until it is shown again', async () => {
  const { state, history, write, labels } = page();
  await history.run(write('1', 'a'));
  state.shown = 'b';
  expect(labels()).toEqual([[], []]);
  expect(await history.undo()).toBeNull();
  await history.run(write('2', 'b'));
  state.shown = 'a';
  expect(labels()).toEqual([['1'], []]);
  expect(await history.undo()).toBe('1');
  expect(state.text).toBe('2');
  expect(await history.redo()).toBe('1');
  expect(state.text).toBe('21');
});

test('a new command ends the redo of its deployment alone', async () => {
  const { state, history, write, labels } = page();
  await history.run(write('1', 'a'));
  await history.undo();
  state.shown = 'b';
  await history.run(write('2', 'b'));
  state.shown = 'a';
  expect(labels()).toEqual([[], ['1']]);
  await history.run(write('3', 'a'));
  expect(labels()).toEqual([['3'], []]);
});

test('a deleted deployment is made again under another id, and its earlier commands can be undone', async () => {
  const { state, history, write, labels } = page();
  await history.run(write('1', 'a'));
  const removal: Command = {
    label: 'Delete a',
    do: async () => void (state.shown = 'b'),
    undo: async () => {
      history.renamed('a', 'a2');
      state.shown = 'a2';
    },
  };
  await history.run(removal);
  await history.run(write('2', 'b'));
  expect(labels()).toEqual([['Delete a', '2'], []]);
  // A message names the deletion, whatever was done since.
  expect(await history.undo(removal)).toBe('Delete a');
  expect(await history.undo(removal)).toBeNull();
  expect(labels()).toEqual([['1'], ['Delete a']]);
  expect(await history.undo()).toBe('1');
  expect(state.text).toBe('2');
});

test('a command that others have overtaken leaves, one that stopped midway is split', async () => {
  const { history, labels } = page();
  const nothing = async () => undefined;
  const part = (label: string): Command => ({ label, within: 'a', do: nothing, undo: nothing });
  await history.run({ ...part('gone'), undo: () => Promise.reject(new Overtaken('changed')) });
  await expect(history.undo()).rejects.toThrow('changed');
  expect(labels()).toEqual([[], []]);
  const stop = () => Promise.reject(new Unfinished('stopped', part('first half'), part('second half'), null));
  await history.run({ ...part('both'), undo: stop });
  await expect(history.undo()).rejects.toThrow('stopped');
  expect(labels()).toEqual([['second half'], ['first half']]);
});
