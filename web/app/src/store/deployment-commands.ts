// Changes of deployments and templates as commands of the history that those of nodes are in.
import { api, Refusal, wanted, type Deployment, type Template } from '../api/client';
import { withChange, has, valuesOf, type EnvironmentChange } from './environment';
import { Overtaken, type Command, type History } from './history.svelte';
import type { Plan } from './plan.svelte';
import { importPlan } from './uploads';

/** What the page shows of deployments. */
export interface Shown {
  /** Follows the changes of a deployment by others, or of none. */
  follow(id: string | null): void;
  /** Shows a deployment; null for any that is there. */
  show(id: string | null): Promise<void>;
}

/** New name and propagation settings; what is left out stays. */
export interface DeploymentChange {
  name?: string | undefined;
  environment: EnvironmentChange;
}

/** Does work on a thing of the server that others may have deleted. */
async function onThere<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (fault) {
    if (fault instanceof Refusal && fault.status === 404) throw new Overtaken(`${name} is not there any more.`);
    throw fault;
  }
}

export class DeploymentCommands {
  constructor(
    private readonly plan: Plan,
    private readonly history: History,
    private readonly page: Shown,
  ) {}

  /** Changes a deployment; without a change nothing is sent. */
  async change(deployment: Deployment, change: DeploymentChange): Promise<void> {
    const { id } = deployment;
    const keys = [...change.environment.keys()];
    if (!keys.length && change.name === undefined) return;
    const now = () => this.plan.deployments.find((one) => one.id === this.history.live(id)) ?? deployment;
    const fieldsOf = ({ name, environment }: Deployment): DeploymentChange => ({
      name: change.name === undefined ? undefined : name,
      environment: valuesOf(environment, keys),
    });
    const before = fieldsOf(now());
    /** Fields as the last change of this page left them. */
    let last: DeploymentChange | null = null;
    const put = async ({ name, environment }: DeploymentChange) => {
      const present = now();
      if (last && !(has(present.environment, last.environment) && (last.name ?? present.name) === present.name))
        throw new Overtaken(`${present.name} was changed by another client since: its values stay.`);
      const body = {
        ...(keys.length ? { environment: withChange(present.environment, environment) } : {}),
        ...(name === undefined ? {} : { name }),
      };
      const path = { id: this.history.live(id) };
      const made = await onThere(present.name, () => wanted(api.PATCH('/api/v1/deployments/{id}', { params: { path }, body })));
      last = fieldsOf(made);
      this.plan.putDeployment(made);
      if (keys.length) void this.plan.refreshLinks();
    };
    const what = keys.length ? (change.name === undefined ? 'Environment' : 'Name and environment') : 'Name';
    await this.history.run({
      label: `${what} of ${before.name ?? deployment.name}`,
      within: id,
      do: () => put(change),
      undo: () => put(before),
    });
  }

  /** Deletes a deployment with its nodes. The command keeps its document, of which the server makes the same again. */
  async remove({ id, name }: Deployment): Promise<Command> {
    let document: File | null = null;
    const command: Command = {
      label: `Delete ${name}`,
      do: async () => {
        const path = { id: this.history.live(id) };
        const isShown = () => this.plan.deployment?.id === path.id;
        const query = { format: 'geojson' } as const;
        const content = await onThere(name, () =>
          wanted(api.GET('/api/v1/deployments/{id}/export', { params: { path, query }, parseAs: 'blob' })),
        );
        document = new File([content as unknown as Blob], 'plan.geojson');
        // What this page does is no news to it.
        if (isShown()) this.page.follow(null);
        try {
          await onThere(name, () => wanted(api.DELETE('/api/v1/deployments/{id}', { params: { path } })));
        } catch (fault) {
          if (isShown()) this.page.follow(path.id);
          throw fault;
        }
        const others = this.plan.deployments.filter((one) => one.id !== path.id);
        if (isShown()) await this.page.show(others[0]?.id ?? null);
        else this.plan.deployments = others;
      },
      undo: async () => {
        if (!document) return;
        const { deployment } = await importPlan(document);
        this.history.renamed(id, deployment.id);
        await this.page.show(deployment.id);
      },
    };
    await this.history.run(command);
    return command;
  }

  /** Deletes a template. */
  async removeTemplate(template: Template): Promise<Command> {
    const { id, created_at: _, ...body } = template;
    const command: Command = {
      label: `Delete the template ${template.name}`,
      do: async () => {
        const path = { id: this.history.live(id) };
        await onThere(template.name, () => wanted(api.DELETE('/api/v1/templates/{id}', { params: { path } })));
        this.plan.templates = this.plan.templates.filter((one) => one.id !== path.id);
      },
      undo: async () => {
        const made = await wanted(api.POST('/api/v1/templates', { body }));
        this.history.renamed(id, made.id);
        this.plan.templates = [...this.plan.templates, made];
      },
    };
    await this.history.run(command);
    return command;
  }
}
