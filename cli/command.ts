import type { OperationId } from "../client/client.ts";
import type { Context, OfflineContext } from "./context.ts";
import type { Given } from "./given.ts";

/** Sections of the list of commands. */
export const groups = ["Write and run", "Read", "Change", "Deliver", "Manage", "Set up"] as const;
export type Group = (typeof groups)[number];

/** What a shell completes for an argument. */
export type Reference =
  | "source"
  | "workflow"
  | "component"
  | "webhook"
  | "subscription"
  | "account"
  | "app"
  | "oauth-client"
  | "data-store"
  | "organization"
  | "kind"
  | "file"
  | "profile";

export interface ArgumentDefinition {
  /** `<required>`, `[optional]`, `<several...>`, `[several...]`. */
  readonly name: string;
  readonly description: string;
  readonly choices?: readonly string[];
  readonly completes?: Reference;
}

export interface OptionDefinition {
  /** As for commander: `-n, --limit <count>`, `--force`, `--no-wait`. */
  readonly flags: string;
  readonly description: string;
  readonly choices?: readonly string[];
  /** `count` is an integer from 0, `list` can be given several times; the default is text, or a flag without a value. */
  readonly value?: "count" | "list";
  readonly hidden?: boolean;
}

/** A command line as a person types it. Tests run all examples but those that are `isInert`. */
export interface Example {
  readonly command: string;
  readonly does: string;
  /** It needs a terminal, a browser or a cluster, or does not end by itself. */
  readonly isInert?: boolean;
}

interface Declaration {
  /** More than the summary; a paragraph of docs/cli.md. */
  readonly description?: string;
  readonly arguments?: readonly ArgumentDefinition[];
  readonly options?: readonly OptionDefinition[];
  readonly examples: readonly Example[];
  /** Operations of the REST API that it may request. */
  readonly operations: readonly OperationId[];
  readonly subcommands?: readonly Subcommand[];
}

/** A command that uses the API, one that does not (`isOffline`), or a mere group of subcommands. */
export type Definition = Declaration &
  (
    | { readonly isOffline?: false; readonly run: (context: Context, given: Given) => Promise<void> }
    | { readonly isOffline: true; readonly run: (context: OfflineContext, given: Given) => Promise<void> }
    | { readonly isOffline?: false; readonly run?: undefined; readonly subcommands: readonly Subcommand[] }
  );

export type Subcommand = Definition & {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly isDefault?: true;
};

/** A row of the table of commands. Its file is loaded only when the command is used: starting to help reads no other file. */
export interface CommandEntry {
  readonly name: string;
  readonly aliases?: readonly string[];
  readonly summary: string;
  readonly group: Group;
  /** Programs use it, people do not. */
  readonly isHidden?: true;
  readonly load: () => Promise<{ readonly command: Definition }>;
}
