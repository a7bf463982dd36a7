// WebKit, driven by its own WebDriver: the engine of Safari and of every browser of an iPhone. MiniBrowser of
// WebKitGTK draws on a virtual screen with a software renderer.
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { end, expect, openScreen, type Engine, type Screen } from './screen';

const START_MS = 60_000;
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';

/** The browser of the driver; Debian keeps it beside the library. */
function miniBrowser(): string {
  const libraries = '/usr/lib';
  for (const machine of readdirSync(libraries)) {
    for (const version of ['webkit2gtk-4.1', 'webkitgtk-6.0', 'webkit2gtk-4.0']) {
      const path = join(libraries, machine, version, 'MiniBrowser');
      if (existsSync(path)) return path;
    }
  }
  throw new Error('WebKitGTK has no MiniBrowser here');
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/** A window of WebKit. */
export class WebKit implements Engine {
  private constructor(
    private readonly screen: Screen,
    private readonly driver: ChildProcess,
    private readonly address: string,
    private session: string,
  ) {}

  static async start(this: void, width: number, height: number): Promise<WebKit> {
    const screen = await openScreen();
    const port = await freePort();
    const env = { ...process.env, DISPLAY: screen.display, GDK_BACKEND: 'x11', LIBGL_ALWAYS_SOFTWARE: '1', NO_AT_BRIDGE: '1' };
    const driver = spawn('WebKitWebDriver', [`--port=${port}`, '--host=127.0.0.1'], { env, stdio: 'ignore' });
    const made = new WebKit(screen, driver, `http://127.0.0.1:${port}`, '');
    try {
      await made.#begin(width, height);
    } catch (fault) {
      await made.close();
      throw fault;
    }
    return made;
  }

  async #begin(width: number, height: number): Promise<void> {
    const until = Date.now() + START_MS;
    while (
      !(await fetch(`${this.address}/status`).then(
        (answer) => answer.ok,
        () => false,
      ))
    ) {
      if (Date.now() > until) throw new Error('WebKitWebDriver does not answer');
      await new Promise((done) => setTimeout(done, 50));
    }
    const options = { binary: miniBrowser(), args: ['--automation'] };
    const { sessionId } = (await this.#ask('POST', '/session', {
      capabilities: { alwaysMatch: { 'webkitgtk:browserOptions': options } },
    })) as { sessionId: string };
    this.session = `/session/${sessionId}`;
    await this.#ask('POST', '/window/rect', { width, height });
  }

  async #ask(method: string, path: string, body?: object): Promise<unknown> {
    const answer = await fetch(this.address + this.session + path, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
    const { value } = (await answer.json()) as { value: unknown };
    if (!answer.ok) {
      const { error, message } = value as { error: string; message: string };
      throw new Error(`${method} ${path}: ${error}: ${message}`);
    }
    return value;
  }

  async goto(url: string): Promise<void> {
    // An address that differs in its fragment only would not load the page anew.
    await this.#ask('POST', '/url', { url: 'about:blank' });
    await this.#ask('POST', '/url', { url });
  }

  /** The value of a function that runs on the page; values travel as JSON. */
  async evaluate<T, Given = undefined>(work: (given: Given) => T | Promise<T>, given?: Given): Promise<T> {
    const script = `const [given, done] = arguments; Promise.resolve(given).then(${work.toString()}).then((value) => done({ value }), (fault) => done({ fault: String(fault) }));`;
    const { value, fault } = (await this.#ask('POST', '/execute/async', { script, args: [given ?? null] })) as { value: T; fault?: string };
    if (fault) throw new Error(fault);
    return value;
  }

  async #element(path: string): Promise<string> {
    const found = (await this.#ask('POST', '/element', { using: 'xpath', value: path })) as Record<string, string>;
    return found[ELEMENT] as string;
  }

  /** Clicks the element of an XPath, once it is there and free. */
  async click(path: string): Promise<void> {
    await expect(async () => this.#ask('POST', `/element/${await this.#element(path)}/click`, {})).toPass();
  }

  /** Types over what a field has. */
  async fill(path: string, text: string): Promise<void> {
    let element = '';
    await expect(async () => void (element = await this.#element(path))).toPass();
    // The driver does not scroll within panels.
    await this.#ask('POST', '/execute/sync', {
      script: "arguments[0].scrollIntoView({ block: 'center' })",
      args: [{ [ELEMENT]: element }],
    });
    await this.#ask('POST', `/element/${element}/clear`, {});
    await this.#ask('POST', `/element/${element}/value`, { text });
  }

  /** The window as a PNG file. */
  async screenshot(): Promise<Buffer> {
    return Buffer.from((await this.#ask('GET', '/screenshot')) as string, 'base64');
  }

  async close(): Promise<void> {
    if (this.session) await this.#ask('DELETE', '').catch(() => undefined);
    await end(this.driver);
    await end(this.screen.process);
  }
}
