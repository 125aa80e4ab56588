import { expect, it } from "vitest";
import { searchConnectors, type Connector } from "../../../domain/component/connector.ts";

const connector = (name: string, displayName: string, triggers: readonly string[], actions: readonly string[]): Connector => {
  const members = (labels: readonly string[]) => labels.map((label) => ({ name: label.toLowerCase().replaceAll(" ", "_"), label }));
  return {
    name,
    version: "1.0.0",
    displayName,
    app: name.replace("piece-", ""),
    auth: [],
    triggers: members(triggers),
    actions: members(actions),
    bundleBytes: 1,
  };
};
const all = [
  connector("piece-chatter-log", "Chatter Log", [], ["Write"]),
  connector("piece-chatter", "Chatter", ["New Message"], ["Send Message", "Delete Room"]),
  connector("piece-letters", "Letters", ["New Letter"], ["Send Letter"]),
];
const found = (text: string) =>
  searchConnectors(all, text).map((each) => [each.connector.displayName, ...each.members.map(({ label }) => label)]);

it("finds connectors by name, the one of exactly this name first, with all that they do", () => {
  expect(found("chatter").map(([name]) => name)).toEqual(["Chatter", "Chatter Log"]);
  expect(found("CHATTER")[0]).toEqual(["Chatter", "New Message", "Send Message", "Delete Room"]);
});

it("finds triggers and actions by their words, together with those of the name", () => {
  expect(found("send")).toEqual([
    ["Chatter", "Send Message"],
    ["Letters", "Send Letter"],
  ]);
  expect(found("chatter message")).toEqual([["Chatter", "New Message", "Send Message"]]);
  expect(found("chatter letter")).toEqual([]);
});

it("lists all without words", () => {
  expect(found(" ").map(([name]) => name)).toEqual(["Chatter", "Chatter Log", "Letters"]);
});
