import type { CommandEntry, Definition } from "./command.ts";

/** All commands, in the order of the help. */
export const commands: readonly CommandEntry[] = [
  { name: "init", group: "Write and run", summary: "write a new source, action or workflow", load: () => import("./commands/init.ts") },
  { name: "dev", group: "Write and run", summary: "deploy a file on each save, and watch it", load: () => import("./commands/dev.ts") },
  {
    name: "deploy",
    aliases: ["d"],
    group: "Write and run",
    summary: "deploy a component as a new source",
    load: () => import("./commands/deploy.ts"),
  },
  {
    name: "update",
    aliases: ["u"],
    group: "Write and run",
    summary: "change a source: its code, props or name",
    load: () => import("./commands/update.ts"),
  },
  { name: "run", group: "Write and run", summary: "run a source or workflow now", load: () => import("./commands/run.ts") },
  { name: "debug", group: "Write and run", summary: "execute a run again on this machine", load: () => import("./commands/debug.ts") },
  {
    name: "validate",
    group: "Write and run",
    summary: "build a component without saving it",
    load: () => import("./commands/validate.ts"),
  },
  { name: "props", group: "Write and run", summary: "list the props of a component or source", load: () => import("./commands/props.ts") },
  {
    name: "publish",
    group: "Write and run",
    summary: "save a component without deploying it",
    load: () => import("./commands/publish.ts"),
  },
  { name: "mcp", group: "Write and run", summary: "serve these commands to coding agents", load: () => import("./commands/mcp.ts") },

  {
    name: "list",
    aliases: ["ls", "get"],
    group: "Read",
    summary: "list sources, workflows, webhooks and more",
    load: () => import("./commands/list.ts"),
  },
  {
    name: "describe",
    aliases: ["show"],
    group: "Read",
    summary: "show everything about something",
    load: () => import("./commands/describe.ts"),
  },
  { name: "events", group: "Read", summary: "show events, follow new ones, delete old ones", load: () => import("./commands/events.ts") },
  {
    name: "logs",
    aliases: ["log"],
    group: "Read",
    summary: "show or follow the log of a source or workflow",
    load: () => import("./commands/logs.ts"),
  },
  { name: "runs", group: "Read", summary: "list runs, or show one with its logs", load: () => import("./commands/runs.ts") },
  {
    name: "search",
    group: "Read",
    summary: "search events, log lines, runs and errors",
    load: () => import("./commands/search.ts"),
  },
  {
    name: "trace",
    group: "Read",
    summary: "show all that belongs to a run, an event or a delivery",
    load: () => import("./commands/trace.ts"),
  },
  {
    name: "metrics",
    group: "Read",
    summary: "show runs, errors and durations over time",
    load: () => import("./commands/metrics.ts"),
  },
  { name: "ticks", group: "Read", summary: "list ticks of a source's timers", load: () => import("./commands/ticks.ts") },
  {
    name: "usage",
    aliases: ["whoami"],
    group: "Read",
    summary: "show who you are, quotas and their use",
    load: () => import("./commands/usage.ts"),
  },
  {
    name: "outdated",
    group: "Read",
    summary: "list sources and steps with a newer version in npm",
    load: () => import("./commands/outdated.ts"),
  },
  { name: "audit", group: "Read", summary: "list who changed what", load: () => import("./commands/audit.ts") },
  { name: "status", group: "Read", summary: "show whether the installation is usable", load: () => import("./commands/status.ts") },
  { name: "open", group: "Read", summary: "open a page of the web console", load: () => import("./commands/open.ts") },

  { name: "pause", group: "Change", summary: "pause sources, workflows or webhooks", load: () => import("./commands/pause.ts") },
  { name: "resume", group: "Change", summary: "switch them on again", load: () => import("./commands/resume.ts") },
  { name: "cancel", group: "Change", summary: "cancel a run of a workflow", load: () => import("./commands/cancel.ts") },
  {
    name: "repeat",
    group: "Change",
    summary: "run a workflow again with the event of an earlier run",
    load: () => import("./commands/repeat.ts"),
  },
  {
    name: "delete",
    aliases: ["rm"],
    group: "Change",
    summary: "delete sources, workflows, webhooks and more",
    load: () => import("./commands/delete.ts"),
  },
  { name: "apply", group: "Change", summary: "create and change resources from YAML files", load: () => import("./commands/apply.ts") },
  { name: "diff", group: "Change", summary: "show what apply would change", load: () => import("./commands/diff.ts") },
  { name: "export", group: "Change", summary: "print resources as YAML", load: () => import("./commands/export.ts") },
  {
    name: "import",
    group: "Change",
    summary: "make manifests of workflows of another service",
    load: () => import("./commands/import.ts"),
  },

  {
    name: "subscribe",
    aliases: ["sub"],
    group: "Deliver",
    summary: "deliver events of a source to a listener",
    load: () => import("./commands/subscribe.ts"),
  },
  {
    name: "unsubscribe",
    aliases: ["unsub"],
    group: "Deliver",
    summary: "end a subscription",
    load: () => import("./commands/unsubscribe.ts"),
  },
  {
    name: "listen",
    group: "Deliver",
    summary: "post the events of a webhook to a local program",
    load: () => import("./commands/listen.ts"),
  },
  { name: "replay", group: "Deliver", summary: "deliver past events again", load: () => import("./commands/replay.ts") },
  {
    name: "webhooks",
    aliases: ["webhook", "wh"],
    group: "Deliver",
    summary: "webhooks, their deliveries and dead letters",
    load: () => import("./commands/webhooks.ts"),
  },

  {
    name: "connectors",
    aliases: ["connector"],
    group: "Manage",
    summary: "connectors in packages of npm",
    load: () => import("./commands/connectors.ts"),
  },
  {
    name: "components",
    aliases: ["component"],
    group: "Manage",
    summary: "saved components and the registry",
    load: () => import("./commands/components.ts"),
  },
  {
    name: "workflows",
    aliases: ["workflow", "wf"],
    group: "Manage",
    summary: "create, change, run and test workflows",
    load: () => import("./commands/workflows.ts"),
  },
  { name: "apps", group: "Manage", summary: "how one connects to services", load: () => import("./commands/apps.ts") },
  {
    name: "oauth-clients",
    group: "Manage",
    summary: "clients that you registered at services",
    load: () => import("./commands/oauth-clients.ts"),
  },
  { name: "accounts", aliases: ["account"], group: "Manage", summary: "credentials of apps", load: () => import("./commands/accounts.ts") },
  {
    name: "variables",
    aliases: ["variable", "vars"],
    group: "Manage",
    summary: "values that steps of workflows read",
    load: () => import("./commands/variables.ts"),
  },
  {
    name: "data-stores",
    aliases: ["data-store", "ds"],
    group: "Manage",
    summary: "keys and values that sources and steps share",
    load: () => import("./commands/data-stores.ts"),
  },
  {
    name: "namespaces",
    aliases: ["namespace"],
    group: "Manage",
    summary: "namespaces of a cluster that are yours",
    load: () => import("./commands/namespaces.ts"),
  },
  { name: "orgs", aliases: ["org"], group: "Manage", summary: "organizations and their members", load: () => import("./commands/orgs.ts") },
  { name: "keys", aliases: ["key"], group: "Manage", summary: "API keys", load: () => import("./commands/keys.ts") },
  { name: "settings", group: "Manage", summary: "mails about errors", load: () => import("./commands/settings.ts") },
  {
    name: "admin",
    group: "Manage",
    summary: "users, organizations and plans of the installation",
    load: () => import("./commands/admin.ts"),
  },

  { name: "login", group: "Set up", summary: "store an address and an API key as a profile", load: () => import("./commands/login.ts") },
  { name: "logout", group: "Set up", summary: "remove a stored profile", load: () => import("./commands/logout.ts") },
  {
    name: "profiles",
    aliases: ["profile"],
    group: "Set up",
    summary: "list profiles, and choose one",
    load: () => import("./commands/profiles.ts"),
  },
  {
    name: "completion",
    group: "Set up",
    summary: "print a script that completes words in your shell",
    load: () => import("./commands/completion.ts"),
  },
  {
    name: "complete",
    group: "Set up",
    isHidden: true,
    summary: "print what completes a word",
    load: () => import("./commands/complete.ts"),
  },
  { name: "api", group: "Set up", summary: "send a request to any path of the API", load: () => import("./commands/api.ts") },
  { name: "version", group: "Set up", summary: "show the version of hw", load: () => import("./commands/version.ts") },
];

/** A command or subcommand by the words that start it. */
export interface NamedDefinition {
  /** Such as `webhooks create`. */
  readonly name: string;
  readonly aliases: readonly string[];
  readonly summary: string;
  readonly definition: Definition;
}

/** All commands with all subcommands, loaded. */
export async function loadAll(): Promise<NamedDefinition[]> {
  const loaded = await Promise.all(commands.map(async (entry) => ({ ...entry, definition: (await entry.load()).command })));
  return loaded.flatMap(({ name, aliases = [], summary, definition }) => withSubcommands({ name, aliases, summary, definition }));
}

function withSubcommands(named: NamedDefinition): NamedDefinition[] {
  const below = (named.definition.subcommands ?? []).flatMap((definition) => {
    const { name, aliases = [], summary } = definition;
    return withSubcommands({ name: `${named.name} ${name}`, aliases, summary, definition });
  });
  return [named, ...below];
}
