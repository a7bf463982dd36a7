// Files for the person at the page.
import { GONE, Refusal } from './api/client';
import { sent } from './api/kept';

/** Offers content as a file. */
export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

/** Name of a file of an answer (RFC 6266); empty without one. */
export function fileName(disposition: string | null): string {
  const extended = /filename\*=UTF-8''([^;]+)/i.exec(disposition ?? '')?.[1];
  if (extended) return decodeURIComponent(extended);
  const plain = /filename="((?:[^"\\]|\\.)*)"/i.exec(disposition ?? '')?.[1] ?? /filename=([^;\s]+)/i.exec(disposition ?? '')?.[1];
  return (plain ?? '').replace(/\\(.)/g, '$1');
}

/** Takes a file from the server. A link would leave a refusal to the browser, which shows nothing of it. */
export async function download(path: string): Promise<void> {
  const answer = await sent(new Request(path)).catch(() => null);
  if (!answer) throw new Refusal(GONE, 0);
  if (!answer.ok) {
    const { detail } = (await answer.json().catch(() => ({}))) as { detail?: string };
    throw new Refusal(detail ?? `The server answered ${answer.status}.`, answer.status);
  }
  const content = await answer.blob().catch(() => null);
  if (!content) throw new Refusal('The file is not complete: the server does not answer any more. Try again.', 0);
  saveFile(content, fileName(answer.headers.get('content-disposition')) || (path.split(/[/?]/).at(-1) ?? 'file'));
}
