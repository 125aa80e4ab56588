import type { SearchItem, SearchPage } from "../../client/generated/operations.ts";
import type { Definition } from "../command.ts";
import type { Context } from "../context.ts";
import { refuseZero } from "../listing.ts";
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
  options: [{ flags: "-n, --limit <count>", description: `find at most this many; by default ${defaultItems}`, value: "count" }],
  examples: [
    { command: "hw search 'level:error after:-2h'", does: "Show the errors of the last two hours." },
    { command: `hw search 'source:hello* "negative stock" -test'`, does: "Search a phrase in sources whose names begin with hello." },
    { command: "hw search 'status:failed' -o json", does: "Print failed runs and what belongs to them as JSON." },
  ],
  operations: ["search", "searchOrganization"],
  run: async (context, given) => {
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
  { header: "KIND", value: ({ kind, level }) => (kind === "log" ? (level ?? kind) : kind), isWhole: true },
  { header: "SOURCE", value: ({ source_name: name }) => name },
  { header: "TRACE", value: ({ trace_id: id }) => id, isWhole: true, isWide: true },
  { header: "TEXT", value: textOf },
];

function textOf({ kind, excerpt, status, channel, run_id: run }: SearchItem): string {
  if (kind === "run") return [status, run, excerpt].filter((text) => text !== "").join(" ");
  return channel === null || channel === "" ? excerpt : `[${channel}] ${excerpt}`;
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
