// Who is logged in at the gateway. The token lives as long as the tab.
import { Refusal, wanted } from '../api/client';
import { abandon, access, gateway, type AccountRole, type Me } from '../api/gateway';
import { timeOfDay } from '../units';

const KEY = 'groundwave.token';
const RANKS: Record<AccountRole, number> = { viewer: 0, operator: 1, admin: 2 };

function kept(): string | null {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function keep(token: string | null): void {
  access.token = token;
  try {
    if (token) sessionStorage.setItem(KEY, token);
    else sessionStorage.removeItem(KEY);
  } catch {
    // Without storage the login lasts until the page is loaded again.
  }
}

export class Session {
  me = $state.raw<Me | null>(null);
  /** Why one has to log in again. */
  reason = $state('');
  /** The first look at a kept token is over. */
  known = $state(false);
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `ended` is called when nobody is logged in any more. */
  constructor(private readonly ended: () => void) {
    access.token = kept();
    access.refused = () => this.#end('Your login has ended. Log in again.');
  }

  /** True if the caller may do what this role may. */
  may(role: AccountRole): boolean {
    return this.me !== null && RANKS[this.me.role] >= RANKS[role];
  }

  /** Uses the token that the tab has kept, if there is one. */
  async resume(): Promise<void> {
    if (access.token) {
      try {
        await this.#identify();
      } catch (fault) {
        // A gateway that does not answer may come back; the token is kept. A refused token has its reason.
        if (fault instanceof Refusal && fault.status !== 401) this.reason = fault.message;
      }
    }
    this.known = true;
  }

  async login(username: string, password: string): Promise<void> {
    access.token = null;
    const told = await wanted(gateway.POST('/api/auth/login', { body: { username, password } }));
    keep(told.access_token);
    await this.#identify();
    this.reason = '';
  }

  /** Changes the password; all tokens of the account end, so this logs in again. */
  async changePassword(current_password: string, new_password: string): Promise<void> {
    const username = this.me?.username ?? '';
    await wanted(gateway.POST('/api/auth/password', { body: { current_password, new_password } }));
    await this.login(username, new_password);
  }

  /** Ends the login here at once, and at the gateway even if the page is closed meanwhile. */
  async logout(): Promise<void> {
    const { token } = access;
    const end = this.me?.exp;
    this.#end('');
    if (!token) return;
    try {
      await wanted(gateway.POST('/api/auth/logout', { headers: { authorization: `Bearer ${token}` }, keepalive: true }));
    } catch (fault) {
      // A token that is refused has ended, and one who has logged in anew looks elsewhere.
      if (this.me !== null || (fault instanceof Refusal && fault.status === 401)) return;
      const limit = end ? `until ${timeOfDay(new Date(end))}` : 'until it is revoked';
      this.reason = `You are logged out here. The gateway takes the old login ${limit}: ${(fault as Error).message}`;
    }
  }

  async #identify(): Promise<void> {
    const me = await wanted(gateway.GET('/api/auth/me'));
    this.me = me;
    clearTimeout(this.#timer);
    const left_ms = me.exp ? Date.parse(me.exp) - Date.now() : Infinity;
    if (left_ms < 2 ** 31) this.#timer = setTimeout(() => this.#end('Your login has expired. Log in again.'), Math.max(0, left_ms));
  }

  #end(reason: string): void {
    clearTimeout(this.#timer);
    keep(null);
    abandon();
    this.me = null;
    this.reason = reason;
    this.ended();
  }
}
