// Server-sent events with a token, which EventSource cannot send: resumed after a break, closed while hidden.
import { access, base } from '../api/gateway';

export interface StreamEvent {
  id: string;
  type: string;
  data: Record<string, string>;
}

export interface StreamEvents {
  event(event: StreamEvent): void;
  /** The stream is open, or it broke and is tried again. */
  state(open: boolean): void;
}

const RETRY_MS = 1500;

/** Parts of one event of a stream. */
export function parse(block: string): StreamEvent | null {
  const fields = { id: '', event: '', data: '' };
  for (const line of block.split('\n')) {
    const at = line.indexOf(':');
    const name = line.slice(0, at);
    if (at > 0 && name in fields) fields[name as keyof typeof fields] += line.slice(at + 1).replace(/^ /, '');
  }
  return fields.data ? { id: fields.id, type: fields.event, data: JSON.parse(fields.data) as Record<string, string> } : null;
}

/** One stream; it begins with everything that the gateway remembers. */
export class Stream {
  #last = '0';
  #stop: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wanted = false;

  constructor(
    private readonly path: string,
    private readonly events: StreamEvents,
  ) {}

  readonly #turned = () => (document.hidden ? this.#close() : void this.#open());

  start(): void {
    this.#wanted = true;
    document.addEventListener('visibilitychange', this.#turned);
    void this.#open();
  }

  end(): void {
    this.#wanted = false;
    document.removeEventListener('visibilitychange', this.#turned);
    this.#close();
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#stop?.abort();
    this.#stop = null;
  }

  async #open(): Promise<void> {
    if (!this.#wanted || this.#stop || document.hidden || !access.token) return;
    const stop = new AbortController();
    this.#stop = stop;
    try {
      const headers = { authorization: `Bearer ${access.token}`, 'last-event-id': this.#last, accept: 'text/event-stream' };
      const answer = await fetch((await base()) + this.path, { headers, signal: stop.signal, cache: 'no-store' });
      if (answer.status === 401) access.refused();
      if (answer.ok && answer.body) {
        this.events.state(true);
        await this.#read(answer.body);
      }
    } catch {
      // Told below; the server is asked again.
    }
    if (stop.signal.aborted) return;
    this.#stop = null;
    this.events.state(false);
    this.#timer = setTimeout(() => void this.#open(), RETRY_MS);
  }

  async #read(body: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<void> {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = parse(block);
        if (!event) continue;
        if (event.id) this.#last = event.id;
        this.events.event(event);
      }
    }
  }
}
