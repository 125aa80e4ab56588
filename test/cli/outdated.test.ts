import { expect, it } from "vitest";
import { outdated } from "../../cli/commands/outdated.ts";
import { createClient } from "../../client/client.ts";

const step = (name: string, componentId: string | null, lists: object = {}): object => ({ name, component_id: componentId, ...lists });
const workflow = {
  name: "flow",
  steps: [
    step("top", "c_top"),
    step("branch", null, {
      then: [step("then", "c_then")],
      else_if: [{ if: "x", then: [step("else-if", "c_else_if")] }],
      else: [step("else", "c_deleted")],
    }),
    step("switch", null, { cases: [{ equals: 1, steps: [step("case", "c_case")] }], default: [step("default", "c_default")] }),
    step("loop", null, { steps: [step("try", null, { try: [step("tried", "c_try")], catch: [step("caught", "c_catch")], finally: [] })] }),
    step("plain", "c_plain"),
  ],
};

const list = (data: unknown): object => ({ page_info: { total_count: 0, end_cursor: null }, data });

function answerOf(path: string, query: URLSearchParams): object | undefined {
  if (path === "/v1/users/me/sources") return list([{ name_slug: "feed", component_id: "c_source" }]);
  if (path === "/v1/users/me/workflows") return list([workflow]);
  if (path === "/v1/packages/tasks") return { data: { version: query.has("version") ? "1.2.0" : "2.0.0" } };
  if (path === "/v1/components/c_plain") return { data: { origin: null } };
  if (path.startsWith("/v1/components/") && path !== "/v1/components/c_deleted")
    return { data: { origin: { url: "npm:tasks@^1/a.mjs", package: "tasks", version: "1.0.0" } } };
  return undefined;
}

const client = createClient({
  baseUrl: "http://api.test",
  fetch: async (input) => {
    const { pathname, searchParams } = new URL(input instanceof Request ? input.url : input);
    const answer = answerOf(pathname, searchParams);
    return answer === undefined ? Response.json({ error: "there is none", code: "not_found" }, { status: 404 }) : Response.json(answer);
  },
});

it("lists sources, and the steps within branches, loops and tries, without components that were deleted", async () => {
  const found = await outdated(client);
  expect(found.map(({ used_by: by }) => by).sort()).toEqual(
    ["feed", ...["top", "then", "else-if", "case", "default", "tried", "caught"].map((name) => `flow/${name}`)].sort(),
  );
  expect(found[0]).toEqual({ used_by: "feed", package: "tasks", current: "1.0.0", wanted: "1.2.0", latest: "2.0.0" });
});
