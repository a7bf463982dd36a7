// Rectangles of the page: the place that panels leave to the map, and what is too small or off the screen.
import type { Page } from '@playwright/test';

/** Share of the screen on which the map lies and nothing above it. */
export function uncovered(page: Page, map = '.map'): Promise<number> {
  return page.evaluate((map) => {
    const maps = [...document.querySelectorAll(map)].map((element) => element.getBoundingClientRect());
    const above = [...document.querySelectorAll('.top, .dock, .dock > *, .rail, .legends > *, .profile, .handle, .pill, .tabbar')].map(
      (element) => element.getBoundingClientRect(),
    );
    let [free, all] = [0, 0];
    for (let y = 1; y < innerHeight; y += 2) {
      for (let x = 1; x < innerWidth; x += 2) {
        all++;
        const inside = (box: DOMRect) => x >= box.left && x < box.right && y >= box.top && y < box.bottom;
        if (maps.some(inside) && !above.some(inside)) free++;
      }
    }
    return free / all;
  }, map);
}

/** Smallest side of what a finger touches, px. */
const FINGER_PX = 44;

/** Whatever is touched and is visible, but lower or narrower than 44 px: buttons, links, fields and handles; a box to
 * tick counts with its label, a handle with its margin. Controls of the map library say what the map is, and a click
 * elsewhere closes them. */
export function small(page: Page): Promise<string[]> {
  return page.evaluate((least) => {
    const targets =
      'button, a[href], select, textarea, summary, input:not([type=hidden]), [role=button], [role=tab], [role=option], [role=slider], [data-handle]';
    const found: string[] = [];
    for (const element of document.querySelectorAll<HTMLElement>(targets)) {
      if (element.closest('.maplibregl-control-container') || !element.checkVisibility({ visibilityProperty: true, opacityProperty: true }))
        continue;
      const isTick = element instanceof HTMLInputElement && /checkbox|radio|file/.test(element.type);
      const box = (isTick ? (element.closest('label') ?? element) : element).getBoundingClientRect();
      const isShown =
        box.width > 1 && box.height > 1 && getComputedStyle(element).clipPath === 'none' && box.right > 0 && box.left < innerWidth;
      // Half pixels of borders are none of a finger's.
      if (isShown && (box.height < least - 0.5 || box.width < least - 0.5))
        found.push(
          `${element.tagName.toLowerCase()} ${element.getAttribute('aria-label') ?? element.getAttribute('name') ?? element.textContent?.trim().slice(0, 30)} ${box.width.toFixed(0)} × ${box.height.toFixed(0)}`,
        );
    }
    return found;
  }, FINGER_PX);
}

/** Buttons and fields that are cut by an edge of the screen; those of lists that scroll are left out. */
export function outside(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [
      ...document.querySelectorAll<HTMLElement>(
        '.top :is(button, select), .rail button, .legends > *, .handle, .profile button, [aria-label="Playback"] :is(button, select, output)',
      ),
    ]
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.width && (box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight))
      .map(
        ({ element, box }) =>
          `${element.getAttribute('aria-label') ?? element.textContent} ${box.left} to ${box.right}, ${box.top} to ${box.bottom}`,
      ),
  );
}

/** Selects that have no room for one of their options. Names of people's own things are cut with an ellipsis, and selects
 * that show a placeholder alone never show their options. */
export function cutSelects(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const pen = document.createElement('canvas').getContext('2d')!;
    const own = '#deployment, #recording, #template, [name=node], [name=end]';
    /** Breadth of the sign that opens the list, px. */
    const SIGN_PX = 18;
    return [...document.querySelectorAll('select')].flatMap((select) => {
      if (!select.checkVisibility() || select.matches(own) || select.options[0]?.disabled) return [];
      const style = getComputedStyle(select);
      pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
      const room = select.clientWidth - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight) - SIGN_PX;
      const cut = [...select.options].filter((option) => pen.measureText(option.text).width > room).map((option) => option.text);
      return cut.length
        ? [`${select.name || select.getAttribute('aria-label') || select.closest('label')?.textContent}: ${cut.join('; ')}`]
        : [];
    });
  });
}
