// Modules that the build makes (gazetteer.ts, waters.ts, tokens.ts, documents.ts).
declare module 'virtual:tokens.css';
declare module 'virtual:towns' {
  const table: string;
  export default table;
}
declare module 'virtual:cities' {
  const table: string;
  export default table;
}
declare module 'virtual:gateway' {
  /** Role that each operation needs, by method and path; `nobody` needs no login. */
  export const ROLES: Record<string, 'nobody' | 'viewer' | 'operator' | 'admin'>;
  /** Bodies of the operations that are forms, by method and path. */
  export const FORMS: Record<string, import('./ui/schema').Schema>;
  /** Categories of the operations. */
  export const TAGS: string[];
}
declare module 'virtual:planning' {
  type Schemas = import('./api/planning').components['schemas'];
  /** A value of the interface, and what its document says about it. */
  interface Choice<Id> {
    id: Id;
    about: string;
  }
  export const METRICS: readonly Choice<Schemas['Metric']>[];
  export const COVERAGE_FORMATS: readonly Choice<Schemas['CoverageFormat']>[];
}
/** Rivers and lakes of the world, TopoJSON; see waters.ts. */
declare module 'virtual:waters-110m' {
  const topology: unknown;
  export default topology;
}
declare module 'virtual:waters-50m' {
  const topology: unknown;
  export default topology;
}
