// An impairment daemon over interfaces of a network namespace, and a testbed, both of the program under test.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export function run(program: string, ...words: string[]): string {
  return execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
}

async function there(path: string, child: ChildProcess): Promise<void> {
  const said: string[] = [];
  child.stderr?.on('data', (part) => void said.push(String(part)));
  for (let tries = 0; tries < 600 && !existsSync(path); tries++) {
    if (child.exitCode !== null) break;
    await new Promise((done) => setTimeout(done, 50));
  }
  if (!existsSync(path)) throw new Error(`${path} did not appear: ${said.join('')}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const ended = new Promise((done) => child.once('exit', done));
  child.kill('SIGTERM');
  await ended;
}

const program = () => process.env['GROUNDWAVE'] ?? 'groundwave';

/** A daemon over `port1` and `port2` in a namespace of its own. */
export class ImpairLab {
  readonly folder = join(tmpdir(), `groundwave-impair-${process.pid}`);
  readonly socket = join(this.folder, 'impair.sock');
  readonly namespace = `gwp-${process.pid}`;
  #daemon: ChildProcess | null = null;

  async start(): Promise<void> {
    mkdirSync(this.folder);
    run('ip', 'netns', 'add', this.namespace);
    for (const number of [1, 2]) {
      run('ip', '-n', this.namespace, 'link', 'add', `port${number}`, 'type', 'veth', 'peer', 'name', `peer${number}`);
      run('ip', '-n', this.namespace, 'link', 'set', `port${number}`, 'up');
    }
    const ports = [1, 2].map((number) => `[[ports]]\ndirection = "port${number}"\ninterface = "port${number}"\n`);
    writeFileSync(join(this.folder, 'impaird.toml'), `socket = "${this.socket}"\n${ports.join('')}`);
    await this.resume();
  }

  /** Starts the daemon, again after a stop. */
  async resume(): Promise<void> {
    this.#daemon = spawn('ip', ['netns', 'exec', this.namespace, program(), 'impaird', '--config', join(this.folder, 'impaird.toml')], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    await there(this.socket, this.#daemon);
  }

  /** Stops the daemon; its interfaces stay. */
  async stop(): Promise<void> {
    if (this.#daemon) await end(this.#daemon);
  }

  async end(): Promise<void> {
    await this.stop();
    run('ip', 'netns', 'del', this.namespace);
    rmSync(this.folder, { recursive: true, force: true });
  }

  tc(...words: string[]): string {
    return run('tc', '-n', this.namespace, ...words);
  }

  /** The token bucket of an interface: handle and rate, bit/s; null without one. */
  bucket(device: string): { handle: string; bps: number } | null {
    const found = JSON.parse(this.tc('-j', 'qdisc', 'show', 'dev', device)) as {
      kind: string;
      handle: string;
      options: { rate: number };
    }[];
    const bucket = found.find((one) => one.kind === 'tbf');
    return bucket ? { handle: bucket.handle, bps: bucket.options.rate * 8 } : null;
  }

  /** True if this kernel has netem. */
  get netem(): boolean {
    try {
      run('ip', 'netns', 'exec', this.namespace, 'tc', 'qdisc', 'add', 'dev', 'lo', 'root', 'netem');
      return true;
    } catch {
      return false;
    }
  }
}

const node = (name: string, lat: number, lon: number) =>
  `[[node]]\nname = "${name}"\nlat_deg = ${lat}\nlon_deg = ${lon}\nheight_agl_m = 10\nradio = "wifi_5g_mesh"\nantenna = "omni_9"\n`;

/** A testbed of three nodes in a row on flat ground; the outer two do not reach each other. */
export class Bed {
  readonly folder = join(tmpdir(), `groundwave-bed-${process.pid}`);
  readonly name = `gwp${process.pid}`;
  readonly socket = `/run/groundwave/${this.name}/control.sock`;
  #controller: ChildProcess | null = null;

  async start(): Promise<void> {
    mkdirSync(this.folder);
    const nodes = node('west', 57.7, 11.85) + node('relay', 57.702, 11.88) + node('east', 57.7, 11.91);
    const scenario = join(this.folder, 'row.toml');
    writeFileSync(
      scenario,
      `[scenario]\ntitle = "Row"\nstep_s = 0.2\nduration_s = 3600\n[terrain]\nflat_msl_m = 20\n[mesh]\nlink_range_max_m = 2_500\n${nodes}`,
    );
    this.#controller = spawn(program(), ['testbed', 'up', scenario, '--name', this.name], { stdio: ['ignore', 'ignore', 'pipe'] });
    await there(this.socket, this.#controller);
  }

  /** Stops the controller, which takes the network down. */
  async end(): Promise<void> {
    if (this.#controller) await end(this.#controller);
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** True if a packet goes from a node to an address and back. */
  reaches(from: string, address: string): boolean {
    try {
      run('ip', 'netns', 'exec', `gw.${this.name}.${from}`, 'ping', '-n', '-c', '1', '-W', '1', address);
      return true;
    } catch {
      return false;
    }
  }
}
