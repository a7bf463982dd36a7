// Heights or land cover that the server lacks and can fetch: what it offers for the view, and the fetch in progress.
import { textOf } from '../faults';
import { wrappedBounds } from '../geo';
import { api, Refusal, wanted, type GroundData, type GroundFetch, type GroundOffer } from '../api/client';

/** An area, degrees. */
export interface Bounds {
  south: number;
  west: number;
  north: number;
  east: number;
}

/** Pause between two looks at the progress, ms. */
const POLL_MS = 400;
/** Pause after the last move of the view before the server is asked, ms. */
const SETTLED_MS = 250;

export class Ground {
  /** Offer for the view; null before there is one. */
  offer = $state.raw<GroundOffer | null>(null);
  /** The fetch in progress, or the last one of this page. */
  fetch = $state.raw<GroundFetch | null>(null);
  fault = $state('');
  /** Reason why there is no offer; empty where there is one, or none is asked for. */
  offerFault = $state('');
  running = $derived(this.fetch?.state === 'running');

  #bounds: Bounds | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  /** `arrived` is called when tiles are in use. */
  constructor(
    private readonly data: GroundData,
    private readonly arrived: (fetch: GroundFetch) => void,
  ) {}

  /** Asks for the offer of a view, once it rests; null withdraws it. */
  look(bounds: Bounds | null): void {
    clearTimeout(this.#timer);
    // A view may have been turned around the Earth.
    this.#bounds = bounds && wrappedBounds(bounds);
    const asked = this.#bounds;
    if (!asked) [this.offer, this.offerFault] = [null, ''];
    else this.#timer = setTimeout(() => void this.#ask(asked), SETTLED_MS);
  }

  async #ask(bounds: Bounds): Promise<void> {
    const turn = ++this.#asked;
    let offerFault = '';
    const offer = await wanted(api.POST('/api/v1/terrain/offer', { body: { bounds, data: this.data } })).catch((fault: unknown) => {
      offerFault = textOf(fault);
      return null;
    });
    if (turn !== this.#asked || this.#bounds !== bounds) return;
    [this.offer, this.offerFault] = [offer, offerFault];
    // Another page, or this one before it was loaded again, has begun a fetch.
    if (offer?.fetch?.data === this.data && !this.running) void this.#follow(offer.fetch);
  }

  /** Asks for the offer of the view again. */
  again(): void {
    this.look(this.#bounds);
  }

  /** Fetches the ground of the view; the click is the consent to the terms beside it. */
  async start(): Promise<void> {
    const bounds = this.#bounds;
    if (!bounds || this.running) return;
    this.fault = '';
    try {
      await this.#follow(await wanted(api.POST('/api/v1/terrain/fetches', { body: { bounds, data: this.data, consent: true } })));
    } catch (fault) {
      this.fault = fault instanceof Error ? fault.message : String(fault);
    }
  }

  async cancel(): Promise<void> {
    const id = this.fetch?.id;
    if (!id) return;
    await wanted(api.DELETE('/api/v1/terrain/fetches/{id}', { params: { path: { id } } })).catch(
      (fault: unknown) => void (this.fault = `It is not cancelled: ${textOf(fault)}`),
    );
  }

  async #follow(begun: GroundFetch): Promise<void> {
    let fetch: GroundFetch | null = begun;
    this.fault = '';
    for (this.fetch = fetch; fetch?.state === 'running'; this.fetch = fetch) {
      await new Promise((resume) => setTimeout(resume, POLL_MS));
      fetch = await this.#progress(fetch);
    }
    this.fault = fetch?.failure ?? '';
    if (fetch?.fetched.length) this.arrived(fetch);
    if (this.#bounds) void this.#ask(this.#bounds);
  }

  /** The progress of a fetch now: as before while the server does not answer, null where it is another server. */
  async #progress(fetch: GroundFetch): Promise<GroundFetch | null> {
    try {
      return await wanted(api.GET('/api/v1/terrain/fetches/{id}', { params: { path: { id: fetch.id } } }));
    } catch (fault) {
      return fault instanceof Refusal && fault.status === 404 ? null : fetch;
    }
  }
}
