// Typed client of the planning interface; its paths and fields come from the OpenAPI document.
import createClient from 'openapi-fetch';
import type { Readable } from 'openapi-typescript-helpers';
import { noted, sent, Unsent } from './kept';
import { offered, placed } from './offer';
import type { components, paths } from './planning';

type Schemas = components['schemas'];
export type Deployment = Readable<Schemas['Deployment']>;
export type Node = Schemas['Node'];
export type NewNode = Schemas['NewNode'];
export type NodePatch = Schemas['NodePatch'];
export type RadioConfig = Schemas['RadioConfig'];
export type RadioPreset = Schemas['RadioPreset'];
export type AntennaPreset = Schemas['AntennaPreset'];
export type AntennaSummary = Schemas['AntennaSummary'];
export type Pointing = Schemas['Pointing'];
export type Role = Schemas['Role'];
export type Surroundings = Schemas['Surroundings'];
export type Indoor = Schemas['Indoor'];
export type ModelInfo = Schemas['ModelInfo'];
export type RolePreset = Schemas['RolePreset'];
export type Template = Schemas['Template'];
export type Verdict = Schemas['Verdict'];
export type Link = Schemas['DeploymentLink'];
export type LinkDirection = Schemas['LinkDirection'];
export type LinkAnalysis = Schemas['LinkAnalysis'];
export type LinkResult = Schemas['LinkResult'];
export type TerrainProfile = Schemas['TerrainProfile'];
export type RelayChain = Schemas['RelayChain'];
export type Metric = Schemas['Metric'];
export type CoverageFormat = Schemas['CoverageFormat'];
export type Effect = Schemas['Effect'];
export type MeshRoute = Schemas['MeshRoute'];
export type ProtocolAdvice = Schemas['ProtocolAdvice'];
export type Imported = Readable<Schemas['Imported']>;
export type PointScan = Schemas['PointScan'];
export type MeshCoverageState = Schemas['MeshCoverageState'];
export type PlacementQuestion = Schemas['PlacementQuestion'];
export type PlacementAdvice = Schemas['PlacementAdvice'];
export type Place = Schemas['Place'];
export type GroundOffer = Schemas['GroundOffer'];
export type GroundFetch = Schemas['GroundFetch'];
export type ReplayInfo = Schemas['ReplayInfo'];
export type FormatInfo = Schemas['FormatInfo'];
export type EnvironmentPresets = Schemas['EnvironmentPresets'];
export type GroundData = Schemas['GroundData'];
export type Environment = Readable<Schemas['Environment']>;

/** A mistake in a field of a body, by its JSON pointer. */
export interface FieldFault {
  pointer: string;
  message: string;
}

/** Text for a server that does not answer. */
export const GONE = 'The server does not answer.';
/** Status of an answer that cannot be read, as of a gateway that gets none (RFC 9110). */
const UNREADABLE = 502;

/** A refusal or failure that the page shows. `status` is 0 when the server does not answer. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly status: number,
    readonly fields: readonly FieldFault[] = [],
  ) {
    super(message);
  }
}

/** A request that the page itself has ended: nobody awaits its answer any more. */
export class Abandoned extends Error {}

type Answer<T> = { data?: T; error?: unknown; response: Response };

/** Answers asked for before the view that needs them is there, each taken once. */
const early = new Map<string, Promise<Response>>();

/** Asks for what a view needs first, while the view itself is loaded. */
export function askEarly(...paths: string[]): void {
  for (const path of paths) {
    const answer = fetch(path, { headers: { accept: 'application/json' } }).then(noted);
    // Who takes it hears of the failure.
    answer.catch(() => undefined);
    early.set(new URL(path, location.href).href, answer);
  }
}

function ask(request: Request): Promise<Response> {
  const answer = request.method === 'GET' ? early.get(request.url) : undefined;
  early.delete(request.url);
  return answer ?? sent(request);
}

export const api = placed(createClient<paths>({ fetch: ask }), async () => (await offered()).planning ?? '');

/** The body of an answer, or a [`Refusal`] with the problem's detail. */
export async function wanted<T>(asked: Promise<Answer<T>>): Promise<T> {
  let answer: Answer<T>;
  try {
    answer = await asked;
  } catch (fault) {
    const { name } = fault as { name?: string };
    if (name === 'AbortError') throw new Abandoned();
    // Half of an answer is none.
    if (name === 'SyntaxError') throw new Refusal('The answer of the server is not complete. Try again.', UNREADABLE);
    throw new Refusal(fault instanceof Unsent ? fault.message : GONE, 0);
  }
  if (answer.response.ok) return answer.data as T;
  const problem = answer.error as { detail?: string; errors?: FieldFault[] } | undefined;
  const detail = problem?.detail ?? `The server answered ${answer.response.status}.`;
  const fields = (problem?.errors ?? []).map((field) => field.message).filter((text) => !detail.includes(text));
  throw new Refusal([detail, ...fields].join(' '), answer.response.status, problem?.errors ?? []);
}
