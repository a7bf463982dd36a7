// Widths at which the page is laid out anew. Style sheets name them: `@media (--phone)`; the build (tokens.ts) puts the
// queries in their place.

/** Greatest breadth of a phone's screen, where panels are sheets, px. */
export const PHONE_MAX_PX = 640;
/** Greatest breadth at which the views are in the menu, px. */
const MENU_MAX_PX = 760;
/** Greatest breadth at which the bar has signs without words, px. */
const TERSE_MAX_PX = 900;

/** Queries by their names in style sheets. */
export const MEDIA = {
  '--phone': `(max-width: ${PHONE_MAX_PX}px)`,
  '--desk': `(min-width: ${PHONE_MAX_PX + 1}px)`,
  '--menu': `(max-width: ${MENU_MAX_PX}px)`,
  '--terse': `(max-width: ${TERSE_MAX_PX}px)`,
} as const;
