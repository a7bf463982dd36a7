// Files as the server takes them: their octets, with their names.
import { api, wanted, type Environment, type Imported, type ReplayInfo } from '../api/client';

/** Longest name of a recording, characters. */
const NAME_CHARS_MAX = 128;

/** A request with the octets of a file. */
const octets = (file: File) => ({
  body: file as unknown as string,
  bodySerializer: (value: unknown) => value as BodyInit,
  headers: { 'content-type': 'application/octet-stream' },
});

/** Makes a deployment of a file of any format. */
export function importPlan(file: File): Promise<Imported> {
  return wanted(api.POST('/api/v1/deployments/import', { params: { query: { file_name: file.name } }, ...octets(file) }));
}

/** Makes a recording of a log, or of tracks or measurements in any format. */
export function uploadRecording(file: File): Promise<ReplayInfo> {
  const query = { name: [...file.name].slice(0, NAME_CHARS_MAX).join('') };
  return wanted(api.POST('/api/v1/replays', { params: { query }, ...octets(file) }));
}

/** Reads the profile of a calibration; nothing is stored. */
export function readCalibration(file: File): Promise<NonNullable<Environment['calibration']>> {
  return wanted(api.POST('/api/v1/calibrations/profile', { params: { query: { file_name: file.name } }, ...octets(file) }));
}
