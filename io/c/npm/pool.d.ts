import type { Coverage, CoverageRequest, Elevation, Source } from "./index.js";

export interface Pool {
  /** The bits of `coverage` of one instance, whatever the number of workers. One call at a time. */
  coverage(request: CoverageRequest, elevation: Elevation): Promise<Coverage>;
  close(): Promise<unknown>;
}

export function pool(size: number, source?: Source): Promise<Pool>;
