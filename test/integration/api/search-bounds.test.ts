import { describe, expect, test } from "vitest";
import { readCursor, writeCursor } from "../../../api/search/cursor.ts";
import type { SearchRecords } from "../../../api/search/ports.ts";
import { searchPage, type SearchBounds } from "../../../api/search/search.ts";
import type { VisibleObjects } from "../../../api/traces/visible-objects.ts";
import { Malformed, Unavailable } from "../../../domain/errors.ts";
import { pause } from "../../../domain/retry.ts";
import type { SearchCandidate, SearchWindow, WindowOutcome } from "../../../domain/search/item.ts";
import { parseSearch } from "../../../domain/search/query.ts";
import { until } from "../../support/until.ts";
import { ada, bob, keys, withApi } from "./support.ts";

/** How much one request reads, and how many run at once: over a history that is as slow as a test wants. */
const nothing: WindowOutcome = { outcome: "read", candidates: [], end: undefined };
const recordsOf = (given: Partial<SearchRecords>): SearchRecords => ({
  findEmitters: async () => [],
  emittersOfRun: async () => [],
  readWindow: async () => nothing,
  ...given,
});
const position = (at: number) => ({ at, table: "events", emitter: "dc_1", number: 0 }) as const;
const candidate = (at: number): SearchCandidate => ({
  ...position(at),
  run: "r_1",
  status: null,
  channel: "",
  line: null,
  head: null,
  body: '"x"',
});

function pageOf(q: string, given: Partial<SearchRecords>, { owners = [ada.id], limit = 5, bounds, isByOwner = false }: PageOptions = {}) {
  const objects = { nameOf: async () => "Orders" } as unknown as VisibleObjects;
  const request = { query: parseSearch(q, 0), owners, after: undefined, isByOwner, limit };
  return searchPage(request, { records: recordsOf(given), objects, namespaceOf: async (owner) => owner }, bounds);
}
interface PageOptions {
  readonly owners?: readonly string[];
  readonly limit?: number;
  readonly bounds?: SearchBounds;
  readonly isByOwner?: boolean;
}
/** Answers windows by what they ask for, and remembers it. */
function windowsOf(answer: (window: SearchWindow, nth: number) => WindowOutcome | Promise<WindowOutcome>) {
  const asked: string[] = [];
  const readWindow = async (window: SearchWindow): Promise<WindowOutcome> => {
    asked.push(`${window.rows} ${window.isByOwner ? "by owner" : "by source"}`);
    return answer(window, asked.length);
  };
  return { asked, records: { readWindow, findEmitters: async () => ["dc_1"] } };
}

