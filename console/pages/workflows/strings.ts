export const text = {
  title: "Workflows",
  create: "New workflow",
  name: "Name",
  state: "State",
  inactive: "Inactive",
  triggers: "Triggers",
  steps: "Steps",
  changed: "Changed",
  empty: "You have no workflows yet",
  emptyHint: "A workflow runs several steps for each event, and continues after a crash behind the last finished step.",
  createAction: "Create",
  createFailed: "The workflow was not created",
  trigger: "Starts",
  triggerKinds: { http: "On an HTTP request", timer: "Every hour", none: "Only by subscriptions and by hand" },
} as const;

/** The code of a new workflow's step. */
export const exampleStep = `export default defineComponent({
  async run({ steps, $ }) {
    $.export("$summary", "got an event");
    return steps.trigger.event;
  },
});
`;
