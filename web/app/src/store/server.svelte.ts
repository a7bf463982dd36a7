// The server: if it is there, and what this device has kept of it while it is not.
import { api } from '../api/client';
import { connection } from '../api/kept';
import type { App } from './app.svelte';
import type { Job } from './coverage.svelte';
import { dropCoverage, keepCoverage, keptCoverages } from './kept-coverage';
import { keeps } from './offline';

/** Period of questions to a server that answers, and to one that does not, ms. */
const PROBE_MS = 5000;
const PROBE_GONE_MS = 1500;

export class ServerWatch {
  constructor(private readonly app: Pick<App, 'plan' | 'ui' | 'coverages' | 'attempt'>) {
    connection.isGone = () => this.app.ui.serverGone;
    connection.kept = (at) => this.#kept(at);
  }

  /** A kept answer came in place of one of the server. */
  #kept(at: Date): void {
    const { ui } = this.app;
    ui.answered = ui.answered && ui.answered < at ? ui.answered : at;
    [ui.serverGone, ui.isKept] = [true, true];
  }

  /** Looks now if the server is there. */
  probe: () => void = () => undefined;

  /** Asks the server now and then if it is there; a hidden tab asks nothing. */
  watch(): () => void {
    const { ui, plan } = this.app;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const probe = async () => {
      clearTimeout(timer);
      if (!document.hidden) {
        const alive = await api.GET('/healthz').then(
          (answer) => answer.response.ok,
          () => false,
        );
        const [back, wasKept] = [alive && ui.serverGone, ui.isKept];
        ui.serverGone = !alive;
        if (alive) [ui.answered, ui.isKept] = [new Date(), false];
        if (back) {
          ui.tell('The server is back.');
          await this.app.attempt(() => (plan.loaded && !wasKept ? plan.listDeployments(null) : plan.start(null)));
        }
      }
      timer = setTimeout(probe, ui.serverGone ? PROBE_GONE_MS : PROBE_MS);
    };
    this.probe = () => void probe();
    const shown = () => void (!document.hidden && probe());
    document.addEventListener('visibilitychange', shown);
    timer = setTimeout(probe, ui.serverGone ? PROBE_GONE_MS : PROBE_MS);
    return () => {
      clearTimeout(timer);
      document.removeEventListener('visibilitychange', shown);
    };
  }

  /** Shows the coverages that this device has kept of the deployment, while the server is gone. */
  async restore(): Promise<void> {
    const { plan, ui, coverages } = this.app;
    const within = plan.deployment?.id;
    if (!ui.isKept || !within) return;
    const kept = await keptCoverages(within);
    if (ui.isKept && plan.deployment?.id === within) coverages.restore(kept.map(({ job }) => job));
  }

  /** Keeps a coverage that is finished. */
  finished(job: Job): void {
    const within = this.app.plan.deployment?.id;
    if (within && keeps()) void keepCoverage(within, job);
  }

  /** Drops a coverage that was taken from the list. */
  removed(job: Job): void {
    const within = this.app.plan.deployment?.id;
    if (within && keeps()) void dropCoverage(within, job.nodeId);
  }
}