describe("a page", () => {
  test("ends after its rows, and says where", async () => {
    let rows = 0;
    const readWindow = async (window: SearchWindow): Promise<WindowOutcome> => {
      rows += window.rows;
      return { outcome: "read", candidates: [], end: position(1_000_000 - rows) };
    };
    const page = await pageOf("rare", { readWindow }, { bounds: { ms: 60_000, rows: 10_000 } });
    expect(page).toEqual({ items: [], position: position(1_000_000 - rows), isByOwner: false });
    expect(rows).toBeGreaterThanOrEqual(10_000);
    expect(rows).toBeLessThan(20_000);
  });

  test("ends after its time, with the window that has begun", async () => {
    let windows = 0;
    const readWindow = async (): Promise<WindowOutcome> => ({ outcome: "read", candidates: [], end: position(-++windows) });
    expect(await pageOf("rare", { readWindow }, { bounds: { ms: 0, rows: 10_000 } })).toEqual({
      items: [],
      position: position(-1),
      isByOwner: false,
    });
  });

  test("ends with the item that fills it, although the window has more", async () => {
    const candidates = [9, 8, 7].map(candidate);
    const readWindow = async (): Promise<WindowOutcome> => ({ outcome: "read", candidates, end: position(7) });
    const page = await pageOf("x", { readWindow }, { limit: 2 });
    expect(page.items.map(({ candidate: { at } }) => at)).toEqual([9, 8]);
    expect(page.position).toMatchObject(position(8));
  });

  test("reads the rows of the owners when those of a source take too long, then fewer, and fails in the end", async () => {
    const { asked, records } = windowsOf(() => ({ outcome: "too_slow" }));
    await expect(pageOf("source:a", records)).rejects.toThrow(Unavailable);
    expect(asked).toEqual(["256 by source", "256 by owner", "64 by owner", "16 by owner"]);
  });

  test("reads the rows of the owners once those of a source are slow, also on the following pages", async () => {
    const { asked, records } = windowsOf(async ({ isByOwner }, nth) => {
      if (!isByOwner) await pause(150);
      return { outcome: "read", candidates: [], end: position(-nth) };
    });
    const page = await pageOf("source:a", records, { bounds: { ms: 60_000, rows: 1_000 } });
    expect(asked.slice(0, 2)).toEqual(["256 by source", "256 by owner"]);
    expect(page).toMatchObject({ isByOwner: true });
    const { isByOwner } = readCursor(writeCursor({ nowMs: 0, position: position(-5), isByOwner: page.isByOwner }));
    asked.length = 0;
    await pageOf("source:a", records, { bounds: { ms: 0, rows: 1_000 }, isByOwner });
    expect(asked).toEqual(["256 by owner"]);
  });

  test("has its whole time for the rows of the owners after those of a source took too long", async () => {
    const { asked, records } = windowsOf(async ({ isByOwner }, nth) => {
      if (isByOwner) return { outcome: "read", candidates: [], end: position(-nth) };
      await pause(3_000);
      return { outcome: "too_slow" };
    });
    await pageOf("source:a", records, { bounds: { ms: 2_000, rows: 1_000 } });
    expect(asked.length).toBeGreaterThan(2);
  });

  test("ends before rows that take too long, with what it has found", async () => {
    const { asked, records } = windowsOf((_, nth) =>
      nth === 1 ? { outcome: "read", candidates: [candidate(9)], end: position(8) } : { outcome: "too_slow" },
    );
    const page = await pageOf("x", records);
    expect(page).toMatchObject({ items: [{ candidate: { at: 9 } }], position: position(8) });
    expect(asked.at(-1)).toBe("16 by source");
  });

  test("reads the rows of the owners when the query names many sources, and refuses too many", async () => {
    let isByOwner: boolean | undefined;
    const readWindow = async (window: SearchWindow): Promise<WindowOutcome> => {
      ({ isByOwner } = window);
      return nothing;
    };
    const named = (count: number) => async () => Array.from({ length: count }, (_, index) => `dc_${index}`);
    await pageOf("source:*", { readWindow, findEmitters: named(10) });
    expect(isByOwner).toBe(false);
    await pageOf("source:*", { readWindow, findEmitters: named(11) });
    expect(isByOwner).toBe(true);
    await expect(pageOf("source:*", { readWindow, findEmitters: named(1_001) })).rejects.toThrow(Malformed);
    await expect(pageOf("", {}, { owners: Array.from({ length: 101 }, (_, index) => `o_${index}`) })).rejects.toThrow(/org_id/);
  });
});

describe("searches at once", () => {
  const waiting: (() => void)[] = [];
  let open = false;
  const api = withApi(
    {},
    {
      search: recordsOf({
        readWindow: async () => {
          if (!open) await new Promise<void>((resolve) => waiting.push(resolve));
          return nothing;
        },
      }),
    },
  );

  test("are two of a user and eight that wait, and none beyond; another user's begin", async () => {
    const statuses: number[] = [];
    const asked = Array.from({ length: 13 }, async () => {
      const answer = await api.ask("GET", "/v1/search");
      statuses.push(answer.status);
      return answer;
    });
    await until(() => statuses.length === 3 && waiting.length === 2);
    const ofBob = api.ask("GET", "/v1/search", { key: keys.bob });
    await until(() => waiting.length === 3, `a search of ${bob.id} runs`);
    open = true;
    for (const resolve of waiting) resolve();
    expect((await ofBob).status).toBe(200);
    const refused = (await Promise.all(asked)).filter(({ status }) => status !== 200);
    expect(refused.map(({ body, headers }) => [body.code, headers.get("retry-after")])).toEqual(Array(3).fill(["rate_limited", "1"]));
  });
});
