import { expect, it } from "vitest";
import type { Connector } from "../../client/generated/operations.ts";
import { withInstallation } from "./installation.ts";

const headwater = withInstallation();
const slack = "@activepieces/piece-slack";

/** What an installation finds in the index that it comes with: by REST, which `hw` must agree with. */
async function search(...words: readonly string[]): Promise<readonly Connector[]> {
  const { status, body } = await headwater.call<{ data: readonly Connector[] }>(
    "GET",
    `/connectors?q=${encodeURIComponent(words.join(" "))}`,
  );
  expect(status).toBe(200);
  expect((await headwater.json<{ data: unknown }>("connectors", "search", ...words)).data).toEqual(body.data);
  return body.data;
}

it.each([
  ["its name", ["Slack"]],
  ["its package", [slack]],
  ["its address of npm", [`npm:${slack}`]],
  ["its app and words of an action", ["slack", "send", "message", "channel"]],
  ["its app and words of a trigger", ["slack", "new", "mention"]],
])("finds the Slack piece first by %s", async (_by, words) => {
  const [first] = await search(...words);
  expect(first).toMatchObject({ package: slack, app: "slack", auth: expect.arrayContaining(["oauth2"]) });
});

it("finds a trigger and an action by their words alone, with the addresses that deploy them", async () => {
  const trigger = (await search("new_reaction_added")).find((each) => each.package === slack);
  expect(trigger?.matches).toEqual([
    {
      component_url: expect.stringMatching(/^npm:@activepieces\/piece-slack@[\d.]+#trigger\/new_reaction_added$/),
      type: "source",
      name: "New Reaction",
    },
  ]);
  const action = (await search("send_channel_message")).find((each) => each.package === slack);
  expect(action?.matches.map(({ type, name }) => [type, name])).toEqual([["action", "Send Message To A Channel"]]);
});

it("shows connectors as a table, and none for unknown words", async () => {
  expect(await headwater.ok("connectors", "search", "slack")).toMatch(
    /^PACKAGE +NAME +TRIGGERS +ACTIONS +AUTH\nnpm:@activepieces\/piece-slack +Slack +14 +72 /,
  );
  expect(await search("slack", "no such words")).toEqual([]);
});
