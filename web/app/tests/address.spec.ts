// The address of the page names the view that is shown, also one without anything in it.
import type { Page } from '@playwright/test';
import { expect, open, plan, test } from './server';

/** Shows the live view, which has a heading, and loads the page again. */
async function lives(page: Page, heading: string): Promise<void> {
  await page.getByRole('button', { name: 'Live', exact: true }).click();
  await expect(page.getByRole('heading', { name: heading })).toBeVisible();
  await expect(page).toHaveURL(/v=live/);
  await page.reload();
  await expect(page.getByRole('heading', { name: heading })).toBeVisible();
}

test.describe('without a gateway', () => {
  test.use({ terrain: false });

  test('the live view is in the address, and a step back leaves it', async ({ page, request }) => {
    const { id } = await plan(request, ['Ramberget']);
    await open(page, `/#d=${id}`);
    await expect(page).toHaveURL(/m=/);
    await lives(page, 'No gateway at this address');
    await page.goBack();
    await expect(page.locator('#nodes')).toContainText('Ramberget');
    expect(page.url()).toContain(`d=${id}`);
  });
});

test.describe('with a gateway', () => {
  test.use({ terrain: false, services: 'both', heartbeat_s: 60 });

  test('the login is in the address', async ({ page }) => {
    await open(page);
    await lives(page, 'Log in at the gateway');
  });
});
