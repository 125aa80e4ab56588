import { z } from "zod";
import type { Client } from "../../../client/client.ts";
import { itemsOf, maxPageItems } from "../../../client/pages.ts";
import { usageFailure } from "../../failure.ts";
import type { Item, PageQuery } from "../../kinds/kind.ts";
import { kindNamed, kindNames } from "../../kinds/kinds.ts";
import { referredTo } from "../../references.ts";
import { cuttable, listAnswer, nextOf, secondOf, wholeAnswer, type Row } from "./answer.ts";
import { itemRow } from "./rows.ts";
import { after, defineTool, limit, name, type Tool } from "./tool.ts";

const pageQuery = (count: number, cursor: string | undefined): PageQuery => ({
  limit: count,
  ...(cursor === undefined ? {} : { after: cursor }),
});

const list = defineTool({
  name: "list",
  description:
    "Lists things of a kind with id, name, state and problem: of accounts names and states, of variables names, never their values.",
  effect: "read",
  operations: [
    ...([
      "listMySources",
      "listMyWorkflows",
      "listComponents",
      "listMyWebhooks",
      "listMySubscriptions",
      "listMyAutoSubscriptions",
    ] as const),
    ...([
      "listMyAccounts",
      "listApps",
      "listMyOAuthClients",
      "listVariables",
      "listDataStores",
      "getMe",
      "listKeys",
      "listRegistry",
    ] as const),
  ],
  input: { kind: z.enum(kindNames).describe("Kind of things"), limit, after },
  call: async ({ client }, { kind, limit: count, after: cursor }) => {
    // Some kinds are answered at once, whatever the limit.
    const page = await kindNamed(kind).list(client, pageQuery(count, cursor));
    const { data } = page;
    const total = data.length > count ? { total: page.page_info.total_count } : {};
    const rows = data.slice(0, count).map((item) => itemRow(kind, item));
    return listAnswer(rows, { next: nextOf(page, count), whole: "describe shows one whole", more: total });
  },
});

const describe = defineTool({
  name: "describe",
  description:
    "Shows one thing with all its fields: a source, workflow, webhook, component, account and others, with its state and problem.",
  effect: "read",
  operations: [
    ...(["getSource", "getWorkflow", "getComponent", "getWebhook", "getAccount", "getApp", "getOAuthClient"] as const),
    ...(["getDataStore", "getOrganization"] as const),
  ],
  input: { thing: name("Id or name; kind/name where a name is ambiguous, such as webhook/orders") },
  call: async ({ client }, { thing }) => {
    const { kind, id } = await referredTo(client, thing);
    if (kind.get === undefined) throw usageFailure(`${kind.name} can only be listed`, `use list with kind ${kind.name}`);
    const { data } = await kind.get(client, id);
    return wholeAnswer(data, `hw describe ${kind.noun}/${id} -o json`);
  },
});

/** Items of a kind that are read for their problems. */
const maxRead = 1_000;
/** Webhooks whose dead letters are counted; each takes a request. */
const maxCounted = 10;
/** Sources are read by state. */
const kindsWithProblems = ["workflows", "webhooks", "accounts", "oauth-clients", "variables"] as const;
const unwellStates: ReadonlySet<unknown> = new Set(["degraded", "failing", "circuit_open", "disabled"]);

/** Some problems, and why there may be others. */
interface Found {
  readonly rows: readonly Row[];
  readonly unread?: string;
}

const problems = defineTool({
  name: "problems",
  description:
    "Shows what is wrong now, as Home of the console: sources, workflows, webhooks, accounts, OAuth clients and variables that do not work, " +
    "dead letters of webhooks, and a quota that is used up. `unread` names what was not read; dead_letters shows those of a workflow.",
  effect: "read",
  operations: [
    ...(["listMySources", "listMyWorkflows", "listMyWebhooks", "listMyAccounts", "listMyOAuthClients", "listVariables"] as const),
    ...(["listDeadLetters", "getMe"] as const),
  ],
  input: { limit },
  call: async ({ client }, { limit: count }) => {
    const ofKinds = kindsWithProblems.map((kind) => unwell(client, kind));
    const found = await Promise.all([quotas(client), unwellSources(client), ...ofKinds, deadLetters(client)]);
    const rows = found.flatMap((each) => each.rows);
    const unread = found.flatMap((each) => each.unread ?? []);
    const more = { ...(rows.length > count ? { total: rows.length } : {}), ...(unread.length > 0 ? { unread } : {}) };
    return listAnswer(rows.slice(0, count), { whole: "describe shows one whole", more });
  },
});

async function quotas(client: Client): Promise<Found> {
  const { id, quota_exceeded_until: until, orgs } = (await client.call("getMe", {})).data;
  const owners = [{ id, quota_exceeded_until: until }, ...orgs];
  return {
    rows: owners.flatMap(({ id: owner, quota_exceeded_until: end }) =>
      end === undefined
        ? []
        : [{ kind: "quota", id: owner, problem: cuttable(`used up until ${secondOf(end)}: new work waits until then`) }],
    ),
  };
}

async function unwellSources(client: Client): Promise<Found> {
  const states = ["failing", "disabled"] as const;
  const pages = await Promise.all(states.map((state) => client.call("listMySources", { query: { state, limit: maxPageItems } })));
  const rows = pages.flatMap(({ data }) => data.map((source) => unwellRow("sources", { ...source })));
  return pages.some((page) => nextOf(page, maxPageItems) !== null) ? { rows, unread: `more than ${maxPageItems} sources fail` } : { rows };
}

async function unwell(client: Client, kindName: (typeof kindsWithProblems)[number]): Promise<Found> {
  const kind = kindNamed(kindName);
  const rows: Row[] = [];
  let read = 0;
  for await (const item of itemsOf((cursor) => kind.list(client, pageQuery(maxPageItems, cursor)))) {
    if (isUnwell(item)) rows.push(unwellRow(kindName, item));
    read += 1;
    if (read === maxRead) return { rows, unread: `only the newest ${maxRead} ${kindName} were read` };
  }
  return { rows };
}

const unwellRow = (kindName: string, item: Item): Row => ({
  kind: kindNamed(kindName).noun,
  ...itemRow(kindName, item),
  last_run: undefined,
  since: sinceOf(item["problem"]),
});

const isUnwell = ({ state, healthy, needs_reconnect: isOver }: Item): boolean =>
  unwellStates.has(state) || healthy === false || isOver === true;

const sinceOf = (problem: unknown): string | undefined =>
  typeof problem === "object" && problem !== null && "since" in problem ? secondOf(problem.since) : undefined;

async function deadLetters(client: Client): Promise<Found> {
  const page = await client.call("listMyWebhooks", { query: { limit: maxCounted } });
  const counted = await Promise.all(
    page.data.map(async ({ id, name: label, url }): Promise<Row[]> => {
      const { total_count: count } = (await client.call("listDeadLetters", { path: { id }, query: { limit: 1 } })).page_info;
      return count === 0 ? [] : [{ kind: "dead_letters", id, name: cuttable(label ?? url), count }];
    }),
  );
  const rows = counted.flat();
  const isCut = page.page_info.total_count > maxCounted;
  return isCut ? { rows, unread: `dead letters of only the newest ${maxCounted} webhooks were counted` } : { rows };
}

export const things: readonly Tool[] = [problems, list, describe];
