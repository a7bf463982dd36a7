// Rectangles of the page: the place that panels leave to the map, and what is too small or off the screen.
import type { Page } from '@playwright/test';

/** Share of the screen on which the map lies and nothing above it. */
export function uncovered(page: Page, map = '.map'): Promise<number> {
  return page.evaluate((map) => {
    const maps = [...document.querySelectorAll(map)].map((element) => element.getBoundingClientRect());
    const above = [...document.querySelectorAll('.top, .dock, .dock > *, .rail, .legends > *, .profile, .handle, .pill, .tabbar')].map((element) => element.getBoundingClientRect());
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

/** Buttons and fields that a finger misses: lower or narrower than 44 px. */
export function small(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('.top button, .top select, .rail button, .tabbar button, .dock button:not(.grab), .dock select, .profile button')]
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.width && (box.height < 44 || box.width < 36))
      .map(({ element, box }) => `${element.getAttribute('aria-label') ?? element.textContent} ${box.width} × ${box.height}`),
  );
}

/** Buttons and fields that are cut by an edge of the screen; those of lists that scroll are left out. */
export function outside(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>('.top :is(button, select), .rail button, .legends > *, .handle, .profile button, [aria-label="Playback"] :is(button, select, output)')]
      .map((element) => ({ element, box: element.getBoundingClientRect() }))
      .filter(({ box }) => box.width && (box.left < 0 || box.top < 0 || box.right > innerWidth || box.bottom > innerHeight))
      .map(({ element, box }) => `${element.getAttribute('aria-label') ?? element.textContent} ${box.left} to ${box.right}, ${box.top} to ${box.bottom}`),
  );
}
