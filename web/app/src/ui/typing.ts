// Elements that take keys as text.

/** Fields that take no text: keys of the page work on them. */
const WITHOUT_TEXT = ['checkbox', 'radio', 'range', 'button', 'file'].map((type) => `[type=${type}]`).join();

/** True if keys that are pressed at an element are text. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.matches(`input:not(${WITHOUT_TEXT}), textarea, select`) || target.isContentEditable);
}
