import type { SearchItem, SearchPage } from "../../client/generated/operations.ts";
import type { Definition } from "../command.ts";
import type { Context } from "../context.ts";
import { usageFailure } from "../failure.ts";
import { followLines } from "../follow-lines.ts";
import type { Given } from "../given.ts";
import { refuseZero } from "../listing.ts";
import { onOneLine } from "../output/events.ts";
import type { Column } from "../output/table.ts";
import { formatTable } from "../output/table.ts";
import { dateTime } from "../output/time.ts";

const [defaultItems, maxItemsOfPage] = [20, 100] as const;
/** A search of a long history takes minutes: so often it reports how far it is. */
const noteEveryMs = 3_000;

export const command: Definition = {
  description:
    "Searches events, log lines, runs and errors, newest first: yours and those of your organizations, or with --org of one of them. It goes " +
    "back until it has found enough, or has searched all; the terms after: and before: say where it ends and begins. Write -- before a query " +
    "that begins with a minus.",
  arguments: [{ name: "[query]", description: "words, phrases and fields, see docs/api.md; by default everything" }],
  options: [
    { flags: "-n, --limit <count>", description: `find at most this many; by default ${defaultItems}`, value: "count" },
    { flags: "-f, --follow", description: "keep running, and print what matches from now on, as it is committed" },
  ],
  examples: [
    { command: "hw search 'level:error after:-2h'", does: "Show the errors of the last two hours." },
    { command: `hw search 'source:hello* "negative stock" -test'`, does: "Search a phrase in sources whose names begin with hello." },
    { command: "hw search 'status:failed' -o json", does: "Print failed runs and what belongs to them as JSON." },
    { command: "hw search -f 'level:error,warn'", does: "Show errors and warnings as they happen.", isInert: true },
  ],
  operations: ["search", "searchOrganization", "streamSearch", "streamOrganizationSearch"],
  run: async (context, given) => {
    if (given.flag("follow")) return follow(context, given);
    refuseZero(given);
    const page = await searchBack(context, given.text("query") ?? "", given.count("limit") ?? defaultItems);
    const { out, terminal } = context;
    if (out.format === "name") await out.list({ data: page.items }, [], ({ trace_id: id }) => id);
    else {
      const shown = columns.filter(({ isWide }) => isWide !== true || out.format === "wide");
      await out.document({ data: page }, () =>
        page.items.length === 0 ? [] : formatTable(shown, page.items, { width: terminal.columns }),
      );
    }
    if (page.items.length === 0) out.note("nothing found");
    else if (page.searched_to_ms !== null)
      out.note(`there may be older ones: use --limit, or add before:${dateTime(page.searched_to_ms)} to the query`);
  },
};

const columns: readonly Column<SearchItem>[] = [
  { header: "AT", value: ({ at_ms: at }) => dateTime(at), isWhole: true },
  { header: "KIND", value: kindOf, isWhole: true },
  { header: "SOURCE", value: ({ source_name: name }) => name },
  { header: "TRACE", value: ({ trace_id: id }) => id, isWhole: true, isWide: true },
  { header: "TEXT", value: textOf },
];

function textOf({ kind, excerpt, status, channel, run_id: run }: SearchItem): string {
  if (kind === "run") return [status, run, excerpt].filter((text) => text !== "").join(" ");
  return channel === null || channel === "" ? excerpt : `[${channel}] ${excerpt}`;
}

/** Prints new items until the user ends it; a query that is wrong ends it too. @throws Failure with --limit, which would be ignored */
async function follow(context: Context, given: Given): Promise<void> {
  if (given.has("limit")) throw usageFailure("--follow excludes --limit: it prints only what is new");
  const { client, profile, out } = context;
  const query = { q: given.text("query") ?? "" };
  await followLines(
    context,
    (options) =>
      profile.org === undefined
        ? client.follow("streamSearch", { query }, options)
        : client.follow("streamOrganizationSearch", { path: { org_id: profile.org }, query }, options),
    ({ event, data }) => {
      if (event === "skipped") out.note(skippedNote(JSON.parse(data) as Skipped)); // By the document of the stream.
      if (event !== undefined) return undefined;
      const item = JSON.parse(data) as SearchItem; // As above.
      return { value: out.format === "name" ? { id: item.trace_id } : item, lines: () => [itemLine(item)] };
    },
  );
}

interface Skipped {
  readonly commits: number | null;
  readonly items: number;
}

function skippedNote({ commits, items }: Skipped): string {
  if (commits === null) return "hw: not shown: matches from the time without a connection: search without --follow to see them";
  const missing = [
    ...(items > 0 ? [counted(items, "match", "matches")] : []),
    ...(commits > 0 ? [`all matches in ${counted(commits, "commit", "commits")}`] : []),
  ];
  return `hw: not shown: ${missing.join(" and ")}, because too much came at once or a source is new: search without --follow to see them`;
}

const counted = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`;

const itemLine = (item: SearchItem): string =>
  onOneLine(`${dateTime(item.at_ms)} ${kindOf(item).padEnd(5)} ${item.source_name}  ${textOf(item)}`);

function kindOf({ kind, level }: SearchItem): string {
  return kind === "log" ? (level ?? kind) : kind;
}

/** Follows the cursor until there are enough items, all was searched, or the user ends it. */
async function searchBack({ client, profile, out, signal, terminal }: Context, q: string, limit: number): Promise<SearchPage> {
  let page: SearchPage = { items: [], cursor: null, searched_to_ms: null };
  let notedAt = performance.now();
  do {
    const query = {
      q,
      limit: Math.min(limit - page.items.length, maxItemsOfPage),
      ...(page.cursor === null ? {} : { cursor: page.cursor }),
    };
    const ask = () =>
      profile.org === undefined
        ? client.call("search", { query })
        : client.call("searchOrganization", { path: { org_id: profile.org }, query });
    const { data } = page.cursor === null ? await terminal.progress("Searching", ask) : await ask();
    page = { ...data, items: [...page.items, ...data.items] };
    if (page.searched_to_ms !== null && performance.now() - notedAt > noteEveryMs) {
      out.note(`searched back to ${dateTime(page.searched_to_ms)}, found ${page.items.length}`);
      notedAt = performance.now();
    }
  } while (page.cursor !== null && page.items.length < limit && !signal.aborted);
  return page;
}
