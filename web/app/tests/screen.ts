// Windows of browsers on a virtual screen, for those that draw on screens only.
import { expect as usual } from '@playwright/test';
import { spawn, type ChildProcess } from 'node:child_process';

const SIZE = '1600x1200x24';

/** A software renderer draws on a machine that compiles and tests beside it. */
const WAIT_MS = 60_000;

export const expect = usual.configure({ timeout: WAIT_MS });

/** A window of a browser. Elements are given by XPaths. */
export interface Engine {
  goto(url: string): Promise<void>;
  /** The value of a function that runs on the page; values travel as JSON. */
  evaluate<T, Given = undefined>(work: (given: Given) => T | Promise<T>, given?: Given): Promise<T>;
  /** Clicks an element, once it is there and free. */
  click(path: string): Promise<void>;
  /** Types over what a field has. */
  fill(path: string, text: string): Promise<void>;
  /** The window as a PNG file. */
  screenshot(): Promise<Buffer>;
  close(): Promise<void>;
}

export interface Screen {
  /** Value of `DISPLAY`. */
  display: string;
  process: ChildProcess;
}

export async function openScreen(): Promise<Screen> {
  const process = spawn('Xvfb', ['-displayfd', '3', '-screen', '0', SIZE, '-nolisten', 'tcp'], {
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
  });
  const display = await new Promise<string>((resolve, reject) => {
    process.once('exit', () => reject(new Error('Xvfb ended')));
    process.stdio[3]?.once('data', (data: Buffer) => resolve(`:${data.toString().trim()}`));
  });
  return { display, process };
}

/** Ends a process and waits for it. */
export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await new Promise((done) => child.once('exit', done));
}
