// Faults that no part of the page expects: they are shown, not only written to the console.

/** The text of a fault. */
export function textOf(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}

/** Does work for a caller that drops what is thrown: it is thrown outside of it. */
export function guarded(work: () => void): void {
  try {
    work();
  } catch (fault) {
    queueMicrotask(() => {
      throw fault;
    });
  }
}

/** Shows each fault that nothing has caught. */
export function watchFaults(show: (text: string) => void): void {
  const failed = (fault: unknown) => show(`A part of the page has failed: ${textOf(fault)}. Reload the page if something is missing.`);
  // Notices such as those of observers of sizes have no fault.
  addEventListener('error', (event) => void (event.error && failed(event.error)));
  addEventListener(
    'unhandledrejection',
    ({ reason }) => void ((reason as { name?: string } | null)?.name !== 'AbortError' && failed(reason)),
  );
}
