// Typed client of the gateway; its paths and fields come from the OpenAPI document.
import createClient from 'openapi-fetch';
import type { Readable } from 'openapi-typescript-helpers';
import type { components, paths } from './gateway.d';
import { offered, placed } from './offer';

type Schemas = components['schemas'];
export type Me = Schemas['Me'];
export type AccountRole = Schemas['AccountRole'];
export type LiveNode = Schemas['Node'];
export type NodeState = Schemas['NodeState'];
export type NodeEvent = Schemas['NodeEvent'];
export type NodeHealth = Schemas['NodeHealth'];
export type NodeInterface = Schemas['Interface'];
export type Graph = Schemas['NetworkGraph'];
export type GraphLink = Schemas['GraphLink'];
export type Measured = Schemas['Measured'];
export type MeshHealth = Schemas['MeshHealth'];
export type Outage = Schemas['OutageView'];
export type Registration = Schemas['RegistrationView'];
export type Readings = Schemas['LatestReadings'];
export type Series = Readable<Schemas['Series']>;
export type AuditEntry = Schemas['AuditEntryView'];
export type Flow = Schemas['FlowSummary'];
export type Execution = Schemas['ExecutionView'];
export type Delivery = Schemas['DeliveryView'];
export type Alert = Schemas['AlertView'];
export type Capabilities = Schemas['Capabilities'];
export type Impairment = Schemas['Impairment'];
export type AppliedState = Schemas['AppliedState'];
export type ImpairmentSystem = Schemas['SystemRecord'];
export type LinkStats = Schemas['LinkStats'];
export type Playback = Schemas['PlaybackView'];
export type ImpairmentLease = Schemas['LeaseRecord'];
export type NewPlayback = Schemas['NewPlayback'];
export type Testbed = Schemas['Testbed'];
export type TestbedNode = Schemas['TestbedNode'];
export type TestbedLink = Schemas['Link'];
export type LinkReading = Schemas['LinkReading'];
export type JoinKey = Schemas['JoinKeyView'];
export type CreatedJoinKey = Schemas['CreatedJoinKey'];
export type TrustState = Schemas['TrustState'];
export type TrustedMac = Schemas['TrustedMacEntry'];
export type User = Schemas['User'];
export type ApiToken = Schemas['ApiTokenView'];
export type CreatedApiToken = Schemas['CreatedApiToken'];
export type FlowDocument = Readable<Schemas['AutomationFlow']>;
export type FlowView = Readable<Schemas['FlowView']>;
export type FlowStep = Readable<Schemas['FlowStep']>;
export type FlowEdge = Readable<Schemas['FlowEdge']>;
export type BuilderMetadata = Readable<Schemas['BuilderMetadata']>;
export type FirmwareImage = Schemas['FirmwareImageView'];
export type Rollout = Readable<Schemas['RolloutView']>;
export type RolloutPlan = Schemas['RolloutPlan'];
export type SensorReading = Schemas['SensorReading'];
export type SensorAssignment = Schemas['SensorAssignmentView'];
export type Camera = Schemas['CameraView'];
export type PowerSupply = Schemas['UpsView'];
export type Zone = Schemas['ZoneView'];
export type FirewallRule = Readable<Schemas['RuleView']>;
export type Ruleset = Schemas['RulesetView'];

/** Path in front of those of the gateway, once the server has said it. */
export async function base(): Promise<string> {
  return (await offered()).gateway ?? '';
}

/** The token of the login, what ends its requests, and what happens when the gateway no longer takes it. */
export const access = { token: null as string | null, requests: new AbortController(), refused: (): void => undefined };

/** Ends the requests of the login that are under way: the gateway would refuse them. */
export function abandon(): void {
  access.requests.abort();
  access.requests = new AbortController();
}

export const gateway = placed(createClient<paths>(), base);

gateway.use({
  onRequest({ request }) {
    if (!access.token) return request;
    request.headers.set('authorization', `Bearer ${access.token}`);
    return new Request(request, { signal: access.requests.signal });
  },
  onResponse({ request, response }) {
    // A login that failed is named where it was tried, and the end of another token is not that of this one.
    const ended = access.token !== null && request.headers.get('authorization') === `Bearer ${access.token}`;
    if (response.status === 401 && ended) access.refused();
    return response;
  },
});
