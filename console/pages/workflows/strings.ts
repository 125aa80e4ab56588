export const text = {
  title: "Workflows",
  create: "New workflow",
  name: "Name",
  state: "State",
  anyState: "Any state",
  states: {
    active: "Active",
    paused: "Inactive",
    degraded: "Degraded",
    failing: "Failing",
    disabled: "Disabled",
    deploying: "Deploying",
  },
  anyTrigger: "Any trigger",
  triggerTypes: { http: "HTTP", timer: "Timer", source: "Source", email: "Email", none: "No trigger" },
  search: "Search by name or id",
  noMatch: "No workflow matches",
  clear: "Show all workflows",
  count: (count: string) => `${count} workflows`,
  triggers: "Triggers",
  steps: "Steps",
  changed: "Changed",
  empty: "You have no workflows yet",
  emptyHint: "A workflow runs several steps for each event, and continues after a crash behind the last finished step.",
  createAction: "Create",
  createFailed: "The workflow was not created",
  trigger: "Starts",
  triggerKinds: {
    http: "On an HTTP request",
    email: "On an email",
    timer: "At times",
    source: "On events of a source",
    none: "Only by subscriptions and by hand",
  },
  cron: "Times",
  cronHint: "Cron: minute, hour, day of month, month, day of week. 0 * * * * is every hour.",
  timezone: "Time zone",
  overlap: "If the last run has not ended",
  overlaps: { allow: "Start another one", skip: "Skip the time", queue: "Wait for its end", cancel: "Cancel it" },
  source: "Source",
  sourceHint: "Its id, dc_…",
  activation: { pause: "Deactivate", resume: "Activate" },
  deleteWarning: "The workflows, their runs, versions and events are deleted. This cannot be undone.",
} as const;

/** The code of a new workflow's step. */
export const exampleStep = `export default defineComponent({
  async run({ steps, $ }) {
    $.export("$summary", "got an event");
    return steps.trigger.event;
  },
});
`;
