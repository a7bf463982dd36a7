// Modules that the build makes (gazetteer.ts).
declare module 'virtual:towns' {
  const table: string;
  export default table;
}
declare module 'virtual:cities' {
  const table: string;
  export default table;
}
