// Debian's Firefox, driven by WebDriver BiDi through Playwright. It has WebGL on a screen only.
import { firefox, type Browser, type Page } from '@playwright/test';
import { end, openScreen, type Engine, type Screen } from './screen';

/** A window of Firefox. */
export class Firefox implements Engine {
  private constructor(
    private readonly screen: Screen,
    private readonly browser: Browser,
    private readonly page: Page,
  ) {}

  static async start(this: void, width: number, height: number): Promise<Firefox> {
    const screen = await openScreen();
    try {
      const browser = await firefox.launch({
        // Of all browsers of this kind the channel is the one that is driven by BiDi.
        channel: 'moz-firefox',
        executablePath: process.env['FIREFOX'] ?? '/usr/bin/firefox-esr',
        headless: false,
        env: { ...process.env, DISPLAY: screen.display, LIBGL_ALWAYS_SOFTWARE: '1' } as Record<string, string>,
        firefoxUserPrefs: {
          'webgl.force-enabled': true,
          'ui.prefersReducedMotion': 1,
          'layout.css.prefers-color-scheme.content-override': 1,
          // Without a window manager a window may be in the background, where it has no frames.
          'layout.testing.top-level-always-active': true,
        },
      });
      return new Firefox(screen, browser, await browser.newPage({ viewport: { width, height } }));
    } catch (fault) {
      await end(screen.process);
      throw fault;
    }
  }

  async goto(url: string): Promise<void> {
    // An address that differs in its fragment only would not load the page anew.
    await this.page.goto('about:blank');
    await this.page.goto(url);
  }

  evaluate<T, Given = undefined>(work: (given: Given) => T | Promise<T>, given?: Given): Promise<T> {
    return this.page.evaluate(work as (given: unknown) => T | Promise<T>, given);
  }

  async click(path: string): Promise<void> {
    await this.page.locator(`xpath=${path}`).first().click();
  }

  async fill(path: string, text: string): Promise<void> {
    const field = this.page.locator(`xpath=${path}`).first();
    // Typed, as a value that a script sets gives no `change` here.
    await field.click();
    await field.press('Control+a');
    await field.pressSequentially(text);
  }

  screenshot(): Promise<Buffer> {
    return this.page.screenshot();
  }

  async close(): Promise<void> {
    await this.browser.close();
    await end(this.screen.process);
  }
}
