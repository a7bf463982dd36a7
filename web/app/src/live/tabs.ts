// Panels of the live view in their groups.
import type { Component } from 'svelte';
import { allows } from './manage/rows.svelte';

export type LiveTab =
  | 'nodes'
  | 'links'
  | 'approvals'
  | 'events'
  | 'flows'
  | 'impairment'
  | 'testbed'
  | 'keys'
  | 'users'
  | 'tokens'
  | 'alerts'
  | 'firmware'
  | 'sensors'
  | 'cameras'
  | 'protection';

export interface Tab {
  id: LiveTab;
  name: string;
  icon: string;
  /** Operation without which the panel has nothing to show. */
  needs?: string;
  /** Panel that is loaded when it is asked for, and wider than those of the mesh. */
  load?: () => Promise<{ default: Component }>;
}

export interface Group {
  name: string;
  tabs: readonly Tab[];
}

const GROUPS: readonly Group[] = [
  {
    name: 'Mesh',
    tabs: [
      { id: 'nodes', name: 'Nodes', icon: 'M4 5h12M4 10h12M4 15h12' },
      { id: 'links', name: 'Links', icon: 'M4 15 10 5l6 10M4 15h12' },
      { id: 'approvals', name: 'Approvals', icon: 'M4 10l4 4 8-8' },
      { id: 'events', name: 'Events', icon: 'M10 4v6l4 2M10 3a7 7 0 1 0 .1 0' },
    ],
  },
  {
    name: 'Rules',
    tabs: [
      {
        id: 'alerts',
        name: 'Alerts',
        icon: 'M10 3a5 5 0 0 1 5 5v4l2 3H3l2-3V8a5 5 0 0 1 5-5M8 17h4',
        load: () => import('./manage/Alerts.svelte'),
      },
      { id: 'flows', name: 'Flows', icon: 'M5 4v6h10v6M3 4h4M13 16h4', load: () => import('./FlowList.svelte') },
    ],
  },
  {
    name: 'Access',
    tabs: [
      { id: 'keys', name: 'Join keys', icon: 'M12 8a3 3 0 1 0-.1 0M10 10l-6 6M6 14l2 2', load: () => import('./manage/JoinKeys.svelte') },
      {
        id: 'users',
        name: 'Users',
        icon: 'M10 9a3 3 0 1 0-.1 0M4 17a6 6 0 0 1 12 0',
        needs: 'GET /v1/admin/users',
        load: () => import('./manage/Users.svelte'),
      },
      { id: 'tokens', name: 'API tokens', icon: 'M3 6h14v8H3zM6 10h4', load: () => import('./manage/Tokens.svelte') },
    ],
  },
  {
    name: 'Devices',
    tabs: [
      {
        id: 'firmware',
        name: 'Firmware',
        icon: 'M6 6h8v8H6zM8 3v3M12 3v3M8 14v3M12 14v3M3 8h3M3 12h3M14 8h3M14 12h3',
        load: () => import('./manage/Firmware.svelte'),
      },
      {
        id: 'sensors',
        name: 'Sensors',
        icon: 'M8 12V5a2 2 0 0 1 4 0v7a3.500 3.500 0 1 1-4 0',
        load: () => import('./manage/Sensors.svelte'),
      },
      { id: 'cameras', name: 'Cameras', icon: 'M3 6h10v8H3zM13 9l4-2v6l-4-2', load: () => import('./manage/Cameras.svelte') },
      {
        id: 'protection',
        name: 'Power, firewall',
        icon: 'M10 3l6 2v5c0 4-3 6-6 7-3-1-6-3-6-7V5z',
        load: () => import('./manage/Protection.svelte'),
      },
    ],
  },
  {
    name: 'Lab',
    tabs: [
      { id: 'impairment', name: 'Impairment', icon: 'M3 10h3l2-6 4 12 2-6h3' },
      { id: 'testbed', name: 'Testbed', icon: 'M4 4h5v5H4zM11 11h5v5h-5zM9 7h4v4' },
    ],
  },
];

/** Groups with the panels that the caller's role reads. */
export const groups = (): Group[] =>
  GROUPS.map(({ name, tabs }) => ({ name, tabs: tabs.filter((tab) => !tab.needs || allows(tab.needs)) })).filter(
    (group) => group.tabs.length > 0,
  );
